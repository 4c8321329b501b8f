"""Where the command prints: colours and bars on a terminal, plain text everywhere else."""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

_PLAIN_WIDTH: Final = 110


class _Console(Console):
    """
    A console that leaves it to the command how to end when its reader has gone away.
    """

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def console_on(file: TextIO) -> Console:
    """
    Return a console that writes to *file*.

    Nothing that is printed is read as markup. Without a terminal, or with NO_COLOR set, no escape sequence is written;
    what the encoding lacks is escaped.
    """
    if isinstance(file, io.TextIOWrapper):
        file.reconfigure(errors="backslashreplace")
    fixed_width = not file.isatty() and "COLUMNS" not in os.environ
    return _Console(
        file=file,
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        width=_PLAIN_WIDTH if fixed_width else None,
        markup=False,
        emoji=False,
        highlight=False,
    )


def wrapped(text: Text, console: Console, width: int) -> Iterator[Text]:
    """
    Yield the lines of *text* at *width* columns, without the blanks on which they were broken.
    """
    for line in text.wrap(console, width):
        line.rstrip()
        yield line


class Words:
    """
    Words for a console to print, wrapped to its width.
    """

    def __init__(self, words: str, style: str = "") -> None:
        self._text = Text(words, style)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from wrapped(self._text, console, options.max_width)


@contextmanager
def warnings_in_one_line() -> Iterator[None]:
    """
    Print what Python warns about as a sentence, without the file and the line that warn.
    """

    def show(message: Warning | str, *_: object, **__: object) -> None:
        err_file().write(f"warning: {message}\n")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def out() -> Console:
    """
    Return the console for what was asked for.
    """
    return console_on(sys.stdout)


def err() -> Console:
    """
    Return the console for what went wrong.
    """
    return console_on(err_file())


def err_file() -> TextIO:
    """
    Return where words about what went wrong go: nowhere, when stderr is closed.
    """
    return io.StringIO() if sys.stderr is None else sys.stderr
