"""Vectors of toolnexus' LLM style: replies read, verdict tokens weighed, profiles written, a failed call repeated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from decide import (
    Answer,
    ChoiceAnswer,
    ChoiceQuestion,
    DecideError,
    EngineError,
    InvalidAnswerError,
    NoulAnswer,
    NoulQuestion,
    Question,
    Retry,
    ScoreAnswer,
    ScoreQuestion,
    ScoreRequest,
    ScoreResult,
)
from decide.engines._llm_prompt import score_inference
from decide.engines._llm_verdicts import yes_probability
from decide.engines._openai_bodies import chat_body, read_chat
from decide.engines.chat import ChatReply, Inference, Probability, Profile, Token
from decide.engines.llm import LLMEngine
from tests.conformance.adapter.llm_models import SayingModel
from tests.conformance.adapter.outcome import Ran

Doc = dict[str, Any]

_NOUL = NoulQuestion("?")
_LOGPROBS = Profile(probability=Probability.LOGPROBS)
_RETRIES = 2
"""What toolnexus does by default; here nothing is tried again unless somebody says so."""


async def llm_style(given: Doc) -> Ran:
    """
    Run one vector, told by what it gives.
    """
    if "reply" in given:
        return await _replied(given)
    if "statuses" in given:
        return await _retried(given["statuses"])
    if "verdict_token" in given:
        return _weighed(given)
    if "asked_nouls" in given:
        return await _located(given)
    return _body(given["profile"])


async def _replied(given: Doc) -> Ran:
    profile = _LOGPROBS if given.get("mode") == "logprobs" else Profile(**given.get("profile") or {})
    message = {"content": given["reply"], "reasoning_content": given.get("reasoning")}
    choice = {"message": message, "finish_reason": given.get("finish_reason")}
    choice["logprobs"] = {"content": given["logprobs"]} if given.get("logprobs") else None
    reply = read_chat({"choices": [choice], "model": given.get("transport_model"), "usage": given.get("usage")})
    model = SayingModel(lambda asked: reply, given.get("configured") or "")
    try:
        result = await _asked(model, {"q": _question(given)}, profile)
    except InvalidAnswerError as error:
        return _failed(str(error))
    answer = result.answers["q"]
    actual: Doc = {"calibrated": answer.calibrated, "model": result.model, "keys": list(result.answers)}
    return _of_interest({**actual, **_read(answer)})


def _failed(message: str) -> Ran:
    def unsaid(expected: Doc) -> Doc:
        return {
            **expected,
            "error_contains": [part for part in expected.get("error_contains", ()) if part not in message],
        }

    return Ran(actual={"error": True, "error_contains": []}, expect=unsaid, exact=True)


def _question(given: Doc) -> Question:
    match given.get("question_kind", "noul"):
        case "choice":
            return ChoiceQuestion("?", given["options"])
        case "score":
            return ScoreQuestion("?", [f"level {number}" for number in range(given["levels"])])
        case _:
            return _NOUL


def _read(answer: Answer) -> Doc:
    match answer:
        case NoulAnswer():
            return {"noul": answer.noul}
        case ChoiceAnswer():
            reported = {"confidence": answer.reported_confidence, "probabilities": dict(answer.probabilities)}
            return {"choice": answer.choice, "near_uniform": answer.near_uniform, **reported}
        case ScoreAnswer():
            return {"score": answer.score, "confidence": answer.reported_confidence}
        case _:
            return {}


def _weighed(given: Doc) -> Ran:
    top = [(text, logprob) for text, logprob in given.get("top_logprobs") or ()]
    token = Token(given["verdict_token"], dict(top).get(given["verdict_token"], 0.0), top)
    probability = yes_probability(token)
    actual: Doc = {"p_true": probability, "calibrated": probability is not None}
    return _of_interest({**actual, "falls_back_to": "verdict as 0/1"} if probability is None else actual)


async def _located(given: Doc) -> Ran:
    """
    Have all nouls answered with a verdict, of which some are written in a token that tells its probability.
    """
    nouls, choices = given.get("asked_nouls", []), given.get("asked_choice", [])
    questions: dict[str, Question] = dict.fromkeys(nouls, _NOUL)
    questions |= {key: ChoiceQuestion("?", ["yes", "no"]) for key in choices}
    entries = [(f'"{key}":{{"verdict":', "true", "}") for key in nouls]
    entries += [(f'"{key}":{{"choice":"yes"}}', "", "") for key in choices]
    tokens = [Token('{"answers":{', 0.0)]
    for number, (key, (before, verdict, after)) in enumerate(zip([*nouls, *choices], entries, strict=True)):
        yes = given.get("located", {}).get(key)
        tokens += [Token(f"{',' if number else ''}{before}", 0.0), *_verdict(verdict, yes), Token(after, 0.0)]
    tokens.append(Token("}}", 0.0))
    text = b"".join(token.text for token in tokens).decode()
    result = await _asked(SayingModel(lambda asked: ChatReply(text=text, tokens=tokens)), questions, _LOGPROBS)
    answers = [result.noul(key) for key in nouls]
    actual: Doc = {"calibrated": bool(answers) and all(answer.calibrated for answer in answers)}
    return _of_interest({**actual, "nouls": {key: result.noul(key).noul for key in nouls}})


def _verdict(verdict: str, yes: float | None) -> Sequence[Token]:
    if not verdict:
        return ()
    if yes is None:
        return (Token(verdict, 0.0, [("unrelated", -0.1)]),)
    sides = [(side, math.log(mass)) for side, mass in (("true", yes), ("false", 1 - yes)) if mass > 0]
    return (Token(verdict, 0.0, sides),)


def _body(profile: Doc | None) -> Ran:
    try:
        built = None if profile is None else Profile(**{**profile, "max_tokens": profile.get("max_tokens") or None})
    except ValueError:
        return _failed("")
    asked = score_inference(ScoreRequest(text="state", questions={"q": _NOUL}), {"q": _NOUL}, profile=built)
    body = chat_body(asked, "m")
    noul: Any = asked.schema
    for member in ("answers", "q"):
        noul = noul["properties"][member]
    (field,) = noul["properties"].items()

    actual: Doc = {"schema_noul_field": f"{field[0]}:{field[1]['type']}", "body_has": {}, "body_lacks": []}

    def unmet(expected: Doc) -> Doc:
        missing = {key: value for key, value in expected.get("body_has", {}).items() if body.get(key) != value}
        too_much = [key for key in expected.get("body_lacks", ()) if key in body]
        return {**actual, **expected, "body_has": missing, "body_lacks": too_much}

    return Ran(actual=actual, expect=unmet, exact=True)


async def _retried(statuses: Sequence[int]) -> Ran:
    calls = 0

    def say(asked: Inference) -> ChatReply:
        nonlocal calls
        status = statuses[min(calls, len(statuses) - 1)]
        calls += 1
        if status != 200:
            raise EngineError("the server failed", http_status=status)
        return ChatReply(text='{"answers":{"q":{"noul":1}}}')

    engine = LLMEngine(SayingModel(say), opaque_keys=False, decision_timeout=None)
    try:
        await Retry(engine, retries=_RETRIES).score(ScoreRequest(text="state", questions={"q": _NOUL}))
    except DecideError:
        return Ran(actual={"http_calls": calls, "ok": False}, exact=True)
    return Ran(actual={"http_calls": calls, "ok": True}, exact=True)


async def _asked(model: SayingModel, questions: dict[str, Question], profile: Profile) -> ScoreResult:
    engine = LLMEngine(model, profile=profile, opaque_keys=False)
    return await engine.score(ScoreRequest(text="state", questions=questions))


def _of_interest(actual: Doc) -> Ran:
    """
    Compare what a vector says something about.
    """
    return Ran(actual=actual, expect=lambda expected: {**actual, **expected}, exact=True)
