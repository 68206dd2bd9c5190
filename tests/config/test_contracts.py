"""Every contract over everything registered, and that each of them can be broken."""

import pytest

from lengthlab.config.axes import AXES, CHOICES
from lengthlab.config.contracts import Contract, Options, check_variant, contracts_of, options_to_try

# Options besides the default under which a variant must keep the contracts too.
MORE: dict[str, list[Options]] = {
    "addition": [
        {"lengths": "independent"},
        {"operands": 3},
        {"operands": 11, "lengths": "independent"},
        {"operands": 25},
    ],
    "multiplication": [{"second": 0}, {"second": 3}],
    "offset": [{"maximum": 9, "per": "sequence"}],
    "randomized": [{"per": "sequence"}, {"at_test": False}],
    "digit-place": [{"per": "sequence"}],
    "coupled": [{"symbols": "after"}, {"per": "sequence"}],
}
CASES = [
    pytest.param(name, contract, options, id="-".join([name, contract.__name__, *map(str, options.values())]))
    for axis, registry in (AXES | CHOICES).items()
    for name in registry.names()
    for contract in contracts_of(axis)
    for options in [*options_to_try(axis, name), *MORE.get(name, [])]
]


@pytest.mark.parametrize(("name", "contract", "options"), CASES)
def test_everything_registered_keeps_its_contracts(name: str, contract: Contract, options: Options) -> None:
    contract(name, options)


def test_findings_name_what_was_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    from lengthlab.tasks.sequences import Sort

    monkeypatch.setattr(Sort, "oracle", lambda self, *operands: operands[0])
    broken = [finding for finding in check_variant("tasks", "sort") if finding.failure]
    assert [finding.contract for finding in broken] == ["answers_are_the_oracle_s"]
    assert broken[0].failure is not None and "AssertionError" in broken[0].failure
