"""What a setting may hold beyond plain numbers: a registered variant with its options, a name, lengths, a switch."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializeAsAny
from pydantic_core import PydanticCustomError

from lengthlab.config.axes import AXES
from lengthlab.config.lengths import LONGEST, parse_lengths
from lengthlab.config.registry import Registry
from lengthlab.config.sections import EncodingOptions, Options
from lengthlab.encodings import ENCODINGS
from lengthlab.formats import FORMATS
from lengthlab.optimizers import OPTIMIZERS
from lengthlab.positions import EMBEDDED, POSITIONS
from lengthlab.tasks import TASKS


def variant_of(registry: Registry) -> BeforeValidator:
    """Validate with the options of the registered variant that `kind` names; a bare name is short for its kind."""

    def validate(value: Any) -> Any:
        if isinstance(value, str):
            value = {"kind": value}
        if not isinstance(value, dict):
            return value  # an Options object, or a mistake that pydantic will name
        kind = _registered(registry, value.get("kind"), key="kind")
        return registry[kind].options_class.model_validate(value | {"kind": kind})

    return BeforeValidator(validate)


def one_of(registry: Registry) -> BeforeValidator:
    """Validate a registered name."""
    return BeforeValidator(lambda value: _registered(registry, value))


def _registered(registry: Registry, name: Any, **context: str) -> str:
    found = registry.canonical(name)
    if found is None:
        elsewhere = [(other.noun, known) for other in AXES.values() if (known := other.canonical(name))]
        hint = _elsewhere(registry, *elsewhere[0]) if elsewhere else registry.suggest(name)
        raise PydanticCustomError(
            "unknown_name", "no such {noun}; {hint}", {"noun": registry.noun, "hint": hint, **context}
        )
    return found


def _elsewhere(registry: Registry, noun: str, name: str) -> str:
    """The hint for a name that belongs to another axis; ids that papers name together with their encoding bring it."""
    both = registry is ENCODINGS and noun == POSITIONS.noun and name in EMBEDDED
    return f"did you mean {noun}={name}{' encoding=learned' if both else ''}?"


def default_of(registry: Registry) -> Any:
    """The options of the variant of a config that names none."""
    return registry[registry.default].options_class(kind=registry.default)


ChosenTask = Annotated[SerializeAsAny[Options], variant_of(TASKS)]
ChosenFormat = Annotated[SerializeAsAny[Options], variant_of(FORMATS)]
ChosenPositions = Annotated[SerializeAsAny[Options], variant_of(POSITIONS)]
ChosenEncoding = Annotated[SerializeAsAny[EncodingOptions], variant_of(ENCODINGS)]
ChosenOptimizer = Annotated[SerializeAsAny[Options], variant_of(OPTIMIZERS)]


def _lengths(value: Any) -> Any:
    """Lengths in order, each once."""
    if isinstance(value, str | int):
        return parse_lengths(str(value))
    whole = isinstance(value, list | tuple) and all(isinstance(length, int) for length in value)
    return sorted(set(value)) if whole else value


# In a list, or as text: 1-10,15
Lengths = Annotated[tuple[Annotated[int, Field(ge=1, le=LONGEST)], ...], BeforeValidator(_lengths)]


def _switch(value: Any) -> Any:
    """YAML reads a bare on or off as a truth value."""
    return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value


Switch = Annotated[Literal["auto", "on", "off"], BeforeValidator(_switch)]
