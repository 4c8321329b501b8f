"""Vectors about states: how they are built, and many of them asked about at once."""

from __future__ import annotations

from typing import Any

import anyio

from decide import (
    EngineError,
    NoulAnswer,
    NoulQuestion,
    ScoreRequest,
    ScoreResult,
    State,
    StateFailedError,
    UndecidedError,
    ask_many,
)
from tests.conformance.adapter.outcome import Ran

Doc = dict[str, Any]


def build(given: Doc) -> Ran:
    """
    Put a role beside what is known.
    """
    return Ran(actual={"state": dict(State(given["role"], given["data"]))}, exact=True)


class _Numbered:
    """
    Knows each state by its number; some of them fail, some take their time.
    """

    name = "numbered"

    def __init__(self, given: Doc) -> None:
        self._failing = given.get("failing", [])
        self._slow = given.get("slow", [])

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        number = int(str(request.text))
        await anyio.sleep(1.0 if number in self._slow else 0.01)
        if number in self._failing:
            raise EngineError("failing")
        return ScoreResult(answers={"n": NoulAnswer(noul=0.9)})


async def batch(given: Doc) -> Ran:
    """
    Ask about all states; some fail.
    """
    engine = _Numbered(given)
    states = [str(number) for number in range(given["states"])]
    try:
        found = await ask_many(engine, states, {"n": NoulQuestion("?")})
    except StateFailedError as error:
        # What asking about that one state alone raises.
        text, wrapped = str(error), isinstance(error.__cause__, UndecidedError)
    else:
        return Ran(actual={"results": [answers.noul("n").noul for answers in found]})

    def unsaid(expected: Doc) -> Doc:
        prefix = expected.get("error_prefix", "")
        return {"wraps_original": True, **expected, "error_prefix": "" if text.startswith(prefix) else prefix}

    return Ran(actual={"error_prefix": "", "wraps_original": wrapped}, expect=unsaid)
