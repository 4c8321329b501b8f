"""Takes each guard of the core away in a copy of the project, and sees that a test fails then."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs
from _progress import progress

ROOT = Path(__file__).parent.parent
SECONDS = 200
"""A mutant's tests that take longer hang, which is failing as well."""

_FAILED = re.compile(r"^(?:FAILED|ERROR) [^:]+::([\w:]+)", re.MULTILINE)


@attrs.frozen(kw_only=True)
class Mutant:
    """
    One guard taken away: *old* stands once in *file*, and one of *tests* fails when it becomes *new*.
    """

    guard: str
    file: str
    old: str
    new: str
    tests: list[str]


def known() -> list[Mutant]:
    tables = sorted((ROOT / "benchmarks" / "mutants").glob("*.toml"))
    return [Mutant(**entry) for table in tables for entry in tomllib.loads(table.read_text())["mutant"]]


def copy(to: Path) -> None:
    for name in ("decide", "tests", "pyproject.toml", "docs", "examples", "README.md", "LICENSE"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy(source, to / name)


def failing_test(place: Path, tests: Sequence[str], *, within: float) -> str:
    """
    Return the name of the first test that fails, `hangs`, or nothing when all pass.
    """
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        run = subprocess.run(  # noqa: S603 - our own tests
            command, cwd=place, capture_output=True, text=True, timeout=within, check=False
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    if run.returncode == 0:
        return ""
    found = _FAILED.search(run.stdout)
    return found[1] if found else f"pytest ended with {run.returncode}"


def killer(place: Path, mutant: Mutant) -> str:
    """
    Return the name of the test that fails without the guard.

    Raises:
        LookupError: If the guard is not where the table says.
    """
    file = place / mutant.file
    text = file.read_text()
    if text.count(mutant.old) != 1:
        raise LookupError(f"{mutant.file}: {mutant.guard}: stands {text.count(mutant.old)} times")
    file.write_text(text.replace(mutant.old, mutant.new))
    try:
        return failing_test(place, mutant.tests, within=SECONDS)
    finally:
        file.write_text(text)


def chosen(words: Sequence[str]) -> list[Mutant]:
    return [one for one in known() if not words or any(word in f"{one.file} {one.guard}" for word in words)]


def all_killers(mutants: Sequence[Mutant], place: Path, told: Callable[[float], None]) -> list[tuple[str, str, str]]:
    rows = []
    for done, mutant in enumerate(mutants):
        try:
            test = killer(place, mutant) or "**SURVIVED**"
        except LookupError as error:
            test = f"**NOT FOUND** {error}"
        rows.append((mutant.guard, mutant.file.removeprefix("decide/"), test))
        told((done + 1) / len(mutants))
    return rows


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only guards whose file or sentence holds one of these")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(arguments)
    mutants = chosen(options.words)
    with tempfile.TemporaryDirectory(prefix="decide-mutations.") as folder, progress() as shown:
        place = Path(folder)
        copy(place)
        shown.stage("all tests as they are")
        broken = failing_test(place, sorted({test for mutant in mutants for test in mutant.tests}), within=10 * SECONDS)
        if broken:
            print(f"fails without any mutation: {broken}")
            return 1
        shown.stage(f"{len(mutants)} guards")
        rows = all_killers(mutants, place, shown.share)
    held = sum("**" not in test for _, _, test in rows)
    if options.json:
        print(json.dumps({"guards": rows, "holds": held == len(rows)}))
    else:
        print("| Guard | In | Test that fails without it |\n| --- | --- | --- |")
        for guard, file, test in rows:
            print(f"| {guard} | `{file}` | {test} |")
    print(f"{held} of {len(rows)} guards are held by a test", file=sys.stderr)
    return 0 if held == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
