"""What becomes of a command whose output has nowhere to go."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from decide.cli._consoles import err_file
from decide.cli._exits import Exit


def unwritten(error: OSError) -> Exit:
    """
    Say why the output could not be written, unless its reader just went away; return the exit status.

    What is still buffered is dropped, so that the interpreter does not try again on its way out.
    """
    if sys.stdout is not None:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return Exit.READER_GONE
    err_file().write(f"decide: the output cannot be written: {error.strerror}\n")
    return Exit.UNWRITTEN


def first_os_error(group: ExceptionGroup[Exception]) -> OSError:
    """
    Return the first OSError inside *group*.

    Raises:
        ExceptionGroup: The group itself, if there is none.
    """
    for error in group.exceptions:
        if isinstance(error, OSError):
            return error
        if isinstance(error, ExceptionGroup):
            return first_os_error(error)
    raise group
