"""What the exit status of the command says."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """
    How a command ended.
    """

    ACTIONABLE = 0
    FAILED = 1
    USAGE = 2
    NOT_ACTIONABLE = 3
    STOPPED = 4
    UNWRITTEN = 74
    INTERRUPTED = 130
    READER_GONE = 141
