"""Vectors of recorded decisions: what is found again, and what is not."""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import anyio
import anyio.to_thread

from decide import DecideError, ScoreAnswer, ScoreQuestion, ScoreRequest, ScoreResult
from decide.engines.recorded import RecordedEngine
from decide.engines.tape import record
from tests.conformance.adapter.outcome import Ran

Doc = dict[str, Any]

_LEVELS = ("harmless", "doubtful", "harmful")


class _Scores:
    """
    Gives each state the score that a vector says was recorded for it.
    """

    name = "live"

    def __init__(self, records: list[Doc]) -> None:
        self._scores = iter([one["score"] for one in records])

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        return ScoreResult(answers={"risk": ScoreAnswer(score=next(self._scores), levels=_LEVELS)})


def _asking(state: Any, instructions: str) -> ScoreRequest:
    return ScoreRequest(text=state, questions={"risk": ScoreQuestion(instructions, _LEVELS)})


async def lookup(given: Doc) -> Ran:
    """
    Record the scores of some states, then ask about one of them, or of none, in a process without a network.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recorded.json"
        async with record(_Scores(given["records"]), path, model=given.get("recorded_under_model", "m-1")) as tape:
            for one in given["records"]:
                await tape.score(_asking(one["state"], "How risky?"))
        model = given.get("classifier_model", "m-1")
        engine = await anyio.to_thread.run_sync(lambda: RecordedEngine(path, model=model))
    asked = _asking(given["ask_state"], "How dangerous?" if given.get("changed_instructions") else "How risky?")
    score, said = None, ""
    with (
        mock.patch.dict(os.environ, given.get("env", {}), clear="env" in given),
        mock.patch.object(socket.socket, "connect") as connect,
    ):
        try:
            score = (await engine.score(asked)).score("risk").score
        except DecideError as error:
            said = str(error)

    def unsaid(expected: Doc) -> Doc:
        return {**expected, "error_contains": [part for part in expected.get("error_contains", ()) if part not in said]}

    return Ran(actual={"score": score, "network_calls": connect.call_count}, expect=unsaid)
