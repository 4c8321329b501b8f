"""Every way an engine can end, alone and inside everything of ours, for both operations."""

import asyncio
from decimal import Decimal

import anyio
import pytest

from decide import (
    AuthError,
    BusyError,
    DecideError,
    EngineError,
    EngineTimeoutError,
    InvalidAnswerError,
    InvalidRequestError,
    MisconfiguredError,
    NoAnswerError,
    PolicyRefusalError,
    QuotaError,
    RateLimitedError,
    UnavailableError,
    Usage,
)
from decide.compose import Breaker, Race, Single
from tests.compose.asking import Ask, directly, each, for_both_operations, of, to_score, trace_of
from tests.compose.shapes import Shape, in_every_shape
from tests.fakes import (
    Behaviour,
    Clock,
    Engine,
    Says,
    TracedEngine,
    answers,
    blocks,
    cleans_up,
    fails,
    hangs,
    result,
    shields,
    swallows,
)
from tests.test_rig import ON_ASYNCIO


class NoError(BaseException):
    """An exception that no `except Exception` sees."""


ENDINGS: dict[str, tuple[Behaviour, str]] = {
    "answers at once": (answers(), "decided"),
    "answers just in time": (answers(after=0.999), "decided"),
    "has no opinion": (answers(Says.NOTHING, after=0.5), "abstained"),
    "answers nonsense": (answers(Says.NONSENSE), "invalid"),
    "raises a foreign error": (fails(ValueError("x")), "error"),
    "raises a timeout of its own": (fails(TimeoutError("its own")), "error"),
    "says it took too long": (fails(EngineTimeoutError("x")), "timeout"),
    "is rate limited": (fails(RateLimitedError("x")), "error"),
    "has no usable answer": (fails(InvalidAnswerError("x")), "invalid"),
    "is unavailable": (fails(UnavailableError("x")), "unavailable"),
    "is busy": (fails(BusyError("x")), "busy"),
    "refuses the request": (fails(InvalidRequestError("x")), "rejected"),
    "refuses the key": (fails(AuthError("x")), "auth"),
    "has no allowance left": (fails(QuotaError("x")), "quota"),
    "is set up wrongly": (fails(MisconfiguredError("x")), "misconfigured"),
    "refuses by its policy": (fails(PolicyRefusalError("x")), "policy_refusal"),
    "hangs": (hangs(), "timeout"),
    "answers at the instant of the timeout": (answers(after=1.0), "timeout"),
    "fails at the instant of the timeout": (fails(ValueError("x"), after=1.0), "timeout"),
    "shields itself and answers late": (shields(answers(after=3.0)), "timeout"),
    "shields itself and abstains late": (shields(answers(Says.NOTHING, after=3.0)), "timeout"),
    "swallows the timeout and answers": (swallows(), "timeout"),
    "swallows the timeout and fails": (swallows(fails(ValueError("x"))), "timeout"),
    "swallows the timeout and finds its allowance spent": (swallows(fails(QuotaError("x"))), "quota"),
    "blocks the thread and answers in time": (blocks(0.9), "decided"),
    "blocks the thread until its timeout": (blocks(1.0), "timeout"),
    "blocks the thread, and fails late": (blocks(7.0, fails(ValueError("x"))), "timeout"),
    "cleans up for long": (cleans_up(0.5), "timeout"),
    "fails in its clean-up": (cleans_up(0.5, error=RuntimeError("in the clean-up")), "timeout"),
}


@in_every_shape
@for_both_operations
@each("behaviour,outcome", ENDINGS)
async def test_an_ending_is_told_alike_wherever_the_engine_stands(
    shape: Shape, asked: Ask, behaviour: Behaviour, outcome: str
) -> None:
    engine = Engine("a", behaviour, timeout=1.0)

    trace = await trace_of(shape(engine), asked=asked)

    assert of("a", trace.attempts).outcome == outcome
    assert bool(trace.decided_by) == (outcome == "decided")
    assert len(engine.calls) == 1
    assert engine.running == 0


@in_every_shape
@each("behaviour,outcome", ENDINGS)
async def test_an_engine_that_writes_its_own_attempt_cannot_tell_it_otherwise(
    shape: Shape, behaviour: Behaviour, outcome: str
) -> None:
    trace = await trace_of(shape(TracedEngine("a", behaviour, timeout=1.0)))

    assert of("a", trace.attempts).outcome == outcome


async def test_what_a_late_answer_cost_is_known_all_the_same() -> None:
    late = shields(answers(result(usage=Usage(input_tokens=3)), after=2.0))

    trace = await trace_of(Single(Engine("a", late, timeout=1.0)), asked=to_score)

    assert of("a", trace.attempts).usage == Usage(input_tokens=3)
    assert trace.usage.input_tokens == 3


async def test_what_a_late_answer_of_a_traced_engine_cost_is_known_all_the_same() -> None:
    trace = await trace_of(TracedEngine("a", shields(answers(after=2.0)), timeout=1.0))

    assert of("a", trace.attempts).usage == TracedEngine.usage


async def test_what_a_late_error_cost_and_the_wait_it_asks_for_are_known_all_the_same() -> None:
    clock = Clock()
    late = shields(fails(RateLimitedError("x", usage=Usage(input_tokens=3), retry_after=300.0), after=2.0))
    breaker = Breaker(Engine("a", late, timeout=1.0), threshold=1, cooldown=10.0, clock=clock)

    trace = await trace_of(breaker)
    clock.now = 299.0
    again = await trace_of(breaker)

    assert (of("a", trace.attempts).outcome, of("a", trace.attempts).usage) == ("timeout", Usage(input_tokens=3))
    assert of("a", again.attempts).outcome == "unavailable"


@pytest.mark.parametrize("gate", [Breaker, Single], ids=["gate", "combinator"])
async def test_no_result_at_all_is_invalid(gate: type[Breaker] | type[Single]) -> None:
    trace = await trace_of(gate(Engine("a", answers(None))), asked=to_score)

    assert (of("a", trace.attempts).outcome, of("a", trace.attempts).detail) == ("invalid", "no result")


async def test_what_an_error_cost_is_known() -> None:
    usage = Usage(input_tokens=5, cost=Decimal("0.01"))

    trace = await trace_of(Single(Engine("a", fails(InvalidAnswerError("x", usage=usage)))))

    assert trace.usage.cost == Decimal("0.01")
    assert trace.usage.exact


@in_every_shape
async def test_the_latency_of_an_attempt_runs_until_the_engine_let_go(shape: Shape) -> None:
    trace = await trace_of(shape(Engine("a", cleans_up(0.5), timeout=1.0)))

    assert of("a", trace.attempts).latency == pytest.approx(1.5)


async def test_an_engine_that_shields_itself_holds_its_caller_until_it_lets_go() -> None:
    begun = anyio.current_time()

    await trace_of(Race(Engine("a", shields(answers(after=3.0)), timeout=1.0)))

    assert anyio.current_time() - begun == pytest.approx(3.0)


@in_every_shape
@pytest.mark.parametrize(
    "garbage", [{"module": "billing"}, "billing", 7, object()], ids=["dict", "str", "int", "object"]
)
@for_both_operations
async def test_an_answer_that_is_none_of_ours_is_invalid(shape: Shape, asked: Ask, garbage: object) -> None:
    trace = await trace_of(shape(Engine("a", answers(garbage))), asked=asked)

    assert of("a", trace.attempts).outcome == "invalid"


async def test_an_answer_that_is_none_of_ours_may_also_come_late() -> None:
    trace = await trace_of(Engine("a", shields(answers("billing", after=2.0)), timeout=1.0), asked=to_score)

    assert of("a", trace.attempts).outcome == "timeout"


@in_every_shape
@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), NoError("x")], ids=repr)
@pytest.mark.parametrize("grouped", [False, True])
async def test_what_is_no_error_passes_bare_and_leaves_nothing_running(
    shape: Shape, error: BaseException, grouped: bool
) -> None:
    raised = (
        BaseExceptionGroup("several", [ValueError("x"), BaseExceptionGroup("inner", [error])]) if grouped else error
    )
    engine, bystander = Engine("a", fails(raised, after=0.1)), Engine("b", hangs())

    with pytest.raises(type(error)) as caught:
        await trace_of(Race(shape(engine), bystander))

    assert caught.value is error
    assert engine.running == bystander.running == 0
    assert bystander.ends() == ["cancelled"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), NoError("x")], ids=repr)
@in_every_shape
@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
async def test_what_is_no_error_passes_bare_even_while_the_caller_gives_up(
    shape: Shape, error: BaseException, first: bool
) -> None:
    racers = [shape(Engine("a", cleans_up(0.1, error=error))), Engine("b", hangs())]

    with pytest.raises(type(error)) as caught, anyio.move_on_after(0.5):
        await trace_of(Race(*(racers if first else reversed(racers))))

    assert caught.value is error


@in_every_shape
@for_both_operations
@each(
    "members,outcome",
    {
        "a refused key outranks an error": ([ValueError("x"), AuthError("x")], "auth"),
        "groups in groups count": ([EngineError("x"), ExceptionGroup("inner", [QuotaError("x")])], "quota"),
        "busy outranks a timeout": ([BusyError("x"), EngineTimeoutError("x")], "busy"),
        "one error alone": ([ValueError("x")], "error"),
    },
)
async def test_a_group_of_errors_is_told_by_its_members(
    shape: Shape, asked: Ask, members: list[Exception], outcome: str
) -> None:
    group = ExceptionGroup("several", members)

    trace = await trace_of(Single(shape(Engine("a", fails(group)))), asked=asked)

    assert of("a", trace.attempts).outcome == outcome


@pytest.mark.parametrize("around", [Single, Breaker, Race])
async def test_no_caller_ever_meets_a_group(around: type[Single] | type[Breaker] | type[Race]) -> None:
    group = ExceptionGroup("several", [ValueError("x"), KeyError("y")])

    with pytest.raises(DecideError) as caught:
        await directly(around(Engine("a", fails(group))))

    assert not isinstance(caught.value, BaseExceptionGroup)


def an_engine_with_tasks_that_fail_when_cancelled() -> Behaviour:
    async def fail_when_cancelled() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise RuntimeError("in the clean-up")

    async def behave() -> object:
        async with anyio.create_task_group() as group:
            group.start_soon(fail_when_cancelled)
            group.start_soon(anyio.sleep_forever)
        return None

    return behave


@in_every_shape
async def test_tasks_of_an_engine_that_fail_when_its_time_is_up_change_nothing(shape: Shape) -> None:
    trace = await trace_of(shape(Engine("a", an_engine_with_tasks_that_fail_when_cancelled(), timeout=1.0)))

    assert of("a", trace.attempts).outcome == "timeout"


@in_every_shape
async def test_tasks_of_an_engine_that_fail_when_the_caller_gives_up_do_not_reach_the_caller(shape: Shape) -> None:
    with anyio.move_on_after(0.5) as scope:
        await trace_of(shape(Engine("a", an_engine_with_tasks_that_fail_when_cancelled())))

    assert scope.cancelled_caught


@ON_ASYNCIO
@in_every_shape
@for_both_operations
@pytest.mark.parametrize(
    "stray",
    [asyncio.CancelledError(), BaseExceptionGroup("several", [asyncio.CancelledError()])],
    ids=["bare", "group"],
)
async def test_a_cancellation_that_nobody_asked_for_is_the_engines_error(
    shape: Shape, asked: Ask, stray: BaseException
) -> None:
    trace = await trace_of(shape(Engine("a", fails(stray, after=0.1))), asked=asked)

    assert of("a", trace.attempts).outcome == "error"
    assert of("a", trace.attempts).detail == "cancelled itself"


async def test_an_error_of_several_engines_is_one_of_ours_and_carries_the_others() -> None:
    race = Race(
        Engine("a", fails(AuthError("x"))), Engine("b", fails(EngineError("x"))), Engine("c", fails(KeyError("y")))
    )

    with pytest.raises(NoAnswerError) as caught:
        await directly(race)

    assert [type(error) for error in caught.value.errors] == [AuthError, EngineError, KeyError]
    assert not isinstance(caught.value, BaseExceptionGroup)


async def test_a_chain_tells_engines_that_failed_differently_apart() -> None:
    trace = await trace_of(
        Race(
            Engine("a", fails(AuthError("x"))), Engine("b", fails(EngineError("x"))), Engine("c", fails(KeyError("y")))
        )
    )

    told = [(attempt.provider, attempt.outcome, attempt.detail) for attempt in trace.attempts]
    assert told == [("a", "auth", ""), ("b", "error", "EngineError"), ("c", "error", "KeyError")]


async def test_a_timeout_of_the_engines_own_making_is_not_ours() -> None:
    engine = Engine("a", fails(TimeoutError(), after=0.005), timeout=1.5)

    with anyio.fail_after(60):
        trace = await trace_of(engine, Engine("b"))

    assert of("a", trace.attempts).latency == pytest.approx(0.005)
    assert of("a", trace.attempts).detail == "TimeoutError"
    assert trace.decided_by == "b"


async def test_words_of_the_engine_reach_no_trace() -> None:
    secret = "the text of the request"

    trace = await trace_of(Single(Engine("a", fails(ValueError(secret)))), Engine("b", fails(EngineError(secret))))

    assert secret not in repr(trace)
