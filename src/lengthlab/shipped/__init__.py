"""Models in the box: small trained models that come with the package, each a safetensors file with its model card.

    robust   position coupling with a clipped relative bias: from 10 digits to many
    paper    the paper's recipe at its own lengths, 40 to 100 digits: FIRE, randomized ids, index hints
    fragile  the paper's recipe in small: from 10 digits to little more, to see a model fail

`lengthlab ship RUN --name robust --chosen "..."` makes them.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
DEFAULT, LAST = "robust", "fragile"


def shipped_names() -> list[str]:
    """The models that come with the package, the default first, the one that fails last."""
    names = (file.stem for file in FOLDER.glob("*.safetensors"))
    return sorted(names, key=lambda name: (name != DEFAULT, name == LAST, name))


def shipped_file(name: str) -> Path:
    """The file of a shipped model."""
    return FOLDER / f"{name}.safetensors"
