"""Reads vector files and deviations, runs every vector, and reports what does not match."""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

import anyio
import attrs

from tests.conformance.adapter import KINDS, Ran, RefusedError
from tests.conformance.comparing import difference, pruned, same
from tests.virtual_time import AutojumpLoop

BACKENDS: Final = ("asyncio", "trio")


@attrs.frozen(kw_only=True)
class Deviation:
    """
    A vector that a ruling changes.

    Attributes:
        file: The stem of the file.
        name: The vector's name.
        ruling: The ruling's number.
        expected: What is expected instead; None when the input is refused.
    """

    file: str
    name: str
    ruling: int
    expected: Any = None


class InvalidDeviationsError(Exception):
    """
    A deviations file that cannot be used.
    """


class InvalidVectorsError(Exception):
    """
    A file of vectors that cannot be read.
    """


@attrs.frozen
class Mismatch:
    """
    A vector that did not come out as it should.
    """

    place: str
    problem: str
    expected: Any = None
    actual: Any = None

    def print(self, out: TextIO) -> None:
        """
        Write the problem, and both sides when there are two.
        """
        print(f"FAIL {self.place}: {self.problem}", file=out)
        if self.expected is not None or self.actual is not None:
            print(f"  expected {json.dumps(self.expected, sort_keys=True)}", file=out)
            print(f"  actual   {json.dumps(self.actual, sort_keys=True)}", file=out)


def read_deviations(paths: Iterable[Path]) -> dict[tuple[str, str], Deviation]:
    """
    Read deviations by file and vector. Two files may list the same one, if they say the same.

    Raises:
        InvalidDeviationsError: If an entry is incomplete, stands twice in a file, or two files differ about it.
    """
    found: dict[tuple[str, str], Deviation] = {}
    for path in paths:
        listed: set[tuple[str, str]] = set()
        for entry in _entries(path):
            deviation = _deviation(entry, path)
            key = deviation.file, deviation.name
            if key in listed or not same(pruned(found.setdefault(key, deviation).expected), pruned(deviation.expected)):
                raise InvalidDeviationsError(f"{path}: {deviation.file} / {deviation.name} is listed twice")
            listed.add(key)
    return found


def _entries(path: Path) -> list[dict[str, Any]]:
    try:
        entries: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8")).get("vector", [])
    except (OSError, ValueError) as error:
        raise InvalidDeviationsError(f"{path}: {error}") from None
    return entries


def _deviation(entry: Mapping[str, Any], path: Path) -> Deviation:
    missing = {"file", "name", "ruling"} - entry.keys()
    if missing or ("expected" in entry) == (entry.get("refused") is True):
        raise InvalidDeviationsError(
            f"{path}: an entry needs file, name, ruling, and either expected or refused = true: {dict(entry)}"
        )
    try:
        expected = json.loads(entry["expected"]) if "expected" in entry else None
    except ValueError as error:
        raise InvalidDeviationsError(f"{path}: {entry['file']} / {entry['name']}: {error}") from None
    return Deviation(file=entry["file"], name=entry["name"], ruling=entry["ruling"], expected=expected)


def read_vectors(path: Path) -> Iterator[dict[str, Any]]:
    """
    Yield the vectors of a file; a first line that is a header is none, nor is an empty line.

    Raises:
        InvalidVectorsError: If the file cannot be read, or a line of it is no vector.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError) as error:
        raise InvalidVectorsError(f"{path}: {error}") from None
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    for position, (number, line) in enumerate(numbered):
        try:
            vector = json.loads(line)
        except ValueError as error:
            raise InvalidVectorsError(f"{path}:{number}: {error}") from None
        if position == 0 and isinstance(vector, dict) and "header" in vector:
            continue
        if not isinstance(vector, dict) or not {"name", "input", "expected"} <= vector.keys():
            raise InvalidVectorsError(f"{path}:{number}: a vector needs name, input and expected")
        yield vector


def run_vector(kind: str, given: dict[str, Any], backend: str = "asyncio") -> Ran | RefusedError:
    """
    Run the input of one vector; what it makes our constructors raise is a refusal.
    """
    try:
        ran = KINDS[kind](given)
        if not inspect.isawaitable(ran):
            return ran

        async def waited() -> Ran:
            return await ran

        return anyio.run(waited, backend=backend, backend_options=_virtual_time(backend))
    except BaseExceptionGroup as group:
        return _refusal(group)
    except (ValueError, RefusedError) as error:
        return RefusedError(str(error))


def _virtual_time(backend: str) -> dict[str, Any]:
    if backend == "asyncio":
        return {"loop_factory": AutojumpLoop}
    from trio.testing import MockClock  # noqa: PLC0415 - only who asks for trio needs to have it

    return {"clock": MockClock(autojump_threshold=0)}


def _refusal(group: BaseExceptionGroup[BaseException]) -> RefusedError:
    rest = group.split((ValueError, RefusedError))[1]
    if rest is not None:
        raise group
    return RefusedError(str(group.exceptions[0]))


def check(
    kind: str, vector: Mapping[str, Any], deviation: Deviation | None, backend: str = "asyncio"
) -> Mismatch | None:
    """
    Run one vector and compare; None when it is as it should be.
    """
    place = f"{kind} / {vector['name']}" + ("" if backend == "asyncio" else f" on {backend}")
    try:
        ran = run_vector(kind, vector["input"], backend)
    except Exception as error:  # noqa: BLE001 - one vector that breaks the run must not hide the others
        return Mismatch(place, f"raised {type(error).__name__}: {error}", vector["expected"])
    return _compared(place, ran, vector, deviation)


def _compared(
    place: str, ran: Ran | RefusedError, vector: Mapping[str, Any], deviation: Deviation | None
) -> Mismatch | None:
    passes_unchanged = not isinstance(ran, RefusedError) and _matches(ran, vector["expected"])
    if deviation is not None and passes_unchanged:
        return Mismatch(place, f"listed under ruling {deviation.ruling}, but passes unchanged")
    if passes_unchanged:
        return None
    if isinstance(ran, RefusedError):
        if deviation is not None and deviation.expected is None:
            return None
        return Mismatch(place, f"refused: {ran}", vector["expected"] if deviation is None else deviation.expected)
    if deviation is None:
        return _mismatch(place, ran, vector["expected"])
    if deviation.expected is None:
        return None if ran.refused else Mismatch(place, "was to be refused", None, ran.actual)
    return None if _matches(ran, deviation.expected) else _mismatch(place, ran, deviation.expected)


def _matches(ran: Ran, expected: Any) -> bool:
    one, other = _sides(ran, expected)
    return same(one, other)


def _mismatch(place: str, ran: Ran, expected: Any) -> Mismatch:
    one, other = _sides(ran, expected)
    return Mismatch(place, f"differs at {difference(one, other)}", one, other)


def _sides(ran: Ran, expected: Any) -> tuple[Any, Any]:
    compared = ran.expect(expected)
    return (compared, ran.actual) if ran.exact else (pruned(compared), pruned(ran.actual))


def run_files(
    paths: Sequence[Path], deviations: Mapping[tuple[str, str], Deviation], backends: Sequence[str], out: TextIO
) -> tuple[int, int]:
    """
    Run whole files; return how many vectors passed and how many failed.
    """
    passed, failed = 0, 0
    unused = {key for key in deviations if key[0] in {path.stem for path in paths}}
    for path in paths:
        for vector in read_vectors(path):
            deviation = deviations.get((path.stem, vector["name"]))
            unused.discard((path.stem, vector["name"]))
            found = [check(path.stem, vector, deviation, backend) for backend in backends]
            mismatches = [mismatch for mismatch in found if mismatch is not None]
            for mismatch in mismatches:
                mismatch.print(out)
            passed, failed = (passed, failed + 1) if mismatches else (passed + 1, failed)
    for file, name in sorted(unused):
        Mismatch(f"{file} / {name}", "listed as a deviation, but there is no such vector").print(out)
    return passed, failed + len(unused)


def main(arguments: Sequence[str], out: TextIO = sys.stdout) -> int:
    """
    Run the command line; 0 when every vector passed, 1 when some did not, 2 when it cannot be run.
    """
    parser = argparse.ArgumentParser(
        prog="run.py", description="Run conformance vectors through the product.", epilog="The kind is the file's stem."
    )
    parser.add_argument("--deviations", action="append", default=[], type=Path, metavar="FILE")
    parser.add_argument("--backend", action="append", choices=BACKENDS, help="asyncio by default; may be repeated")
    parser.add_argument("vectors", nargs="+", type=Path, metavar="VECTORS.jsonl")
    options = parser.parse_args(arguments)
    unknown = sorted({path.stem for path in options.vectors} - KINDS.keys())
    if unknown:
        parser.error(f"no adapter for {', '.join(unknown)}; there are {', '.join(sorted(KINDS))}")
    try:
        deviations = read_deviations(options.deviations)
        passed, failed = run_files(options.vectors, deviations, options.backend or BACKENDS[:1], out)
    except (InvalidDeviationsError, InvalidVectorsError) as error:
        parser.error(str(error))
    print(f"{passed} passed, {failed} failed", file=out)
    return 1 if failed else 0
