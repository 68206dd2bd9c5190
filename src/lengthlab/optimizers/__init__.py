"""Optimizers by name: each turns a model into torch optimizers that step together."""

from lengthlab.config.registry import Registry

OPTIMIZERS = Registry("optimizer", __name__, default="adamw", options="options:OPTIONS")
OPTIMIZERS.add("adamw", "adamw:AdamW", "AdamW for everything, as in the paper")
OPTIMIZERS.add("lion", "lion:LionChoice", "Lion for everything: the sign of the momentum (Chen et al. 2023)")
OPTIMIZERS.add("muon", "muon:MuonAndAdamW", "Muon for the matrices of the blocks, AdamW for the rest")
__getattr__ = OPTIMIZERS.class_named  # every registered class is an attribute of this package, imported when asked for
