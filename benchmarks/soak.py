"""Makes random calls of random compositions by the million, in virtual time, and checks every invariant after each."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import attrs
from _progress import progress

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soak.soak import Report, soak

MOST_GROWTH = 16 * 2**20
"""Bytes that the process may grow by after a warm-up, however many calls there are."""


def growth(report: Report) -> int:
    return report.memory[-1] - report.memory[0] if report.memory else 0


def show(report: Report, first_world: int) -> None:
    again = f"--seed {report.seed} --backend {report.backend}"
    print(f"{report.calls:,} calls on {report.backend}, seed {report.seed}, {report.seconds:.0f} s")
    if first_world:
        print(f"from world {first_world} on")
    for what, times in sorted(report.tally.items()):
        print(f"{times:>12,}  {what}")
    print(f"memory: {growth(report) / 2**20:+.1f} MB after the warm-up, of {max(report.memory, default=0) / 2**20:.0f}")
    for problem in report.problems:
        print(f"PROBLEM {problem}")
    if report.problems:
        print(f"one world alone: python benchmarks/soak.py --calls 50 {again} --first-world NUMBER")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1, help="decides the compositions, the engines and the callers")
    parser.add_argument("--backend", choices=["asyncio", "trio"], default="asyncio")
    parser.add_argument("--first-world", type=int, default=0, help="where to begin, to repeat a problem")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(arguments)
    with progress() as shown:
        shown.stage(f"{options.calls:,} calls on {options.backend}")
        report = soak(
            options.calls,
            seed=options.seed,
            backend=options.backend,
            first_world=options.first_world,
            told=shown.share,
        )
    holds = not report.problems and growth(report) <= MOST_GROWTH
    if options.json:
        print(json.dumps({**attrs.asdict(report), "growth": growth(report), "holds": holds}))
    else:
        show(report, options.first_world)
        print("every invariant holds" if holds else "NOT every invariant holds")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
