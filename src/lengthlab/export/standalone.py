"""A model that lengthlab trained, in torch alone: nothing else is needed but this file and model.safetensors beside it.

python model.py 31415926 27182818

from model import load
model = load("model.safetensors")
model.add("12", "34")                       # greedy decoding
logits = model(tokens, *positions)          # (B, T, vocabulary); ids (1 or B, T) for each encoding
"""

from __future__ import annotations

import json
import math
import struct
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

BEGIN, END = 11, 12  # tokens 0-9 are the digits


class Shape:
    """What an encoding may know of the model it is built into."""

    def __init__(self, width: int, heads: int) -> None:
        self.width, self.heads, self.head_width = width, heads, width // heads


class Encoding(nn.Module):
    """What position ids (1 or B, T) do inside the model: four hooks, which do nothing unless they are overridden."""

    def __init__(self, options: SimpleNamespace | None = None, shape: Shape | None = None) -> None:
        super().__init__()

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        return q, k

    def bias(self, q: Tensor | None, k: Tensor | None, q_positions: Tensor, k_positions: Tensor) -> Tensor | None:
        return None

    def mix(self, weights: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor | None:
        return None


def distances(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    """i - j for every query i and key j: (1 or B, Tq, Tk)."""
    return q_positions[:, :, None] - k_positions[:, None, :]


# An exported model.py has here, from lengthlab's own sources or a plugin's, what its model chooses by name.
ENCODINGS: dict[str, type[Encoding]] = {}
weigh = torch.softmax


def load(path: str | Path) -> Model:
    """Read a safetensors file: the length of its head, the head as JSON, then the numbers."""
    data = Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    head = json.loads(data[8 : 8 + size])
    metadata = head.pop("__metadata__")
    weights = {}
    for name, entry in head.items():
        start, end = entry["data_offsets"]
        numbers = torch.frombuffer(bytearray(data[8 + size + start : 8 + size + end]), dtype=torch.float32)
        weights[name] = numbers.reshape(entry["shape"])
    return Model(json.loads(metadata["config"]), json.loads(metadata["vocabulary"]), weights)


class Model(nn.Module):
    """Embeddings, blocks of attention and GeGLU with norms before and after each, output."""

    def __init__(self, config: dict, vocabulary: list[str], weights: dict[str, Tensor]) -> None:
        super().__init__()
        self.config, self.vocabulary, self.options = config, vocabulary, config["model"]
        self.pairs = [{"positions": config["positions"], "encoding": config["encoding"]}, *config["also"]]
        for name, tensor in weights.items():
            if "encodings." not in name:
                self.register_buffer(name.replace(".", "_"), tensor)
        self.encodings = nn.ModuleList(nn.ModuleList(self.build(pair, weights)) for pair in range(len(self.pairs)))

    def build(self, pair: int, weights: dict[str, Tensor]) -> list[Encoding]:
        """The encoding of a pair: one that all layers share, or one for each."""
        options = SimpleNamespace(**self.pairs[pair]["encoding"])
        built = []
        for layer in range(1 if options.shared else self.options["layers"]):
            encoding = ENCODINGS[options.kind](options, Shape(self.options["width"], self.options["heads"]))
            place = f"blocks.{layer}.attention.encodings.{pair}." if layer else f"encodings.{pair}."
            own = {name.removeprefix(place): part for name, part in weights.items() if name.startswith(place)}
            encoding.load_state_dict(own, strict=False)  # buffers are computed
            built.append(encoding.requires_grad_(False))
        return built

    def weight(self, name: str) -> Tensor:
        return self.get_buffer(name.replace(".", "_"))

    def forward(self, tokens: Tensor, *positions: Tensor) -> Tensor:
        """Logits (B, T, vocabulary) of the token after each of `tokens` (B, T)."""
        options, columns = self.options, tokens.shape[1]
        x = self.weight("embedding.weight")[tokens]
        for encoding, ids in self.at(0, positions):
            x = encoding.embed(x, ids)
        index = torch.arange(columns, device=tokens.device)
        hidden = (index > index[:, None])[None, None]  # (1, 1, T, T)
        if options["mask"] == "prefix":  # the question, up to =, sees itself both ways
            equals = (tokens == self.vocabulary.index("=")).long()
            question = equals.cumsum(1) - equals == 0
            hidden = hidden & ~(question[:, None, :, None] & question[:, None, None, :])
        factor = options["logit_factor_at_test"] or options["logit_factor"]
        if options["log_scaling"] != "none":
            factor = factor * torch.log(index[:, None] + 2.0) / math.log(options["log_reference"] + 1)
        start = x
        for step in range(options["layers"] * options["loops"]):
            layer = step % options["layers"]
            if step and layer == 0 and options["injection"]:
                x = x + start
            attended = self.attention(self.norm(x, f"blocks.{layer}.norms.0"), positions, layer, hidden, factor)
            x = x + self.norm(attended, f"blocks.{layer}.norms.1")
            fed = self.feedforward(self.norm(x, f"blocks.{layer}.norms.2"), layer)
            x = x + self.norm(fed, f"blocks.{layer}.norms.3")
        tied = options["tied"]
        output = self.weight("embedding.weight" if tied else "output.weight")
        return self.norm(x, "norm") * (1 / math.sqrt(options["width"]) if tied else 1.0) @ output.T

    def norm(self, x: Tensor, name: str) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight(f"{name}.weight")

    def feedforward(self, x: Tensor, layer: int) -> Tensor:
        gate, up, down = (self.weight(f"blocks.{layer}.feedforward.{name}.weight") for name in ("gate", "up", "down"))
        return (F.gelu(x @ gate.T, approximate="tanh") * (x @ up.T)) @ down.T

    def attention(self, x: Tensor, positions: tuple, layer: int, hidden: Tensor, factor: float | Tensor) -> Tensor:
        place, heads = f"blocks.{layer}.attention", self.options["heads"]
        q, k, v = (
            (x @ self.weight(f"{place}.{name}.weight").T).unflatten(-1, (heads, -1)).transpose(1, 2) for name in "qkv"
        )  # (B, H, T, D)
        for encoding, ids in self.at(layer, positions):
            q, k = encoding.rotate(q, k, ids, ids)
        logits = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        for encoding, ids in self.at(layer, positions):
            extra = encoding.bias(q, k, ids, ids)
            logits = logits if extra is None else logits + extra
        logits = logits * factor
        if self.options["log_scaling"] == "learned":
            logits = logits * self.weight(f"{place}.log_scale")
        weights = weigh(logits.masked_fill(hidden, float("-inf")), -1)
        attended = weights @ v
        for encoding, ids in self.at(layer, positions):
            extra = encoding.mix(weights, ids, ids)
            attended = attended if extra is None else attended + extra
        return attended.transpose(1, 2).flatten(2) @ self.weight(f"{place}.out.weight").T

    def at(self, layer: int, positions: tuple[Tensor, ...]) -> list[tuple[Encoding, Tensor]]:
        """The encodings at work in a layer, each with its ids."""
        pairs = cast("list[list[Encoding]]", list(self.encodings))
        return [(each[layer % len(each)], ids) for each, ids in zip(pairs, positions, strict=True)]

    # ---- sums

    def question(self, a: str, b: str) -> tuple[list[int], list[list[int]], list[int]]:
        """The tokens of a sum up to =, the ids of every token to come for each encoding, and the answer's places."""
        written, width = self.config["format"], max(len(a), len(b)) + 1
        sums = self.config["task"]["kind"] == "addition" and self.config["task"]["operands"] == 2
        if not sums or written["kind"] != "equation" or written["padding"] != "carry":
            raise NotImplementedError("only plain sums with room for the carry are written here; give tokens and ids")
        first, units_first = len(self.vocabulary) - written["hints"], written["order"] == "reversed"
        if written["hints"] and written["hints"] < width:
            raise ValueError(f"this model's hints mark at most {written['hints'] - 1} digits")
        up, down = range(width), range(width - 1, -1, -1)
        operand_places = up if units_first else down
        answer_places = list(down if written["order"] == "standard" else up)
        tokens, columns = [BEGIN], [("begin", -1)]  # what stands in each column, and at which place
        each = ["hint", "digit"] if written["hints"] else ["digit"]
        for symbol, number in (("+", a), ("=", b)):
            for place in operand_places:
                hint = [first + (place if units_first else width - 1 - place)] if written["hints"] else []
                tokens += [*hint, int(number[::-1][place]) if place < len(number) else 0]
                columns += [(role, place) for role in each]
            tokens.append(self.vocabulary.index(symbol))
            columns.append((symbol, -1))
        columns += [(role, place) for place in answer_places for role in each] + [("end", -1)]
        ids = [position_ids(pair["positions"], columns) for pair in self.pairs]
        return tokens, ids, answer_places

    @torch.no_grad()
    def add(self, a: str, b: str) -> str:
        """The model's own answer, digit by digit; what is not a digit is shown as it is."""
        tokens, ids, places = self.question(a, b)
        hints, start = bool(self.config["format"]["hints"]), len(tokens)
        for _ in range(len(places) * (2 if hints else 1)):
            at = [torch.tensor([pair[: len(tokens)]]) for pair in ids]
            tokens.append(int(self(torch.tensor([tokens]), *at)[0, -1].argmax()))
            if tokens[-1] == END:
                break
        written = [self.vocabulary[token] for token in tokens[start:][hints :: 1 + hints]]
        digits = dict(zip(places, written, strict=False))
        return "".join(digits.get(place, "?") for place in sorted(places, reverse=True)).lstrip("0") or "0"


def position_ids(options: dict, columns: list[tuple[str, int]]) -> list[int]:
    """The ids of every token at test; those that are drawn at random in lengthlab are evenly spread here."""
    kind, last = options["kind"], len(columns) - 1
    if kind == "digit-place":
        return [place + 1 if role == "digit" else 0 for role, place in columns]
    if kind == "coupled":
        units = 1 if options["symbols"] == "after" else 2
        top = max(place for _, place in columns) + units + 1
        lower = {"before": {"+": 1, "=": 1, "end": 0}, "after": {}, "around": {"=": 1}}[options["symbols"]]
        others = {"begin": 0, "+": top, "=": top, "end": top} | lower
        return [place + units if place >= 0 else others[role] for role, place in columns]
    if kind == "randomized" and options["at_test"]:
        return [index * (options["maximum"] - 1) // last for index in range(last + 1)]
    if kind in ("sequential", "offset", "randomized"):
        return list(range(last + 1))
    raise NotImplementedError(f"{kind} ids are not made here; give tokens and ids")


if __name__ == "__main__":
    if len(sys.argv) != 3 or not all(number.isdecimal() for number in sys.argv[1:]):
        sys.exit("usage: python model.py 123 456")
    try:
        print(load(Path(__file__).with_name("model.safetensors")).add(*sys.argv[1:]))
    except (NotImplementedError, ValueError) as error:
        sys.exit(f"model.py: {error}")
