"""Pictures inside the page: drawings as small SVG data that no other picture can clash with."""

import base64
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Picture:
    """An image as a data URI, with its size in CSS pixels so that the page does not jump while it loads."""

    uri: str
    width: int
    height: int


def picture(svg: Path) -> Picture:
    """A drawing as it stands in an img element: its ids are its own, its letters are outlines, nothing is fetched."""
    text = compact(svg.read_text(encoding="utf-8"))
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)
    width, height = (round(float(points) * 4 / 3) for points in size.groups()) if size else (720, 480)
    return Picture("data:image/svg+xml;base64," + base64.b64encode(text.encode()).decode(), width, height)


def compact(svg: str) -> str:
    """The same drawing in fewer bytes: no comments, no metadata, coordinates to a hundredth of a point.

    >>> compact('<svg><!-- axis --><path d="M 1.23456 2 L 10.00001 3.5"/></svg>')
    '<svg><path d="M 1.23 2 L 10 3.5"/></svg>'
    """
    svg = re.sub(r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r' (?:d|x|y)="[^"]*"', lambda match: re.sub(r"-?\d+\.\d+", _rounded, match[0]), svg)
    return re.sub(r"\n\s*", "\n", svg)


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
