"""What importing costs, each time in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from statistics import median

_LIBRARIES, _OURS, _EVERYTHING = "import anyio, attrs", "import decide", "from decide import *"
_THEIR_OWN = {"idna", "sniffio", "typing_extensions"}
"""What anyio loads only when its parts are used."""

_TIMED = """
import sys, time
begun = time.process_time()
{statement}
spent = time.process_time() - begun
print(spent, *sorted({{name.partition(".")[0] for name in sys.modules}} - set(sys.stdlib_module_names)))
"""


def measure(rounds: int) -> dict[str, object]:
    """
    Return the CPU milliseconds of importing ours and what it is built on, in turns, and what ours loads besides.

    Importing ours loads what a program uses of it, when it does: importing every name is measured as well.
    """
    spent: dict[str, list[float]] = {_LIBRARIES: [], _OURS: [], _EVERYTHING: []}
    loaded: dict[str, set[str]] = {}
    for _ in range(rounds):
        for statement, rounds_of_it in spent.items():
            seconds, loaded[statement] = _import(statement)
            rounds_of_it.append(seconds)
    return {
        "ms": {statement: median(rounds_of_it) * 1e3 for statement, rounds_of_it in spent.items()},
        "ratio": median([one / other for one, other in zip(spent[_OURS], spent[_LIBRARIES], strict=True)]),
        "loads besides": sorted(loaded[_EVERYTHING] - loaded[_LIBRARIES] - _THEIR_OWN - {"decide"}),
    }


def _import(statement: str) -> tuple[float, set[str]]:
    command = [sys.executable, "-c", _TIMED.format(statement=statement)]
    spent, *names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()  # noqa: S603 - a command of ours
    return float(spent), set(names)
