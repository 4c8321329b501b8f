"""Recording and replaying: the same answers, errors and traces, inside any combinator and in any order."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest

from decide import (
    AttemptLog,
    AuthError,
    Breaker,
    BudgetError,
    BusyError,
    Chain,
    Decided,
    DecideError,
    EngineError,
    EngineTimeoutError,
    Fallback,
    Hedged,
    InvalidAnswerError,
    InvalidRequestError,
    MisconfiguredError,
    NoAnswerError,
    PolicyRefusalError,
    QuotaError,
    Race,
    RateLimitedError,
    ReplayMissError,
    Retry,
    Single,
    TimeBudgetError,
    Trace,
    UnavailableError,
    UnsupportedError,
    Usage,
    time_budget,
)
from decide.engines.tape import record
from decide.errors import is_neutral, kinds_of
from tests.engines.recorded.tapes import Live, asking, noul_of, outcomes, played
from tests.fakes import QUESTIONS, REQUEST, DecidingOnly, Engine, Says, TracedEngine, answers, fails, hangs

Shape = Callable[[Any], Any]
Asked = Callable[[Chain], Awaitable[Trace]]

SHAPES: dict[str, Shape] = {
    "alone": lambda engine: engine,
    "fallback": lambda engine: Fallback(engine, Engine("spare", answers(after=0.2))),
    "hedged": lambda engine: Hedged(engine, Engine("spare", answers(after=0.2)), delay=0.6),
    "race": lambda engine: Race(engine, Engine("spare", answers(after=0.7))),
    "breaker": Breaker,
    "retry": lambda engine: Retry(engine, retries=1, backoff=0.1),
    "nested": lambda engine: Race(Fallback(Breaker(engine), Engine("spare", answers(after=0.7)), name="inner")),
}
ENDINGS = {
    "answers": answers(after=0.1),
    "answers late": answers(after=0.9),
    "is unsure": answers(Says.UNSURE),
    "abstains": answers(Says.NOTHING),
    "talks nonsense": answers(Says.NONSENSE),
    "returns something else": answers("nonsense"),
    "fails": fails(ValueError("sentinel")),
    "fails on its side": fails(EngineError("x", http_status=503)),
    "is overloaded": fails(RateLimitedError("x", http_status=429, retry_after=0.1)),
    "refuses the key": fails(AuthError("x", http_status=401)),
    "has no allowance": fails(QuotaError("x")),
    "is set up wrongly": fails(MisconfiguredError("x")),
    "refuses by policy": fails(PolicyRefusalError("x")),
    "raises several": fails(ExceptionGroup("several", [ValueError("a"), AuthError("b")])),
    "hangs": hangs(),
}

in_every_shape = pytest.mark.parametrize("shape", list(SHAPES.values()), ids=list(SHAPES))
with_every_ending = pytest.mark.parametrize("behaviour", list(ENDINGS.values()), ids=list(ENDINGS))


async def to_decide(chain: Chain) -> Trace:
    return (await chain.decide(REQUEST)).trace


async def to_score(chain: Chain) -> Trace:
    return (await chain.score(QUESTIONS)).trace


of_both_kinds = pytest.mark.parametrize(("kind", "asked"), [(Engine, to_decide), (TracedEngine, to_score)])


def shown(trace: Trace) -> tuple[object, ...]:
    """All of a trace but the times: how every attempt ended, and what came of it."""
    attempts = [(one.provider, one.outcome, one.detail, one.role, one.usage) for one in trace.attempts]
    return attempts, attrs.evolve(trace, attempts=())


@in_every_shape
@with_every_ending
@of_both_kinds
async def test_a_replay_leaves_the_trace_that_the_live_engine_left(
    shape: Shape, behaviour: Any, kind: type[Engine], asked: Asked, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    async with record(kind("a", behaviour, timeout=1.0), path) as tape:
        live = await asked(Chain([shape(tape)], min_confidence=None))

    again = await played(path, paced=True)

    assert shown(await asked(Chain([shape(again)], min_confidence=None))) == shown(live)


@in_every_shape
@with_every_ending
async def test_a_replayed_combinator_leaves_the_trace_of_the_recorded_one(
    shape: Shape, behaviour: Any, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    async with record(shape(TracedEngine("a", behaviour, timeout=1.0)), path) as tape:
        live = await to_decide(Chain([tape], min_confidence=None, timeout=5.0))

    replayed = await to_decide(Chain([await played(path)], min_confidence=None, timeout=5.0))

    assert shown(replayed)[0] == shown(live)[0]
    assert (replayed.engine, replayed.strategy, replayed.decided_by) == (live.engine, live.strategy, live.decided_by)
    assert (replayed.hedge_fired, replayed.fallback_fired) == (live.hedge_fired, live.fallback_fired)


async def test_a_replay_is_at_once_unless_it_is_paced(tmp_path: Path) -> None:
    async with record(Live(takes=0.7), tmp_path / "a.json") as tape:
        await tape.score(asking("s"))
    took = []
    for paced in (False, True):
        started = anyio.current_time()
        engine = await played(tmp_path / "a.json", paced=paced)
        await engine.score(asking("s"))
        took.append(anyio.current_time() - started)

    assert took == [0, pytest.approx(0.7, abs=0.001)]


async def test_the_latency_and_cost_of_the_recording_are_those_of_the_replay(tmp_path: Path) -> None:
    async with record(TracedEngine("a", answers(after=0.25)), tmp_path / "a.json") as tape:
        await tape.decide(REQUEST)

    trace = (await Chain([await played(tmp_path / "a.json")], min_confidence=None).decide(REQUEST)).trace

    assert [one.latency for one in trace.attempts] == [pytest.approx(0.25, abs=0.001)]
    assert trace.usage.input_tokens == TracedEngine.usage.input_tokens


async def test_b110_the_same_question_gets_its_answers_in_the_order_of_the_recording_then_the_last(
    tmp_path: Path,
) -> None:
    async with record(Live({"s": [0.1, 0.2, 0.3]}), tmp_path / "a.json") as tape:
        for _ in range(3):
            await tape.score(asking("s"))

    again = await played(tmp_path / "a.json")

    assert [await noul_of(again, "s") for _ in range(6)] == [0.1, 0.2, 0.3, 0.3, 0.3, 0.3]
    again.rewind()
    assert await noul_of(again, "s") == 0.1


STATES = [f"s{number}" for number in range(10)]


async def told_at_once(engine: Any, order: list[str]) -> dict[str, Any]:
    """Ask about every state at once: s3 is retried, s7 is hedged."""
    backup = Live({"s7": [0.77]}, name="backup")
    shapes = {"s7": Hedged(engine, backup, delay=0.6)}
    found: dict[str, Any] = {}

    async def one(state: str) -> None:
        shape = shapes.get(state, Single(Retry(engine, retries=1)))
        ended = await Chain([shape], min_confidence=None).score(asking(state))
        assert isinstance(ended, Decided)
        assert ended.result is not None
        found[state] = ended.result.noul("n").noul, shown(ended.trace)

    async with anyio.create_task_group() as group:
        for state in order:
            group.start_soon(one, state)
    return found


async def test_b110_different_questions_at_once_match_in_any_order_and_end_as_they_ended_live(tmp_path: Path) -> None:
    script: dict[str, Any] = {state: [number / 100] for number, state in enumerate(STATES)}
    script["s3"] = [RateLimitedError("x", http_status=429, retry_after=0.0), 0.03]
    async with record(Live(script, slow={"s7": 9.0}), tmp_path / "a.json") as tape:
        live = await told_at_once(tape, STATES)

    replays = [
        await told_at_once(await played(tmp_path / "a.json"), STATES[turn % 10 :] + STATES[: turn % 10])
        for turn in range(100)
    ]

    assert [live["s3"][0], live["s7"][0]] == [0.03, 0.77]
    assert [(one[0], one[1]) for one in live["s7"][1][0]] == [("live", "cancelled"), ("backup", "decided")]
    assert replays == [live] * 100


async def test_a_hundred_replays_at_once_share_nothing(tmp_path: Path) -> None:
    async with record(Live({"s": [0.1, 0.2]}), tmp_path / "a.json") as tape:
        for _ in range(2):
            await tape.score(asking("s"))
    found: list[list[float | None]] = []

    async def play() -> None:
        again = await played(tmp_path / "a.json")
        found.append([await noul_of(again, "s") for _ in range(3)])

    async with anyio.create_task_group() as group:
        for _ in range(100):
            group.start_soon(play)

    assert found == [[0.1, 0.2, 0.2]] * 100


async def test_equal_calls_at_once_are_kept_in_the_order_in_which_they_started(tmp_path: Path) -> None:
    slow_first = iter([0.5, 0.1])

    class Overtaking(Live):
        async def score(self, request: Any) -> Any:
            self._takes = next(slow_first)
            return await super().score(request)

    async with record(Overtaking({"s": [0.1, 0.2]}), tmp_path / "a.json") as tape, anyio.create_task_group() as group:
        group.start_soon(tape.score, asking("s"))
        await anyio.sleep(0.01)
        group.start_soon(tape.score, asking("s"))

    again = await played(tmp_path / "a.json")
    assert [await noul_of(again, "s") for _ in range(2)] == [0.1, 0.2]


async def test_a_lost_hedge_is_silent_until_it_is_overtaken_again(tmp_path: Path) -> None:
    async with record(Engine("slow", hangs()), tmp_path / "a.json") as tape:
        live = await to_decide(Chain([Hedged(tape, Engine("backup"), delay=0.6)], min_confidence=None))

    again = await played(tmp_path / "a.json")
    trace = await to_decide(Chain([Hedged(again, Engine("backup"), delay=0.6)], min_confidence=None))

    assert trace.hedge_fired
    assert shown(trace) == shown(live)


async def test_a_recording_that_was_cut_off_never_hangs_a_caller_whom_nothing_bounds(tmp_path: Path) -> None:
    async with record(Engine("slow", hangs()), tmp_path / "a.json") as tape:
        with anyio.move_on_after(1):
            await tape.decide(REQUEST)

    again = await played(tmp_path / "a.json")

    with pytest.raises(EngineTimeoutError, match="cut off"):
        await again.decide(REQUEST)
    with anyio.move_on_after(3) as scope:
        await again.decide(REQUEST)
    assert scope.cancelled_caught


async def test_a_paced_replay_that_is_cut_off_earlier_than_the_recording_does_not_claim_an_answer(
    tmp_path: Path,
) -> None:
    async with record(TracedEngine("a", answers(after=0.9)), tmp_path / "a.json") as tape:
        await tape.decide(REQUEST)
    again = await played(tmp_path / "a.json", paced=True)

    trace = await to_decide(Chain([Single(again, default_timeout=0.3)]))

    assert [(one.provider, one.outcome) for one in trace.attempts] == [("a", "timeout")]


ERRORS: list[DecideError] = [
    EngineError("m", detail="ConnectError"),
    EngineTimeoutError("m"),
    RateLimitedError("m", http_status=429, retry_after=0.0),
    InvalidAnswerError("m", detail="2 malformed", usage=Usage(input_tokens=3)),
    UnavailableError("m", retry_after=2.5),
    BusyError("m"),
    UnsupportedError("m"),
    InvalidRequestError("m", key="sentinel"),
    AuthError("m", http_status=403),
    QuotaError("m", http_status=402),
    BudgetError("m"),
    TimeBudgetError("m"),
    PolicyRefusalError("m"),
    MisconfiguredError("m"),
    ReplayMissError("m"),
    NoAnswerError("m", errors=[AuthError("m"), NoAnswerError("m", errors=[QuotaError("m")])]),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_an_error_means_in_a_replay_what_it_meant_live(error: DecideError, tmp_path: Path) -> None:
    async with record(Engine("a", fails(error)), tmp_path / "a.json") as tape:
        with pytest.raises(type(error)):
            await tape.decide(REQUEST)
    again = await played(tmp_path / "a.json")
    met = []
    for _ in range(2):
        with pytest.raises(DecideError) as caught:
            await again.decide(REQUEST)
        met.append(caught.value)

    one, other = met
    assert type(one) is type(error)
    assert one is not other
    assert (kinds_of(one), is_neutral(one)) == (kinds_of(error), is_neutral(error))
    assert (one.http_status, one.retry_after, one.usage, one.key) == (
        error.http_status,
        error.retry_after,
        error.usage,
        "",
    )


async def test_causes_and_flags_of_an_error_are_kept(tmp_path: Path) -> None:
    broken = EngineError("m")
    broken.transient = True
    broken.__cause__ = AuthError("m")
    async with record(Engine("a", fails(broken)), tmp_path / "a.json") as tape:
        with pytest.raises(EngineError):
            await tape.decide(REQUEST)

    with pytest.raises(EngineError) as caught:
        await (await played(tmp_path / "a.json")).decide(REQUEST)

    assert caught.value.transient
    assert isinstance(caught.value.__cause__, AuthError)


async def test_a_timeout_that_the_callers_time_budget_caused_is_still_no_fault_of_the_engine(tmp_path: Path) -> None:
    async with record(Engine("a", hangs()), tmp_path / "a.json") as tape:
        with time_budget(0.3), pytest.raises(EngineTimeoutError):
            await tape.decide(REQUEST)

    with pytest.raises(EngineTimeoutError) as caught:
        await (await played(tmp_path / "a.json")).decide(REQUEST)

    assert caught.value.clipped


async def test_an_operation_that_an_engine_lacks_is_lacking_in_the_replay(tmp_path: Path) -> None:
    async with record(DecidingOnly("a"), tmp_path / "a.json") as tape:
        live = await outcomes(tape, "s")

    assert (
        await outcomes(await played(tmp_path / "a.json"), "s")
        == live
        == await outcomes(Breaker(DecidingOnly("a")), "s")
    )


async def test_what_was_never_recorded_stops_a_chain(tmp_path: Path) -> None:
    async with record(Live(), tmp_path / "a.json") as tape:
        await tape.score(asking("s"))
    again = await played(tmp_path / "a.json")

    assert await outcomes(again, "s", "other") == [[("live", "decided")], [("live", "misconfigured")]]
    with pytest.raises(ReplayMissError, match="live: no recorded decision"):
        await again.decide(REQUEST)


async def test_a_model_is_part_of_what_was_recorded(tmp_path: Path) -> None:
    async with record(Live(), tmp_path / "a.json", model="m-1") as tape:
        await tape.score(asking("s"))

    assert await noul_of(await played(tmp_path / "a.json"), "s") == 0.5
    assert await noul_of(await played(tmp_path / "a.json", model="m-1"), "s") == 0.5
    with pytest.raises(ReplayMissError):
        await noul_of(await played(tmp_path / "a.json", model="m-2"), "s")


async def test_a_recorder_is_invisible_but_for_its_cassette(tmp_path: Path) -> None:
    log = AttemptLog()
    async with record(TracedEngine("a", timeout=0.7), tmp_path / "a.json") as tape:
        assert (tape.name, tape.decision_timeout, tape.deterministic) == ("a", 0.7, False)
        await tape.decide_traced(REQUEST, log)
    again = await played(tmp_path / "a.json")

    assert [one.outcome for one in log.report().attempts] == ["decided"]
    assert (again.name, again.decision_timeout, repr(again)) == ("a", 0.7, "<Replayer a>")


async def test_a_request_that_is_no_json_is_refused_before_the_engine_is_asked(tmp_path: Path) -> None:
    live = Live()
    async with record(live, tmp_path / "a.json") as tape:
        with pytest.raises(InvalidRequestError):
            await tape.score(asking({"n": object()}))

    assert live.calls == 0
