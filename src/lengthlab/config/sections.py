"""Sections of a config: strict pydantic models whose errors name the nearest valid key."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from lengthlab.errors import suggestion


class Section(BaseModel):
    """A part of a config. Unknown keys are refused with the nearest known one."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    short_forms: ClassVar[tuple[str, ...]] = ()  # keys that stand for several others and are replaced by them

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, data: Any) -> Any:
        given = data if isinstance(data, dict) else {}
        if unknown := [str(key) for key in given if key not in cls.model_fields]:
            near = [*cls.model_fields, *cls.short_forms]
            context = {"keys": unknown, "near": near, "hint": suggestion(unknown[0], near)}
            raise PydanticCustomError("unknown_key", "no such key; {hint}", context)
        for key, value in given.items():
            if isinstance(value, bool) and cls.model_fields[key].annotation in (int, float):
                context = {"key": str(key), "value": str(value)}
                raise PydanticCustomError("number", "should be a number (got {value})", context)
        return data


class Options(Section):
    """The options of one registered variant; `kind` is its registered name."""

    kind: str


class EncodingOptions(Options):
    """Options that every encoding understands."""

    shared: bool = Field(default=True, description="one set of weights for all layers, or one for each")
