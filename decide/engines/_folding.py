"""The answers about a taxonomy, folded into one decision that nobody has judged yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from decide.answers import ChoiceAnswer
from decide.decisions import Decision, Reference, Scored
from decide.engines._routing import ENTITY, INTENT, INTERACTION, PRESENTATION, Route
from decide.engines._systemone_decode import Reading
from decide.errors import InvalidAnswerError
from decide.outcomes import Outcome, Reason
from decide.policies import DURABLE, SelectionPolicy
from decide.taxonomy import Interaction, side_effectful

INTENT_OTHER: Final = "intent_other"
BELOW_DURABLE: Final = "interaction_below_durable"

_SHORT = {Reason.NARROW_GAP: "gap"}


@attrs.frozen
class Abstention:
    """
    Why there is no decision, in a word that may stand in a trace.
    """

    reason: str


@attrs.frozen(kw_only=True)
class _Spoken:
    value: str
    confidence: float = 0.0
    scores: Mapping[str, float] = attrs.field(factory=dict)


def fold(route: Route, reading: Reading, policy: SelectionPolicy) -> Decision | Abstention:
    """
    Put a decision together.

    The intent is the one that the answer picks; how sure it is, a judge weighs later. The interaction has to pass
    *policy* here, and what changes something also the durable bars. Self-reported answers pass nothing here: they make
    an uncalibrated decision, which only a judge that opts in accepts.

    Args:
        route: What was asked.
        reading: What was answered.
        policy: The bars for the interaction, and for everything that is only added when it is likely.

    Returns:
        The decision, or why there is none.

    Raises:
        InvalidAnswerError: If the intent or the interaction was answered with something that is no answer.
    """
    for number, key in enumerate((INTENT, INTERACTION), start=1):
        if key in reading.spoiled:
            raise InvalidAnswerError(
                f"{reading.result.engine}: the answer about the {key} cannot be used",
                detail=f"question {number} malformed",
                usage=reading.result.usage,
            )
    intent = reading.result.choice(INTENT)
    if intent.unknown:
        return Abstention(Reason.NO_ANSWER.value)
    if intent.choice == route.other:
        return Abstention(INTENT_OTHER)
    spoken = _interaction(route, reading, policy)
    return spoken if isinstance(spoken, Abstention) else _decision(route, reading, policy, intent, spoken)


def _decision(
    route: Route, reading: Reading, policy: SelectionPolicy, intent: ChoiceAnswer, spoken: _Spoken
) -> Decision:
    module, name = route.intents[intent.choice]
    confidence = intent.confidence if intent.confidence is not None else 0.0
    scopes = _likely(route.scopes, reading, policy)
    entity = _added(ENTITY, route, reading, policy)
    return Decision(
        module=Scored(module, confidence),
        intent=Scored(name, confidence) if name else Scored(),
        interaction=spoken.value,
        interaction_confidence=spoken.confidence,
        interaction_scores=spoken.scores,
        reference=Reference(kind=entity) if entity else None,
        required_scopes=tuple(scope for scope in route.declared.get(module, ()) if scope in scopes),
        required_data=_likely(route.data, reading, policy),
        needs_llm=True,
        presentation=_added(PRESENTATION, route, reading, policy),
        scores=dict(intent.probabilities),
        calibrated=intent.calibrated and intent.has_distribution,
        model=reading.result.model,
    )


def _interaction(route: Route, reading: Reading, policy: SelectionPolicy) -> _Spoken | Abstention:
    if INTERACTION not in route.asked.questions:
        return _Spoken(value=Interaction.QUESTION.value)
    answer = reading.result.choice(INTERACTION)
    if answer.unknown:
        return Abstention(Reason.NO_ANSWER.value)
    value = answer.choice
    if answer.calibrated:
        selection = policy.evaluate(answer, model=reading.result.model)
        if selection.outcome != Outcome.SELECTED:
            reason = Reason(selection.reason)
            return Abstention(f"interaction_{_SHORT.get(reason, reason.value)}")
        value = selection.picks[0]
        if side_effectful(value):
            strict = policy.at_least(DURABLE).evaluate(answer, model=reading.result.model)
            if strict.outcome != Outcome.SELECTED:
                return Abstention(BELOW_DURABLE)
    return _Spoken(
        value=value,
        confidence=answer.confidence if answer.confidence is not None else 0.0,
        scores=answer.probabilities,
    )


def _added(key: str, route: Route, reading: Reading, policy: SelectionPolicy) -> str:
    """
    Return what a question about a detail picked, if the policy lets its numbers through; empty when it picked nothing.
    """
    if key not in route.asked.questions:
        return ""
    answer = attrs.evolve(reading.result.choice(key), calibrated=True)
    selection = policy.evaluate(answer, model=reading.result.model)
    return selection.picks[0] if selection.outcome == Outcome.SELECTED else ""


def _likely(asked: Mapping[str, str], reading: Reading, policy: SelectionPolicy) -> tuple[str, ...]:
    return tuple(
        name for key, name in asked.items() if (reading.result.noul(key).noul or 0.0) >= policy.min_probability
    )
