"""An answer to a selection: which picks a policy's bars let through, and why not."""

from __future__ import annotations

import math
from typing import Protocol

import attrs

from decide._seal import Seal, Sealable, holds, seal, seal_of
from decide.answers import Answer, ChoiceAnswer, NoulAnswer, RelevanceAnswer, ScoreAnswer, confidence_in_range
from decide.distributions import GAP_EPSILON, Distribution, is_number, is_probability
from decide.outcomes import Outcome, Reason


class Bars(Protocol):
    """
    The thresholds an answer is held to. `SelectionPolicy` says what each means.
    """

    @property
    def name(self) -> str: ...
    @property
    def min_confidence(self) -> float: ...
    @property
    def min_gap(self) -> float: ...
    @property
    def min_probability(self) -> float: ...
    @property
    def strong_probability(self) -> float: ...
    @property
    def potential_probability(self) -> float: ...
    @property
    def max_picks(self) -> int | None: ...
    @property
    def accept_uncalibrated_at(self) -> float | None: ...
    @property
    def accept_uncalibrated_side_effects(self) -> bool: ...
    @property
    def models(self) -> tuple[str, ...] | None: ...


@attrs.frozen(kw_only=True)
class Selection(Sealable):
    """
    What a policy made of one answer.

    A Selection that was built by hand, copied or decoded is never actionable: only the one that a policy returned is.

    Attributes:
        outcome: The verdict, see `Outcome`.
        picks: What may be acted on, when the outcome says so.
        proposals: What an uncalibrated answer would have picked.
        strong: The picks that are far above the bar.
        potential: Candidates below the bar that a person might look at.
        reason: Why, see `Reason`; empty when there is nothing to add.
    """

    outcome: str = ""
    picks: tuple[str, ...] = ()
    proposals: tuple[str, ...] = ()
    strong: tuple[str, ...] = ()
    potential: tuple[str, ...] = ()
    reason: str = ""

    def __init_subclass__(cls, **kwargs: object) -> None:
        raise TypeError("a Selection is sealed: it cannot be subclassed")

    @property
    def actionable(self) -> bool:
        """
        Whether a policy said that a caller may act on exactly these picks.
        """
        return holds(seal_of(self), _content(self))

    @property
    def detail(self) -> str:
        """
        The outcome and the reason in one line, without any id.
        """
        return f"{self.outcome}: {self.reason}" if self.reason else self.outcome


def _content(selection: Selection) -> tuple[object, ...]:
    return (
        selection.outcome,
        selection.picks,
        selection.proposals,
        selection.strong,
        selection.potential,
        selection.reason,
    )


def selected(outcome: Outcome, reason: Reason | None = None, **ids: tuple[str, ...]) -> Selection:
    """
    Build a Selection and seal it: only for judges.
    """
    selection = Selection(outcome=outcome.value, reason=reason.value if reason else "", **ids)
    seal(selection, Seal(outcome, deterministic=False, content=_content(selection)))
    return selection


def select(bars: Bars, answer: Answer, model: str = "") -> Selection:
    """
    Hold *answer* to *bars*; the first test that fails names the outcome.

    Args:
        bars: The policy.
        answer: One answer of any kind.
        model: The model that gave it, for a policy that names the models it was measured on.
    """
    if answer.unknown:
        return selected(Outcome.UNSCORED, Reason.NO_ANSWER)
    if not confidence_in_range(answer):
        return selected(Outcome.INVALID, Reason.BAD_CONFIDENCE)
    if not _numbers_are_fine(answer):
        return selected(Outcome.INVALID, Reason.BAD_SCORES)
    if not measured(bars, model):
        return selected(Outcome.UNCERTAIN, Reason.MODEL_NOT_MEASURED)
    match answer:
        case NoulAnswer():
            return _select_noul(bars, answer)
        case ScoreAnswer():
            return _select_score(bars, answer)
        case ChoiceAnswer():
            return _select_choice(bars, answer)
        case RelevanceAnswer():
            return _select_relevant(bars, answer)


def measured(bars: Bars, model: str) -> bool:
    """
    Say whether *bars* were measured on *model*, or name no models at all.
    """
    return bars.models is None or model in bars.models


def leads(top: float, second: float, gap: float) -> bool:
    """
    Say whether *top* leads *second* by *gap*, forgiving what floats lose.
    """
    return top - second >= gap - GAP_EPSILON


def refusal(bars: Bars, confidence: float, top: float, second: float | None) -> Reason | None:
    """
    Return why a choice may not be acted on: too little confidence, or a runner-up too close; None when it may.
    """
    if confidence < bars.min_confidence:
        return Reason.LOW_CONFIDENCE
    if second is not None and not leads(top, second, bars.min_gap):
        return Reason.NARROW_GAP
    return None


def _numbers_are_fine(answer: Answer) -> bool:
    match answer:
        case NoulAnswer():
            return is_probability(answer.noul)
        case ScoreAnswer():
            top = len(answer.levels) - 1 if answer.levels else math.inf
            on_scale = is_number(answer.score) and math.isfinite(answer.score) and 0 <= answer.score <= top
            return on_scale and all(map(is_probability, answer.probabilities.values()))
        case ChoiceAnswer() | RelevanceAnswer():
            return all(is_probability(value) for _, value in answer.probabilities.pairs)


def _select_noul(bars: Bars, answer: NoulAnswer) -> Selection:
    yes = answer.noul or 0.0
    pick = () if yes == 0.5 else ("true" if yes > 0.5 else "false",)
    if not answer.calibrated:
        return selected(Outcome.UNSCORED, Reason.NOT_CALIBRATED, proposals=pick)
    reason = refusal(bars, answer.certainty, answer.certainty, 1.0 - answer.certainty)
    if reason is None and not pick:
        reason = Reason.NARROW_GAP
    return selected(Outcome.UNCERTAIN, reason) if reason else selected(Outcome.SELECTED, picks=pick)


def _select_score(bars: Bars, answer: ScoreAnswer) -> Selection:
    nearest = (str(math.floor(answer.score + 0.5)),)
    if not answer.calibrated:
        return selected(Outcome.UNSCORED, Reason.NOT_CALIBRATED, proposals=nearest)
    if not answer.probabilities:
        return selected(Outcome.UNCERTAIN, Reason.NO_SCORES)
    confidence = max(answer.probabilities.values()) if answer.confidence is None else answer.confidence
    if confidence < bars.min_confidence:
        return selected(Outcome.UNCERTAIN, Reason.LOW_CONFIDENCE)
    return selected(Outcome.SELECTED, picks=nearest)


def _unscored(answer: ChoiceAnswer | RelevanceAnswer) -> Selection | None:
    if answer.probabilities.pairs:
        return None
    if answer.calibrated:
        return selected(Outcome.UNCERTAIN, Reason.NO_SCORES)
    return selected(Outcome.UNSCORED, Reason.NOT_CALIBRATED)


def _select_choice(bars: Bars, answer: ChoiceAnswer) -> Selection:
    if (unscored := _unscored(answer)) is not None:
        return unscored
    ranked = answer.probabilities.ranked()
    pick, top = ranked[0]
    if not answer.calibrated:
        return selected(Outcome.UNSCORED, Reason.NOT_CALIBRATED, proposals=() if pick == answer.none_id else (pick,))
    if answer.none_id and pick == answer.none_id:
        return selected(Outcome.NONE, Reason.NONE_OF_THESE)
    confidence = top if answer.confidence is None else answer.confidence
    reason = refusal(bars, confidence, top, ranked[1][1] if len(ranked) > 1 else None)
    return selected(Outcome.UNCERTAIN, reason) if reason else selected(Outcome.SELECTED, picks=(pick,))


def _select_relevant(bars: Bars, answer: RelevanceAnswer) -> Selection:
    if (unscored := _unscored(answer)) is not None:
        return unscored
    above = _at_least(answer.probabilities, bars.min_probability)
    cut = above if bars.max_picks is None else above[: bars.max_picks]
    picks = tuple(option for option, _ in cut)
    if not answer.calibrated:
        return selected(Outcome.UNSCORED, Reason.NOT_CALIBRATED, proposals=picks)
    potential = tuple(
        option
        for option, value in _at_least(answer.probabilities, bars.potential_probability)
        if value < bars.min_probability
    )
    if not picks:
        if potential:
            return selected(Outcome.UNCERTAIN, Reason.ONLY_POTENTIAL, potential=potential)
        return selected(Outcome.NONE, Reason.NOTHING_ABOVE_FLOOR)
    return selected(
        Outcome.SELECTED if len(picks) == 1 else Outcome.SEVERAL,
        Reason.TRUNCATED_TO_MAX_PICKS if len(picks) < len(above) else None,
        picks=picks,
        strong=tuple(option for option, value in cut if value >= bars.strong_probability),
        potential=potential,
    )


def _at_least(probabilities: Distribution, floor: float) -> list[tuple[str, float]]:
    return [(option, value) for option, value in probabilities.ranked() if value >= floor]
