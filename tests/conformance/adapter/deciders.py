"""Vectors of a decider: how an answer is read, held to a threshold, and how the server is looked at and trusted."""

from __future__ import annotations

import json
from decimal import Decimal
from math import floor
from typing import Any

import anyio
import httpx2

from decide import (
    Answer,
    ChoiceAnswer,
    ChoiceQuestion,
    NoulAnswer,
    NoulQuestion,
    Outcome,
    Question,
    ScoreAnswer,
    ScoreQuestion,
    ScoreRequest,
    SelectionPolicy,
    time_budget,
)
from decide.deadlines import charged
from decide.engines._endpoints import endpoint
from decide.engines._setup import SetupError
from decide.engines.embeddings import Embedder
from decide.engines.systemone import SystemOneEngine
from decide.engines.trust import is_trusted
from tests.conformance.adapter.clients import PLACE, YES, engine_over, replying
from tests.conformance.adapter.numbers import milliseconds
from tests.conformance.adapter.outcome import Ran

Doc = dict[str, Any]


async def answer_reading(given: Doc) -> Ran:
    """
    Read one answer, beside another that keeps the reply from being one without any.
    """
    entry = given["answer"]
    questions = {"q": _question(entry), "other": NoulQuestion("?")}
    reply = {"answers": {"q": entry, "other": YES}}
    result = await engine_over(replying(reply), dialect="chalk").score(ScoreRequest(text="s", questions=questions))
    answer = result.answers["q"]
    said, confidence = (None, None) if answer.unknown else _said(answer)
    if confidence is None:
        said = None
    return Ran(actual={"answer": said, "confidence": confidence, "unknown": confidence is None}, exact=True)


def _question(entry: Any) -> Question:
    match entry:
        case {"type": "choice"}:
            offered = {str(entry.get("choice")), *(entry.get("probabilities") or ())}
            return ChoiceQuestion("?", {option: f"means {option}" for option in [*sorted(offered), "something else"]})
        case {"type": "score"}:
            return ScoreQuestion("?", ["low", "mid", "high"])
        case _:
            return NoulQuestion("?")


def _said(answer: Answer) -> tuple[object, float | None]:
    match answer:
        case NoulAnswer():
            return "yes" if (answer.noul or 0.0) >= 0.5 else "no", answer.certainty
        case ChoiceAnswer():
            return answer.choice, answer.confidence
        case ScoreAnswer():
            return answer.score, answer.confidence
        case _:
            raise AssertionError(answer)


def threshold(given: Doc) -> Ran:
    """
    Hold a confidence to a threshold.
    """
    policy = SelectionPolicy(
        name="decider",
        min_confidence=float(given["threshold"]),
        min_gap=0.0,
        min_probability=0.01,
        strong_probability=1.0,
        potential_probability=0.01,
    )
    answer = ScoreAnswer(
        score=1.0, levels=("low", "high"), probabilities={1: 1.0}, confidence=given["confidence"], calibrated=True
    )
    return Ran(
        actual={
            "may_act": policy.evaluate(answer).outcome == Outcome.SELECTED,
            "threshold_milli": floor(Decimal(given["threshold"]) * 1000),
        },
        exact=True,
    )


def loopback(given: Doc) -> Ran:
    """
    Say whether a URL is this machine.
    """
    try:
        local = endpoint(given["url"]).loopback
    except SetupError:
        local = False
    return Ran(actual={"local": local}, exact=True)


def trust(given: Doc) -> Ran:
    """
    Say whether anything may be sent to a URL.
    """
    try:
        may_send = is_trusted(given["url"], given["trusted_lines"])
    except SetupError:
        may_send = False
    return Ran(actual={"may_send": may_send}, exact=True)


async def health(given: Doc) -> Ran:
    """
    Look at a server, with a time budget around it that has been used in part.
    """
    probes: list[Doc] = []

    async def answer(request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            return await _reply(given["health"])
        probes.append(json.loads(request.content))
        return await _reply(given["probe"])

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    spent = given.get("spent_ms", 0) / 1000
    with time_budget(2.0) as budget:
        with charged():
            await anyio.sleep(spent)
        if given.get("service") == "embeddings":
            found = await Embedder(PLACE, model="m", client=client).health()
        else:
            found = await SystemOneEngine(PLACE, dialect="chalk", client=client).health()
        spent = budget.spent
    actual = {
        "healthy": found.healthy,
        "probes": len(probes),
        "spent_ms": milliseconds(spent),
        "probe_input": probes[0].get("input") if probes else None,
        "version_ok": found.same_protocol,
    }
    return Ran(actual=actual, expect=lambda expected: {**actual, **expected}, exact=True)


async def _reply(script: list[Any] | str) -> httpx2.Response:
    if isinstance(script, str):
        if "refused" not in script:
            await anyio.sleep_forever()
        raise httpx2.ConnectError("")
    body = script[1] if len(script) > 1 else {}
    return httpx2.Response(script[0], content=(body if isinstance(body, str) else json.dumps(body)).encode())
