"""Speed: training beside rivals as bars, the cost of long sums as curves."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lengthlab.figures.panels import finish, panels
from lengthlab.figures.style import COLOURS, DIGITS, style


def training_speed(result: dict[str, Any], path: Path) -> list[Path]:
    """Tokens per second of each contestant at each length, with quartiles; ours in colour. Returns the files."""
    lengths = result["lengths"]
    most = max(len(one["rows"]) for one in lengths.values())
    with style():
        figure, every = panels(len(lengths), height=0.3 * most + 0.6, sharex=False)
        for axes, (digits, one) in zip(every, lengths.items(), strict=True):
            rows = one["rows"][::-1]  # the first at the top
            for index, row in enumerate(rows):
                colour = COLOURS[0] if row["name"].startswith("lengthlab") else "#BBBBBB"
                speed = row["tokens_per_second"]
                spread = [[max(0.0, speed - row["low"])], [max(0.0, row["high"] - speed)]]
                axes.barh(index, speed, xerr=spread, color=colour, ecolor="#444444", height=0.6)
            axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
            axes.grid(axis="y", visible=False)
            axes.grid(axis="x", visible=True)
            axes.xaxis.set_major_formatter("{x:,.0f}")
            axes.set(xlabel="tokens trained per second", xlim=(0, None), title=f"{digits} digits")
        return finish(figure, path, f"{result['recipe']}, {result['threads']} thread(s), {result['machine']}")


def evaluation_cost(rows: Sequence[dict[str, Any]], path: Path, title: str) -> list[Path]:
    """Seconds and memory of one sum by its length, when the model is right and when it is wrong. Returns the files."""
    with style():
        figure, (time_axes, memory_axes) = panels(2, sharey=False)
        for right, colour, label in ((True, COLOURS[0], "right: one pass"), (False, COLOURS[1], "wrong: decoded")):
            mine = [row for row in rows if row["right"] == right]
            digits = [row["digits"] for row in mine]
            time_axes.plot(digits, [row["seconds"] for row in mine], color=colour, marker="o", label=label)
            memory_axes.plot(digits, [row["memory_bytes"] / 2**20 for row in mine], color=colour, marker="o")
        time_axes.set(xlabel=DIGITS, ylabel="seconds for a sum", ylim=(0, None))
        memory_axes.set(xlabel=DIGITS, ylabel="memory of the process, MiB", ylim=(0, None))
        time_axes.legend()
        return finish(figure, path, title)
