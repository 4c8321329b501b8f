"""The same engine again: when, how often, how soon, and never past the time there is."""

from typing import Literal

import anyio
import pytest

from decide import (
    AuthError,
    BusyError,
    Chain,
    EngineError,
    EngineTimeoutError,
    InvalidAnswerError,
    InvalidRequestError,
    MisconfiguredError,
    PolicyRefusalError,
    QuotaError,
    RateLimitedError,
    UnavailableError,
    UnsupportedError,
    time_budget,
)
from decide.compose import Breaker, Failure, Fallback, Retry, Single
from tests.compose.asking import Ask, directly, each, for_both_operations, of, outcomes, trace_of
from tests.fakes import REQUEST, Behaviour, Clock, Engine, Says, TracedEngine, answers, fails, hangs


def down(status: int = 503, *, wait: float | None = None, after: float = 0.0) -> Behaviour:
    """A server that answers with an error, and may ask for a wait."""
    return fails(EngineError("x", http_status=status, retry_after=wait), after=after)


def broken_connection() -> Behaviour:
    error = EngineError("the connection broke before an answer")
    error.transient = True
    return fails(error)


def times(engine: Engine) -> list[float]:
    """When the engine was called, from its first call on."""
    return pytest.approx([call.started - engine.calls[0].started for call in engine.calls])  # type: ignore[return-value]


@for_both_operations
async def test_a_failure_that_passes_is_one_attempt_with_a_count_of_its_tries(asked: Ask) -> None:
    engine = Engine("a", down(), down(), answers(after=0.1), timeout=9)

    trace = await trace_of(Retry(engine, retries=5), asked=asked)

    assert outcomes(trace.attempts) == [("a", "decided")]
    assert of("a", trace.attempts).tries == 3
    assert of("a", trace.attempts).latency == pytest.approx(0.5 + 1.0 + 0.1)


@for_both_operations
async def test_an_engine_that_writes_its_own_attempts_is_one_attempt_too(asked: Ask) -> None:
    trace = await trace_of(Retry(TracedEngine("a", down(), answers()), retries=1), asked=asked)

    assert outcomes(trace.attempts) == [("a", "decided")]
    assert of("a", trace.attempts).tries == 2


async def test_nothing_is_tried_again_unless_somebody_asks_for_it() -> None:
    engines = Engine("a", down()), Engine("b", down())

    await trace_of(Fallback(*[Breaker(engine) for engine in engines]))
    await trace_of(Retry(never := Engine("c", down()), retries=0))

    assert [len(engine.calls) for engine in (*engines, never)] == [1, 1, 1]


async def test_the_wait_doubles_from_try_to_try_and_there_is_none_after_the_last() -> None:
    engine = Engine("a", down(), timeout=60)
    begun = anyio.current_time()

    await trace_of(Retry(engine, retries=3, backoff=0.5))

    assert times(engine) == [0.0, 0.5, 1.5, 3.5]
    assert anyio.current_time() - begun == pytest.approx(3.5)


async def test_without_a_backoff_the_next_try_comes_at_once() -> None:
    engine = Engine("a", down())

    await trace_of(Retry(engine, retries=3, backoff=0))

    assert times(engine) == [0.0] * 4


@each(
    "asked_for,waited",
    {
        "two seconds": (2.0, 2.0),
        "a second and a half": (1.5, 1.5),
        "nothing, so at once": (0.0, 0.0),
        "no wait at all": (None, 5.0),
    },
)
async def test_a_wait_the_server_asks_for_wins_over_ours(asked_for: float | None, waited: float) -> None:
    engine = Engine("a", down(wait=asked_for), answers(), timeout=60)

    await trace_of(Retry(engine, retries=1, backoff=5.0))

    assert times(engine) == [0.0, waited]


async def test_the_wait_is_not_slept_after_the_last_try_and_its_error_is_the_last_one() -> None:
    clock = Clock()
    engine = Engine("a", down(429, wait=2.0), down(429, wait=7.0), timeout=60)
    breaker = Breaker(Retry(engine, retries=1, backoff=0.1), threshold=1, cooldown=0, clock=clock)
    begun = anyio.current_time()

    with pytest.raises(EngineError) as caught:
        await directly(breaker)

    assert times(engine) == [0.0, 2.0]
    assert anyio.current_time() - begun == pytest.approx(2.0)
    assert caught.value.retry_after == 7.0
    clock.now = 6.9
    with pytest.raises(UnavailableError):
        await directly(breaker)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 409, 410, 413, 415, 422, 431, 501, 505])
async def test_a_permanent_refusal_is_sent_once(status: int) -> None:
    engine = Engine("a", down(status), timeout=60)

    trace = await trace_of(Retry(engine, retries=5))

    assert len(engine.calls) == 1
    assert of("a", trace.attempts).latency == 0.0


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 529])
async def test_a_state_that_may_pass_is_tried_again(status: int) -> None:
    trace = await trace_of(Retry(Engine("a", down(status), answers()), retries=1))

    assert of("a", trace.attempts).outcome == "decided"


@each(
    "behaviour,tries",
    {
        "a connection that broke": (broken_connection(), 3),
        "a rate limit": (fails(RateLimitedError("x", http_status=429)), 3),
        "an error of nobody knows what": (fails(EngineError("x")), 1),
        "a foreign error": (fails(ValueError("x")), 1),
        "an answer nobody can use": (fails(InvalidAnswerError("x", http_status=500)), 1),
        "a timeout": (fails(EngineTimeoutError("x")), 1),
        "a spent allowance": (fails(QuotaError("x", http_status=429)), 1),
        "a refused key": (fails(AuthError("x", http_status=503)), 1),
        "a refusal by policy": (fails(PolicyRefusalError("x", http_status=503)), 1),
        "a wrong setting": (fails(MisconfiguredError("x", http_status=500)), 1),
        "a bad request": (fails(InvalidRequestError("x", http_status=500)), 1),
        "no turn": (fails(BusyError("x")), 1),
        "an open breaker": (fails(UnavailableError("x")), 1),
        "no such operation": (fails(UnsupportedError("x")), 1),
        "no opinion": (answers(Says.NOTHING), 1),
        "nonsense": (answers(Says.NONSENSE), 1),
    },
)
async def test_only_what_may_pass_is_tried_again(behaviour: Behaviour, tries: int) -> None:
    engine = Engine("a", behaviour)

    await trace_of(Retry(engine, retries=2, backoff=0.1))

    assert len(engine.calls) == tries


async def test_further_statuses_can_be_tried_again() -> None:
    engine = Engine("a", down(409), answers())

    await trace_of(Retry(engine, retries=1, retry_on=[409]))

    assert len(engine.calls) == 2


async def test_whoever_is_asked_about_a_failure_may_try_anything_again_or_give_up_early() -> None:
    seen: list[tuple[str, int | None, int, bool]] = []

    def judge(failure: Failure) -> str:
        seen.append((type(failure.error).__name__, failure.status, failure.attempt, failure.retryable))
        return "retry" if failure.attempt < 2 else "fail"

    engine = Engine("a", fails(ValueError("x")), down(400), down(503), answers())
    retry = Retry(engine, retries=9, backoff=0.01, on_error=judge)  # type: ignore[arg-type] # a str, for the test's sake

    trace = await trace_of(retry)

    assert seen == [("ValueError", None, 0, False), ("EngineError", 400, 1, False), ("EngineError", 503, 2, True)]
    assert of("a", trace.attempts).detail == "http 503"


async def test_nobody_is_asked_about_the_last_failure() -> None:
    asked: list[Failure] = []

    def judge(failure: Failure) -> str:
        asked.append(failure)
        return "retry"

    await trace_of(Retry(Engine("a", down()), retries=1, on_error=judge))  # type: ignore[arg-type]

    assert len(asked) == 1


async def test_a_wait_that_would_outlast_the_leg_is_not_begun() -> None:
    engine = Engine("a", down(wait=30.0), timeout=1.0)
    begun = anyio.current_time()

    trace = await trace_of(Retry(engine, retries=3))

    assert outcomes(trace.attempts) == [("a", "error")]
    assert len(engine.calls) == 1
    assert anyio.current_time() == begun


async def test_all_tries_share_the_time_of_one() -> None:
    engine = Engine("a", down(after=0.4), hangs(), timeout=1.2)
    begun = anyio.current_time()

    trace = await trace_of(Retry(engine, retries=3, backoff=0.5))

    assert outcomes(trace.attempts) == [("a", "timeout")]
    assert of("a", trace.attempts).tries == 2
    assert anyio.current_time() - begun == pytest.approx(1.2)


async def test_an_engine_that_hangs_is_not_asked_again() -> None:
    engine = Engine("a", hangs(), timeout=1.0)

    await trace_of(Single(Retry(engine, retries=3)))

    assert len(engine.calls) == 1


async def test_a_caller_may_give_up_while_we_wait_to_try_again() -> None:
    engine = Engine("a", down(after=0.4), answers(), timeout=9)
    breaker = Breaker(Retry(engine, retries=3), threshold=1)
    begun = anyio.current_time()

    with anyio.move_on_after(0.7) as scope:
        await Chain([breaker]).decide(REQUEST)

    assert scope.cancelled_caught
    assert anyio.current_time() - begun == pytest.approx(0.7)
    assert len(engine.calls) == 1
    assert breaker.stats().failures == 0


async def test_being_cancelled_is_no_failure_to_try_again_after() -> None:
    engine = Engine("a", hangs())
    breaker = Breaker(Retry(engine, retries=3, backoff=1.0), threshold=1)
    begun = anyio.current_time()

    with anyio.move_on_after(0.05):
        await directly(breaker)

    assert len(engine.calls) == 1
    assert anyio.current_time() - begun == pytest.approx(0.05)
    assert (breaker.state, breaker.stats().failures) == ("closed", 0)


async def test_nobody_is_asked_about_a_cancellation_and_none_is_tried_again() -> None:
    asked: list[Failure] = []

    def again(failure: Failure) -> Literal["retry"]:
        asked.append(failure)
        return "retry"

    engine = Engine("a", hangs())
    with anyio.move_on_after(0.5):
        await directly(Retry(engine, retries=3, on_error=again))

    assert len(engine.calls) == 1
    assert asked == []


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)], ids=repr)
async def test_what_is_no_error_passes_straight_through(error: BaseException) -> None:
    engine = Engine("a", fails(error))

    with pytest.raises(type(error)) as caught:
        await directly(Retry(engine, retries=3))

    assert caught.value is error
    assert len(engine.calls) == 1


async def test_waiting_to_try_again_is_charged_to_the_time_that_calls_share() -> None:
    with time_budget(10.0) as budget:
        await trace_of(Retry(Engine("a", down(after=0.1), answers(after=0.1), timeout=60), retries=1, backoff=2.0))

    assert budget.spent == pytest.approx(2.2)


async def test_no_try_is_begun_for_which_too_little_of_the_shared_time_is_left() -> None:
    engine = Engine("a", down(), timeout=60)

    with time_budget(0.54):
        trace = await trace_of(Retry(engine, retries=1, backoff=0.5))

    assert outcomes(trace.attempts) == [("a", "error")]
    assert len(engine.calls) == 1


async def test_an_engine_that_needs_no_model_is_tried_again_without_shared_time() -> None:
    engine = Engine("a", down(), answers(), timeout=60, deterministic=True)

    with time_budget(0.01):
        trace = await trace_of(Retry(engine, retries=1, backoff=0.5))

    assert trace.decided_by == "a"


@pytest.mark.parametrize(
    "settings",
    [
        {"retries": -1},
        {"retries": 1.5},
        {"retries": True},
        {"retries": 1, "backoff": -1.0},
        {"retries": 1, "backoff": float("nan")},
        {"retries": 1, "retry_on": [99]},
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused_by_their_name(settings: dict[str, object]) -> None:
    name = list(settings)[-1]

    with pytest.raises(ValueError, match=name):
        Retry(Engine("a"), **settings)  # type: ignore[arg-type]


def test_it_looks_like_its_engine() -> None:
    retry = Retry(Engine("a", timeout=3.0, deterministic=True), retries=1)

    assert (retry.name, retry.decision_timeout, retry.deterministic) == ("a", 3.0, True)
    assert repr(retry) == "<Retry a>"
