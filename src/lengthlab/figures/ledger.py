"""What the systems of a figure are given beyond the text of their problems, in small print under it."""

import textwrap
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from lengthlab.figures.style import QUIET

Aids = Mapping[str, Sequence[str]]  # by label, the sentences of the aid ledger
COLUMNS = 106  # characters of small print that fit under a figure


def ledger(aids: Aids) -> list[str]:
    """What all are given first, once; then what each is given beyond that.

    >>> ledger({"A": ["hints", "digits reversed"], "B": ["digits reversed"], "C": ["digits reversed"]})
    ['Given to all: digits reversed', 'Given to A: hints', 'Given to B and C: nothing more']
    >>> ledger({"A": ["hints"]})
    ['Given to all: hints']
    """
    lists = list(aids.values())
    shared = [sentence for sentence in lists[0] if all(sentence in others for others in lists)] if lists else []
    alike: dict[str, list[str]] = {}
    for label, given in aids.items():
        alike.setdefault("; ".join(sentence for sentence in given if sentence not in shared), []).append(label)
    lines = [f"Given to all: {'; '.join(shared)}"] if shared else []
    if list(alike) == [""]:
        return lines or ["Given to all: nothing"]
    nothing = "nothing more" if shared else "nothing"
    return lines + [f"Given to {_listed(labels)}: {own or nothing}" for own, labels in alike.items()]


def _listed(labels: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(labels[:-1]), labels[-1])))


def print_ledger(figure: Figure, aids: Aids) -> None:
    """Write the ledger under a figure that is complete; nothing in the figure moves."""
    if not aids:
        return
    figure.draw_without_rendering()
    figure.set_layout_engine(None)
    for legend in figure.legends:  # or they would follow the lower edge down
        legend.set_bbox_to_anchor((0, 0, 1, 1), transform=figure.transFigure)
    bottom = figure.get_tightbbox().y0 / figure.get_figheight() - 0.015
    lines = [part for line in ledger(aids) for part in textwrap.wrap(line, COLUMNS, subsequent_indent="   ")]
    figure.text(0.01, bottom, "\n".join(lines), ha="left", va="top", fontsize=6.5, color=QUIET, linespacing=1.35)
