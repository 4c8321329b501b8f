"""Where the command prints: colours and bars on a terminal, plain text everywhere else."""

from __future__ import annotations

import io
import os
import sys
from typing import Final, TextIO

from rich.console import Console

_PLAIN_WIDTH: Final = 110


def console_on(file: TextIO) -> Console:
    """
    Return a console that writes to *file*.

    Nothing that is printed is read as markup. Without a terminal, or with NO_COLOR set, no escape sequence is written;
    what the encoding lacks is escaped.
    """
    if isinstance(file, io.TextIOWrapper):
        file.reconfigure(errors="backslashreplace")
    fixed_width = not file.isatty() and "COLUMNS" not in os.environ
    return Console(
        file=file,
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        width=_PLAIN_WIDTH if fixed_width else None,
        markup=False,
        emoji=False,
        highlight=False,
    )


def out() -> Console:
    """
    Return the console for what was asked for.
    """
    return console_on(sys.stdout)


def err() -> Console:
    """
    Return the console for what went wrong.
    """
    return console_on(sys.stderr)
