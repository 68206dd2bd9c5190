"""The command line: one file a command, its arguments and its work together; `console.py` is how all of them speak."""


def main() -> None:
    """The `lengthlab` command."""
    from lengthlab.cli.app import main as run  # here, so that others can use the console without the commands

    run()
