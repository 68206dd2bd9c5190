"""`python -m lengthlab` is the `lengthlab` command."""

from lengthlab.cli.app import main

if __name__ == "__main__":
    main()
