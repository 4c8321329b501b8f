"""Cassettes: recorded calls in one JSON file, which reads the same every time and can be committed."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar, cast

import attrs

from decide._converters import str_tuple
from decide._json import DocumentError, Node, canonical, loads
from decide.answers import ScoreResult
from decide.attempts import Report
from decide.decisions import Decision
from decide.engines._recorded_errors import read_error
from decide.engines._request_keys import Asked
from decide.engines._setup import SetupError
from decide.errors import MisconfiguredError
from decide.outcomes import AttemptOutcome
from decide.wire import from_json, to_json

VERSION: Final = 1

T = TypeVar("T")

Document = dict[str, object]
Answer = Decision | ScoreResult | None

_OUTCOMES = frozenset(AttemptOutcome)
_ENDS = ("answered", "abstained", "failed", "cut off")


@attrs.frozen(kw_only=True)
class Recording:
    """
    One call and how it ended.

    Attributes:
        key: The hash under which it is found.
        answer: What was answered; None for an abstention, and for a call that did not answer.
        error: What it failed with, as JSON: every replay raises an error of its own.
        cut_off: It was cancelled before it ended.
        seconds: How long it took.
        report: What the engine wrote about it, times counted from its start.
    """

    key: str
    answer: Answer = None
    error: Document | None = None
    cut_off: bool = False
    seconds: float = 0.0
    report: Report = attrs.field(factory=Report)


@attrs.frozen(kw_only=True)
class Header:
    """
    What all calls of a cassette have in common.

    Attributes:
        engine: The name of the engine that was recorded.
        model: The model that the keys name.
        decision_timeout: Seconds that the engine declared to need.
        ignored: Members of requests that are neither kept nor part of a key.
    """

    engine: str
    model: str = ""
    decision_timeout: float | None = None
    ignored: tuple[str, ...] = attrs.field(default=(), converter=str_tuple)


@attrs.frozen(kw_only=True)
class Cassette:
    """
    A cassette that was read.
    """

    header: Header
    recordings: tuple[Recording, ...]


def moved(report: Report, seconds: float) -> Report:
    """
    Return *report* with all its attempts started so much later.
    """
    attempts = [attrs.evolve(attempt, started=max(0.0, attempt.started + seconds)) for attempt in report.attempts]
    return attrs.evolve(report, attempts=attempts)


def written(recording: Recording, asked: Asked) -> Document:
    """
    Return one recording as JSON, with the request beside it for those who read the file.

    Raises:
        Exception: If the engine answered, or wrote about itself, what JSON cannot carry.
    """
    document: Document = {
        "key": recording.key,
        "request": to_json(asked),
        "seconds": round(recording.seconds, 3),
        "report": to_json(recording.report),
    }
    if recording.cut_off:
        return {**document, "ended": "cut off"}
    if recording.error is not None:
        return {**document, "ended": "failed", "error": recording.error}
    if recording.answer is None:
        return {**document, "ended": "abstained"}
    kind = "decision" if isinstance(recording.answer, Decision) else "result"
    return {**document, "ended": "answered", kind: to_json(recording.answer)}


def text_of(header: Header, recordings: Iterable[Document]) -> str:
    """
    Return the text of a cassette: recordings by what was asked, those of equal requests in the order of the calls.
    """
    ordered = sorted(recordings, key=lambda one: (canonical(one["request"]), str(one["key"])))
    document: Document = {"cassette": VERSION, **attrs.asdict(header), "recordings": ordered}
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def save(path: Path, text: str) -> None:
    """
    Put *text* where the cassette is, whole or not at all, readable by its owner only. Blocks.

    Raises:
        MisconfiguredError: If it cannot be written; what stood there before still does.
    """
    problem = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, text)
    except OSError as error:
        problem = error.strerror or type(error).__name__
    if problem:
        raise MisconfiguredError(f"cassette {path}: cannot be written: {problem}", detail="cassette not written")


def _replace(path: Path, text: str) -> None:
    # Made for its owner only, in the same folder, so that it can take the place of the old file in one step.
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def read_cassette(path: Path) -> Cassette:
    """
    Read a cassette. Blocks.

    Raises:
        SetupError: If there is none, or it is none; names the file and the place in it.
    """
    problem = ""
    try:
        return _cassette(Node(loads(path.read_bytes())))
    except FileNotFoundError:
        problem = "there is no such file; record it first"
    except OSError as error:
        problem = error.strerror or "cannot be read"
    except ValueError as error:
        problem = str(error)
    raise SetupError(f"cassette {path}: {problem}")


def _cassette(root: Node) -> Cassette:
    version = root.need("cassette")
    if version.whole() != VERSION:
        raise DocumentError(version.path, f"expected version {VERSION}, got {version.whole()}")
    timeout = root.find("decision_timeout")
    return Cassette(
        header=Header(
            engine=root.need("engine").text(),
            model=root.need("model").text(),
            decision_timeout=None if timeout is None or timeout.value is None else timeout.number(),
            ignored=[name.text() for name in root.need("ignored").items()],
        ),
        recordings=tuple(_recording(node) for node in root.need("recordings").items()),
    )


def _recording(node: Node) -> Recording:
    ended = node.need("ended")
    if ended.text() not in _ENDS:
        raise DocumentError(ended.path, "expected one of " + ", ".join(_ENDS))
    report = _value(Report, node.need("report"))
    if not {attempt.outcome for attempt in report.attempts} <= _OUTCOMES:
        raise DocumentError(f"{node.path}.report", "an attempt with an outcome that there is not")
    return Recording(
        key=node.need("key").text(),
        answer=_answer(node) if ended.text() == "answered" else None,
        error=_error(node.need("error")) if ended.text() == "failed" else None,
        cut_off=ended.text() == "cut off",
        seconds=node.need("seconds").number(),
        report=report,
    )


def _answer(node: Node) -> Decision | ScoreResult:
    decision = node.find("decision")
    return _value(ScoreResult, node.need("result")) if decision is None else _value(Decision, decision)


def _error(node: Node) -> Document:
    read_error(node)
    return cast(Document, node.value)


def _value(kind: type[T], node: Node) -> T:
    try:
        return from_json(kind, node.value)
    except DocumentError as error:
        raise DocumentError(node.path + error.path.removeprefix("$"), error.problem) from None
