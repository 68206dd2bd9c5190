"""The command `lengthlab`: which commands there are, and how mistakes end.

A command is a file of this folder, with its arguments and its work, and one entry in COMMANDS. The file holds a
function (or an App with commands of its own) of the same name, `list_` where Python has the name; its docstring is the
help. Files import what is slow inside functions, so that help answers at once.
"""

import builtins
import os
import re
import shlex
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError, Group, UnknownOptionError

from lengthlab import __version__
from lengthlab.cli.console import Screen, complain
from lengthlab.errors import RunFailed, UserError
from lengthlab.runs.seal import TRUST

COMMANDS = {
    "Train and test": ("quickstart", "train", "evaluate", "add"),
    "See it": ("serve", "demo", "export"),
    "Look at runs": ("runs", "compare", "figure", "analyse"),
    "The paper": ("reproduce", "claims", "report", "verify"),
    "Records": ("board", "speedrun"),
    "What there is to choose": ("list", "show", "config", "diff", "check"),
    "Speed and health": ("bench", "doctor"),
}
WITH_SETTINGS = ("train", "quickstart", "show", "config")  # take key=value
RESUMABLE = ("train", "quickstart", "reproduce", "board")  # the same command again resumes

app = App(
    name="lengthlab",
    help="Train small Transformers on arithmetic and test them on problems longer than any they saw.",
    help_epilogue="Every command also takes --plugin FILE, a Python file with your own encodings, tasks and so on, and "
    "--trust, which uses the files of a run even if they have changed since they were written.",
    help_format="plaintext",
    version=f"lengthlab {__version__}",
    suppress_keyboard_interrupt=False,
)
app.register_install_completion_command(help="Make the Tab key complete commands and options in your shell.")
options = Group("Options", sort_key=len(COMMANDS))
for flag in ("--help", "--version", "--install-completion"):
    app[flag].group = (options,)
for index, (heading, names) in enumerate(COMMANDS.items()):
    group = Group(heading, sort_key=index)
    for order, name in enumerate(names):
        function = f"{name}_" if hasattr(builtins, name) else name
        app.command(f"lengthlab.cli.{name}:{function}", name=name, group=group, sort_key=order)
app.command("lengthlab.cli.ship:ship", name="ship", show=False)  # for maintainers


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command (that of the shell if None); a user's mistake ends in one sentence and exit status 2."""
    typed = list(sys.argv[1:] if arguments is None else arguments)
    if typed[:1] == ["help"]:
        typed = [*typed[1:], "--help"]
    if not typed or typed[0] in app.help_flags:
        app.resolved_commands()  # their docstrings are the help
    try:
        _require_text(typed)
        typed = _name_plugins(_trust(typed))
        app(typed, exit_on_error=False, print_error=False)
    except UnknownOptionError as error:
        complain(_setting_meant(error, typed) or error)
        sys.exit(2)
    except (UserError, CycloptsError) as error:
        complain(error)
        sys.exit(2)
    except RunFailed as error:
        complain(error)
        sys.exit(1)
    except OSError as error:
        if isinstance(error, BrokenPipeError):  # whoever read the output has read enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        complain(f"{error.filename or 'file'}: {error.strerror or error}")
        sys.exit(2)
    except Exception as error:
        from lengthlab.config.plugins import mistake_in

        if not (mistake := mistake_in(error)):
            raise
        complain(mistake)
        sys.exit(2)
    except KeyboardInterrupt as stop:
        said, again = stop.args if len(stop.args) == 2 else (str(stop) or "interrupted", "")
        complain(said)
        if not again and typed and typed[0] in RESUMABLE:
            again = shlex.join(["lengthlab", *typed])
        if again:
            Screen(stderr=True).put(f"to resume: {again}", "yellow")
        sys.exit(130)


def _setting_meant(error: UnknownOptionError, typed: list[str]) -> str:
    """What to say of a setting that is written as an option, as in `--steps 5`; nothing if it is none."""
    word = error.token.keyword or error.token.value
    option, equals, value = word.partition("=")
    if typed[0] not in WITH_SETTINGS or not option.startswith("--"):
        return ""
    from lengthlab.config.names import settings_called

    names = settings_called(option.removeprefix("--").replace("-", "_"))
    if not equals and word in typed[:-1]:
        value = typed[typed.index(word) + 1]
    written = " or ".join(f"{name}={value or '...'}" for name in names[:3])
    return f"{option}: settings are written without dashes: {written}" if names else ""


def _require_text(typed: list[str]) -> None:
    """Python passes bytes that are not UTF-8 on as half characters, which nothing further on can write."""
    for word in typed:
        if re.search("[\ud800-\udfff]", word):
            raise UserError(f"{word!a} is not text in UTF-8")


def _name_plugins(typed: list[str]) -> list[str]:
    """Load the files of all `--plugin FILE`, which every command takes; the rest of the line."""
    rest, files = [], []
    words = iter(typed)
    for word in words:
        option, separator, value = word.partition("=")
        if option != "--plugin":
            rest.append(word)
        elif not (value := value if separator else next(words, "")):
            raise UserError("--plugin: name a Python file, such as --plugin my_ideas.py")
        else:
            files.append(value)
    if files:
        from lengthlab.config.plugins import name_plugins

        name_plugins(files)
    return rest


def _trust(typed: list[str]) -> list[str]:
    """Take note of `--trust`, which every command takes; the rest of the line."""
    if "--trust" not in typed:
        os.environ.pop(TRUST, None)
        return typed
    os.environ[TRUST] = "1"
    return [word for word in typed if word != "--trust"]
