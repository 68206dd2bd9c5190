"""What people would otherwise train with, as they run it: eager, AdamW, every position through the output; in fp32, or
under bf16 autocast.

All have the same number of layers, width, heads and, to within 2%, parameters.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lengthlab.config.model import ModelOptions


class NanoBlock(nn.Module):
    """A block as in nanoGPT: layer norm, fused query-key-value matrix, flash attention, GELU."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(self.norm_1(x)).chunk(3, -1)
        )
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


class NanoModel(nn.Module):
    """A nanoGPT-style model with learned positions."""

    def __init__(self, options: ModelOptions, vocabulary: int, longest: int) -> None:
        super().__init__()
        hidden = 3 * options.feedforward // 2  # two matrices instead of GeGLU's three
        self.tokens, self.positions = nn.Embedding(vocabulary, options.width), nn.Embedding(longest, options.width)
        self.blocks = nn.Sequential(*(NanoBlock(options.width, options.heads, hidden) for _ in range(options.layers)))
        self.norm = nn.LayerNorm(options.width)
        self.output = nn.Linear(options.width, vocabulary, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        return self.output(self.norm(self.blocks(x)))


def nanogpt(options: ModelOptions, vocabulary: int, longest: int) -> tuple[nn.Module, Callable[[Tensor], Tensor]]:
    model = NanoModel(options, vocabulary, longest)
    return model, model


def x_transformers(
    options: ModelOptions, vocabulary: int, longest: int
) -> tuple[nn.Module, Callable[[Tensor], Tensor]]:
    from x_transformers import Decoder, TransformerWrapper

    layers = Decoder(
        dim=options.width,
        depth=options.layers,
        heads=options.heads,
        attn_dim_head=options.width // options.heads,
        ff_glu=True,
        ff_mult=options.feedforward / options.width,
        ff_no_bias=True,
        rotary_pos_emb=True,
        attn_flash=True,
    )
    model = TransformerWrapper(num_tokens=vocabulary, max_seq_len=longest, attn_layers=layers, use_abs_pos_emb=False)
    return model, model


def llama(options: ModelOptions, vocabulary: int, longest: int) -> tuple[nn.Module, Callable[[Tensor], Tensor]]:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=options.width,
        intermediate_size=options.feedforward,
        num_hidden_layers=options.layers,
        num_attention_heads=options.heads,
        max_position_embeddings=longest,
        pad_token_id=None,
        bos_token_id=None,
        eos_token_id=None,
        use_cache=False,
    )
    model = LlamaForCausalLM(config)
    return model, lambda tokens: model(tokens).logits


RIVALS = {"nanoGPT-style": nanogpt, "x-transformers": x_transformers, "transformers Llama": llama}


class Rival:
    """One training step of a rival, on the same batch, with the loss on the answer; `half`: under bf16 autocast."""

    def __init__(self, model: nn.Module, forward: Callable[[Tensor], Tensor], half: bool = False) -> None:
        self.model = model
        self.forward = forward
        self.half = half
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)

    def step(self, tokens: Tensor, answer: int) -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=self.half):
            logits = self.forward(tokens[:, :-1])[:, answer - 1 :]
        loss = F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, answer:].flatten())
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
