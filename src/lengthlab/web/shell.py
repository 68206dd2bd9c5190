"""What every page has around it, said once: the head, the way to the other pages, its styles and its module."""

from dataclasses import dataclass
from pathlib import Path
from string import Template

PAGES = Path(__file__).with_name("pages")


@dataclass(frozen=True)
class MenuPage:
    """A page of the menu: `NAME.html` is what it shows, `page-NAME.js` what it does."""

    name: str
    title: str
    sheets: tuple[str, ...]


MENU = (
    MenuPage("try", "Try", ("sums",)),
    MenuPage("look", "Look inside", ("maps",)),
    MenuPage("runs", "Runs", ("charts",)),
    MenuPage("compare", "Compare", ("charts",)),
    MenuPage("claims", "Claims", ("charts",)),
    MenuPage("board", "Board", ("charts", "board")),
)


def served(page: MenuPage) -> str:
    """A page of the menu as the server sends it."""
    here = {page.name: ' aria-current="page"'}
    links = (f'<a href="/{one.name}"{here.get(one.name, "")}>{one.title}</a>' for one in MENU)
    sheets = (f'<link rel="stylesheet" href="/pages/{sheet}.css">' for sheet in ("page", *page.sheets))
    return in_shell(
        page.name,
        title=page.title,
        head="\n".join(sheets),
        header='<a class="skip" href="#main">Skip to the content</a>\n<a class="brand" href="/">lengthlab</a>\n'
        f'<nav aria-label="Pages">{"".join(links)}</nav>',
        script=f'<script type="module" src="/pages/page-{page.name}.js"></script>',
    )


def in_shell(name: str, *, title: str, head: str, header: str, script: str) -> str:
    """What a page shows, with everything around it filled in."""
    shell = Template(read("shell.html"))
    return shell.substitute(title=title, head=head, header=header, body=read(f"{name}.html").strip(), script=script)


def read(name: str) -> str:
    """One of the files of the pages."""
    return (PAGES / name).read_text(encoding="utf-8")
