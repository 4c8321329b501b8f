"""Many states at once: the order of the answers, the failure that is named, and how all of it ends together."""

import pickle
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from decide import (
    Chain,
    ChoiceAnswer,
    EngineError,
    InvalidRequestError,
    Kind,
    NoulAnswer,
    NoulQuestion,
    QuotaError,
    RateLimitedError,
    ScoreRequest,
    ScoreResult,
    StateFailedError,
    UndecidedError,
    ask_many,
    time_budget,
)
from decide.errors import kind_of

QUESTIONS = {"n": NoulQuestion("Is it large?")}


class Scripted:
    """Answers a number with a hundredth of it, after as long as the script says, or fails as the script says."""

    name = "scripted"

    def __init__(self, failing: dict[int, BaseException] | None = None, slow: dict[int, float] | None = None) -> None:
        self._failing = failing or {}
        self._slow = slow or {}
        self.running = 0
        self.most = 0
        self.ended: list[object] = []
        self.cancelled: list[int] = []

    async def score(self, request: ScoreRequest) -> ScoreResult:
        (number,) = request.text
        assert isinstance(number, int)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await anyio.sleep(self._slow.get(number, 0.01 * (number + 1)))
            self.ended.append(number)
        except anyio.get_cancelled_exc_class():
            self.cancelled.append(number)
            raise
        finally:
            self.running -= 1
        if number in self._failing:
            raise self._failing[number]
        return ScoreResult(answers={"n": NoulAnswer(noul=number / 100)})


def states(count: int) -> list[object]:
    return [[number] for number in range(count)]


async def test_answers_come_in_the_order_of_the_states_whatever_order_they_arrive_in() -> None:
    engine = Scripted(slow={0: 1.0, 3: 0.5})

    found = await ask_many(engine, states(10), QUESTIONS)

    assert [answers.noul("n").noul for answers in found] == [number / 100 for number in range(10)]
    assert engine.ended[-2:] == [3, 0]


@pytest.mark.parametrize(("concurrency", "most"), [(1, 1), (3, 3), (16, 16), (99, 20)])
async def test_no_more_calls_are_under_way_than_were_allowed(concurrency: int, most: int) -> None:
    engine = Scripted()

    await ask_many(engine, states(20), QUESTIONS, concurrency=concurrency)

    assert engine.most == most


async def test_sixteen_calls_are_under_way_by_default() -> None:
    engine = Scripted()

    await ask_many(engine, states(40), QUESTIONS)

    assert engine.most == 16


async def test_every_answer_is_a_step_of_progress() -> None:
    seen: list[tuple[int, int]] = []

    await ask_many(Scripted(), states(4), QUESTIONS, on_progress=lambda done, total: seen.append((done, total)))

    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


async def test_one_failure_fails_all_and_is_named_and_kept() -> None:
    original = RateLimitedError("slow down", retry_after=3.0)

    with pytest.raises(StateFailedError, match=r"^state 3: ") as caught:
        await ask_many(Scripted({3: original}), states(10), QUESTIONS)

    assert caught.value.index == 3
    assert isinstance(caught.value.__cause__, UndecidedError)
    assert caught.value.__cause__.trace is not None
    assert [one.outcome for one in caught.value.__cause__.trace.attempts] == ["error"]


async def test_the_failure_of_the_lowest_state_is_named_though_another_comes_first() -> None:
    engine = Scripted({2: EngineError("x"), 0: EngineError("y")}, slow={0: 1.0})

    with pytest.raises(StateFailedError, match=r"^state 0: ") as caught:
        await ask_many(engine, states(6), QUESTIONS)

    assert caught.value.index == 0
    assert sorted(engine.cancelled) == [3, 4, 5]
    assert engine.running == 0


async def test_states_before_the_failure_are_waited_for_and_no_further_ones_are_started() -> None:
    engine = Scripted({1: EngineError("x")}, slow={0: 1.0})

    with pytest.raises(StateFailedError):
        await ask_many(engine, states(50), QUESTIONS, concurrency=2)

    assert engine.ended == [1, 0]


async def test_what_stopped_a_chain_is_the_cause_and_gives_the_failure_its_kind() -> None:
    with pytest.raises(StateFailedError) as caught:
        await ask_many(Chain([Scripted({1: QuotaError("spent")})]), states(3), QUESTIONS)

    assert isinstance(caught.value.__cause__, QuotaError)
    assert kind_of(caught.value) is Kind.QUOTA

    copied = pickle.loads(pickle.dumps(caught.value))
    assert (str(copied), copied.index) == (str(caught.value), 1)


async def test_what_a_caller_wrote_is_not_in_the_message_of_a_failure() -> None:
    with pytest.raises(StateFailedError) as caught:
        await ask_many(Scripted({0: ValueError("sentinel")}), [[0]], QUESTIONS)

    assert "sentinel" not in f"{caught.value}{caught.value.detail}"


async def test_an_answer_of_the_wrong_kind_fails_its_state() -> None:
    class Confused:
        name = "confused"

        async def score(self, request: ScoreRequest) -> ScoreResult:
            return ScoreResult(answers={"n": ChoiceAnswer()})

    with pytest.raises(StateFailedError, match="state 0"):
        await ask_many(Confused(), ["a"], QUESTIONS)


async def test_the_caller_cancels_all_of_it() -> None:
    engine = Scripted(slow=dict.fromkeys(range(9), 9.0))

    with anyio.move_on_after(1) as scope:
        await ask_many(engine, states(9), QUESTIONS, concurrency=4)

    assert scope.cancelled_caught
    assert sorted(engine.cancelled) == [0, 1, 2, 3]
    assert engine.running == 0


async def test_nothing_is_asked_in_a_scope_that_is_already_cancelled() -> None:
    engine = Scripted()

    with anyio.CancelScope() as scope:
        scope.cancel()
        await ask_many(engine, states(3), QUESTIONS)

    assert engine.most == 0


async def test_an_exception_that_is_no_error_ends_everything_bare() -> None:
    class Stop(BaseException):
        pass

    engine = Scripted({1: Stop("now")}, slow={0: 9.0})

    with pytest.raises(Stop, match="now"):
        await ask_many(engine, states(3), QUESTIONS)

    assert sorted(engine.cancelled) == [0, 2]


async def test_what_the_progress_callback_raises_ends_everything_bare() -> None:
    engine = Scripted(slow={2: 9.0})

    def refuse(done: int, total: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        await ask_many(engine, states(3), QUESTIONS, on_progress=refuse)

    assert engine.running == 0


async def test_all_states_share_the_time_budget_around_them() -> None:
    engine = Scripted(slow=dict.fromkeys(range(9), 0.4))

    with time_budget(1.0), pytest.raises(StateFailedError, match="state 2"):
        await ask_many(engine, states(9), QUESTIONS, concurrency=1)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: ask_many(Scripted(), [], QUESTIONS), InvalidRequestError, "no states to evaluate"),
        (lambda: ask_many(Scripted(), ["a"], {}), InvalidRequestError, "no questions"),
        (lambda: ask_many(Scripted(), "abc", QUESTIONS), TypeError, "put it in a list"),
        (lambda: ask_many(Scripted(), {"a": 1}, QUESTIONS), TypeError, "put it in a list"),
        (lambda: ask_many(Scripted(), ["a"], QUESTIONS, concurrency=0), ValueError, "concurrency"),
        (lambda: ask_many(object(), ["a"], QUESTIONS), TypeError, "no engine"),  # type: ignore[arg-type]
    ],
    ids=["no states", "no questions", "one text", "one object", "no concurrency", "no engine"],
)
async def test_what_makes_no_sense_is_refused_before_anything_is_asked(
    call: Callable[[], Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        await call()
