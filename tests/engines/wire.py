"""Recorded exchanges read back as requests of ours, and engines whose server is a function."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2

from decide.engines.systemone import SystemOneEngine
from decide.questions import ChoiceQuestion, NoulQuestion, Question, ScoreQuestion, ScoreRequest

FIXTURES = Path(__file__).parent / "fixtures"
NOUL = {"n": NoulQuestion("?")}
ANSWERED = {"model": "m-1", "answers": {"n": {"type": "noul", "noul": 0.9}}}

Handler = Callable[[httpx2.Request], httpx2.Response]


def cases(stem: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FIXTURES / f"{stem}.json").read_text(encoding="utf-8"))["cases"]
    return found


def request_of(body: Mapping[str, Any]) -> ScoreRequest:
    """
    The request that was recorded; a state of null, which we refuse to build, reads as the empty text some servers make
    of it.
    """
    state = "" if body["state"] is None else body["state"]
    return ScoreRequest(text=state, questions={key: _question(q) for key, q in body["questions"].items()})


def response_of(recorded: Mapping[str, Any]) -> httpx2.Response:
    text = recorded["text"] if "text" in recorded else json.dumps(recorded["body"])
    return httpx2.Response(recorded["status"], headers=recorded["headers"], content=text.encode())


def engine_over(handler: Handler, base_url: str = "http://127.0.0.1:8000", **options: Any) -> SystemOneEngine:
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(handler))
    return SystemOneEngine(base_url, client=client, **options)


def replying(status: int, body: object = None, **headers: str) -> Handler:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: httpx2.Response(status, headers=named, content=content)


def asking(questions: Mapping[str, Question] = NOUL, text: Any = "state") -> ScoreRequest:
    return ScoreRequest(text=text, questions=questions)


def _question(asked: Mapping[str, Any]) -> Question:
    instructions = _text(asked.get("instructions") or "")
    criteria = asked.get("criteria")
    match asked.get("type", "noul"):
        case "choice":
            return ChoiceQuestion(instructions, criteria or {})
        case "score":
            return ScoreQuestion(instructions, [_text(level) for level in criteria or ()])
        case _:
            return NoulQuestion(instructions, **(criteria or {}))


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
