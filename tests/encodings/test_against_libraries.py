"""Encodings against independent implementations: transformers, x-transformers, or the formula in plain Python."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from lengthlab.encodings import ENCODINGS
from lengthlab.encodings.alibi import alibi_slopes
from lengthlab.encodings.encoding import Encoding, Shape
from lengthlab.encodings.rope import Rope

pytestmark = pytest.mark.xdist_group("rivals")  # or each worker imports the libraries
IDS = torch.tensor([[0, 1, 2, 3, 7, 8, 20, 21, 60, 200, 900]])
LENGTH = IDS.shape[1]


def build(name: str, heads: int = 4, width: int = 32, **options: Any) -> Any:
    encoding = ENCODINGS[name].load()
    torch.manual_seed(0)
    return encoding(encoding.options_class(kind=name, **options), Shape(width, heads))


def lower(x: Tensor) -> Tensor:
    """The part that a causal model uses."""
    return x.masked_fill(~torch.ones(x.shape[-2:], dtype=torch.bool).tril(), 0.0)


def bias_of(encoding: Encoding, ids: Tensor = IDS) -> Tensor:
    bias = encoding.bias(None, None, ids, ids)
    assert bias is not None
    return bias.detach()


@pytest.mark.parametrize(("buckets", "reach"), [(32, 128), (16, 40), (8, 500)])
def test_t5_equals_transformers_t5(buckets: int, reach: int) -> None:
    from transformers.models.t5.modeling_t5 import T5Attention

    ours = build("t5", buckets=buckets, reach=reach)
    relative = IDS[:, None, :] - IDS[:, :, None]  # key - query, as transformers counts
    bucket = T5Attention._relative_position_bucket(
        relative[0], bidirectional=False, num_buckets=buckets, max_distance=reach
    )
    expected = ours.table[:, bucket].detach()
    torch.testing.assert_close(lower(bias_of(ours)[0]), lower(expected), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 8, 12, 16])
def test_alibi_equals_transformers_bloom(heads: int) -> None:
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    length = 12
    theirs = build_alibi_tensor(torch.ones(1, length), heads, torch.float32).view(heads, length)
    torch.testing.assert_close(torch.tensor(alibi_slopes(heads)), theirs[:, 1], atol=1e-5, rtol=1e-5)
    ids = torch.arange(length)[None]
    # Bloom adds slope * j, which differs from -slope * (i - j) by a constant in each row: equal after the softmax.
    hidden = ~torch.ones(length, length, dtype=torch.bool).tril()
    ours = bias_of(build("alibi", heads=heads), ids)[0].masked_fill(hidden, float("-inf")).softmax(-1)
    bloom = theirs[:, None, :].expand(-1, length, -1).masked_fill(hidden, float("-inf")).softmax(-1)
    torch.testing.assert_close(ours, bloom, atol=1e-5, rtol=1e-5)


def test_alibi_equals_x_transformers() -> None:
    from x_transformers.x_transformers import AlibiPositionalBias

    theirs = AlibiPositionalBias(heads=8)(12, 12)
    ours = bias_of(build("alibi", heads=8), torch.arange(12)[None])[0]
    torch.testing.assert_close(lower(ours), lower(theirs), atol=1e-5, rtol=1e-5)


ROPE = [
    {},
    {"base": 500.0},
    {"scaling": "linear", "factor": 4.0},
    {"scaling": "yarn", "factor": 4.0, "original": 256},
    {"scaling": "yarn", "factor": 8.0, "original": 64},
]


@pytest.mark.parametrize("options", ROPE)
def test_rope_equals_transformers_llama(options: dict[str, Any]) -> None:
    from transformers.models.llama.configuration_llama import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    parameters: dict[str, Any] = {"rope_type": "default", "rope_theta": options.get("base", 10_000.0)}
    if "scaling" in options:
        parameters |= {"rope_type": options["scaling"], "factor": options["factor"]}
    if options.get("scaling") == "yarn":
        parameters["original_max_position_embeddings"] = options["original"]
    config = LlamaConfig(
        hidden_size=64,
        num_attention_heads=4,
        max_position_embeddings=options.get("original", 256),
        rope_parameters=parameters,
    )
    q, k = torch.randn(2, 4, LENGTH, 16), torch.randn(2, 4, LENGTH, 16)
    ids = IDS % 32  # their angles are in float32, and off by 1e-4 at large ids; ours are exact (tests/trust)
    cosine, sine = LlamaRotaryEmbedding(config)(q, ids)
    theirs = apply_rotary_pos_emb(q, k, cosine, sine)
    ours = build("rope", heads=4, width=64, **options).rotate(q, k, ids, ids)
    torch.testing.assert_close(ours[0] @ ours[1].mT, theirs[0] @ theirs[1].mT, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(ours[0], theirs[0], atol=1e-5, rtol=1e-5)


def test_rope_ntk_stretches_the_slowest_wave_by_the_factor_and_leaves_the_fastest() -> None:
    """base' = base * factor^(R / (R - 2)) (the NTK-aware rule of bloc97, in Peng et al. 2023, section 3.1)."""
    plain: Rope = build("rope")
    stretched: Rope = build("rope", scaling="ntk", factor=8.0)
    ratio = plain.get_buffer("frequencies") / stretched.get_buffer("frequencies")
    assert ratio[0].item() == pytest.approx(1.0)
    assert ratio[-1].item() == pytest.approx(8.0, rel=1e-5)


def test_rope_rotates_only_its_share() -> None:
    q = torch.randn(1, 4, LENGTH, 8)
    turned, _ = build("rope", share=0.5).rotate(q, q, IDS, IDS)
    assert torch.equal(turned[..., 4:], q[..., 4:])
    assert not torch.allclose(turned[..., :4], q[..., :4])


def test_sinusoidal_equals_its_formula() -> None:
    embedded = build("sinusoidal", width=10).embed(torch.zeros(1, LENGTH, 10), IDS)
    for row, i in enumerate(IDS[0].tolist()):
        for dimension in range(10):
            angle = i / 10_000 ** (2 * (dimension // 2) / 10)
            expected = math.sin(angle) if dimension % 2 == 0 else math.cos(angle)
            assert embedded[0, row, dimension].item() == pytest.approx(expected, abs=1e-5)


def test_learned_is_a_table() -> None:
    encoding = build("learned", rows=901)
    x = torch.randn(2, LENGTH, 32)
    for row, i in enumerate(IDS[0].tolist()):
        torch.testing.assert_close(encoding.embed(x, IDS)[:, row], x[:, row] + encoding.table.weight[i])


@pytest.mark.parametrize("name", ["kerple-log", "kerple-power"])
def test_kerple_equals_its_formula(name: str) -> None:
    encoding = build(name)
    with torch.no_grad():
        encoding.r1[0] = -3.0  # out of bounds: counts as 0.01
        encoding.r2[1] = 5.0  # the power variant's exponent is at most 2
    bias = bias_of(encoding)
    for head in range(4):
        r1 = max(encoding.r1[head].item(), 1e-2)
        r2 = max(encoding.r2[head].item(), 1e-2)
        for row, i in enumerate(IDS[0].tolist()):
            for column, j in enumerate(IDS[0].tolist()[: row + 1]):
                power = -r1 * abs(i - j) ** min(r2, 2.0) if i != j else 0.0
                expected = -r1 * math.log(1 + r2 * abs(i - j)) if name == "kerple-log" else power
                assert bias[0, head, row, column].item() == pytest.approx(expected, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("values", [False, True])
def test_shaw_equals_its_formula(values: bool) -> None:
    encoding = build("shaw", reach=5, values=values)
    q = torch.randn(2, 4, LENGTH, 8)
    bias, weights = encoding.bias(q, q, IDS, IDS), torch.rand(2, 4, LENGTH, LENGTH)
    mixed = encoding.mix(weights, IDS, IDS)
    assert (mixed is None) is not values
    clip = [[max(-5, min(5, j - i)) + 5 for j in IDS[0].tolist()] for i in IDS[0].tolist()]
    for row in range(LENGTH):
        for column in range(LENGTH):
            expected = (q[:, :, row] * encoding.keys[clip[row][column]]).sum(-1) / math.sqrt(8)
            torch.testing.assert_close(bias[:, :, row, column], expected, atol=1e-5, rtol=1e-5)
        if mixed is not None:
            pairs = sum(weights[:, :, row, c, None] * encoding.values[clip[row][c]] for c in range(LENGTH))
            torch.testing.assert_close(mixed[:, :, row], pairs, atol=1e-5, rtol=1e-5)


def test_clipped_equals_its_formula() -> None:
    encoding = build("clipped", reach=2, scale=4.0)
    torch.nn.init.normal_(encoding.table)
    ids = torch.tensor([[0, 3, 1, 1, 2, 9]])
    bias = bias_of(encoding, ids)
    for row, i in enumerate(ids[0].tolist()):
        for column, j in enumerate(ids[0].tolist()):
            expected = 4.0 * encoding.table[:, max(-2, min(2, i - j)) + 2]
            torch.testing.assert_close(bias[0, :, row, column], expected.detach())


def test_hard_alibi_hides_what_is_outside_each_head_s_window() -> None:
    bias = bias_of(build("hard-alibi", windows=(1, 3, 0)), torch.arange(6)[None])[0]
    visible = (lower(bias + 1) == 1).sum(-1)  # keys seen by each query
    assert visible.tolist() == [[1] * 6, [1, 2, 3, 3, 3, 3], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]]


def test_cope_equals_its_formula() -> None:
    encoding = build("cope", reach=3)
    q, k = torch.randn(1, 4, 6, 8), torch.randn(1, 4, 6, 8)
    bias = encoding.bias(q, k, IDS[:, :6], IDS[:, :6]).detach()
    for head in range(4):
        for i in range(6):
            gates = [1 / (1 + math.exp(-(q[0, head, i] @ k[0, head, j]).item() / math.sqrt(8))) for j in range(i + 1)]
            for j in range(i + 1):
                position = min(sum(gates[j:]), 3.0)
                below, above = math.floor(position), math.ceil(position)
                scores = [(q[0, head, i] @ encoding.vectors[p]).item() / math.sqrt(8) for p in (below, above)]
                expected = scores[0] * (1 - (position - below)) + scores[1] * (position - below)
                assert bias[0, head, i, j].item() == pytest.approx(expected, abs=1e-5)
