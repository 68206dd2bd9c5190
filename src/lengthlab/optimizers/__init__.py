"""Optimizers by name: each turns a model into torch optimizers that step together."""

from typing import TYPE_CHECKING

from lengthlab.config.registry import Registry

OPTIMIZERS = Registry("optimizer", __name__, default="adamw", options="options:OPTIONS")
OPTIMIZERS.add("adamw", "adamw:AdamW", "AdamW for everything, as in the paper")
OPTIMIZERS.add("lion", "lion:LionChoice", "Lion for everything: the sign of the momentum (Chen et al. 2023)")
OPTIMIZERS.add("muon", "muon:MuonAndAdamW", "Muon for the matrices of the blocks, AdamW for the rest")
__getattr__, __dir__ = OPTIMIZERS.class_named, OPTIMIZERS.attributes  # classes are imported when they are asked for

if TYPE_CHECKING:  # table: optimizers
    from lengthlab.optimizers.adamw import AdamW as AdamW
    from lengthlab.optimizers.lion import LionChoice as LionChoice
    from lengthlab.optimizers.muon import MuonAndAdamW as MuonAndAdamW
# end
