"""`python -m lengthlab` is the `lengthlab` command."""

from lengthlab.cli import main

if __name__ == "__main__":
    main()
