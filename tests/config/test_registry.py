"""Registries: every entry loads, is described, and unknown names are refused."""

from importlib import import_module

import pytest

from lengthlab.config.axes import AXES, CHOICES
from lengthlab.config.catalogue import catalogue
from lengthlab.config.registry import Entry, Registry
from lengthlab.config.sections import Options
from lengthlab.errors import UserError

ENTRIES = [
    pytest.param(registry, entry, id=f"{axis}-{entry.name}")
    for axis, registry in AXES.items()
    for entry in registry.entries()
]


@pytest.mark.parametrize(("registry", "entry"), ENTRIES)
def test_every_entry_loads_with_its_options_and_a_docstring(registry: Registry, entry: Entry) -> None:
    name = entry.name
    loaded = registry[name].load()
    assert issubclass(loaded.options_class, Options)
    assert loaded.options_class is registry[name].options_class, "listed apart from the class, they are the same"
    assert loaded.options_class(kind=name).kind == name
    assert loaded.__doc__
    description = registry[name].description
    assert description and "\n" not in description and not description.endswith(".")


@pytest.mark.parametrize("registry", AXES.values(), ids=AXES)
def test_every_class_is_an_attribute_of_its_package_that_dir_lists(registry: Registry) -> None:
    package = import_module(registry.package)
    for entry in registry.entries():
        assert getattr(package, entry.class_name) is entry.load() and entry.class_name in dir(package)
    assert "__doc__" in dir(package)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        package.Nothing  # noqa: B018


def test_unknown_and_double_names_are_refused() -> None:
    registry = Registry("thing", "lengthlab", default="one")
    registry.add("one", "errors:UserError", "a thing")
    with pytest.raises(UserError, match=r"unknown thing 'on'; did you mean one\?"):
        registry["on"]
    with pytest.raises(ValueError, match="registered twice"):
        registry.add("one", "errors:UserError", "again")


def test_the_catalogue_lists_every_axis() -> None:
    listed = catalogue()
    assert set(listed) == {*AXES, *CHOICES, "figures", "recipes", "sizes"}
    assert all(set(item) == {"name", "description"} for items in listed.values() for item in items)
