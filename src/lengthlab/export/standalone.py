"""A model that lengthlab trained, in torch alone: nothing else is needed but this file and model.safetensors beside it.

python model.py 31415926 27182818

from model import load
model = load("model.safetensors")
model.add("12", "34")                       # greedy decoding
logits = model(tokens, *positions)          # (B, T, vocabulary); ids (1 or B, T) for each encoding
"""

import json
import math
import struct
import sys
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

BEGIN, END = 11, 12  # tokens 0-9 are the digits


def load(path: str | Path) -> "Model":
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
            self.register_buffer(name.replace(".", "_"), tensor)
        self.names = set(weights)

    def weight(self, name: str) -> Tensor:
        return self.get_buffer(name.replace(".", "_"))

    def encoding_weight(self, pair: int, layer: int, name: str) -> Tensor:
        """Of an encoding that layers share, or of this layer's own."""
        own = f"blocks.{layer}.attention.encodings.{pair}.{name}"
        return self.weight(own if own in self.names else f"encodings.{pair}.{name}")

    def forward(self, tokens: Tensor, *positions: Tensor) -> Tensor:
        """Logits (B, T, vocabulary) of the token after each of `tokens` (B, T)."""
        options, columns = self.options, tokens.shape[1]
        x = self.weight("embedding.weight")[tokens]
        for pair, ids in enumerate(positions):
            x = self.embed(pair, x, ids)
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
        for pair, ids in enumerate(positions):
            q, k = self.rotate(pair, q, ids), self.rotate(pair, k, ids)
        logits = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        for pair, ids in enumerate(positions):
            logits = logits + self.bias(pair, layer, q, k, ids)
        logits = logits * factor
        if self.options["log_scaling"] == "learned":
            logits = logits * self.weight(f"{place}.log_scale")
        logits = logits.masked_fill(hidden, float("-inf"))
        weights = stick_breaking(logits) if self.options["attention"] == "stick-breaking" else logits.softmax(-1)
        attended = weights @ v
        for pair, ids in enumerate(positions):
            attended = attended + self.mix(pair, layer, weights, ids)
        return attended.transpose(1, 2).flatten(2) @ self.weight(f"{place}.out.weight").T

    # ---- what position ids do, by the kind of encoding

    def embed(self, pair: int, x: Tensor, ids: Tensor) -> Tensor:
        options = self.pairs[pair]["encoding"]
        if options["kind"] == "learned":
            return x + self.encoding_weight(pair, 0, "table.weight")[ids]
        if options["kind"] == "sinusoidal":
            width = x.shape[-1]
            exponents = torch.arange(0, width, 2, dtype=torch.float64, device=x.device) / width
            angles = ids[..., None] * torch.exp(-exponents * math.log(options["base"]))
            return x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[..., :width].to(x.dtype)
        return x

    def rotate(self, pair: int, x: Tensor, ids: Tensor) -> Tensor:
        options = self.pairs[pair]["encoding"]
        if options["kind"] != "rope":
            return x
        rotated = max(2, 2 * int(options["share"] * x.shape[-1] / 2))
        half, angles = rotated // 2, ids[:, None, :, None] * rope_frequencies(options, rotated).to(x.device)
        amplitude = 0.1 * math.log(options["factor"]) + 1 if options["scaling"] == "yarn" else 1.0
        cosine, sine = ((amplitude * wave).to(x.dtype) for wave in (angles.cos(), angles.sin()))
        first, second, rest = x[..., :half], x[..., half:rotated], x[..., rotated:]
        return torch.cat([first * cosine - second * sine, second * cosine + first * sine, rest], dim=-1)

    def bias(self, pair: int, layer: int, q: Tensor, k: Tensor, ids: Tensor) -> Tensor:
        """What is added to the scaled logits (1 or B, H, T, T)."""
        options = self.pairs[pair]["encoding"]
        kind, heads = options["kind"], self.options["heads"]
        distance = ids[:, :, None] - ids[:, None, :]  # (1 or B, T, T): query less key

        def own(name: str) -> Tensor:
            return self.encoding_weight(pair, layer, name)

        if kind == "clipped":
            reach = options["reach"]
            return options["scale"] * own("table")[:, distance.clamp(-reach, reach) + reach].transpose(0, 1)
        if kind == "fire":
            c, threshold = own("c").abs(), (own("threshold") * options["threshold"]).abs()
            longest = torch.log1p(c * torch.maximum(ids.to(c.dtype), threshold))[:, :, None]
            share = (torch.log1p(c * distance.abs()) / (longest + 1e-6))[..., None]
            hidden = torch.relu(share * own("hidden.weight")[:, 0] + own("hidden.bias"))
            return (hidden @ own("output.weight").T + own("output.bias")).permute(0, 3, 1, 2)
        if kind == "t5":
            half, near = options["buckets"] // 2, distance.clamp(min=0)
            ratio = torch.log(near.clamp(min=half).float() / half) / math.log(options["reach"] / half)
            far = (half + (ratio * half).long()).clamp(max=options["buckets"] - 1)
            return own("table")[:, torch.where(near < half, near, far)].transpose(0, 1)
        if kind == "alibi":
            return -torch.tensor(alibi_slopes(heads), device=q.device)[:, None, None] * distance.abs()[:, None]
        if kind == "hard-alibi":
            chosen = [*(options["windows"] or range(1, heads // 2 + 1)), *[0] * heads][:heads]
            windows = torch.tensor([window or 2**62 for window in chosen], device=q.device)[:, None, None]
            return (distance.abs()[:, None] >= windows) * -1e4
        if kind == "kerple-log":
            r1, r2 = own("r1").clamp(min=1e-2), own("r2").clamp(min=1e-2)
            return -r1 * torch.log1p(r2 * distance.abs()[:, None])
        if kind == "kerple-power":
            r1, r2, far = own("r1").clamp(min=1e-2), own("r2").clamp(1e-2, 2.0), distance.abs()[:, None]
            return -r1 * torch.where(far == 0, 0.0, far.clamp(min=1).float() ** r2)
        if kind == "shaw":
            scores = q @ own("keys").T / math.sqrt(q.shape[-1])
            return scores.gather(-1, self.rows(options, distance).expand(*scores.shape[:3], -1))
        if kind == "cope":
            scale, vectors = 1 / math.sqrt(q.shape[-1]), own("vectors")
            gates = (scale * q @ k.transpose(-1, -2)).sigmoid().tril()
            position = gates.flip(-1).cumsum(-1).flip(-1).clamp(max=len(vectors) - 1)
            scores, below, above = scale * q @ vectors.T, position.floor().long(), position.ceil().long()
            share = position - below
            return scores.gather(-1, below) * (1 - share) + scores.gather(-1, above) * share
        return torch.zeros(1, 1, 1, 1, device=q.device)

    def mix(self, pair: int, layer: int, weights: Tensor, ids: Tensor) -> Tensor | float:
        """What is added to the attended values."""
        options = self.pairs[pair]["encoding"]
        if options["kind"] != "shaw" or not options["values"]:
            return 0.0
        rows = self.rows(options, ids[:, :, None] - ids[:, None, :]).expand_as(weights)
        by_row = weights.new_zeros(*weights.shape[:3], 2 * options["reach"] + 1).scatter_add(-1, rows, weights)
        return by_row @ self.encoding_weight(pair, layer, "values")

    @staticmethod
    def rows(options: dict, distance: Tensor) -> Tensor:
        return (-distance).clamp(-options["reach"], options["reach"])[:, None] + options["reach"]

    # ---- sums

    def question(self, a: str, b: str) -> tuple[list[int], list[list[int]], list[int]]:
        """The tokens of a sum up to =, the ids of every token to come for each encoding, and the answer's places."""
        written, width = self.config["format"], max(len(a), len(b)) + 1
        if written["kind"] != "equation" or written["padding"] != "carry" or self.config["task"]["kind"] != "addition":
            raise NotImplementedError("only plain equations with room for the carry are written here; give tokens")
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
    return list(range(last + 1))


def alibi_slopes(heads: int) -> list[float]:
    lower = 2 ** math.floor(math.log2(heads))
    between = [2 ** (-8 * k / (2 * lower)) for k in range(1, 2 * lower + 1, 2)]
    return [2 ** (-8 * k / lower) for k in range(1, lower + 1)] + between[: heads - lower]


def rope_frequencies(options: dict, rotated: int) -> Tensor:
    base, factor = options["base"], options["factor"]
    if options["scaling"] == "ntk" and rotated > 2:
        base *= factor ** (rotated / (rotated - 2))
    plain = 1 / base ** (torch.arange(0, rotated, 2).double() / rotated)  # exact for large ids
    if options["scaling"] == "linear":
        return plain / factor
    if options["scaling"] != "yarn":
        return plain
    low, high = (
        rotated * math.log(options["original"] / (turns * 2 * math.pi)) / (2 * math.log(base)) for turns in (32, 1)
    )
    low, high = max(math.floor(low), 0), min(math.ceil(high), rotated - 1)
    ramp = ((torch.arange(rotated // 2).double() - low) / max(high - low, 0.001)).clamp(0, 1)
    return plain * (1 - ramp) + plain / factor * ramp


def stick_breaking(logits: Tensor) -> Tensor:
    visible = torch.ones_like(logits, dtype=torch.bool).tril(-1)
    logits = logits.masked_fill(~visible, float("-inf"))
    passed_on = F.logsigmoid(-logits).masked_fill(~visible, 0.0)
    later = passed_on.flip(-1).cumsum(-1).flip(-1) - passed_on
    return torch.exp(F.logsigmoid(logits) + later)


if __name__ == "__main__":
    print(load(Path(__file__).with_name("model.safetensors")).add(*sys.argv[1:3]))
