"""What a whole call cost: exact when everybody said so, else a lower bound."""

from decimal import Decimal

import pytest

from decide import Attempt, EngineError, Trace, Usage
from decide.compose import Fallback, Hedged, Race, Retry
from tests.compose.asking import each, trace_of
from tests.fakes import Engine, TracedEngine, answers, fails, hangs

SOME = Usage(input_tokens=10, output_tokens=2)
PRICED = Usage(input_tokens=10, output_tokens=2, cost=Decimal("0.01"))
FREE = Usage()


@each(
    "attempts,exact",
    {
        "nobody was asked": ([], True),
        "one engine that says what it cost": ([Attempt(provider="a", outcome="decided", usage=SOME)], True),
        "one engine that does not": ([Attempt(provider="a", outcome="decided")], False),
        "an engine that was cut off": (
            [Attempt(provider="a", outcome="cancelled"), Attempt(provider="b", outcome="decided", usage=SOME)],
            False,
        ),
        "engines that were never called": (
            [
                Attempt(provider=outcome, outcome=outcome)
                for outcome in ("unavailable", "busy", "unsupported", "budget")
            ],
            True,
        ),
        "tries of which only the sum is known": (
            [Attempt(provider="a", outcome="decided", usage=SOME, tries=2)],
            False,
        ),
        "a try before the one that reached nobody": (
            [
                Attempt(provider="a", outcome="unavailable", tries=2),
                Attempt(provider="b", outcome="decided", usage=SOME),
            ],
            False,
        ),
        "a price beside tokens without one": (
            [
                Attempt(provider="a", outcome="error", usage=SOME),
                Attempt(provider="b", outcome="decided", usage=PRICED),
            ],
            False,
        ),
        "a price beside what costs nothing": (
            [
                Attempt(provider="a", outcome="abstained", usage=FREE),
                Attempt(provider="b", outcome="decided", usage=PRICED),
            ],
            True,
        ),
        "tokens that nobody put a price on": ([Attempt(provider="a", outcome="decided", usage=SOME)], True),
    },
)
def test_a_sum_is_exact_only_if_nothing_in_it_is_unknown(attempts: list[Attempt], exact: bool) -> None:
    assert Trace(attempts=tuple(attempts)).usage.exact == exact


def test_prices_are_added_without_rounding() -> None:
    tenth = Usage(cost=Decimal("0.1"))

    total = Trace(attempts=tuple(Attempt(provider="a", outcome="decided", usage=tenth) for _ in range(3))).usage

    assert total.cost == Decimal("0.3")


async def test_a_loser_that_was_cancelled_makes_the_sum_a_lower_bound() -> None:
    trace = await trace_of(Hedged(Engine("a", hangs()), TracedEngine("b"), delay=0.1))

    assert trace.usage.input_tokens == TracedEngine.usage.input_tokens
    assert not trace.usage.exact


async def test_a_chain_in_which_everybody_tells_is_exact() -> None:
    costly = EngineError("x", usage=SOME)

    trace = await trace_of(Fallback(Engine("a", fails(costly)), TracedEngine("b")))

    assert trace.usage.input_tokens == SOME.input_tokens + TracedEngine.usage.input_tokens
    assert trace.usage.exact


@pytest.mark.parametrize("engine", [Engine, TracedEngine])
async def test_all_tries_of_an_engine_are_summed_as_far_as_they_are_known(engine: type[Engine]) -> None:
    costly = EngineError("x", http_status=503, usage=SOME)

    trace = await trace_of(Retry(engine("a", fails(costly), fails(costly), answers()), retries=2, backoff=0.1))

    assert trace.usage.input_tokens == 2 * SOME.input_tokens + (10 if engine is TracedEngine else 0)
    assert not trace.usage.exact


async def test_tries_of_a_combinator_are_attempts_of_their_own_and_all_count() -> None:
    costly = EngineError("x", http_status=503, usage=SOME)
    race = Race(Engine("a", fails(costly), hangs()), TracedEngine("b", fails(costly), answers()))

    trace = await trace_of(Retry(race, retries=1))

    assert [(attempt.provider, attempt.outcome) for attempt in trace.attempts] == [
        ("a", "error"),
        ("b", "error"),
        ("a", "cancelled"),
        ("b", "decided"),
    ]
    assert trace.usage.input_tokens == 2 * SOME.input_tokens + TracedEngine.usage.input_tokens
