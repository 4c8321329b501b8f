"""Vectors of typed decisions: the limits of questions, and the form in which a request is hashed."""

from __future__ import annotations

import hashlib
from typing import Any

from decide import ScoreRequest, ScoreResult, UndecidedError, ask
from decide.wire import canonical_request, questions_from
from tests.conformance.adapter.outcome import Ran

Doc = dict[str, Any]


class CountingEngine:
    """
    Counts how often it is asked, and never has an answer.
    """

    name = "counting"

    def __init__(self) -> None:
        self.calls = 0

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        self.calls += 1
        return ScoreResult()


async def limits(given: Doc) -> Ran:
    """
    Ask questions that are, or are not, within the limits.
    """
    engine = CountingEngine()
    said: list[str] = []
    try:
        await ask(engine, "state", questions_from(given["questions"]))
    except UndecidedError:
        assert engine.calls == 1
    except ValueError as error:
        said += [str(error), getattr(error, "key", "")]
    text = " ".join(said)

    def unsaid(expected: Doc) -> Doc:
        return {**expected, "error_contains": [part for part in expected.get("error_contains", ()) if part not in text]}

    return Ran(actual={"ok": not said, "requests_sent": engine.calls}, expect=unsaid)


def canonical(given: Doc) -> Ran:
    """
    Write what was asked in the form that is hashed.
    """
    text = canonical_request(given["model"], questions_from(given["questions"]))
    data = text.encode()
    return Ran(actual={"canonical": text, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)})
