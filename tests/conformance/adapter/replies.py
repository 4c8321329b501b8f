"""Vectors of what a client makes of replies: decoded answers, what an error may say, and when it tries again."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import anyio
import httpx2

from decide import (
    Answer,
    AttemptLog,
    Chain,
    ChoiceAnswer,
    ChoiceQuestion,
    DecideError,
    NoulQuestion,
    Question,
    Retry,
    ScoreAnswer,
    ScoreQuestion,
    ScoreRequest,
    ScoreResult,
)
from decide.engines.encoding import degenerate
from decide.engines.systemone import key_from, text_from
from decide.retry_after import parse_retry_after
from tests.conformance.adapter.clients import YES, engine_over, environment, replying
from tests.conformance.adapter.numbers import milliseconds
from tests.conformance.adapter.outcome import Ran

Doc = dict[str, Any]

NOW = dt.datetime(2026, 11, 30, tzinfo=dt.UTC)
LONG = 3600.0
OURS = "of our own"
"""A question that is asked where a vector asks none, because an empty reply is none."""


def degenerate_criteria(given: Doc) -> Ran:
    """
    Look at the options of a choice.
    """
    reason = degenerate(ChoiceQuestion("?", given["criteria"]))
    return Ran(actual={"degenerate": reason is not None, "reason": reason})


async def wire_decode(given: Doc) -> Ran:
    """
    Read a reply, and an answer in it.
    """
    body, said = given["body"], list[str]()
    questions = _questions(body)
    if OURS in questions:
        body = {**body, "answers": {OURS: YES}} if isinstance(body, dict) else body
    actual: Doc = {}
    try:
        result = await engine_over(replying(body)).score(ScoreRequest(text="s", questions=questions))
        actual = {"calibrated": all(answer.calibrated for answer in result.answers.values()), **_usage(result)}
        if "read" in given:
            kind, key = given["read"]
            actual["value"] = _value(getattr(result, kind)(key))
    except (DecideError, LookupError, TypeError) as error:
        said = [str(error), getattr(error, "key", "")]

    def compared(expected: Doc) -> Doc:
        if said:
            unsaid = [part for part in expected.get("error_contains", ["an answer"]) if part not in " ".join(said)]
            return {"error_contains": unsaid}
        if "value" in expected and isinstance(actual.get("value"), dict):
            missing = {name: one for name, one in actual["value"].items() if name not in expected["value"]}
            return {**actual, **expected, "value": {**expected["value"], **missing}}
        return {**actual, **expected}

    return Ran(actual={} if said else actual, expect=compared)


def _questions(body: Any) -> dict[str, Question]:
    answers = body.get("answers") if isinstance(body, dict) else None
    if not isinstance(answers, dict) or not answers:
        return {OURS: NoulQuestion("?")}
    return {key: _question(answer) for key, answer in answers.items()}


def _question(answer: Any) -> Question:
    match answer:
        case {"type": "choice", "probabilities": dict() as options}:
            return ChoiceQuestion("?", {option: f"means {option}" for option in options})
        case {"type": "score", "legend": dict() as legend}:
            return ScoreQuestion("?", [legend[str(level)] for level in range(len(legend))])
        case _:
            return NoulQuestion("?")


def _usage(result: ScoreResult) -> Doc:
    usage = result.usage
    if usage is None:
        return {"cost": None, "input_tokens": None, "output_tokens": None}
    cost = None if usage.cost is None else float(usage.cost)
    return {"cost": cost, "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}


def _value(answer: Answer) -> Doc:
    match answer:
        case ScoreAnswer():
            return {"score": answer.score, "confidence": answer.reported_confidence, "levels": list(answer.levels)}
        case ChoiceAnswer():
            return {
                "choice": answer.choice,
                "confidence": answer.reported_confidence,
                "near_uniform": answer.near_uniform,
                "probabilities": dict(answer.probabilities),
            }
        case _:
            return {"noul": getattr(answer, "noul", None)}


async def errors_and_secrets(given: Doc) -> Ran:
    """
    Look at what an error says, or at what is sent with a key or a header from the environment.
    """
    if "status" in given:
        return await _message(given)
    sent: list[httpx2.Request] = []
    late = given.get("env_set_after_construction", False)
    variable = given.get("api_key_env")
    values = {**given.get("env", {}), **({variable: "sk-SECRET"} if late else {})}
    unset = {"TENANT": None}

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(500 if len(sent) > 1 else 200, json={"answers": {OURS: YES}, "seen": list(values)})

    with environment(unset if late else unset | values):
        engine = engine_over(
            answer,
            api_key=key_from(variable) if variable else None,
            headers={name: text_from(text) for name, text in given.get("headers", {}).items()},
        )
        with environment(values):
            places = await _places(engine)
    headers = sent[0].headers
    never_in = sorted(place for place, text in places.items() if "sk-SECRET" not in text)
    actual = {
        "header_authorization": headers.get("authorization"),
        "header_authorization_present": "authorization" in headers,
        "header_x_tenant": headers.get("x-tenant"),
        "header_x_price": headers.get("x-price"),
        "never_in": never_in,
    }

    def compared(expected: Doc) -> Doc:
        return {**actual, **expected, "never_in": sorted(expected.get("never_in", never_in))}

    return Ran(actual=actual, expect=compared)


async def _message(given: Doc) -> Ran:
    said = ""
    try:
        await engine_over(replying(given["body"], given["status"])).score(_asked())
    except DecideError as error:
        said = error.server_text

    def compared(expected: Doc) -> Doc:
        # Of a JSON body its message alone is kept, because the rest of it may be what the caller sent.
        kept = expected["message_body"]
        return {**expected, "message_body": said if said and said in kept else kept}

    return Ran(actual={"message_body": said}, expect=compared)


def _asked() -> ScoreRequest:
    return ScoreRequest(text="s", questions={OURS: NoulQuestion("?")})


async def _places(engine: Any) -> dict[str, str]:
    """
    Return every place where a key could show, after a call that went well and one that did not.
    """
    logged: list[str] = []
    log, failed = AttemptLog(), ""
    with _listening(logged):
        result = await engine.score_traced(_asked(), log)
        try:
            await engine.score_traced(_asked(), log)
        except DecideError as error:
            failed = f"{error!r} {vars(error)} {error.__context__!r}"
    return {
        "exception": failed,
        "metric": repr(log.report()),
        "log": "\n".join(logged),
        "repr": f"{engine!r} {engine.effective}",
        "result": repr(result),
    }


@contextmanager
def _listening(logged: list[str]) -> Iterator[None]:
    """
    Note everything that the client's library logs.
    """
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())  # type: ignore[method-assign]  # nothing else of it is used
    loggers = [logging.getLogger(name) for name in ("decide", "httpx2")]
    before = [(one.level, one.propagate) for one in loggers]
    for one in loggers:
        one.addHandler(handler)
        one.setLevel(logging.DEBUG)
        one.propagate = False
    try:
        yield
    finally:
        for one, (level, propagate) in zip(loggers, before, strict=True):
            one.removeHandler(handler)
            one.setLevel(level)
            one.propagate = propagate


async def retry(given: Doc) -> Ran:
    """
    Try again, as often and after as long as a vector says.
    """
    if given.keys() == {"retry_after"}:
        return Ran(actual={"seconds": parse_retry_after(given["retry_after"], NOW)}, exact=True)
    times: list[float] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        times.append(anyio.current_time())
        status = given.get("always_status") or (given.get("first_status", 0) if len(times) == 1 else given["then"])
        if status == 0:
            raise httpx2.ReadError("")
        headers = {"retry-after": given["retry_after"]} if "retry_after" in given else {}
        return httpx2.Response(status, json={"answers": {OURS: YES}}, headers=headers)

    engine = Retry(
        engine_over(answer, decision_timeout=None),
        retries=given.get("retries", 2),
        backoff=given.get("retry_base_ms", 500) / 1000,
        retry_on=given.get("retryable_statuses", ()),
        on_error=(lambda failure: given["on_error"]) if "on_error" in given else None,
    )
    ended = await Chain([engine], timeout=LONG).score(_asked())
    waits = [milliseconds(after - before) for before, after in pairwise(times)]
    actual = {"attempts": len(times), "ok": bool(ended.trace.decided_by), "waits_ms": waits, "jitter": False}
    return Ran(actual=actual, expect=lambda expected: {**actual, **expected}, exact=True)
