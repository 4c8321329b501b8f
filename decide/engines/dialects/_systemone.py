"""System One as its inventor speaks it, and the two dialects that differ from it in a member or a header."""

from __future__ import annotations

from typing import Final

from decide.engines._systemone_encode import WireRequest, written
from decide.engines.dialects._dialect import NOUL, Dialect, Document, entries_in
from decide.engines.limits import Limits

CHALK_PROTOCOL: Final = 1


def systemone_body(asked: WireRequest, model: str) -> dict[str, object]:
    """
    Write a request; the model only when there is one, because some servers refuse names that they do not know.
    """
    head: dict[str, object] = {"model": model} if model else {}
    return {**head, "state": asked.state, "questions": asked.questions}


def systemone_reply(asked: WireRequest, document: Document) -> Document:
    """
    Return a reply as it came.
    """
    entries_in(document, "", asked, NOUL)
    return document


def _chalk_body(asked: WireRequest, model: str) -> dict[str, object]:  # noqa: ARG001 - a decider has one model
    state = asked.state if isinstance(asked.state, str) else written(asked.state).decode()
    return {"protocol": CHALK_PROTOCOL, "state": state, "questions": asked.questions}


def _two_sided(asked: WireRequest, model: str) -> dict[str, object]:
    """
    Write a request in which a yes/no question describes both sides or none, as OpenRouter wants it.
    """
    return systemone_body(asked, model) | {
        "questions": {name: {**question, **_both_sides(question)} for name, question in asked.questions.items()}
    }


def _both_sides(question: dict[str, object]) -> dict[str, object]:
    criteria = question.get("criteria")
    if question["type"] != NOUL or not isinstance(criteria, dict):
        return {}
    return {"criteria": {"true": "anything else", "false": "anything else", **criteria}}


SYSTEM_ONE: Final = Dialect(name="systemone", write=systemone_body, read=systemone_reply)
CHALK: Final = Dialect(
    name="chalk", write=_chalk_body, read=systemone_reply, limits=Limits(least_options=2, filled_state=True)
)
OPENROUTER: Final = Dialect(
    name="openrouter",
    write=_two_sided,
    read=systemone_reply,
    route="/alpha/decisions",
    limits=Limits(instructions=True),
)
LITELLM: Final = Dialect(
    name="litellm", write=systemone_body, read=systemone_reply, cost_header="x-litellm-response-cost"
)
