"""Every option of a config."""

import pytest

from lengthlab.config.load import load_config
from lengthlab.config.names import all_options


@pytest.mark.parametrize("recipe", ["smoke", "zhou2024"])
def test_every_listed_option_can_be_set_by_its_dotted_name(recipe: str) -> None:
    for option in all_options():
        name, value = option["name"], option["default"]
        section, variant = name.rpartition(".")[0].removesuffix(".spaces"), option.get("variant", "").split(", ")[0]
        chosen = [f"{section}.kind={variant}"] if variant else []
        load_config(recipe, [*chosen, f"{name}={value}"])
    assert load_config(recipe, ["task.operands=3"]).task.model_dump()["operands"] == 3
