"""Questions: their limits, their order, and ids, which are data and nothing else."""

import enum
import json
from typing import Any

import pytest

from decide import (
    Answer,
    ChoiceAnswer,
    ChoiceQuestion,
    NoulQuestion,
    RelevanceAnswer,
    RelevanceQuestion,
    ScoreQuestion,
    ScoreRequest,
    ScoreResult,
    validate_score_request,
)
from decide.policies import NARROWING
from decide.wire import from_json, loads, to_json

IDS = [
    "__class__",
    "items",
    "get",
    "keys",
    "{0.__class__}",
    "%s",
    "${HOME}",
    " ",
    "a.b",
    "a/b",
    "$.a[0]",
    "🦉",
    "é",
    "\u05e9\u05dc\u05d5\u05dd",
    "\u202eabc",
    "\x00",
    "x" * 1000,
    "0",
    "true",
    "null",
]


class Team(enum.Enum):
    BILLING = "billing desk"
    TECHNICAL = 2
    SALES = ("a", "b")


class Queue(enum.StrEnum):
    FAST = "fast"
    SLOW = "slow"


@pytest.mark.parametrize("count", [1, 2, 255])
def test_a_choice_takes_1_to_255_options(count: int) -> None:
    assert len(ChoiceQuestion("?", [f"o{n}" for n in range(count)]).candidates) == count


@pytest.mark.parametrize("count", [0, 256, 1000])
def test_a_choice_says_what_it_takes_and_what_it_got(count: int) -> None:
    with pytest.raises(ValueError, match=rf"a choice needs 1\.\.255 options, got {count}$"):
        ChoiceQuestion("?", [f"o{n}" for n in range(count)])


@pytest.mark.parametrize("count", [2, 10])
def test_a_score_takes_2_to_10_levels(count: int) -> None:
    assert len(ScoreQuestion("?", ["level"] * count).levels) == count


@pytest.mark.parametrize("count", [0, 1, 11])
def test_a_score_says_what_it_takes_and_what_it_got(count: int) -> None:
    with pytest.raises(ValueError, match=rf"a score needs 2\.\.10 ordered levels, got {count}$"):
        ScoreQuestion("?", ["level"] * count)


def test_a_relevance_question_takes_any_number_but_none() -> None:
    assert len(RelevanceQuestion("?", [f"o{n}" for n in range(1000)]).candidates) == 1000
    with pytest.raises(ValueError, match="at least 1 candidate, got 0"):
        RelevanceQuestion("?", {})


@pytest.mark.parametrize(
    "candidates",
    [
        {"b": "B", "a": None},
        [("b", "B"), ("a", None)],
        [("b", "B"), "a"],
        iter([("b", "B"), "a"]),
    ],
    ids=["mapping", "pairs", "mixed", "iterator"],
)
def test_candidates_keep_their_order_however_they_are_given(candidates: Any) -> None:
    assert list(ChoiceQuestion("?", candidates).candidates.items()) == [("b", "B"), ("a", None)]


def test_enum_members_stand_for_a_string_value_or_for_their_name() -> None:
    assert list(ChoiceQuestion("?", Queue).candidates) == ["fast", "slow"]
    assert list(ChoiceQuestion("?", Team).candidates) == ["billing desk", "TECHNICAL", "SALES"]
    assert ChoiceQuestion("?", {Team.TECHNICAL: "bugs", Queue.FAST: None}).candidates == {
        "TECHNICAL": "bugs",
        "fast": None,
    }
    assert all(type(name) is str for name in ChoiceQuestion("?", Queue).candidates)


@pytest.mark.parametrize("candidates", ["abc", [1], [None], [b"a"], {1: "one"}])
def test_what_is_no_id_is_a_type_error(candidates: Any) -> None:
    with pytest.raises(TypeError):
        ChoiceQuestion("?", candidates)


@pytest.mark.parametrize(
    "candidates",
    [["a", "a"], ["a", ""], ["é", "e\u0301"], ["x" * 1001], ["a\ud800"], [Queue.FAST, "fast"]],
    ids=["twice", "empty", "the same after NFC", "too long", "half a pair", "an enum member and its value"],
)
def test_ids_that_cannot_be_told_apart_or_cannot_travel_are_refused(candidates: list[str]) -> None:
    for build in (ChoiceQuestion, RelevanceQuestion):
        with pytest.raises(ValueError, match="candidate"):
            build("?", candidates)
    with pytest.raises(ValueError, match="question"):
        ScoreRequest(text="t", questions=_Pairs((name, NoulQuestion("?")) for name in candidates))


class _Pairs(dict[str, NoulQuestion]):
    """
    A mapping whose items may hold a key twice, as nothing but a hand-written one can.
    """

    def __init__(self, pairs: Any) -> None:
        self.pairs = list(pairs)
        super().__init__(self.pairs)
        if len(self) < len(self.pairs):
            self[""] = NoulQuestion("?")


def test_none_of_these_has_to_be_one_of_the_candidates() -> None:
    assert ChoiceQuestion("?", ["a", "b"], none_id="b").none_id == "b"
    with pytest.raises(ValueError, match="none_id"):
        ChoiceQuestion("?", ["a"], none_id="b")


@pytest.mark.parametrize("name", IDS, ids=ascii)
def test_any_id_comes_back_exactly_from_request_answer_and_policy(name: str) -> None:
    question = ChoiceQuestion("?", {name: "it", "other": name}, none_id=name)
    request = ScoreRequest(text="t", questions={name: question, "r": RelevanceQuestion("?", [name])})
    assert from_json(ScoreRequest, loads(json.dumps(to_json(request)))) == request
    assert json.dumps(to_json(request), ensure_ascii=False).encode()

    answers: dict[str, Answer] = {
        name: ChoiceAnswer(probabilities={name: 1.0, "other": 0.0}, calibrated=True),
        "r": RelevanceAnswer(probabilities={name: 1.0}, calibrated=True),
    }
    result = from_json(ScoreResult, loads(json.dumps(to_json(ScoreResult(answers=answers)))))
    assert result.choice(name).choice == name
    assert NARROWING.evaluate(result.choice(name)).picks == (name,)
    assert NARROWING.evaluate(result.relevance("r")).picks == (name,)


def test_questions_keep_the_callers_order() -> None:
    request = ScoreRequest(text="t", questions={"z": NoulQuestion("?"), "a": NoulQuestion("?")})
    assert list(request.questions) == ["z", "a"]
    assert list(from_json(ScoreRequest, to_json(request)).questions) == ["z", "a"]


def test_a_request_keeps_its_own_copy_of_the_questions() -> None:
    questions = {"q": NoulQuestion("?")}
    request = ScoreRequest(text="t", questions=questions)
    questions.clear()
    assert list(request.questions) == ["q"]


def test_only_questions_are_asked() -> None:
    with pytest.raises(TypeError, match='"q": expected a question, got str'):
        ScoreRequest(text="t", questions={"q": "Is it?"})  # type: ignore[dict-item]  # that it is none is what is tested


def test_a_request_without_questions_can_be_built_and_is_invalid() -> None:
    assert [str(problem) for problem in validate_score_request(ScoreRequest(text="t", questions={}))] == [
        "no questions"
    ]
    assert validate_score_request(ScoreRequest(text="t", questions={"q": NoulQuestion("?")})) == ()


def test_the_state_does_not_show_in_a_repr() -> None:
    request = ScoreRequest(text="my secret", questions={"q": NoulQuestion("?")}, context={"more": "secrets"})
    assert "secret" not in repr(request)
