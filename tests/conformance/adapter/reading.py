"""Values of the vectors, in the reference's wire names and with its zeros for "none", as values of ours."""

from __future__ import annotations

from typing import Any

from decide import (
    Answer,
    Attempt,
    ChoiceAnswer,
    Decision,
    Reference,
    RelevanceAnswer,
    Report,
    Scored,
    ScoreRequest,
    ScoreResult,
    SelectionPolicy,
    Taxonomy,
    Usage,
)
from decide.distributions import Distribution
from decide.wire import from_json
from tests.conformance.adapter.numbers import number, numbers

Doc = dict[str, Any]


def policy(doc: Doc) -> SelectionPolicy:
    """
    Read a policy, whose zeros mean "none" and "never".

    Raises:
        InvalidPolicyError: If it cannot be built.
    """
    accept = number(doc.get("acceptUncalibratedAt") or 0)
    return SelectionPolicy(
        name=doc.get("name") or "",
        min_confidence=number(doc.get("minConfidence") or 0),
        min_gap=number(doc.get("minGap") or 0),
        min_probability=number(doc.get("minProbability") or 0),
        strong_probability=number(doc.get("strongProbability") or 0),
        potential_probability=number(doc.get("potentialProbability") or 0),
        max_picks=doc.get("maxPicks") or None,
        accept_uncalibrated_at=None if accept == 0 else accept,
        accept_uncalibrated_side_effects=doc.get("acceptUncalibratedSideEffects", False),
        models=doc.get("models"),
    )


def optional_policy(doc: Doc | None) -> SelectionPolicy | None:
    """
    Read a policy that may be left out.
    """
    return None if doc is None else policy(doc)


def floor(doc: Doc) -> float | None:
    """
    Read the floor of a chain: 0 stands for its default and a negative number for none.
    """
    least = number(doc.get("minConfidence") or 0)
    return 0.7 if least == 0 else None if least < 0 else least


def scored(doc: Doc | None) -> Scored:
    """
    Read an id with its confidence.
    """
    return Scored((doc or {}).get("value") or "", number((doc or {}).get("confidence") or 0))


def decision(doc: Doc) -> Decision:
    """
    Read a decision, nonsense included.
    """
    reference = doc.get("reference")
    return Decision(
        module=scored(doc.get("module")),
        intent=scored(doc.get("intent")),
        interaction=doc.get("interaction") or "",
        interaction_confidence=number(doc.get("interactionConfidence") or 0),
        interaction_scores=numbers(doc.get("interactionScores")),
        reference=None if reference is None else from_json(Reference, reference),
        required_scopes=doc.get("requiredScopes") or (),
        required_data=doc.get("requiredData") or (),
        slots=doc.get("slots") or {},
        can_handle_deterministically=doc.get("canHandleDeterministically", False),
        needs_llm=doc.get("needsLLM", False),
        presentation=doc.get("presentation") or "",
        scores=numbers(doc.get("scores")),
        calibrated=doc.get("calibrated", False),
        outcome=doc.get("outcome") or "",
        model=doc.get("model") or "",
    )


def answer(doc: Doc) -> Answer:
    """
    Read an answer; one of an unknown kind is judged as a choice.
    """
    probabilities = Distribution([(score["id"], number(score["probability"])) for score in doc.get("scores") or ()])
    calibrated = doc.get("calibrated", False)
    confidence = number(doc.get("confidence") or 0) if doc.get("hasConfidence") else None
    if doc.get("kind") == "relevance":
        return RelevanceAnswer(probabilities=probabilities, confidence=confidence, calibrated=calibrated)
    return ChoiceAnswer(
        probabilities=probabilities,
        confidence=confidence,
        none_id=doc.get("noneId") or "",
        calibrated=calibrated,
    )


def answers(docs: dict[str, Doc] | None) -> dict[str, Answer]:
    """
    Read answers by question.
    """
    return {key: answer(doc) for key, doc in (docs or {}).items()}


def score_request(doc: Doc) -> ScoreRequest:
    """
    Read a request for answers.

    Raises:
        ValueError: If a question cannot be built.
    """
    return from_json(ScoreRequest, {"product": doc.get("product") or "", **doc})


def score_result(doc: Doc) -> ScoreResult:
    """
    Read what an engine answered.
    """
    usage = doc.get("usage")
    return ScoreResult(
        engine=doc.get("engine") or "",
        model=doc.get("model") or "",
        usage=None if usage is None else from_json(Usage, usage),
        answers=answers(doc.get("answers")),
    )


def taxonomy(doc: Doc | None) -> Taxonomy:
    """
    Read a taxonomy.
    """
    return from_json(Taxonomy, doc or {})


def attempt(doc: Doc) -> Attempt:
    """
    Read an attempt.
    """
    return from_json(Attempt, doc)


def report(doc: Doc | None) -> Report:
    """
    Read a report.
    """
    return from_json(Report, doc or {})
