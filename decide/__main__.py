"""`python -m decide`: the command, by the name of the package."""

import sys

from decide.cli import main

if __name__ == "__main__":
    sys.exit(main())
