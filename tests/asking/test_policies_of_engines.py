"""What `ask` holds answers to, and what it leaves for a person who wants to know why there are none."""

import pytest

from decide import (
    DURABLE,
    NARROWING,
    Breaker,
    Budget,
    BudgetError,
    Chain,
    ChoiceAnswer,
    ChoiceQuestion,
    Fallback,
    Hedged,
    ScoreRequest,
    ScoreResult,
    Single,
    Undecided,
    UndecidedError,
    ask,
)

QUESTIONS = {"team": ChoiceQuestion("Which team?", ["billing", "sales"])}


class Sure:
    def __init__(self, name: str, probability: float) -> None:
        self.name = name
        self.probability = probability

    async def score(self, request: ScoreRequest) -> ScoreResult:
        odds = {"billing": self.probability, "sales": 1 - self.probability}
        return ScoreResult(answers={"team": ChoiceAnswer(probabilities=odds, calibrated=True)})


class Buggy:
    name = "buggy"

    async def score(self, request: ScoreRequest) -> ScoreResult:
        raise AttributeError("mine")


@pytest.mark.parametrize(
    "engine",
    [
        Single(Sure("a", 0.8), policy=DURABLE),
        Hedged(Sure("a", 0.8), Sure("b", 0.8), policy=DURABLE),
        Breaker(Single(Sure("a", 0.8), policy=DURABLE)),
        Fallback(Single(Sure("a", 0.8), policy=DURABLE), Single(Sure("b", 0.8), policy=NARROWING)),
        Chain([Single(Sure("a", 0.8), policy=DURABLE)]),
    ],
    ids=["single", "hedged", "wrapped", "strictest of two", "in a chain"],
)
async def test_what_a_policy_inside_holds_back_is_not_actionable_outside(
    engine: Single | Hedged | Breaker | Fallback | Chain,
) -> None:
    answers = await ask(engine, "charged twice", QUESTIONS)
    assert answers.selection("team").detail == "uncertain: low_confidence"
    assert not answers.selection("team").actionable


async def test_without_a_policy_anywhere_narrowing_judges_and_a_given_one_wins() -> None:
    lenient = await ask(Sure("a", 0.8), "charged twice", QUESTIONS)
    assert lenient.selection("team").actionable
    strict = await ask(Sure("a", 0.8), "charged twice", QUESTIONS, policy=DURABLE)
    assert not strict.selection("team").actionable


async def test_a_bug_in_an_engine_can_be_found() -> None:
    with pytest.raises(UndecidedError, match=r"buggy: error \(AttributeError\)") as caught:
        await ask(Buggy(), "charged twice", QUESTIONS)
    assert [str(error) for error in caught.value.errors] == ["mine"]
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


async def test_an_undecided_chain_keeps_what_its_engines_raised_out_of_its_repr() -> None:
    ended = await Chain([Buggy()]).score(ScoreRequest(text="charged twice", questions=QUESTIONS))
    assert isinstance(ended, Undecided)
    assert [type(error) for error in ended.errors] == [AttributeError]
    assert "mine" not in repr(ended)


async def test_what_stops_ask_carries_the_trace() -> None:
    with pytest.raises(BudgetError) as caught:
        await ask(Budget(Sure("a", 0.9), max_calls=0), "charged twice", QUESTIONS)
    assert caught.value.trace is not None
    assert [attempt.outcome for attempt in caught.value.trace.attempts] == ["budget"]


@pytest.mark.parametrize("state", [None, 12, 1.5, True, b"bytes"], ids=repr)
async def test_a_state_that_no_engine_takes_is_refused(state: object) -> None:
    with pytest.raises(TypeError, match="the state is text"):
        await ask(Sure("a", 0.9), state, QUESTIONS)
