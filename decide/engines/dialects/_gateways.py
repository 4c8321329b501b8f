"""Clouds and gateways that pack System One into an envelope, a path or a spelling of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from decide.engines._systemone_encode import WireRequest
from decide.engines.dialects._dialect import NOUL, Dialect, Document, entries_in
from decide.engines.dialects._systemone import CHALK_PROTOCOL, systemone_body, systemone_reply
from decide.engines.limits import Limits


def _opened(envelope: str, *, value: str = NOUL) -> Callable[[WireRequest, Document], Document]:
    """
    Return how to read a reply that lies in the member *envelope*, whose yes/no numbers stand in the member *value*.
    """

    def read(asked: WireRequest, document: Document) -> Document:
        inner = document.get(envelope)
        entries = entries_in(document, envelope, asked, NOUL)
        if value != NOUL:
            entries = {name: _renamed(entry, value) for name, entry in entries.items()}
        return {**(inner if isinstance(inner, dict) else {}), "answers": entries}

    return read


def _renamed(entry: object, value: str) -> object:
    if not isinstance(entry, dict) or entry.get("type") != NOUL or value not in entry:
        return entry
    return {**entry, NOUL: entry[value]}


def _without_model(asked: WireRequest, model: str) -> dict[str, object]:  # noqa: ARG001 - it stands in the address
    return systemone_body(asked, "")


def _invocation(asked: WireRequest, model: str) -> dict[str, object]:
    return {**systemone_body(asked, model), "protocol": CHALK_PROTOCOL}


def _vercel_body(asked: WireRequest, model: str) -> dict[str, object]:
    questions = {
        name: {**question, "type": "boolean"} if question["type"] == NOUL else question
        for name, question in asked.questions.items()
    }
    return systemone_body(asked, model) | {"questions": questions}


def _vercel_reply(asked: WireRequest, document: Document) -> Document:
    usage = document.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return {
        **document,
        "answers": entries_in(document, "", asked, "boolean"),
        "usage": {"input_tokens": counts.get("inputTokens"), "output_tokens": counts.get("outputTokens")},
    }


CLOUDFLARE: Final = Dialect(
    name="cloudflare",
    write=_without_model,
    read=_opened("result"),
    route="/ai/run/{model}",
    envelope="result",
    codes={"5006": 400},
    limits=Limits(questions=64, least_options=2, levels=10),
)
DATABRICKS: Final = Dialect(
    name="databricks",
    write=_without_model,
    read=_opened("response", value="probability"),
    route="/api/2.0/ai-functions/ai-decide",
    envelope="response",
)
VERCEL: Final = Dialect(
    name="vercel", write=_vercel_body, read=_vercel_reply, route="/v4/ai/evaluation-model", yes_no="boolean"
)
PARALLEL: Final = Dialect(
    name="parallel",
    write=systemone_body,
    read=systemone_reply,
    route="/v1/decisions",
    key_header="x-api-key",
    key_prefix="",
    limits=Limits(questions=100),
)
AGENTCORE: Final = Dialect(
    name="agentcore",
    write=_invocation,
    read=systemone_reply,
    route="/invocations",
    codes={"loading": 503, "bad_request": 400, "invalid_request": 400},
    health="/ping",
    well=frozenset({"Healthy", "HealthyBusy"}),
)
