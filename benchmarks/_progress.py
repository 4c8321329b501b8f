"""Shows on stderr how far a run is: a bar where rich is installed and somebody looks, else a line a stage."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    """
    Where the run tells what it does and how much of that is done, from 0 to 1.
    """

    def stage(self, what: str) -> None: ...

    def share(self, done: float) -> None: ...


class _Lines:
    def stage(self, what: str) -> None:
        print(what, file=sys.stderr, flush=True)

    def share(self, done: float) -> None:
        pass


@contextmanager
def progress() -> Iterator[Progress]:
    """
    Yield where to tell how far the run is.
    """
    try:
        from rich.console import Console  # noqa: PLC0415 - the benchmark runs without it too
        from rich.progress import Progress as RichProgress  # noqa: PLC0415 - the benchmark runs without it too
    except ImportError:
        yield _Lines()
        return
    if not sys.stderr.isatty():
        yield _Lines()
        return
    with RichProgress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=1.0)

        class _Bar:
            def stage(self, what: str) -> None:
                shown.update(task, description=what, completed=0.0)

            def share(self, done: float) -> None:
                shown.update(task, completed=done)

        yield _Bar()
