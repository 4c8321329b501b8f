"""Turns at an engine: in order, never more than there are, none lost, and nobody blamed for waiting."""

from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
import pytest

from decide import BusyError, Chain, time_budget
from decide.compose import Breaker, Budget, Fallback, Hedged, Race, Retry, Turns
from tests.compose.asking import Ask, directly, for_both_operations, of, outcomes, scored_directly, trace_of
from tests.compose.test_retry import down, times
from tests.fakes import REQUEST, Behaviour, Engine, TracedEngine, answers, cleans_up, decision, fails, hangs, result


class Counted(Engine):
    """An engine that remembers how many callers it had at once."""

    most = 0

    async def _behave(self) -> object:
        self.most = max(self.most, self.running + 1)
        return await super()._behave()


async def a_few_turns_of_the_loop() -> None:
    """Let whoever was started get as far as it can, in no time."""
    for _ in range(5):
        await anyio.lowlevel.checkpoint()


async def in_order(*calls: Callable[[], Awaitable[object]]) -> list[object]:
    """Start the calls one after the other, and return what each returned or raised."""
    ended: list[object] = [None] * len(calls)

    async def run(index: int) -> None:
        try:
            ended[index] = await calls[index]()
        except Exception as error:  # noqa: BLE001 - what it raised is what is looked at
            ended[index] = error

    async with anyio.create_task_group() as group:
        for index in range(len(calls)):
            group.start_soon(run, index)
            await a_few_turns_of_the_loop()
    return ended


async def turns_left(turns: Turns, engine: Engine) -> int:
    """How many of ten callers reach the engine at once, when it keeps whom it has."""
    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(directly, turns)
        await a_few_turns_of_the_loop()
        reached = engine.running
        group.cancel_scope.cancel()
    return reached


@pytest.mark.parametrize("at_once", [1, 2, 7])
async def test_no_more_callers_than_turns_are_at_the_engine_at_once(at_once: int) -> None:
    engine = Counted("a", answers(after=0.1))
    turns = Turns(engine, at_once=at_once, wait=60)

    ended = await in_order(*[lambda: directly(turns)] * 20)

    assert engine.most == at_once
    assert ended == [decision()] * 20


async def test_callers_are_served_in_the_order_in_which_they_came() -> None:
    served: list[int] = []
    turns = Turns(Engine("a", answers(after=1.0)), wait=60)

    def caller(number: int) -> Callable[[], Awaitable[object]]:
        async def call() -> None:
            await directly(turns)
            served.append(number)

        return call

    await in_order(*[caller(number) for number in range(8)])

    assert served == list(range(8))


async def test_a_newcomer_does_not_overtake_who_was_handed_a_turn_but_has_not_run_yet() -> None:
    engine = Counted("a", answers(after=1.0))
    turns = Turns(engine, wait=60)

    async def twice() -> None:
        await directly(turns)
        await directly(turns)

    ended = await in_order(twice, lambda: directly(turns))

    assert ended[1] == decision()
    assert engine.most == 1
    assert times(engine) == [0.0, 1.0, 2.0]


@for_both_operations
async def test_whose_turn_does_not_come_in_time_ends_busy_and_reaches_nobody(asked: Ask) -> None:
    engine = Engine("a", hangs(), timeout=60)
    turns = Turns(engine, wait=1.0)

    async with anyio.create_task_group() as group:
        group.start_soon(directly, turns)
        await a_few_turns_of_the_loop()
        trace = await trace_of(turns, asked=asked)
        group.cancel_scope.cancel()

    assert outcomes(trace.attempts) == [("a", "busy")]
    assert of("a", trace.attempts).detail == "no turn"
    assert of("a", trace.attempts).waited == pytest.approx(1.0)
    assert of("a", trace.attempts).latency == pytest.approx(0.0)
    assert len(engine.calls) == 1


async def test_a_caller_that_will_not_wait_takes_a_free_turn_or_none() -> None:
    turns = Turns(Engine("a", answers(after=1.0)), wait=0)

    ended = await in_order(lambda: directly(turns), lambda: directly(turns))

    assert ended[0] == decision()
    assert isinstance(ended[1], BusyError)


@pytest.mark.parametrize("engine", [Engine, TracedEngine])
async def test_waiting_is_told_apart_from_the_latency(engine: type[Engine]) -> None:
    turns = Turns(engine("a", answers(after=0.3), timeout=60), wait=60)

    async with anyio.create_task_group() as group:
        group.start_soon(directly, turns)
        await a_few_turns_of_the_loop()
        trace = await trace_of(turns)

    assert of("a", trace.attempts).waited == pytest.approx(0.3)
    assert of("a", trace.attempts).latency == pytest.approx(0.3)


async def test_a_hundred_callers_of_a_small_server_are_all_served_without_a_failure() -> None:
    engine = Counted("a", answers(after=0.05), timeout=60)
    breaker = Breaker(Turns(engine, at_once=2, wait=10), threshold=1)

    ended = await in_order(*[lambda: directly(breaker)] * 100)

    assert ended == [decision()] * 100
    assert engine.most == 2


async def test_a_small_server_never_sees_two_and_who_would_wait_too_long_is_busy() -> None:
    engine = Counted("a", answers(after=0.15), timeout=60)
    breaker = Breaker(Turns(engine, wait=1.0), threshold=1)

    async with anyio.create_task_group() as group:
        ended: list[object] = []

        async def call() -> None:
            try:
                ended.append(await breaker.decide(REQUEST))
            except BusyError as error:
                ended.append(error)

        for _ in range(10):
            group.start_soon(call)

    assert engine.most == 1
    assert len(engine.calls) == ended.count(decision()) == 7
    assert breaker.state == "closed"


async def test_having_no_turn_starts_the_backup_and_spends_nothing() -> None:
    engine = Engine("a", hangs(), timeout=60)
    turns = Turns(engine, wait=0.1)
    budget = Budget(turns, max_calls=5)

    async with anyio.create_task_group() as group:
        group.start_soon(directly, turns)
        await a_few_turns_of_the_loop()
        trace = await trace_of(Fallback(budget, Engine("b")))
        group.cancel_scope.cancel()

    assert outcomes(trace.attempts) == [("a", "busy"), ("b", "decided")]
    assert budget.stats().used == 0


@pytest.mark.parametrize("around", [lambda budget: budget, lambda budget: Race(Fallback(budget))], ids=["near", "far"])
async def test_giving_up_while_waiting_gives_the_unit_back(around: Callable[[Budget], Budget]) -> None:
    turns = Turns(Engine("a", hangs(), timeout=60), wait=60)
    budget = Budget(Race(turns), max_calls=5)

    async with anyio.create_task_group() as group:
        group.start_soon(directly, turns)
        await a_few_turns_of_the_loop()
        with anyio.move_on_after(0.5):
            await directly(around(budget))
        group.cancel_scope.cancel()

    assert budget.stats().used == 0


@pytest.mark.parametrize(
    "behaviour",
    [answers(after=0.1), fails(ValueError("x"), after=0.1), cleans_up(0.5), fails(KeyboardInterrupt(), after=0.1)],
    ids=["answers", "fails", "hangs and cleans up", "raises no error"],
)
async def test_a_turn_is_given_back_however_the_call_ends(behaviour: Behaviour) -> None:
    engine = Engine("a", *[behaviour] * 2, hangs())
    turns = Turns(engine, at_once=2, wait=60)

    async def call() -> None:
        with anyio.move_on_after(1.0):
            try:
                await directly(turns)
            except (ValueError, KeyboardInterrupt):
                return

    await in_order(call, call)

    assert await turns_left(turns, engine) == 2


async def test_callers_that_give_up_leave_the_queue() -> None:
    engine = Engine("a", answers(after=1.0), answers(after=1.0), hangs())
    turns = Turns(engine, wait=60)
    served: list[float] = []

    async def patient() -> None:
        await directly(turns)
        served.append(anyio.current_time())

    async def impatient() -> None:
        with anyio.move_on_after(0.5):
            await directly(turns)

    begun = anyio.current_time()
    async with anyio.create_task_group() as group:
        for call in (patient, impatient, impatient, patient):
            group.start_soon(call)
            await a_few_turns_of_the_loop()

    assert served == pytest.approx([begun + 1.0, begun + 2.0])
    assert len(engine.calls) == 2
    assert await turns_left(turns, engine) == 1


@pytest.mark.parametrize("others", [0, 1, 2])
@pytest.mark.parametrize("later", range(8))
async def test_a_turn_handed_to_a_caller_that_gives_up_at_that_instant_is_passed_on(later: int, others: int) -> None:
    release = anyio.Event()
    engine = Counted("a", release.wait, answers(after=1.0))
    turns = Turns(engine, wait=60)
    served: list[int] = []

    async def call(number: int, scope: anyio.CancelScope) -> None:
        with scope:
            await directly(turns)
            served.append(number)

    async with anyio.create_task_group() as group:
        scopes = [anyio.CancelScope() for _ in range(2 + others)]
        for number, scope in enumerate(scopes):
            group.start_soon(call, number, scope)
            await a_few_turns_of_the_loop()
        release.set()
        for _ in range(later):
            await anyio.lowlevel.checkpoint()
        scopes[1].cancel()

    assert served == [0, *range(2, 2 + others)]
    assert engine.most == 1
    assert await turns_left(turns, engine) == 1


async def test_a_turn_that_comes_at_the_instant_the_wait_is_over_is_neither_lost_nor_doubled() -> None:
    engine = Counted("a", answers(after=1.0), answers(after=0.1), hangs())
    turns = Turns(engine, wait=1.0)

    await in_order(lambda: directly(turns), lambda: directly(turns))

    assert engine.most == 1
    assert await turns_left(turns, engine) == 1


async def test_nobody_waits_longer_than_the_leg_has() -> None:
    turns = Turns(Engine("a", hangs(), timeout=2.0), wait=60)
    begun = anyio.current_time()

    async with anyio.create_task_group() as group:
        group.start_soon(directly, turns)
        await a_few_turns_of_the_loop()
        begun = anyio.current_time()
        trace = await trace_of(turns)
        ended = anyio.current_time()
        group.cancel_scope.cancel()

    assert outcomes(trace.attempts) == [("a", "busy")]
    assert ended - begun == pytest.approx(2.0)


async def test_waiting_for_a_turn_is_charged_to_the_time_that_calls_share() -> None:
    engine = Engine("a", hangs(), timeout=60)
    turns = Turns(engine, wait=60)

    async with anyio.create_task_group() as group:
        group.start_soon(directly, turns)
        await a_few_turns_of_the_loop()
        with time_budget(3.0) as budget:
            trace = await trace_of(turns)
        group.cancel_scope.cancel()

    assert outcomes(trace.attempts) == [("a", "busy")]
    assert budget.spent == pytest.approx(3.0)


async def test_an_engine_that_needs_no_model_may_be_waited_for_without_shared_time() -> None:
    engine = Engine("a", answers(after=1.0), timeout=60, deterministic=True)
    turns = Turns(engine, wait=60)

    async def hurried() -> object:
        with time_budget(0.01):
            return await directly(turns)

    assert await in_order(lambda: directly(turns), hurried) == [decision()] * 2


async def test_a_hedge_starts_while_the_primary_waits_for_its_turn() -> None:
    turns = Turns(Engine("a", hangs(), timeout=60), wait=60)

    async with anyio.create_task_group() as group:
        group.start_soon(directly, turns)
        await a_few_turns_of_the_loop()
        trace = await trace_of(Hedged(turns, Engine("b"), delay=0.2))
        group.cancel_scope.cancel()

    assert outcomes(trace.attempts) == [("a", "cancelled"), ("b", "decided")]
    assert of("a", trace.attempts).waited == pytest.approx(0.2)


async def test_a_retry_around_lets_others_in_between_its_tries() -> None:
    engine = Engine("a", down(after=0.1), answers(after=0.1), timeout=60)
    turns = Turns(engine, wait=60)
    begun = anyio.current_time()

    with anyio.fail_after(60):
        await in_order(lambda: directly(Retry(turns, retries=1, backoff=1.0)), lambda: directly(turns))

    assert anyio.current_time() - begun < 1.5
    assert len(engine.calls) == 3


async def test_both_operations_stand_in_one_queue() -> None:
    engine = Counted("a", answers(after=0.1), timeout=60)
    turns = Turns(engine, wait=60)

    ended = await in_order(lambda: directly(turns), lambda: scored_directly(turns), lambda: directly(turns))

    assert engine.most == 1
    assert ended == [decision(), result(), decision()]


@pytest.mark.parametrize(
    "settings",
    [{"at_once": 0}, {"at_once": 1.5}, {"at_once": True}, {"wait": -0.1}, {"wait": float("inf")}],
    ids=str,
)
def test_settings_out_of_range_are_refused_by_their_name(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        Turns(Engine("a"), **settings)  # type: ignore[arg-type] # wrong on purpose


async def test_turns_stand_in_a_chain_under_the_name_of_their_engine() -> None:
    trace = (await Chain([Turns(Engine("a", timeout=3.0))]).decide(REQUEST)).trace

    assert (trace.decided_by, trace.engine) == ("a", "a")
    assert of("a", trace.attempts).waited == 0.0
