"""Vectors of the reference's LLM decider: what a model says, and the decision or the scores that come of it."""

from __future__ import annotations

from typing import Any

from decide import DecideError, InvalidAnswerError, Request, Usage
from decide.engines.chat import ChatReply, Inference
from decide.engines.llm import MAX_RECENT, LLMEngine
from decide.wire import from_json
from tests.conformance.adapter import engines, reading, writing
from tests.conformance.adapter.llm_models import SayingModel
from tests.conformance.adapter.outcome import Ran

Doc = dict[str, Any]


async def llm_decider(given: Doc) -> Ran:
    """
    Have a scripted model decide, or answer questions.
    """
    script, options = given["llm"], given["options"]
    model = SayingModel(lambda asked: _said(asked, script), options.get("model") or "")
    given_model: Any = None if script.get("noLLM") else model
    engine = LLMEngine(
        given_model, max_recent=_max_recent(options.get("maxRecent") or 0), opaque_keys=False, **_name(options)
    )
    actual: Doc = {"engine": engine.name, "decisionTimeoutMs": (engine.decision_timeout or 0) * 1000, "error": None}
    actual |= await (_decided(engine, given) if "request" in given else _scored(engine, given))
    return Ran(actual={**actual, "calls": model.calls})


def _said(asked: Inference, script: Doc) -> ChatReply:
    if "error" in script:
        raise engines.error_of(script["error"])
    usage = script.get("usage")
    return ChatReply(
        text=script.get("text"),
        structured=script.get("structured"),
        usage=Usage(input_tokens=usage[0], output_tokens=usage[1]) if usage else None,
    )


async def _decided(engine: LLMEngine, given: Doc) -> Doc:
    try:
        decision = await engine.decide(_request(given["request"]))
    except DecideError as error:
        return {"ok": False, "result": None, "error": {"classes": engines.classes(error)}}
    return {"ok": True, "result": None if decision is None else writing.decision(decision)}


async def _scored(engine: LLMEngine, given: Doc) -> Doc:
    try:
        result = await engine.score(reading.score_request(given["scoreRequest"]))
    except DecideError as error:
        return {"badScores": isinstance(error, InvalidAnswerError), "error": {"classes": engines.classes(error)}}
    return {"result": writing.score_result(result)}


def _request(doc: Doc) -> Request:
    modules = [{**module, "intents": module.get("intents") or []} for module in doc["taxonomy"].get("modules") or ()]
    return from_json(Request, {**doc, "taxonomy": {**doc["taxonomy"], "modules": modules}})


def _max_recent(option: int) -> int | None:
    return MAX_RECENT if option == 0 else None if option < 0 else option


def _name(options: Doc) -> Doc:
    return {"name": options["name"]} if options.get("name") else {}
