"""Position ids decide which number stands at a token; encodings decide what that number does."""

from lengthlab.registry import Registry

POSITIONS = Registry("positions", __name__)
POSITIONS.add("sequential", "sequential:Sequential", "0, 1, 2, ... from the left")
POSITIONS.add("randomized", "randomized:Randomized", "a sorted random sample of a larger range (Ruoss et al. 2023)")
