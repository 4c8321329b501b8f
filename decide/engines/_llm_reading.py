"""What a chat model's reply comes to: a decision, answers, or a problem in our own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from decide._json import DocumentError, loads, plain
from decide.answers import Answer
from decide.decisions import Decision
from decide.engines._llm_answers import ANSWERS, holds_answers, read_answers
from decide.engines._llm_decision import holds_decision, read_decision
from decide.engines._llm_objects import Found, find_answer
from decide.engines._llm_verdicts import verdicts
from decide.engines.chat import ChatReply, FinishReason, Probability, Profile
from decide.questions import NoulQuestion, Question

_UNFINISHED = {
    FinishReason.LENGTH: "cut off",
    FinishReason.CONTENT_FILTER: "withheld",
    FinishReason.REFUSAL: "refused",
}


def decision_of(reply: ChatReply, *, model: str) -> Decision:
    """
    Read a decision.

    Raises:
        DocumentError: If the reply is none.
    """
    return read_decision(_found(reply, holds_decision).document, model=model)


def answers_of(reply: ChatReply, questions: Mapping[str, Question], profile: Profile | None) -> dict[str, Answer]:
    """
    Read an answer to every question.

    Args:
        reply: What the model said.
        questions: By the names that the model was given.
        profile: How it was asked.

    Raises:
        DocumentError: If the reply does not answer them all.
    """
    found = _found(reply, holds_answers(questions))
    by_token = profile is not None and profile.probability is Probability.LOGPROBS
    return read_answers(found.document, questions, _measured(reply, found, questions) if by_token else {})


def finish_reason(reply: ChatReply) -> FinishReason | None:
    """
    Return why the model stopped, in our words; None when the provider does not say.
    """
    if not reply.finish_reason:
        return None
    known = reply.finish_reason in {reason.value for reason in FinishReason}
    return FinishReason(reply.finish_reason) if known else FinishReason.OTHER


def _found(reply: ChatReply, holds: Callable[[Mapping[str, object]], bool]) -> Found:
    unfinished = _UNFINISHED.get(finish_reason(reply) or FinishReason.STOP)
    if unfinished is not None:
        raise DocumentError("$", unfinished)
    if reply.structured is None:
        if reply.text is None:
            raise DocumentError("$", "nothing was written")
        return find_answer(reply.text, holds)
    document = loads(reply.structured) if isinstance(reply.structured, str) else plain(reply.structured)
    if not isinstance(document, dict) or not holds(document):
        raise DocumentError("$", "no answer in it")
    return Found(document, 0)


def _measured(reply: ChatReply, found: Found, questions: Mapping[str, Question]) -> dict[str, float]:
    if reply.text is None or reply.structured is not None or not reply.tokens:
        return {}
    nouls = [name for name, question in questions.items() if isinstance(question, NoulQuestion)]
    envelope = (ANSWERS,) if ANSWERS in found.document else ()
    probabilities = verdicts(reply.text, found.start, [(*envelope, name, "verdict") for name in nouls], reply.tokens)
    return {name: value for name, value in zip(nouls, probabilities, strict=True) if value is not None}
