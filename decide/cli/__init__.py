"""The `decide` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

_EXTRA = frozenset({"click", "rich"})


def main(args: Sequence[str] | None = None) -> int:
    """
    Run the command and return its exit status.

    Args:
        args: What follows `decide` on the command line; None takes it from there.
    """
    try:
        from decide.cli._commands import run  # noqa: PLC0415 - so that a missing extra gets a sentence, not a traceback

        return run(args)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _EXTRA:
            raise
        sys.stderr.write(
            f"decide: {missing} is missing: install the extras decide-engine[cli,local], "
            "in a checkout with: pip install -e '.[all]'\n"
        )
        return 2
