"""The control of an experiment: every number moved to where it does not belong, the same way each time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide import ask
from decide.answers import Answer, ChoiceAnswer, NoulAnswer, RelevanceAnswer, ScoreAnswer, ScoreResult
from decide.engines.controls import shuffled
from decide.engines.function import FunctionEngine
from decide.questions import ChoiceQuestion, NoulQuestion, Question, RelevanceQuestion, ScoreQuestion, ScoreRequest
from decide.results import validate_score_result

QUESTIONS: dict[str, Question] = {
    "c": ChoiceQuestion("?", {"a": None, "b": None, "d": None}),
    "n": NoulQuestion("?"),
    "s": ScoreQuestion("?", ["low", "mid", "high"]),
    "r": RelevanceQuestion("?", ["x", "y"]),
}
CHOSEN = ChoiceAnswer(probabilities={"a": 0.7, "b": 0.2, "d": 0.1}, confidence=0.55, calibrated=True)
ANSWERS: dict[str, Answer] = {
    "c": CHOSEN,
    "n": NoulAnswer(noul=0.9),
    "s": ScoreAnswer(score=0.4, levels=("low", "mid", "high"), probabilities={0: 0.7, 1: 0.2, 2: 0.1}, confidence=0.5),
    "r": RelevanceAnswer(probabilities={"x": 0.9, "y": 0.2}),
}


class Engine:
    name = "jev"
    decision_timeout = 3.0

    def __init__(self, answers: dict[str, Answer]) -> None:
        self._answers = answers

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        return ScoreResult(engine=self.name, model="m", answers=self._answers)


async def test_every_number_stands_where_it_does_not_belong_and_the_result_is_still_one() -> None:
    request = ScoreRequest(text="s", questions=QUESTIONS)
    control = shuffled(Engine(ANSWERS), seed=7)

    found = await control.score(request)

    assert validate_score_result(request, found) == ()
    assert (control.name, control.decision_timeout, found.engine, found.model) == (
        "jev-shuffled",
        3.0,
        "jev-shuffled",
        "m",
    )
    moved = found.choice("c")
    assert all(moved.probabilities[option] != CHOSEN.probabilities[option] for option in "abd")
    assert moved.choice == max(moved.probabilities, key=moved.probabilities.__getitem__)
    assert moved.confidence == 0.55
    assert found.noul("n").noul == pytest.approx(0.1)
    assert found.score("s").score == pytest.approx(sum(k * v for k, v in found.score("s").probabilities.items()))
    assert dict(found.relevance("r").probabilities) == {"x": 0.2, "y": 0.9}


async def test_the_same_seed_moves_the_same_way_and_another_seed_another_way() -> None:
    request = ScoreRequest(text="s", questions={"c": ChoiceQuestion("?", [str(n) for n in range(20)])})
    answer = ChoiceAnswer(probabilities={str(n): (n + 1) / 210 for n in range(20)})

    found = [(await shuffled(Engine({"c": answer}), seed).score(request)).choice("c") for seed in (1, 1, 2)]

    assert found[0] == found[1] != found[2]


async def test_an_answer_without_numbers_or_without_a_place_to_move_to_stays() -> None:
    answers: dict[str, Answer] = {
        "unknown": ChoiceAnswer(unknown=True),
        "bare": ChoiceAnswer(choice="a", confidence=0.5),
        "one": ChoiceAnswer(probabilities={"a": 1.0}),
        "score": ScoreAnswer(score=1.0, levels=("a", "b")),
    }

    found = await shuffled(Engine(answers), 1).score(ScoreRequest(text="", questions=QUESTIONS))

    assert found.answers == answers


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.floats(0, 1), min_size=2, max_size=9), st.integers())
async def test_numbers_are_moved_and_none_is_lost(probabilities: dict[str, float], seed: int) -> None:
    answer = RelevanceAnswer(probabilities=probabilities)

    found = await shuffled(Engine({"r": answer}), seed).score(ScoreRequest(text="", questions=QUESTIONS))

    moved = found.relevance("r").probabilities
    assert sorted(moved.values()) == sorted(probabilities.values())
    assert list(moved) == list(probabilities)


async def test_a_control_is_asked_like_any_engine() -> None:
    assert (await ask(shuffled(Engine(ANSWERS), 1), "s", QUESTIONS)).noul("n").noul == pytest.approx(0.1)


def test_an_engine_that_answers_no_questions_has_no_control() -> None:
    with pytest.raises(TypeError, match="does not answer questions"):
        shuffled(FunctionEngine("f", lambda request: None), 1)
