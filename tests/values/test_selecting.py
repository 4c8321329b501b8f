"""Answers held to a policy, where this implementation is stricter or says more than the vectors of others."""

import math
from typing import Any

import attrs
import pytest

from decide import (
    DURABLE,
    NARROWING,
    Answer,
    ChoiceAnswer,
    NoulAnswer,
    RelevanceAnswer,
    ScoreAnswer,
    SelectionPolicy,
)
from decide.policies import InvalidPolicyError

CHOICE = ChoiceAnswer(probabilities={"a": 0.8, "b": 0.2}, calibrated=True)
SCORE = ScoreAnswer(score=1.2, levels=["x", "y", "z"], probabilities={1: 0.9, 2: 0.1}, confidence=0.85, calibrated=True)
NOUL = NoulAnswer(noul=0.9, calibrated=True)
RELEVANCE = RelevanceAnswer(probabilities={"a": 0.9, "b": 0.4, "c": 0.1}, calibrated=True)
ALL = [CHOICE, SCORE, NOUL, RELEVANCE]

MEASURED = attrs.evolve(NARROWING, models=("jev-1",))


def _said(answer: Answer, policy: SelectionPolicy = NARROWING, model: str = "") -> tuple[str, str]:
    selection = policy.evaluate(answer, model=model)
    return selection.outcome, selection.reason


@pytest.mark.parametrize(
    ("noul", "policy", "said", "picks"),
    [
        (0.9, NARROWING, ("selected", ""), ("true",)),
        (0.1, NARROWING, ("selected", ""), ("false",)),
        (0.6, NARROWING, ("selected", ""), ("true",)),
        (0.4, NARROWING, ("selected", ""), ("false",)),
        (0.59, NARROWING, ("uncertain", "narrow_gap"), ()),
        (0.5, NARROWING, ("uncertain", "narrow_gap"), ()),
        (0.5, attrs.evolve(NARROWING, min_gap=0.0), ("uncertain", "narrow_gap"), ()),
        (0.5, attrs.evolve(NARROWING, min_confidence=0.51), ("uncertain", "low_confidence"), ()),
        (0.8996, DURABLE, ("uncertain", "low_confidence"), ()),
        (0.9, DURABLE, ("selected", ""), ("true",)),
        (0.0, DURABLE, ("selected", ""), ("false",)),
        (1.0, DURABLE, ("selected", ""), ("true",)),
    ],
)
def test_a_noul_is_judged_as_a_choice_between_true_and_false(
    noul: float, policy: SelectionPolicy, said: tuple[str, str], picks: tuple[str, ...]
) -> None:
    selection = policy.evaluate(NoulAnswer(noul=noul, calibrated=True))
    assert ((selection.outcome, selection.reason), selection.picks) == (said, picks)


@pytest.mark.parametrize(("score", "pick"), [(0.0, "0"), (0.49, "0"), (0.5, "1"), (1.5, "2"), (2.0, "2"), (2.5, "3")])
def test_a_score_picks_the_nearest_level_half_up(score: float, pick: str) -> None:
    assert NARROWING.evaluate(attrs.evolve(SCORE, score=score, levels=["w", "x", "y", "z"])).picks == (pick,)


@pytest.mark.parametrize(
    ("confidence", "said"),
    [(0.5, ("selected", "")), (0.49, ("uncertain", "low_confidence")), (None, ("selected", ""))],
)
def test_a_score_is_judged_on_its_confidence_alone(confidence: float | None, said: tuple[str, str]) -> None:
    level = attrs.evolve(SCORE, confidence=confidence, probabilities={1: 0.5, 2: 0.5})
    assert _said(level) == said


def test_a_gap_forgives_what_floats_lose_and_nothing_else() -> None:
    assert _said(ChoiceAnswer(probabilities={"a": 0.7, "b": 0.5}, calibrated=True)) == ("selected", "")
    assert _said(ChoiceAnswer(probabilities={"a": 0.6, "b": 0.400001}, calibrated=True)) == ("uncertain", "narrow_gap")
    almost = ChoiceAnswer(probabilities={"a": 0.8996, "b": 0.0}, confidence=0.8999999999, calibrated=True)
    assert _said(almost, DURABLE) == ("uncertain", "low_confidence")


@pytest.mark.parametrize("answer", ALL, ids=lambda answer: type(answer).__name__)
def test_an_answer_that_the_engine_declined_says_nothing(answer: Answer) -> None:
    unknown = attrs.evolve(answer, unknown=True)
    assert _said(unknown) == ("unscored", "no_answer")
    assert _said(unknown, MEASURED) == ("unscored", "no_answer")
    assert not NARROWING.evaluate(unknown).proposals


def test_a_noul_without_a_number_is_unknown_and_never_a_no() -> None:
    assert NoulAnswer(calibrated=True).unknown
    assert _said(NoulAnswer(calibrated=True)) == ("unscored", "no_answer")
    assert _said(NoulAnswer(calibrated=True, unknown=False)) == ("invalid", "bad_scores")


@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (attrs.evolve(CHOICE, confidence=1.01), "bad_confidence"),
        (attrs.evolve(CHOICE, confidence=math.nan), "bad_confidence"),
        (attrs.evolve(CHOICE, confidence=True), "bad_confidence"),
        (attrs.evolve(CHOICE, confidence=95.0, probabilities={"a": 2.0}), "bad_confidence"),
        (attrs.evolve(CHOICE, probabilities={"a": 1.0000001}), "bad_scores"),
        (attrs.evolve(CHOICE, probabilities={"a": -0.1, "b": 1.0}), "bad_scores"),
        (attrs.evolve(SCORE, confidence=-0.1), "bad_confidence"),
        (attrs.evolve(SCORE, score=math.inf), "bad_scores"),
        (attrs.evolve(SCORE, score=-0.5), "bad_scores"),
        (attrs.evolve(SCORE, score=2.5), "bad_scores"),
        (attrs.evolve(SCORE, probabilities={0: 1.5}), "bad_scores"),
        (attrs.evolve(RELEVANCE, confidence=1.5), "bad_confidence"),
        (attrs.evolve(RELEVANCE, probabilities={"a": math.nan}), "bad_scores"),
        (attrs.evolve(NOUL, noul=1.5), "bad_scores"),
        (attrs.evolve(NOUL, noul=math.nan), "bad_scores"),
    ],
)
def test_numbers_out_of_range_are_invalid_whoever_sends_them(answer: Answer, reason: str, calibrated: bool) -> None:
    assert _said(attrs.evolve(answer, calibrated=calibrated)) == ("invalid", reason)
    assert _said(attrs.evolve(answer, calibrated=calibrated), MEASURED, "other") == ("invalid", reason)


@pytest.mark.parametrize("answer", ALL, ids=lambda answer: type(answer).__name__)
def test_a_policy_that_names_its_models_takes_no_other_and_no_unnamed_one(answer: Answer) -> None:
    for model, outcome in (("jev-1", "selected"), ("jev-10", "uncertain"), ("", "uncertain"), ("JEV-1", "uncertain")):
        assert MEASURED.evaluate(answer, model=model).outcome == outcome
    weak = attrs.evolve(answer, calibrated=False)
    assert _said(weak, MEASURED, "other") == ("uncertain", "model_not_measured")
    assert _said(answer, attrs.evolve(NARROWING, models=()), "jev-1") == ("uncertain", "model_not_measured")


@pytest.mark.parametrize(
    ("answer", "proposals"),
    [
        (CHOICE, ("a",)),
        (attrs.evolve(CHOICE, none_id="a"), ()),
        (SCORE, ("1",)),
        (NOUL, ("true",)),
        (attrs.evolve(NOUL, noul=0.5), ()),
        (RELEVANCE, ("a",)),
    ],
)
def test_a_self_reported_answer_is_a_proposal_at_most(answer: Answer, proposals: tuple[str, ...]) -> None:
    selection = NARROWING.evaluate(attrs.evolve(answer, calibrated=False))
    assert (selection.outcome, selection.reason, selection.picks) == ("unscored", "not_calibrated", ())
    assert selection.proposals == proposals
    assert not selection.actionable


@pytest.mark.parametrize(
    "answer",
    [
        ChoiceAnswer(choice="a", confidence=0.99, calibrated=True),
        ScoreAnswer(score=1.0, confidence=0.99, calibrated=True),
        RelevanceAnswer(calibrated=True),
    ],
)
def test_a_pick_without_a_distribution_is_uncertain(answer: Answer) -> None:
    assert _said(answer) == ("uncertain", "no_scores")


def test_relevance_picks_each_candidate_on_its_own() -> None:
    selection = NARROWING.evaluate(RELEVANCE)
    assert (selection.picks, selection.strong, selection.potential) == (("a",), ("a",), ("b",))
    many = RelevanceAnswer(probabilities={f"c{n}": 0.9 - n / 100 for n in range(5)}, calibrated=True)
    cut = attrs.evolve(NARROWING, max_picks=2).evaluate(many)
    assert (cut.outcome, cut.picks, cut.reason) == ("several", ("c0", "c1"), "truncated_to_max_picks")
    assert cut.detail == "several: truncated_to_max_picks"


# policies --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({"min_confidence": 0.0}, 1),
        ({"min_probability": 0.0}, 2),
        ({"min_gap": -0.1}, 1),
        ({"min_gap": math.nan}, 1),
        ({"strong_probability": 0.1}, 1),
        ({"potential_probability": 0.7}, 1),
        ({"max_picks": 0}, 1),
        ({"max_picks": True}, 1),
        ({"max_picks": 1.5}, 1),
        ({"accept_uncalibrated_at": 0.0}, 1),
        ({"accept_uncalibrated_at": 1.01}, 1),
        ({"min_confidence": "0.5"}, 1),
        ({"min_confidence": True}, 1),
        ({"min_confidence": 2.0, "min_gap": 2.0, "max_picks": -1}, 3),
    ],
)
def test_a_policy_that_cannot_work_is_refused_with_every_problem(changes: dict[str, Any], count: int) -> None:
    with pytest.raises(InvalidPolicyError) as refused:
        attrs.evolve(NARROWING, **changes)
    assert len(refused.value.problems) == count
    assert all(problem.text in str(refused.value) for problem in refused.value.problems)


@pytest.mark.parametrize("changes", [{"min_gap": 0.0}, {"potential_probability": 0.0}, {"min_confidence": 1e-9}])
def test_zero_is_legal_where_it_asks_for_nothing(changes: dict[str, Any]) -> None:
    assert attrs.evolve(NARROWING, **changes) != NARROWING


def test_at_least_is_as_strict_as_the_stricter_of_the_two_in_every_respect() -> None:
    loose = attrs.evolve(NARROWING, max_picks=3, models=("a", "b"), accept_uncalibrated_side_effects=True)
    strict = attrs.evolve(DURABLE, max_picks=5, models=("b", "c"), accept_uncalibrated_at=0.95)
    for both in (loose.at_least(strict), strict.at_least(loose)):
        assert both == attrs.evolve(DURABLE, name=both.name, max_picks=3, models=("b",), accept_uncalibrated_at=0.95)
    assert loose.at_least(strict).name == "narrowing+strict"


def test_at_least_takes_the_only_cap_and_the_only_models_and_never_accepts_what_one_never_accepts() -> None:
    capped = attrs.evolve(NARROWING, max_picks=2, models=("a",))
    both = capped.at_least(DURABLE)
    assert (both.max_picks, both.models, both.accept_uncalibrated_at) == (2, ("a",), None)
    assert NARROWING.at_least(NARROWING).models is None
