"""Sections of a config: strict pydantic models whose errors name the nearest valid key."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from lengthlab.errors import suggestion


class Section(BaseModel):
    """A part of a config. Unknown keys are refused with the nearest known one."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, data: Any) -> Any:
        if isinstance(data, dict):
            for key in data:
                if key not in cls.model_fields:
                    raise PydanticCustomError(
                        "unknown_key",
                        "no such key; {hint}",
                        {"key": str(key), "hint": suggestion(str(key), cls.model_fields)},
                    )
        return data


class Options(Section):
    """The options of one registered variant; `kind` is its registered name."""

    kind: str


class EncodingOptions(Options):
    """Options that every encoding understands."""

    shared: bool = Field(default=True, description="one set of weights for all layers, or one for each")
