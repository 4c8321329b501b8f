"""`python -m decide.cli`."""

import sys

from decide.cli import main

if __name__ == "__main__":
    sys.exit(main())
