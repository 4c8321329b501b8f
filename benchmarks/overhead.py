"""Measures what a decision costs beside the engines' own work: ours, written by hand, and by peers, in one run."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import _backends
import _goals
import _imports
import _peers
import _tables
from _measuring import FULL, QUICK
from _progress import Progress, progress


def measure(shown: Progress, *, quick: bool) -> dict[str, Any]:
    """
    Return everything that can be measured here.
    """
    effort = QUICK if quick else FULL
    found: dict[str, Any] = {"machine": machine(), "quick": quick}
    for backend in ("asyncio", "trio"):
        shown.stage(f"ours and by hand on {backend}")
        found[backend] = _backends.on(backend, effort, shown.share)
    found["H us"] = found["asyncio"]["us"][_backends.H]
    shown.stage("import decide")
    found["import"] = _imports.measure(effort.rounds)
    found["peers"] = _peers.measure_all(quick=quick, told=shown.stage)
    return found


def machine() -> dict[str, Any]:
    """
    Describe what the numbers were measured on.
    """
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.system(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
    }


def _cpu() -> str:
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        for line in listed.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--quick", action="store_true", help="see that it runs: few rounds, and no peer is installed")
    options = parser.parse_args(arguments)
    with progress() as shown:
        found = measure(shown, quick=options.quick)
    rows = _goals.rows(found["asyncio"], found["peers"], found["import"])
    if options.json:
        goals = [{**asdict(row), "holds": row.holds} for row in rows]
        print(json.dumps({**found, "goals": goals}))
    else:
        print(*_tables.report(found, rows), sep="\n")
    return 1 if any(row.holds is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
