"""The closed vocabularies of the product: what a verdict, an attempt and a reason can be."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Outcome(StrEnum):
    """
    A policy's verdict on an answer.

    Only the members of `ACTIONABLE` let a caller act. An unknown word never does.
    """

    SELECTED = "selected"
    SEVERAL = "several"
    ACCEPTED = "accepted"
    DETERMINISTIC = "deterministic"
    FLOOR = "floor"
    UNCERTAIN = "uncertain"
    NONE = "none"
    UNSCORED = "unscored"
    INVALID = "invalid"


ACTIONABLE: Final = frozenset(
    {Outcome.SELECTED, Outcome.SEVERAL, Outcome.ACCEPTED, Outcome.DETERMINISTIC, Outcome.FLOOR}
)


class AttemptOutcome(StrEnum):
    """How one call of one engine ended."""

    DECIDED = "decided"
    ABSTAINED = "abstained"
    UNCERTAIN = "uncertain"
    LOW_CONFIDENCE = "low_confidence"
    INVALID = "invalid"
    ERROR = "error"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    BUSY = "busy"
    UNSUPPORTED = "unsupported"
    REJECTED = "rejected"
    AUTH = "auth"
    QUOTA = "quota"
    BUDGET = "budget"
    MISCONFIGURED = "misconfigured"
    POLICY_REFUSAL = "policy_refusal"
    CANCELLED = "cancelled"


OUTAGES: Final = frozenset(
    {AttemptOutcome.ERROR, AttemptOutcome.TIMEOUT, AttemptOutcome.UNAVAILABLE, AttemptOutcome.INVALID}
)
"""Attempt outcomes that make an undecided trace an outage instead of a lack of opinion."""


class Reason(StrEnum):
    """Why a policy reached its outcome."""

    INVALID_POLICY = "invalid_policy"
    NO_ANSWER = "no_answer"
    BAD_CONFIDENCE = "bad_confidence"
    BAD_SCORES = "bad_scores"
    MODEL_NOT_MEASURED = "model_not_measured"
    NOT_CALIBRATED = "not_calibrated"
    NO_SCORES = "no_scores"
    NONE_OF_THESE = "none_of_these"
    LOW_CONFIDENCE = "low_confidence"
    NARROW_GAP = "narrow_gap"
    TRUNCATED_TO_MAX_PICKS = "truncated_to_max_picks"
    ONLY_POTENTIAL = "only_potential"
    NOTHING_ABOVE_FLOOR = "nothing_above_floor"
    DETERMINISTIC_RULE = "deterministic_rule"
    DECISION_NOT_SCORED = "decision_not_scored"
    DECISION_NOT_TOP = "decision_not_top"
    INTERACTION_NOT_TOP = "interaction_not_top"
    INTERACTION_LOW_CONFIDENCE = "interaction_low_confidence"
    INTERACTION_NARROW_GAP = "interaction_narrow_gap"
    SIDE_EFFECT_UNCALIBRATED = "side_effect_uncalibrated"
    ACCEPTED_UNCALIBRATED = "accepted_uncalibrated"


class Provenance(StrEnum):
    """Where the numbers of a decision come from."""

    DETERMINISTIC = "deterministic"
    CALIBRATED = "calibrated"
    SELF_REPORTED = "self_reported"
