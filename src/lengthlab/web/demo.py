"""The Try page with a shipped model as one file that needs no server and no network."""

import base64
import html
import re
from pathlib import Path

from lengthlab.config.schema import Config
from lengthlab.errors import UserError
from lengthlab.shipped import shipped_file
from lengthlab.web.models import Library
from lengthlab.web.shell import in_shell, read

MODULES = ("dom", "numbers", "longhand", "reach", "try", "question", "model", "demo")  # each imports only earlier ones
LARGEST = 4_000_000  # bytes of the page
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
PLAIN = {"attention": "softmax", "mask": "causal", "log_scaling": "none", "loops": 1, "injection": False}


def demo_page(name: str) -> str:
    """The page with a shipped model in it."""
    library = Library(Path())
    details = library.details(name)
    if reason := refusal(library.adder(name).pipeline.config):
        raise UserError(f"demo: {reason}")
    title = html.escape(details.title[0].upper() + details.title[1:])
    facts = details.model_dump_json().replace("<", "\\u003c")
    weights = base64.b64encode(shipped_file(name).read_bytes()).decode()
    page = in_shell(
        "try",
        title=title,
        head=f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<style>\n{read('page.css')}{read('sums.css')}</style>",
        header=f'<span class="brand">lengthlab</span><span class="quiet">{title}, running in this page</span>',
        script=f'<script type="application/json" id="details">{facts}</script>\n'
        f'<script type="text/plain" id="weights">{weights}</script>\n<script type="module">\n{bundle()}</script>',
    )
    size = len(page.encode())
    if size > LARGEST:
        raise UserError(f"demo: with {name} the page has {size:,} bytes; at most {LARGEST:,} can be mailed")
    return page


def bundle() -> str:
    """All modules one after the other, without their imports and exports: no two may use one name at the top."""
    parts = []
    for module in MODULES:
        text = read(f"{module}.js")
        text = re.sub(r'^import .*? from ".*?";\n', "", text, flags=re.MULTILINE)
        parts.append(re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return "\n".join(parts)


def refusal(config: Config) -> str | None:
    """Why model.js cannot run such a model, or None if it can."""
    for option, value in PLAIN.items():
        if getattr(config.model, option) != value:
            return f"the page's model knows only model.{option}={value}"
    for pair in config.pairs:
        if pair.encoding.kind not in ("none", "clipped", "fire"):
            return "the page's model knows the encodings none, clipped and fire"
        if pair.positions.kind not in ("sequential", "offset", "randomized", "coupled"):
            return f"the page does not know {pair.positions.kind} ids"
    if config.format.kind != "equation" or getattr(config.format, "padding", None) != "carry":
        return "the page writes plain equations with room for the carry"
    return None
