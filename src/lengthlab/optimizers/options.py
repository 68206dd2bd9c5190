"""The options of the optimizers, apart from the optimizers themselves so that a config can be read without torch."""

from typing import Annotated

from pydantic import Field

from lengthlab.config.sections import Options

Rate = Annotated[float, Field(gt=0, le=1e30)]  # more is infinite in float32
Decay = Annotated[float, Field(ge=0, le=1e30)]
Beta = Annotated[float, Field(ge=0, lt=1)]


class AdamWOptions(Options):
    """The paper states the rate and the decay; it leaves the betas open."""

    rate: Rate = Field(default=3e-4, description="peak learning rate")
    weight_decay: Decay = Field(default=0.1, description="decay of the matrices that AdamW updates")
    betas: tuple[Beta, Beta] = Field(default=(0.9, 0.98), description="decay of the running moments")


class LionOptions(Options):
    """Lion wants a smaller rate and a larger decay than AdamW; these are a third and thrice the paper's AdamW."""

    rate: Rate = Field(default=1e-4, description="peak learning rate")
    weight_decay: Decay = Field(default=0.3, description="decay of the matrices")
    betas: tuple[Beta, Beta] = Field(
        default=(0.9, 0.99), description="interpolation of the update, decay of the momentum"
    )


class MuonOptions(AdamWOptions):
    """`rate`, `weight_decay` and `betas` are AdamW's; Muon has its own rate and decay."""

    rate: Rate = Field(default=2e-3, description="peak learning rate of AdamW")
    muon_rate: Rate = Field(default=8e-3, description="peak learning rate of Muon")
    muon_weight_decay: Decay = Field(default=0.1, description="decay of the matrices that Muon updates")


OPTIONS = {"adamw": AdamWOptions, "lion": LionOptions, "muon": MuonOptions}
