"""The state of `decide ask`: from the command line or from stdin, and refused where it could only be misread."""

from __future__ import annotations

import sys
from typing import Final

import click

MOST_BYTES: Final = 1_000_000


def read_state(given: str) -> str:
    """
    Return the state that `--state` names: its text, or with `-` what comes on stdin.

    Raises:
        click.UsageError: If it is empty, longer than `MOST_BYTES`, or no UTF-8; or if stdin cannot be read.
    """
    where, content = (
        ("--state -", _from_stdin()) if given == "-" else ("--state", given.encode(errors="surrogateescape"))
    )
    if len(content) > MOST_BYTES:
        raise click.UsageError(f"{where}: the state is longer than {MOST_BYTES} bytes: send the part that matters")
    try:
        state = content.decode()
    except UnicodeDecodeError:
        raise click.UsageError(f"{where}: the state is not UTF-8") from None
    if not state.strip():
        raise click.UsageError(f"{where}: the state is empty")
    return state


def _from_stdin() -> bytes:
    if sys.stdin is None:
        raise click.UsageError("--state -: stdin is closed")
    try:
        return sys.stdin.buffer.read(MOST_BYTES + 1)
    except OSError as error:
        raise click.UsageError(f"--state -: stdin cannot be read: {error.strerror}") from None
