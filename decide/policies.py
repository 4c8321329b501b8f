"""Named policies: how sure an answer has to be before a caller may act on it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from decide.answers import Answer
from decide.decisions import Decision
from decide.distributions import is_number, is_probability
from decide.judging import judge, verdict
from decide.problems import Problem
from decide.selecting import Selection, select

_BARS: Final = ("min_confidence", "min_gap", "min_probability", "strong_probability", "potential_probability")


class InvalidPolicyError(ValueError):
    """
    A policy that cannot be built.

    Attributes:
        problems: Everything that is wrong with it.
    """

    def __init__(self, problems: Sequence[Problem] = ()) -> None:
        super().__init__("; ".join(problem.text for problem in problems))
        self.problems: tuple[Problem, ...] = tuple(problems)

    def __reduce__(self) -> tuple[type[InvalidPolicyError], tuple[tuple[Problem, ...]]]:
        return InvalidPolicyError, (self.problems,)


@attrs.frozen(kw_only=True)
class SelectionPolicy:
    """
    The bars an answer is held to.

    Attributes:
        name: What traces and judged decisions call it.
        min_confidence: Least confidence of a choice or a score; above 0.
        min_gap: How far a choice leads its runner-up; 0 asks for no lead.
        min_probability: What makes a relevance candidate a pick; above 0.
        strong_probability: What makes a pick strong.
        potential_probability: What makes a candidate below the bar worth showing.
        max_picks: The most relevance picks; None for no cap.
        accept_uncalibrated_at: Confidence at which a self-reported decision is accepted; None for never.
        accept_uncalibrated_side_effects: Also accept those that change something, at 0.90 or more.
        models: The models the bars were measured on, by exact id; None for any, () for none.

    Raises:
        InvalidPolicyError: A ValueError that lists every problem.
    """

    name: str
    min_confidence: float
    min_gap: float
    min_probability: float
    strong_probability: float
    potential_probability: float
    max_picks: int | None = None
    accept_uncalibrated_at: float | None = None
    accept_uncalibrated_side_effects: bool = False
    models: tuple[str, ...] | None = None

    def __attrs_post_init__(self) -> None:
        problems = tuple(Problem(text) for text in _problems(self))
        if problems:
            raise InvalidPolicyError(problems)

    def evaluate(self, answer: Answer, *, model: str = "") -> Selection:
        """
        Hold one answer to these bars.

        Args:
            answer: An answer of any kind.
            model: The model that gave it; only a policy with `models` looks at it.
        """
        return select(self, answer, model)

    def evaluate_decision(self, decision: Decision) -> Selection:
        """
        Hold a decision to these bars, without judging it: the decision stays as it is.
        """
        return verdict(self, decision)

    def judge(self, decision: Decision) -> tuple[Decision, Selection]:
        """
        Return *decision* with this policy's verdict sealed into it, and the selection behind the verdict.

        The argument stays as it is. Whether the decision fits a taxonomy is another question, see `validate`.
        """
        return judge(self, decision)

    def at_least(self, other: SelectionPolicy) -> SelectionPolicy:
        """
        Return the policy that is as strict as the stricter of the two in every respect.
        """
        bars = {bar: max(getattr(self, bar), getattr(other, bar)) for bar in _BARS}
        return SelectionPolicy(
            name=f"{self.name}+strict",
            max_picks=min((cap for cap in (self.max_picks, other.max_picks) if cap is not None), default=None),
            accept_uncalibrated_at=_higher(self.accept_uncalibrated_at, other.accept_uncalibrated_at),
            accept_uncalibrated_side_effects=(
                self.accept_uncalibrated_side_effects and other.accept_uncalibrated_side_effects
            ),
            models=_in_both(self.models, other.models),
            **bars,
        )


def strictest(policies: Iterable[SelectionPolicy | None]) -> SelectionPolicy | None:
    """
    Return a policy that is as strict as the strictest of *policies* in every respect; None when there is none.
    """
    found = list(dict.fromkeys(policy for policy in policies if policy is not None))
    return functools.reduce(SelectionPolicy.at_least, found) if found else None


def _higher(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else max(one, other)


def _in_both(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if one is None or other is None:
        return other if one is None else one
    return tuple(model for model in one if model in other)


def _problems(policy: SelectionPolicy) -> Iterator[str]:
    for bar in _BARS:
        if not is_probability(getattr(policy, bar)):
            yield f"{bar} must be a number from 0 to 1"
    accept = policy.accept_uncalibrated_at
    if accept is not None and not (is_probability(accept) and accept > 0):
        yield "accept_uncalibrated_at must be above 0 and at most 1, or None for never"
    if any(is_number(value) and value <= 0 for value in (policy.min_confidence, policy.min_probability)):
        yield "min_confidence and min_probability must be above 0"
    if _out_of_order(policy):
        yield "potential_probability <= min_probability <= strong_probability must hold"
    if policy.max_picks is not None and not (type(policy.max_picks) is int and policy.max_picks > 0):
        yield "max_picks must be a whole number above 0, or None for no cap"
    if policy.models is not None and not _is_model_tuple(policy.models):
        yield "models must be a tuple of model ids, or None for any"


def _is_model_tuple(models: object) -> bool:
    return isinstance(models, tuple) and all(isinstance(model, str) for model in models)


def _out_of_order(policy: SelectionPolicy) -> bool:
    bars = (policy.potential_probability, policy.min_probability, policy.strong_probability)
    return all(map(is_number, bars)) and (bars[0] > bars[1] or bars[1] > bars[2])


NARROWING: Final = SelectionPolicy(
    name="narrowing",
    min_confidence=0.50,
    min_gap=0.20,
    min_probability=0.60,
    strong_probability=0.85,
    potential_probability=0.30,
    accept_uncalibrated_at=0.70,
)
"""For choices that are easy to take back: what to look at, which tool to offer."""

DURABLE: Final = SelectionPolicy(
    name="durable",
    min_confidence=0.90,
    min_gap=0.20,
    min_probability=0.90,
    strong_probability=0.95,
    potential_probability=0.60,
)
"""For choices that last. Self-reported numbers never pass it."""
