"""Formats write problems as tokens and read answers back.

A format lays out the columns of a batch once for each length (`layout.py`): which column holds which
digit of which number, where the hints stand, where the answer begins. Filling the columns with a
batch of problems is then a single array operation (`format.py`).
"""

from typing import TYPE_CHECKING

from lengthlab.config.registry import Registry

FORMATS = Registry("format", __name__, default="equation")
FORMATS.add("equation", "equation:Equation", "the operands, then the answer: 42+39=81")
FORMATS.add("interleaved", "interleaved:Interleaved", "the operands' digits of each place side by side: 43,29=81")
FORMATS.add("scratchpad", "scratchpad:Scratchpad", "each digit of the answer with its carry: 24+93=1/18/0")
__getattr__, __dir__ = FORMATS.class_named, FORMATS.attributes  # classes are imported when they are asked for

if TYPE_CHECKING:  # table: formats
    from lengthlab.formats.equation import Equation as Equation
    from lengthlab.formats.interleaved import Interleaved as Interleaved
    from lengthlab.formats.scratchpad import Scratchpad as Scratchpad
# end
