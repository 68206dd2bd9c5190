"""Reading the claims."""

from functools import cache
from importlib import resources
from typing import Any

import yaml
from pydantic import ValidationError

from lengthlab.config.mistakes import first_mistake
from lengthlab.errors import UserError, suggestion
from lengthlab.paper.claim import Claim
from lengthlab.paper.comparisons import KINDS


@cache
def load_claims() -> dict[str, Claim]:
    """All claims by id, in the order of the file."""
    text = (resources.files("lengthlab.paper") / "claims.yaml").read_text(encoding="utf-8")
    claims: dict[str, Claim] = {}
    for entry in yaml.safe_load(text):
        claim = parse_claim(entry)
        if claim.id in claims:
            raise UserError(f"claim {claim.id} is defined twice")
        claims[claim.id] = claim
    return claims


def parse_claim(entry: dict[str, Any]) -> Claim:
    """A claim from plain data; the first mistake is reported in one sentence."""
    name, kind = entry.get("id", "without an id"), str(entry.get("kind"))
    if kind not in KINDS:
        raise UserError(f"claim {name}: unknown kind of comparison {kind!r}; {suggestion(kind, KINDS)}")
    try:
        return KINDS[kind].model_validate(entry)
    except ValidationError as error:
        raise UserError(f"claim {name}: {first_mistake(error)}") from None


def claims_about(experiment: str) -> list[Claim]:
    """The claims that an experiment's runs decide or its figure shows."""
    return [claim for claim in load_claims().values() if experiment in (claim.experiment, *claim.also)]


def claim_named(name: str) -> Claim:
    """A claim by its id."""
    claims = load_claims()
    if name not in claims:
        raise UserError(f"no claim {name!r}; {suggestion(name, claims)}")
    return claims[name]
