"""Models in the box: small trained models that come with the package, each a safetensors file with its model card.

    robust   position coupling with a clipped relative bias: from 10 digits to many
    paper    the paper's recipe at mini scale: FIRE, randomized ids, index hints

`lengthlab ship RUN --name robust --chosen "..."` makes them.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
DEFAULT = "robust"


def shipped_names() -> list[str]:
    """The models that come with the package, the default first."""
    return sorted((file.stem for file in FOLDER.glob("*.safetensors")), key=lambda name: (name != DEFAULT, name))


def shipped_file(name: str) -> Path:
    """The file of a shipped model."""
    return FOLDER / f"{name}.safetensors"
