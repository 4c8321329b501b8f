"""A decision to a verdict: the gates it has to pass, and the seal that says it did."""

from __future__ import annotations

from typing import Final

from decide._seal import Seal, seal, seal_of
from decide.decisions import Decision, confidences_in_range, restated, snapshot
from decide.distributions import is_probability
from decide.outcomes import ACTIONABLE, Outcome, Reason
from decide.selecting import Bars, Selection, leads, measured, refusal, selected
from decide.taxonomy import module_optional, side_effectful

SIDE_EFFECT_CONFIDENCE: Final = 0.90
"""The least confidence in an interaction that changes something."""

SIDE_EFFECT_GAP: Final = 0.20
"""The least lead of such an interaction over every other."""


def stamp(decision: Decision, outcome: Outcome, *, judged_by: str = "", is_rule: bool = False) -> Decision:
    """
    Return *decision* with *outcome* as its sealed verdict. Nothing else writes one.
    """
    judged = restated(decision, outcome=outcome.value, judged_by=judged_by)
    seal(judged, Seal(outcome, deterministic=is_rule, content=snapshot(judged)))
    return judged


def deterministic(decision: Decision) -> Decision:
    """
    Return *decision* as the answer of a rule: actionable without a policy, and without any model's numbers.
    """
    bare = restated(decision, calibrated=False, scores={}, model="")
    return stamp(bare, Outcome.DETERMINISTIC, is_rule=True)


def is_deterministic(decision: Decision) -> bool:
    """
    Say whether a rule made *decision*.
    """
    found = seal_of(decision)
    return found is not None and found.deterministic


def standing_verdict(decision: Decision) -> Outcome | None:
    """
    Return what the judge before said about *decision*, or None when nobody did.
    """
    found = seal_of(decision)
    return None if found is None else found.outcome


def judge(bars: Bars, decision: Decision) -> tuple[Decision, Selection]:
    """
    Return *decision* with the verdict of *bars* sealed into it, and the selection behind it.
    """
    selection = verdict(bars, decision)
    judged = stamp(decision, Outcome(selection.outcome), judged_by=bars.name, is_rule=is_deterministic(decision))
    return judged, selection


def verdict(bars: Bars, decision: Decision) -> Selection:
    """
    Hold *decision* to *bars*; the first gate that stops it names the outcome.
    """
    if not confidences_in_range(decision):
        return selected(Outcome.INVALID, Reason.BAD_CONFIDENCE)
    if is_deterministic(decision):
        return selected(Outcome.DETERMINISTIC, Reason.DETERMINISTIC_RULE, picks=(key_of(decision),))
    scored = decision.calibrated and bool(decision.scores)
    if scored and not all(map(is_probability, decision.scores.values())):
        return selected(Outcome.INVALID, Reason.BAD_SCORES)
    if not measured(bars, decision.model):
        return selected(Outcome.UNCERTAIN, Reason.MODEL_NOT_MEASURED)
    if scored and (own := _own_option(bars, decision)) is not None:
        return own
    return _self_reported(bars, decision)


def key_of(decision: Decision) -> str:
    """
    Return the id of what was decided: `module/intent`, or the module alone.
    """
    module, intent = decision.module.value, decision.intent.value
    return f"{module}/{intent}" if intent else module


def _own_option(bars: Bars, decision: Decision) -> Selection | None:
    """
    Judge a calibrated decision by its own scores; None when its side effect has nothing to back it.
    """
    names = (key_of(decision), decision.intent.value, decision.module.value)
    own_key = next((name for name in names if name and name in decision.scores), None)
    if own_key is None:
        return selected(Outcome.INVALID, Reason.DECISION_NOT_SCORED)
    own = decision.scores[own_key]
    second = max((value for key, value in decision.scores.items() if key != own_key), default=None)
    if second is not None and own < second:
        return selected(Outcome.INVALID, Reason.DECISION_NOT_TOP)
    confidence = decision.intent.confidence if decision.intent.value else decision.module.confidence
    reason = refusal(bars, confidence, own, second)
    if reason is not None:
        return selected(Outcome.UNCERTAIN, reason)
    if side_effectful(decision.interaction):
        if not decision.interaction_scores:
            return None
        if _contradicted(decision):
            return selected(Outcome.INVALID, Reason.INTERACTION_NOT_TOP)
        reason = interaction_refusal(decision, bars.min_confidence, bars.min_gap)
        if reason is not None:
            return selected(Outcome.UNCERTAIN, reason)
    return selected(Outcome.SELECTED, picks=(own_key,))


def _self_reported(bars: Bars, decision: Decision) -> Selection:
    if decision.calibrated and not decision.scores and _contradicted_side_effect(decision):
        return selected(Outcome.INVALID, Reason.INTERACTION_NOT_TOP)
    accept = bars.accept_uncalibrated_at
    if accept is None:
        return selected(Outcome.UNSCORED, Reason.NO_SCORES if decision.calibrated else Reason.NOT_CALIBRATED)
    if side_effectful(decision.interaction):
        if not bars.accept_uncalibrated_side_effects:
            return selected(Outcome.UNSCORED, Reason.SIDE_EFFECT_UNCALIBRATED)
        if not _confident_interaction(decision, max(accept, SIDE_EFFECT_CONFIDENCE)):
            return selected(Outcome.UNSCORED, Reason.INTERACTION_LOW_CONFIDENCE)
    if low_confidence(decision, accept):
        return selected(Outcome.UNSCORED, Reason.LOW_CONFIDENCE)
    return selected(Outcome.ACCEPTED, Reason.ACCEPTED_UNCALIBRATED, picks=(key_of(decision),))


def _contradicted_side_effect(decision: Decision) -> bool:
    return side_effectful(decision.interaction) and bool(decision.interaction_scores) and _contradicted(decision)


def _contradicted(decision: Decision) -> bool:
    own = decision.interaction_scores.get(decision.interaction)
    return own is None or any(value > own for value in decision.interaction_scores.values())


def _confident_interaction(decision: Decision, bar: float) -> bool:
    return decision.interaction_confidence > 0 and decision.interaction_confidence >= bar


def interaction_refusal(decision: Decision, min_confidence: float, min_gap: float) -> Reason | None:
    """
    Return why the interaction of *decision* may not change anything; None when it may.

    The bars for side effects hold where these are lower. The scores of an uncalibrated decision are hearsay: only its
    confidence is looked at.
    """
    bar = max(min_confidence, SIDE_EFFECT_CONFIDENCE)
    if not _confident_interaction(decision, bar):
        return Reason.INTERACTION_LOW_CONFIDENCE
    if not decision.calibrated or not decision.interaction_scores:
        return None
    if _contradicted(decision):
        return Reason.INTERACTION_NOT_TOP
    own = decision.interaction_scores[decision.interaction]
    if own < bar:
        return Reason.INTERACTION_LOW_CONFIDENCE
    others = (value for key, value in decision.interaction_scores.items() if key != decision.interaction)
    if not all(leads(own, other, max(min_gap, SIDE_EFFECT_GAP)) for other in others):
        return Reason.INTERACTION_NARROW_GAP
    return None


def low_confidence(decision: Decision, floor: float) -> bool:
    """
    Say whether the module or the intent is below *floor*. A module that may be left out, and is, is not looked at.
    """
    exempt = not decision.module.value and module_optional(decision.interaction)
    if not exempt and decision.module.confidence < floor:
        return True
    return bool(decision.intent.value) and decision.intent.confidence < floor


def is_actionable(outcome: Outcome | None) -> bool:
    """
    Say whether *outcome* lets a caller act.
    """
    return outcome in ACTIONABLE
