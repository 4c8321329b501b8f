"""Race: all at once, and only an answer that can be used wins."""

import anyio
import pytest

from decide import (
    NARROWING,
    BudgetError,
    EngineError,
    MisconfiguredError,
    NoAnswerError,
    PolicyRefusalError,
    QuotaError,
    Race,
)
from decide.attempt_log import AttemptLog
from tests.compose.asking import Ask, directly, each, for_both_operations, outcomes, scored_directly, trace_of
from tests.fakes import Behaviour, Engine, Says, abstains, answers, fails, hangs

FAILS_FAST = fails(EngineError("x", http_status=503), after=0.002)


def _useless() -> list[Engine]:
    return [
        Engine("a", FAILS_FAST),
        Engine("b", abstains(after=0.003)),
        Engine("c", answers(Says.NONSENSE, after=0.005)),
    ]


@for_both_operations
async def test_the_first_to_decide_wins_and_the_others_are_cancelled(asked: Ask) -> None:
    begun = anyio.current_time()

    trace = await trace_of(
        Race(Engine("a", hangs()), Engine("b", answers(after=0.2)), Engine("c", hangs())), asked=asked
    )

    assert [(one.provider, one.outcome, one.role) for one in trace.attempts] == [
        ("a", "cancelled", "racer"),
        ("b", "decided", "racer"),
        ("c", "cancelled", "racer"),
    ]
    assert (trace.strategy, trace.engine) == ("race", "b")
    assert anyio.current_time() - begun == pytest.approx(0.2)


@for_both_operations
async def test_fast_but_useless_answers_win_nothing(asked: Ask) -> None:
    trace = await trace_of(Race(*_useless(), Engine("d", answers(after=0.08))), asked=asked)

    assert outcomes(trace.attempts) == [("a", "error"), ("b", "abstained"), ("c", "invalid"), ("d", "decided")]
    assert trace.engine == "d"


async def test_useless_answers_alone_decide_nothing_and_are_all_listed() -> None:
    log = AttemptLog()

    assert await directly(Race(*_useless()), log) is None
    assert outcomes(log.report().attempts) == [("a", "error"), ("b", "abstained"), ("c", "invalid")]


async def test_racers_that_only_abstain_abstain() -> None:
    trace = await trace_of(Race(Engine("a", abstains()), Engine("b", abstains(after=0.1))))

    assert outcomes(trace.attempts) == [("a", "abstained"), ("b", "abstained")]
    assert not trace.outage


async def test_an_unsure_answer_wins_no_race_but_is_better_than_none() -> None:
    race = Race(Engine("a", answers(Says.UNSURE)), Engine("b", abstains(after=0.1)), policy=NARROWING)

    found = await directly(race)

    assert found is not None
    assert (found.outcome, found.actionable) == ("uncertain", False)


async def test_declined_answers_win_no_race() -> None:
    result = await scored_directly(Race(Engine("a", abstains()), Engine("b", answers(after=0.5))))

    assert result.engine == "b"
    assert not result.choice("team").unknown


@each(
    "behaviour,outcome",
    {
        "a spent allowance": (fails(QuotaError("x")), "quota"),
        "a spent budget": (fails(BudgetError("x")), "budget"),
        "a broken setting": (fails(MisconfiguredError("x")), "misconfigured"),
        "a refusal": (fails(PolicyRefusalError("x")), "policy_refusal"),
    },
)
async def test_what_a_person_has_to_see_ends_the_race(behaviour: Behaviour, outcome: str) -> None:
    trace = await trace_of(Race(Engine("a", hangs()), Engine("b", behaviour)))

    assert outcomes(trace.attempts) == [("a", "cancelled"), ("b", outcome)]
    assert trace.stopped_by == outcome


async def test_what_a_person_has_to_see_changes_nothing_once_the_race_is_won() -> None:
    async def finds_its_allowance_spent_when_cancelled() -> object:
        try:
            return await hangs()()
        except anyio.get_cancelled_exc_class():
            raise QuotaError("x") from None

    race = Race(Engine("a", answers(after=0.1)), Engine("b", finds_its_allowance_spent_when_cancelled))

    trace = await trace_of(race)

    assert trace.engine == "a"
    assert outcomes(trace.attempts) == [("a", "decided"), ("b", "cancelled")]


async def test_a_race_of_one_is_a_race() -> None:
    trace = await trace_of(Race(Engine("a")))

    assert (trace.strategy, outcomes(trace.attempts)) == ("race", [("a", "decided")])


async def test_racers_that_all_hang_end_each_by_its_own_timeout() -> None:
    race = Race(Engine("a", hangs(), timeout=1.0), Engine("b", hangs(), timeout=2.0))
    begun = anyio.current_time()

    trace = await trace_of(race)

    assert [one.latency for one in trace.attempts] == pytest.approx([1.0, 2.0])
    assert anyio.current_time() - begun == pytest.approx(2.0)
    assert trace.outage


async def test_answers_of_the_same_instant_have_one_winner() -> None:
    for _ in range(20):
        race = Race(*(Engine(name, answers(after=0.5)) for name in "abcd"))

        trace = await trace_of(race)

        assert sorted(one.outcome for one in trace.attempts) == ["cancelled"] * 3 + ["decided"]


async def test_a_hundred_racers_race() -> None:
    engines = [Engine(f"e{number}", answers(after=1.0 + number)) for number in range(100)]

    trace = await trace_of(Race(*engines, default_timeout=60.0))

    assert trace.engine == "e0"
    assert len(trace.attempts) == 100
    assert all(engine.running == 0 for engine in engines)


async def test_all_failures_are_reported_in_the_order_of_the_engines() -> None:
    slow, fast = EngineError("slow"), ValueError("fast")

    with pytest.raises(NoAnswerError) as caught:
        await directly(Race(Engine("a", fails(slow, after=0.5)), Engine("b", fails(fast))))

    assert caught.value.errors == (slow, fast)
