"""What each command of the command line does; `cli.py` only reads its arguments."""
