"""How a chain judges a decision: by its policy, or by a floor and the bars for side effects."""

from __future__ import annotations

import attrs

from decide._legs import Ending, invalid
from decide.decisions import Decision, restated, validate
from decide.distributions import is_probability
from decide.judging import (
    SIDE_EFFECT_GAP,
    interaction_refusal,
    is_actionable,
    is_deterministic,
    low_confidence,
    stamp,
    standing_verdict,
)
from decide.outcomes import AttemptOutcome, Outcome
from decide.policies import SelectionPolicy
from decide.problems import invalid_detail
from decide.taxonomy import Taxonomy, side_effectful


def _in_range(_: object, __: object, floor: float | None) -> None:
    if floor is not None and not is_probability(floor):
        raise ValueError(f"min_confidence must be a number from 0 to 1, or None for no floor, got {floor!r}")


@attrs.frozen(kw_only=True)
class Judge:
    """
    What a chain holds decisions to.

    Attributes:
        policy: Judges alone when there is one.
        floor: Without a policy, the least confidence in module and intent; None accepts any.
        keep: Take the first answer that may not be acted on as well, marked as such.
    """

    policy: SelectionPolicy | None = None
    floor: float | None = attrs.field(default=0.7, validator=_in_range)
    keep: bool = False

    def judge(self, decision: Decision, taxonomy: Taxonomy) -> Ending[Decision]:
        """
        Validate *decision* and judge it.

        What it claims about itself is forgotten; what a combinator's policy said is not.
        """
        return self._judge(decision, taxonomy, standing_verdict(decision))

    def _judge(self, decision: Decision, taxonomy: Taxonomy, before: Outcome | None) -> Ending[Decision]:
        problems = validate(decision, taxonomy)
        if problems:
            return invalid(invalid_detail(problems), answer=stamp(decision, Outcome.INVALID))
        if self.policy is not None:
            return self._by_policy(self.policy, decision)
        if before is not None and not is_actionable(before):
            return self._refused(stamp(decision, before), before.value)
        return self._by_floor(decision)

    def rejudge(self, decision: Decision, taxonomy: Taxonomy) -> Decision:
        """
        Judge a stored decision: a refusal stays one, and a rule's answer is judged as any other.
        """
        plain = restated(decision)
        if decision.outcome:
            stored = Outcome(decision.outcome) if decision.outcome in set(Outcome) else None
            if stored is None or not is_actionable(stored):
                return plain if stored is None else stamp(plain, stored, judged_by=decision.judged_by)
        ending = attrs.evolve(self, keep=False)._judge(plain, taxonomy, standing_verdict(decision))
        return plain if ending.answer is None else ending.answer

    def _by_policy(self, policy: SelectionPolicy, decision: Decision) -> Ending[Decision]:
        judged, selection = policy.judge(decision)
        if selection.outcome == Outcome.INVALID:
            return invalid(selection.detail, answer=judged)
        if not selection.actionable:
            return self._refused(judged, selection.detail)
        return Ending(outcome=AttemptOutcome.DECIDED, detail=selection.detail, answer=judged, answered=True)

    def _refused(self, judged: Decision, detail: str) -> Ending[Decision]:
        kept = self.keep and judged.outcome != Outcome.INVALID
        outcome = AttemptOutcome.DECIDED if kept else AttemptOutcome.UNCERTAIN
        return Ending(outcome=outcome, detail=detail, answer=judged, answered=True, kept=kept)

    def _by_floor(self, decision: Decision) -> Ending[Decision]:
        rule = is_deterministic(decision)
        if self.floor is not None and low_confidence(decision, self.floor):
            return _too_low(
                decision, f"module={decision.module.confidence:.2f} intent={decision.intent.confidence:.2f}"
            )
        if side_effectful(decision.interaction) and not rule:
            reason = interaction_refusal(decision, self.floor or 0.0, SIDE_EFFECT_GAP)
            if reason is not None:
                return _too_low(decision, f"interaction={decision.interaction_confidence:.2f} ({reason.value})")
        judged = stamp(decision, Outcome.DETERMINISTIC if rule else Outcome.FLOOR, is_rule=rule)
        return Ending(outcome=AttemptOutcome.DECIDED, answer=judged, answered=True)


def _too_low(decision: Decision, detail: str) -> Ending[Decision]:
    return Ending(
        outcome=AttemptOutcome.LOW_CONFIDENCE,
        detail=detail,
        answer=restated(decision, outcome="", judged_by=""),
        answered=True,
    )
