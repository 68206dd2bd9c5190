"""Position ids decide which number stands at a token; encodings decide what that number does."""

from typing import TYPE_CHECKING

from lengthlab.config.registry import Registry

POSITIONS = Registry("positions", __name__, default="sequential")
POSITIONS.add("sequential", "sequential:Sequential", "0, 1, 2, ... from the left")
POSITIONS.add("offset", "sequential:Offset", "k, k+1, k+2, ... with a random k in training, 0 at test")
POSITIONS.add("randomized", "randomized:Randomized", "a sorted random sample of a larger range (Ruoss et al. 2023)")
POSITIONS.add(
    "digit-place", "places:DigitPlace", "the place of a digit inside its number (Abacus, McLeish et al. 2024)"
)
POSITIONS.add("coupled", "places:Coupled", "the same id for the same place in all numbers (Cho et al. 2024)")

POSITIONS.also_known_as("randomized", "random")
POSITIONS.also_known_as("digit-place", "Abacus")
POSITIONS.also_known_as("coupled", "coupling", "position coupling")
EMBEDDED = ("digit-place", "coupled")  # with a learned embedding they are Abacus and position coupling, as published
__getattr__, __dir__ = POSITIONS.class_named, POSITIONS.attributes  # classes are imported when they are asked for

if TYPE_CHECKING:  # table: positions
    from lengthlab.positions.places import Coupled as Coupled
    from lengthlab.positions.places import DigitPlace as DigitPlace
    from lengthlab.positions.randomized import Randomized as Randomized
    from lengthlab.positions.sequential import Offset as Offset
    from lengthlab.positions.sequential import Sequential as Sequential
# end
