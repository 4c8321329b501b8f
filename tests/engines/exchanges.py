"""The recorded exchanges: in which dialect each was, what it should come to, and how it is replayed."""

import json
from collections.abc import Mapping
from typing import Any

import httpx2

from decide.answers import ScoreResult
from decide.engines.systemone import SystemOneEngine
from decide.questions import ChoiceQuestion, NoulQuestion, Question, ScoreQuestion, ScoreRequest
from tests.engines.wire import cases, engine_over, response_of

BASES = {
    "cloudflare": "http://127.0.0.1:8000/client/v4/accounts/ACC",
    "openrouter": "http://127.0.0.1:8000/api/v1",
    "fireworks": "http://127.0.0.1:8000/inference/v1",
}
MODELS = {"cloudflare": "@cf/example/clef"}
SPOKEN = {
    "agentcore_wrapped": "agentcore",
    "chalk": "chalk",
    "cloudflare": "cloudflare",
    "databricks": "databricks",
    "litellm": "litellm",
    "openai_decisions": "openai",
    "openrouter": "openrouter",
    "parallel": "parallel",
    "vercel": "vercel",
}
OURS = {"model", "state", "questions", "input", "protocol"}
"""What a dialect writes; anything else in a recorded body is the caller's, by `request_params`."""

OUTCOMES = {
    "agentcore_wrapped/loading_200": "error",
    "agentcore_wrapped/bad_request_200": "rejected",
    "avrik/multi_label_and_abstain": "abstained",
    "avrik/error": "rejected",
    "chalk/missing_key_is_unknown": "decided",
    "chalk/other_protocol_is_no_answer": "misconfigured",
    "chalk/probabilities_optional": "decided",
    "cloudflare/enveloped": "decided",
    "cloudflare/failure_in_envelope": "rejected",
    "cloudflare/html_from_the_edge": "error",
    "databricks/nested_and_renamed": "decided",
    "fireworks/cached_tokens": "decided",
    "laya/extended": "decided",
    "laya/busy_503": "error",
    "laya/slow_upload_408": "error",
    "laya/too_large_413": "rejected",
    "laya/state_missing_400": "rejected",
    "litellm/systemone_route_omits_refused_question": "decided",
    "litellm/decisions_route_refusal": "abstained",
    "litellm/upstream_legend_list": "decided",
    "litellm/budget_exceeded_422": "quota",
    "llama_server/ok": "decided",
    "llama_server/loading_503": "error",
    "llama_server/queue_full_429": "error",
    "llama_server/context_400": "rejected",
    "llama_server/budget_413": "rejected",
    "llama_server/validation_422": "rejected",
    "noulxp/ok": "decided",
    "noulxp/stopping_503": "error",
    "noulxp/refused_422": "rejected",
    "noulxp/bad_questions_400": "rejected",
    "noulxp/no_length_411": "rejected",
    "ollama_lmstudio/ollama_ok": "decided",
    "ollama_lmstudio/ollama_model_not_pulled_404": "misconfigured",
    "openai_decisions/all_types": "decided",
    "openai_decisions/state_as_json_part": "decided",
    "openai_decisions/insufficient_quota_429": "quota",
    "openai_decisions/rate_limit_429_ms": "error",
    "openai_decisions/invalid_400": "rejected",
    "opendecider/extended": "decided",
    "opendecider/busy_503": "error",
    "opendecider/timeout_504": "error",
    "opendecider/state_too_long_is_422": "rejected",
    "openrouter/ok": "decided",
    "openrouter/ok_minimal_optional_fields_absent": "decided",
    "openrouter/out_of_credits_402": "quota",
    "openrouter/too_many_requests_429": "error",
    "openrouter/context_400": "rejected",
    "openrouter/edge_timeout_524": "error",
    "parallel/refusal_in_map": "decided",
    "typesafe_images/asset_inline_and_box": "decided",
    "vercel/boolean_type": "decided",
    "vercel/billing_as_403": "quota",
}
"""What each exchange comes to, by fixture and case."""

ELSEWHERE = {"noulxp/models", "opendecider/not_ready_503"}
"""Exchanges that are not about questions; see the tests of health and models."""


def recorded(stem: str) -> list[tuple[str, dict[str, Any]]]:
    return [(f"{stem}/{case['name']}", case) for case in cases(stem)]


RECORDED = dict(one for stem in sorted({name.partition("/")[0] for name in OUTCOMES}) for one in recorded(stem))


def is_listed(case: Mapping[str, Any]) -> bool:
    return "input" in case["request"]["body"]


def dialect_of(name: str, case: Mapping[str, Any]) -> str:
    return "openai" if is_listed(case) else SPOKEN.get(name.partition("/")[0], "systemone")


def asked_in(case: Mapping[str, Any]) -> ScoreRequest:
    """Read a recorded request as one of ours; what has no body of its own is asked something."""
    body = case["request"]["body"] or {}
    if is_listed(case):
        text, context = body["input"], {}
        if not isinstance(text, str):
            parts = text[0]["content"]
            text, context = parts[0]["text"], parts[1]["data"]
        questions = {q.get("name") or str(n): _listed_question(q) for n, q in enumerate(body["questions"])}
        return ScoreRequest(text=text, context=context, questions=questions)
    found = {key: _question(q) for key, q in (body.get("questions") or {"q": {}}).items()}
    return ScoreRequest(
        text=body.get("state", "s"), questions={key: question for key, question in found.items() if question}
    )


def _question(asked: Mapping[str, Any]) -> Question | None:
    instructions, criteria = asked.get("instructions") or "?", asked.get("criteria") or {}
    match asked.get("type", "noul"):
        case "choice":
            return ChoiceQuestion(instructions, criteria)
        case "score":
            return ScoreQuestion(instructions, criteria)
        case "noul" | "boolean":
            return NoulQuestion(instructions, **criteria)
        case _:
            return None


def _listed_question(asked: Mapping[str, Any]) -> Question:
    match asked["type"]:
        case "choice":
            return ChoiceQuestion(
                asked["instructions"],
                {json.dumps(one["value"]): one.get("description") for one in asked["choices"]},
            )
        case "score":
            return ScoreQuestion(asked["instructions"], [one["label"] for one in asked["levels"]])
        case _:
            return NoulQuestion(asked["instructions"])


def engine_for(name: str, case: Mapping[str, Any], sent: list[httpx2.Request]) -> SystemOneEngine:
    dialect, body = dialect_of(name, case), case["request"]["body"] or {}

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return response_of(case["response"])

    return engine_over(
        answer,
        BASES.get(name.partition("/")[0], "http://127.0.0.1:8000"),
        dialect=dialect,
        model=body.get("model", MODELS.get(name.partition("/")[0], "")),
        api_key="test-key",
        request_params={key: value for key, value in body.items() if key not in OURS},
    )


async def result_of(name: str) -> tuple[ScoreResult, list[httpx2.Request]]:
    sent: list[httpx2.Request] = []
    case = RECORDED[name]
    return await engine_for(name, case, sent).score(asked_in(case)), sent
