"""Combinators two deep: everybody is reported by its own name, in leg order, and ends in time."""

from collections.abc import Callable

import anyio
import pytest

from decide import (
    DURABLE,
    Breaker,
    Budget,
    EngineError,
    Fallback,
    Hedged,
    Provider,
    QuotaError,
    Race,
    Single,
    UnavailableError,
)
from decide.attempt_log import AttemptLog
from tests.compose.asking import Ask, directly, each, for_both_operations, of, outcomes, scored_directly, trace_of
from tests.fakes import Engine, Says, TracedEngine, abstains, answers, cleans_up, fails, hangs, shields

BROKEN = fails(EngineError("x"))
OUTER: dict[str, Callable[[Provider, Provider], Provider]] = {
    "single": lambda first, _: Single(first),
    "fallback": Fallback,
    "hedged": lambda first, second: Hedged(first, second, delay=0.25),
    "race": Race,
    "breaker": lambda first, _: Breaker(first),
    "budget": lambda first, _: Budget(first, max_calls=99),
}
in_every_pair = pytest.mark.parametrize(("outer", "inner"), [(outer, inner) for outer in OUTER for inner in OUTER])


def two_deep(outer: str, inner: str, *engines: Engine) -> Provider:
    a, b, c = engines
    return OUTER[outer](OUTER[inner](a, b), c)


@in_every_pair
@for_both_operations
async def test_the_first_engine_of_all_decides_and_is_named(outer: str, inner: str, asked: Ask) -> None:
    engines = Engine("a", answers(after=0.1)), Engine("b", answers(after=0.2)), Engine("c", answers(after=0.2))

    trace = await trace_of(two_deep(outer, inner, *engines), asked=asked)

    assert trace.engine == "a"
    assert of("a", trace.attempts).outcome == "decided"
    assert {one.outcome for one in trace.attempts if one.provider != "a"} <= {"cancelled"}


@in_every_pair
@for_both_operations
@pytest.mark.parametrize("traced", [Engine, TracedEngine], ids=["plain", "traced"])
async def test_engines_that_hang_are_reported_by_their_own_names(
    outer: str, inner: str, asked: Ask, traced: type[Engine]
) -> None:
    engines = [traced(name, hangs(), timeout=1.0) for name in "abc"]

    trace = await trace_of(two_deep(outer, inner, *engines), asked=asked)

    called = [engine.name for engine in engines if engine.calls]
    assert sorted(one.provider for one in trace.attempts) == called
    assert {one.outcome for one in trace.attempts} == {"timeout"}
    assert [one.latency for one in trace.attempts] == pytest.approx([1.0] * len(called))
    assert trace.outage


@in_every_pair
async def test_what_is_nested_ends_by_the_total_it_declares(outer: str, inner: str) -> None:
    engine = two_deep(outer, inner, *(Engine(name, hangs(), timeout=1.0) for name in "abc"))
    begun = anyio.current_time()

    await trace_of(engine)

    assert anyio.current_time() - begun <= getattr(engine, "decision_timeout") + 0.02  # noqa: B009 - optional


@in_every_pair
@for_both_operations
async def test_failures_go_on_to_whoever_is_left(outer: str, inner: str, asked: Ask) -> None:
    engines = Engine("a", BROKEN), Engine("b", answers(after=0.1)), Engine("c", answers(after=0.2))
    leaves = "b" if inner in {"fallback", "hedged", "race"} else "c" if outer in {"fallback", "hedged", "race"} else ""

    trace = await trace_of(two_deep(outer, inner, *engines), asked=asked)

    assert trace.engine == leaves
    assert of("a", trace.attempts).outcome == "error"


async def test_attempts_stand_in_leg_order_with_the_innermost_role() -> None:
    log = AttemptLog()
    engine = Race(
        Fallback(Engine("a", BROKEN), Engine("b", hangs())),
        Hedged(Engine("c", hangs()), Engine("d", hangs()), delay=0.1),
        Engine("e", answers(after=0.3)),
    )

    await directly(engine, log)

    assert [(one.provider, one.outcome, one.role) for one in log.report().attempts] == [
        ("a", "error", "primary"),
        ("b", "cancelled", "backup"),
        ("c", "cancelled", "primary"),
        ("d", "cancelled", "backup"),
        ("e", "decided", "racer"),
    ]


async def test_the_strategy_and_the_flags_are_those_of_the_outermost() -> None:
    trace = await trace_of(Single(Fallback(Engine("a", BROKEN), Engine("b"))))

    assert (trace.strategy, trace.fallback_fired, trace.engine) == ("single", False, "b")


async def test_the_innermost_engine_is_named_through_gates() -> None:
    trace = await trace_of(Single(Breaker(Budget(Race(Engine("a"), Engine("b", hangs())), max_calls=1))))

    assert trace.engine == "a"


async def test_loud_endings_pass_through_every_layer() -> None:
    spare = Engine("c")

    trace = await trace_of(Fallback(Race(Engine("a", BROKEN), Engine("b", fails(QuotaError("x"), after=0.1))), spare))

    assert trace.stopped_by == "quota"
    assert not spare.calls


async def test_an_open_breaker_deep_below_starts_the_backup() -> None:
    trace = await trace_of(Fallback(Single(Engine("a", fails(UnavailableError("x")))), Engine("b")))

    assert outcomes(trace.attempts) == [("a", "unavailable"), ("b", "decided")]


async def test_an_inner_policy_stands_when_the_outer_has_none() -> None:
    strict = Single(Engine("a", answers(Says.UNSURE)), policy=DURABLE)

    found = await directly(Race(strict, Engine("b", abstains(after=0.1))))

    assert found is not None
    assert (found.judged_by, found.actionable) == ("durable", False)


async def test_answers_through_two_layers_carry_every_attempt() -> None:
    result = await scored_directly(Fallback(Race(Engine("a", BROKEN)), Hedged(Engine("b"), Engine("c"))))

    assert result.engine == "b"
    assert result.report is not None
    assert (result.report.strategy, outcomes(result.report.attempts)) == (
        "fallback",
        [("a", "error"), ("b", "decided")],
    )


WINNERS: dict[str, tuple[Callable[[Engine, Engine], Provider]]] = {
    "a race": (lambda winner, loser: Race(loser, winner),),
    "a race, the winner first": (Race,),
    "a hedge": (lambda winner, loser: Hedged(loser, winner, delay=0.0),),
    "a hedge whose primary wins": (lambda winner, loser: Hedged(winner, loser, delay=0.0),),
    "behind a breaker": (lambda winner, loser: Breaker(Race(loser, winner)),),
    "in two combinators": (lambda winner, loser: Single(Fallback(Race(loser, winner))),),
    "in a race": (lambda winner, loser: Race(Race(loser, winner), Engine("c", hangs(), timeout=9.0)),),
    "as a primary": (lambda winner, loser: Hedged(Race(loser, winner), Engine("c", hangs()), delay=5.0),),
}


@each("build", WINNERS)
@for_both_operations
async def test_a_winner_stays_the_winner_whatever_its_losers_do(
    build: Callable[[Engine, Engine], Provider], asked: Ask
) -> None:
    winner = Engine("a", answers(after=0.9), timeout=1.0)
    for behaviour in (cleans_up(5.0), shields(answers(after=7.0)), cleans_up(5.0, error=RuntimeError("x"))):
        loser = Engine("b", behaviour, timeout=1.0)
        begun = anyio.current_time()

        trace = await trace_of(build(winner, loser), asked=asked)

        assert trace.engine == "a"
        assert (of("a", trace.attempts).outcome, of("b", trace.attempts).outcome) == ("decided", "cancelled")
        assert anyio.current_time() - begun > 5.0, "the call returns when the loser has let go"
        assert loser.running == 0


@each("build", WINNERS)
async def test_the_report_of_a_winner_is_whole_though_its_losers_took_their_time(
    build: Callable[[Engine, Engine], Provider],
) -> None:
    winner, loser = Engine("a", answers(after=0.9), timeout=1.0), Engine("b", cleans_up(5.0), timeout=1.0)
    log = AttemptLog()

    result = await scored_directly(build(winner, loser), log)

    assert result.engine == "a"
    assert result.report is not None
    assert of("a", result.report.attempts).outcome == "decided"
