"""Answers and results: what is read from them, by whom, and what is wrong with one."""

import pickle
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from decide import (
    AbsentAnswerError,
    Answer,
    ChoiceAnswer,
    ChoiceQuestion,
    NoulAnswer,
    NoulQuestion,
    Question,
    RelevanceAnswer,
    RelevanceQuestion,
    ScoreAnswer,
    ScoreQuestion,
    ScoreRequest,
    ScoreResult,
    Usage,
    WrongKindError,
    invalid_detail,
    validate_score_result,
)
from decide.distributions import Distribution

RESULT = ScoreResult(
    answers={
        "noul": NoulAnswer(noul=0.3),
        "choice": ChoiceAnswer(probabilities={"b": 0.5, "a": 0.5}),
        "score": ScoreAnswer(score=1.0, levels=["low", "high"]),
        "relevance": RelevanceAnswer(probabilities={"a": 0.1}),
    }
)
ACCESSORS: dict[str, Callable[[str], Answer]] = {
    "noul": RESULT.noul,
    "choice": RESULT.choice,
    "score": RESULT.score,
    "relevance": RESULT.relevance,
}


@pytest.mark.parametrize("kind", ACCESSORS)
def test_each_kind_has_its_accessor(kind: str) -> None:
    assert ACCESSORS[kind](kind) is RESULT.answers[kind]


@pytest.mark.parametrize("kind", ACCESSORS)
def test_an_absent_answer_is_a_key_error_that_names_the_key(kind: str) -> None:
    with pytest.raises(AbsentAnswerError, match=r'^no answer "urgency"$') as absent:
        ACCESSORS[kind]("urgency")
    assert isinstance(absent.value, KeyError)


@pytest.mark.parametrize("asked", ACCESSORS)
@pytest.mark.parametrize("there", ACCESSORS)
def test_an_answer_of_another_kind_is_a_type_error_that_names_both(asked: str, there: str) -> None:
    if asked == there:
        assert ACCESSORS[asked](there) is RESULT.answers[there]
        return
    with pytest.raises(WrongKindError, match=rf'^answer "{there}" is a {there} answer, not {asked}$') as wrong:
        ACCESSORS[asked](there)
    assert isinstance(wrong.value, TypeError)


@pytest.mark.parametrize("error", [AbsentAnswerError('no answer "k"'), WrongKindError("another kind")])
def test_both_errors_survive_a_pickle(error: Exception) -> None:
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), str(copied)) == (type(error), str(error))


def test_levels_stand_in_order() -> None:
    levels = [f"level {number}" for number in range(10)]
    assert ScoreAnswer(levels=levels).levels == tuple(levels)


def test_a_choice_that_names_no_pick_has_the_most_probable_one_and_ties_go_by_id() -> None:
    assert RESULT.choice("choice").choice == "a"
    assert ChoiceAnswer(probabilities={"a": 0.5, "b": 0.5}, choice="b").choice == "b"
    assert ChoiceAnswer().choice == ""


def test_health_flags_stand_next_to_the_answer() -> None:
    flat = ChoiceAnswer(probabilities={"a": 0.51, "b": 0.49})
    assert (flat.near_uniform, flat.has_distribution) == (True, True)
    assert (ChoiceAnswer(choice="a").near_uniform, ChoiceAnswer(choice="a").has_distribution) == (False, False)


@pytest.mark.parametrize(("noul", "certainty"), [(0.9, 0.9), (0.1, 0.9), (0.5, 0.5), (0.0, 1.0), (None, 0.0)])
def test_the_certainty_of_a_noul_counts_either_way(noul: float | None, certainty: float) -> None:
    assert NoulAnswer(noul=noul).certainty == certainty


def test_an_unreported_cost_is_not_free() -> None:
    assert Usage().cost is None


# what is wrong with a result -------------------------------------------------------------------------------------

QUESTIONS: dict[str, Question] = {
    "noul": NoulQuestion("?"),
    "choice": ChoiceQuestion("?", ["a", "b", "c"]),
    "score": ScoreQuestion("?", ["low", "middle", "high"]),
    "relevance": RelevanceQuestion("?", ["a", "b"]),
}
GOOD: dict[str, Answer] = {
    "noul": NoulAnswer(noul=0.4),
    "choice": ChoiceAnswer(probabilities={"a": 0.6, "b": 0.3, "c": 0.1}),
    "score": ScoreAnswer(score=1.5, probabilities={1: 0.5, 2: 0.5}),
    "relevance": RelevanceAnswer(probabilities={"a": 0.9, "b": 0.9}),
}


def _problems(key: str, answer: Answer | None) -> list[str]:
    answers = {name: good for name, good in GOOD.items() if name != key}
    if answer is not None:
        answers[key] = answer
    problems = validate_score_result(ScoreRequest(text="t", questions=QUESTIONS), ScoreResult(answers=answers))
    number = list(QUESTIONS).index(key) + 1
    assert all(str(problem).startswith(f"question {number}: ") for problem in problems)
    return [str(problem).removeprefix(f"question {number}: ") for problem in problems]


@pytest.mark.parametrize("key", GOOD)
def test_a_good_answer_and_an_explicit_unknown_are_both_fine(key: str) -> None:
    assert _problems(key, GOOD[key]) == []
    assert _problems(key, attrs.evolve(GOOD[key], unknown=True)) == []
    assert _problems(key, None) == ["no answer"]


@pytest.mark.parametrize("key", GOOD)
@pytest.mark.parametrize("other", GOOD)
def test_an_answer_of_another_kind_is_one_problem_and_checking_goes_on(key: str, other: str) -> None:
    found = _problems(key, GOOD[other])
    assert ("an answer of another kind" in found) is (key != other)


@pytest.mark.parametrize(
    ("key", "answer", "problems"),
    [
        ("noul", NoulAnswer(unknown=False), ["probability out of range"]),
        ("noul", NoulAnswer(noul=1.1), ["probability out of range"]),
        ("choice", ChoiceAnswer(), ["neither scores nor a pick"]),
        ("choice", ChoiceAnswer(choice="a"), []),
        ("choice", ChoiceAnswer(choice="z"), ["the pick is not a candidate"]),
        ("choice", ChoiceAnswer(probabilities={"a": 1.0, "z": 0.0}), ["score 2: not a candidate"]),
        (
            "choice",
            ChoiceAnswer(probabilities=Distribution([("a", 0.5), ("a", 0.5)])),
            ["score 2: a candidate scored twice"],
        ),
        ("choice", ChoiceAnswer(probabilities={"a": 0.5, "b": 0.4}), ["probabilities do not sum to about 1"]),
        (
            "choice",
            ChoiceAnswer(probabilities={"a": 2.0}),
            ["score 1: probability out of range", "probabilities do not sum to about 1"],
        ),
        ("choice", ChoiceAnswer(probabilities={"a": float("nan")}), ["score 1: probability out of range"]),
        ("choice", ChoiceAnswer(choice="a", confidence=1.5), ["confidence out of range"]),
        ("score", ScoreAnswer(score=2.5), ["score outside the scale"]),
        ("score", ScoreAnswer(score=-0.1), ["score outside the scale"]),
        ("score", ScoreAnswer(score=2.0), []),
        ("score", ScoreAnswer(score=1.0, probabilities={3: 1.0}), ["a level that was not asked"]),
        ("score", ScoreAnswer(score=1.0, probabilities={1: 1.5}), ["probability out of range"]),
        ("score", ScoreAnswer(score=1.0, probabilities={1: 0.5}), ["probabilities do not sum to about 1"]),
        ("score", ScoreAnswer(score=0.5, probabilities={2: 1.0}), ["score off its own distribution"]),
        ("score", ScoreAnswer(score=1.3, probabilities={1: 0.5, 2: 0.5}), []),
        ("relevance", RelevanceAnswer(), ["neither scores nor a pick"]),
        ("relevance", RelevanceAnswer(probabilities={"a": 0.1}), []),
        ("relevance", RelevanceAnswer(probabilities={"a": True}), ["score 1: probability out of range"]),
        ("relevance", RelevanceAnswer(probabilities={"a": 0.1}, confidence=-1.0), ["confidence out of range"]),
    ],
)
def test_everything_that_is_wrong_is_told_by_position(key: str, answer: Answer, problems: list[str]) -> None:
    assert _problems(key, answer) == problems


def test_answers_nobody_asked_for_are_ignored() -> None:
    request = ScoreRequest(text="t", questions={"noul": QUESTIONS["noul"]})
    assert validate_score_result(request, ScoreResult(answers=GOOD)) == ()


@pytest.mark.parametrize(("count", "said"), [(1, "(1 problem)"), (2, "(2 problems)"), (0, "(0 problems)")])
def test_a_trace_is_told_the_count_and_nothing_else(count: int, said: str) -> None:
    problems: Any = ["my secret"] * count
    assert invalid_detail(problems) == f"answer failed validation {said}"
