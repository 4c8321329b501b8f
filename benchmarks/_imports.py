"""What importing costs, each time in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from statistics import median

_LIBRARIES = "anyio, attrs"
_THEIR_OWN = {"idna", "sniffio", "typing_extensions"}
"""What anyio loads only when its parts are used."""

_TIMED = """
import sys, time
begun = time.process_time()
import {modules}
spent = time.process_time() - begun
print(spent, *sorted({{name.partition(".")[0] for name in sys.modules}} - set(sys.stdlib_module_names)))
"""


def measure(rounds: int) -> dict[str, object]:
    """
    Return the CPU milliseconds of importing ours and what it is built on, in turns, and what ours loads besides.
    """
    ours: list[float] = []
    libraries: list[float] = []
    loaded: set[str] = set()
    expected: set[str] = set()
    for _ in range(rounds):
        spent, expected = _import(_LIBRARIES)
        libraries.append(spent)
        spent, loaded = _import("decide")
        ours.append(spent)
    return {
        "ms": median(ours) * 1e3,
        "ms of anyio and attrs": median(libraries) * 1e3,
        "ratio": median([one / other for one, other in zip(ours, libraries, strict=True)]),
        "loads besides": sorted(loaded - expected - _THEIR_OWN - {"decide"}),
    }


def _import(modules: str) -> tuple[float, set[str]]:
    command = [sys.executable, "-c", _TIMED.format(modules=modules)]
    spent, *names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()  # noqa: S603 - a command of ours
    return float(spent), set(names)
