"""Encodings decide what a position id does inside the model: nothing, an embedding, a rotation, a bias."""

from lengthlab.registry import Registry

ENCODINGS = Registry("encoding", __name__)
ENCODINGS.add("none", "none:NoEncoding", "no position information at all (NoPE)")
ENCODINGS.add("fire", "fire:Fire", "bias: a learned function of the normalised log distance (FIRE, Li et al. 2023)")
