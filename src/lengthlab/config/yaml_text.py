"""YAML from anywhere, read without harm: limits on size, depth and aliases come before anything is built.

The one place where lengthlab reads YAML: recipes, `key=value` overrides, experiments and the config of a run folder.
Only plain data comes out: mappings, lists, text, numbers, true, false and null.
"""

from typing import Any

import yaml
from yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, ScalarEvent

LONGEST = 1_000_000  # characters
DEEPEST = 50  # lists and mappings within each other
MOST = 100_000  # values, each counted as often as aliases repeat it
LONGEST_NUMBER = 1_000  # characters; Python refuses to print integers of more than 4,300 digits


class NotYaml(ValueError):
    """The message says in a few words why a text is not YAML that can be read; `line` is where, if that is known."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


_Fastest: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is ten times as fast, where it is there


class _Loader(_Fastest):
    """Builds plain data and nothing else."""


_PLAIN = ("null", "bool", "int", "float", "str", "seq", "map")
_Loader.yaml_constructors = {
    tag: build
    for tag, build in yaml.SafeLoader.yaml_constructors.items()
    if tag is None or tag.removeprefix("tag:yaml.org,2002:") in _PLAIN  # None: says that a tag is unknown
}


def _number(loader: Any, node: Any) -> Any:
    if len(node.value) > LONGEST_NUMBER:
        raise NotYaml(f"a number of {len(node.value):,} characters", node.start_mark.line + 1)
    build = yaml.SafeLoader.construct_yaml_int if node.tag.endswith("int") else yaml.SafeLoader.construct_yaml_float
    return build(loader, node)


_Loader.add_constructor("tag:yaml.org,2002:int", _number)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)
# Nothing here is a date: 2024-01-31 stays text.
_Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node))


def parse_yaml(text: str) -> Any:
    """The plain data that a YAML text holds; whatever is wrong with it is raised as `NotYaml`.

    >>> parse_yaml("{steps: 500, digits: [1, 2]}")
    {'steps': 500, 'digits': [1, 2]}
    """
    if len(text) > LONGEST:
        raise NotYaml(f"{len(text):,} characters, at most {LONGEST:,} are read")
    try:
        _check_shape(text)
        return yaml.load(text, _Loader)
    except NotYaml:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise NotYaml(getattr(error, "problem", None) or "cannot be read", mark and mark.line + 1) from None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        # the ways in which PyYAML's constructors fail on values such as `!!bool abc` and `0x_`
        raise NotYaml(f"a value cannot be read ({error})") from None


def dump_yaml(data: Any) -> str:
    """Plain data as YAML, in its own order."""
    return yaml.dump(data, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), sort_keys=False)


def _check_shape(text: str) -> None:
    """Refuse a text whose data would be too deep or, aliases repeated, too large; from its events, building nothing."""
    sizes: dict[str, int] = {}  # of what has a name
    opened: list[tuple[str | None, int]] = [(None, 0)]  # names of the collections we are in, and values so far
    for event in yaml.parse(text, _Loader):
        line = event.start_mark.line + 1
        if isinstance(event, CollectionStartEvent):
            opened.append((event.anchor, 1))
            if len(opened) > DEEPEST:
                raise NotYaml(f"more than {DEEPEST} lists or mappings within each other", line)
            continue
        if isinstance(event, ScalarEvent):
            name, size = event.anchor, 1
        elif isinstance(event, CollectionEndEvent):
            name, size = opened.pop()
        elif isinstance(event, AliasEvent):
            if event.anchor not in sizes:
                raise NotYaml(f"*{event.anchor} repeats what is not there yet", line)
            name, size = None, sizes[event.anchor]
        else:
            continue
        if name is not None:
            sizes[name] = size
        outer, before = opened[-1]
        if before + size > MOST:
            raise NotYaml(f"more than {MOST:,} values", line)
        opened[-1] = (outer, before + size)
