"""Vectors of the reference's client for TypeSafe: what is sent, what comes back, and what is made of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import httpx2

from decide import (
    AttemptLog,
    AuthError,
    DecideError,
    EngineError,
    InvalidAnswerError,
    InvalidRequestError,
    RateLimitedError,
    ScoreRequest,
)
from decide.engines._systemone_encode import wire_request
from decide.engines.limits import Limits
from decide.engines.systemone import SystemOneEngine
from decide.policies import NARROWING
from decide.questions import RelevanceQuestion
from decide.requests import Request
from decide.retry_after import retry_delay
from decide.wire import from_json
from tests.conformance.adapter import engines, reading, writing
from tests.conformance.adapter.outcome import Ran

Doc = dict[str, Any]

HOSTED = "https://api.typesafe.ai"
STATE_TOKENS = 32_000
MOST = 255
TEXT = "<text>"
"""Stands in the vectors for wording of the reference; ours is our own."""

_LOCAL_LIMITS = {
    "too_many_questions": re.compile(r"\d+ questions, at most"),
    "too_many_options": re.compile(r"question \d+: \d+ options, at most|\d+ intents"),
    "state_too_large": re.compile("a state and a question of about"),
}


async def typesafe(given: Doc) -> Ran:
    """
    Ask a server that is a script.
    """
    sent: list[httpx2.Request] = []
    asked = reading.score_request(given["scoreRequest"]) if "scoreRequest" in given else None
    engine = _engine(given, _answering(given.get("http") or {}, asked, sent))
    if engine is None:
        return Ran(actual={"calls": 0, "newError": True}, expect=lambda expected: {**expected, "newError": True})
    log = AttemptLog()
    actual: Doc = {"error": None}
    try:
        actual |= await (_decided(engine, given["request"], log) if asked is None else _scored(engine, asked, log))
    except DecideError as error:
        actual |= {"error": _error(error), **({"ok": False} if asked is None else {})}
    actual |= {"calls": len(sent), "report": writing.report(log.report())}
    if sent:
        actual["httpRequest"] = _sent(sent[0], asked)
    return Ran(actual=actual, expect=lambda expected: _expected(expected, actual))


def _engine(given: Doc, handler: Callable[[httpx2.Request], httpx2.Response]) -> SystemOneEngine | None:
    config = given["config"]
    policy = reading.policy(given["policy"]) if "policy" in given else NARROWING
    limit = config.get("maxStateTokens") or STATE_TOKENS
    try:
        return SystemOneEngine(
            config.get("baseURL") or HOSTED,
            model=config["model"],
            api_key="KEY",
            name=config.get("name") or "typesafe",
            max_response_bytes=config.get("maxResponseBytes") or 1024 * 1024,
            limits=Limits(questions=MOST, options=MOST, state_tokens=limit if limit > 0 else None),
            client=httpx2.AsyncClient(transport=httpx2.MockTransport(handler)),
            policy=policy,
        )
    except ValueError:
        return None


def _answering(
    http: Doc, asked: ScoreRequest | None, sent: list[httpx2.Request]
) -> Callable[[httpx2.Request], httpx2.Response]:
    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        if "error" in http:
            raise httpx2.ReadTimeout("") if "deadline" in http["error"].get("kinds", ()) else httpx2.ReadError("")
        body = http.get("body") or ""
        return httpx2.Response(
            http.get("status") or 200,
            headers=http.get("headers") or {},
            content=(body if asked is None else _renamed(body, asked)).encode(),
        )

    return answer


def _renamed(body: str, asked: ScoreRequest) -> str:
    """
    Return a reply under the names that we ask by; the reference numbers its questions.
    """
    try:
        document = json.loads(body)
    except ValueError:
        return body
    if not isinstance(document.get("answers"), dict):
        return body
    names = {theirs: ours for ours, theirs in _names(asked).items()}
    return json.dumps({**document, "answers": {names.get(key, key): one for key, one in document["answers"].items()}})


def _names(asked: ScoreRequest) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, (key, names) in enumerate(wire_request(asked).names.items()):
        several = isinstance(asked.questions[key], RelevanceQuestion)
        found |= {name: f"q{number}.c{at}" if several else f"q{number}" for at, name in enumerate(names)}
    return found


async def _decided(engine: SystemOneEngine, doc: Doc, log: AttemptLog) -> Doc:
    modules = [{**module, "intents": module.get("intents") or []} for module in doc["taxonomy"].get("modules") or ()]
    request = from_json(Request, {**doc, "taxonomy": {**doc["taxonomy"], "modules": modules}})
    decision = await engine.decide_traced(request, log)
    return {"ok": decision is not None, "result": None if decision is None else writing.decision(decision)}


async def _scored(engine: SystemOneEngine, asked: ScoreRequest, log: AttemptLog) -> Doc:
    written = writing.score_result(await engine.score_traced(asked, log))
    del written["hasReport"]
    return {"result": written}


def _error(error: DecideError) -> Doc:
    return {"classes": _classes(error), "retryDelayMs": (retry_delay(error) or 0.0) * 1000}


def _classes(error: DecideError) -> list[str]:
    match error:
        case AuthError():
            return ["auth", "ts_auth"]
        case InvalidRequestError():
            local = [name for name, problem in _LOCAL_LIMITS.items() if problem.match(error.detail)]
            return ["invalid_request", "ts_invalid_request", *local]
        case RateLimitedError():
            return ["rate_limited"]
        case InvalidAnswerError():
            return ["bad_response"]
        case EngineError() if error.http_status is not None:
            return ["overloaded" if error.http_status == 529 else "server"]
        case _:
            return engines.classes(error)


def _sent(request: httpx2.Request, asked: ScoreRequest | None) -> Doc:
    body = json.loads(request.content)
    names = {} if asked is None else _names(asked)
    questions = {names.get(name, name): _question(one, asked) for name, one in body["questions"].items()}
    return {
        "method": request.method,
        "url": str(request.url),
        "headers": {name: request.headers[name] for name in ("Accept", "Authorization", "Content-Type")},
        "body": {"state": _state(body["state"], asked), "model": body["model"], "questions": questions},
    }


def _question(question: Doc, asked: ScoreRequest | None) -> Doc:
    # How a candidate of a relevance is described to the model is wording too.
    wording = {"instructions", "criteria"} if asked is not None and question["type"] == "noul" else {"instructions"}
    return {member: value for member, value in question.items() if member not in wording}


def _state(state: Any, asked: ScoreRequest | None) -> Any:
    if asked is None:
        return state
    return {"question": state["text"], "context": state["context"]} if isinstance(state, dict) else {"question": state}


def _expected(expected: Doc, actual: Doc) -> Doc:
    compared = {member: value for member, value in expected.items() if member != "event"}
    if "httpRequest" not in expected:
        return compared
    request = json.loads(json.dumps(expected["httpRequest"]))
    request["headers"].pop("User-Agent", None)
    request["body"]["state"].pop("candidates", None)
    for question in request["body"]["questions"].values():
        question.pop("instructions", None)
    return {**compared, "httpRequest": _in_our_words(request, actual.get("httpRequest"))}


def _in_our_words(expected: Any, actual: Any) -> Any:
    if expected == TEXT and isinstance(actual, str) and actual:
        return actual
    if isinstance(expected, dict) and isinstance(actual, dict):
        return {key: _in_our_words(member, actual.get(key)) for key, member in expected.items()}
    return expected
