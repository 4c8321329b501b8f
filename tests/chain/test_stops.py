"""What stops a chain, what may be let through, and that the reason given is the real one."""

import pytest

from decide import (
    AuthError,
    Budget,
    BudgetError,
    Chain,
    DecideError,
    EngineError,
    Fallback,
    Hedged,
    InvalidRequestError,
    MisconfiguredError,
    PolicyRefusalError,
    QuotaError,
    Race,
    ReplayMissError,
    Single,
    Stopped,
    StopPolicy,
    TimeBudgetError,
)
from tests.compose.asking import Ask, each, for_both_operations, outcomes
from tests.compose.shapes import Shape, in_every_shape
from tests.fakes import REQUEST, Engine, TracedEngine, fails

LOUD: dict[str, tuple[type[DecideError], str]] = {
    "a spent allowance": (QuotaError, "quota"),
    "a spent budget": (BudgetError, "budget"),
    "a broken setting": (MisconfiguredError, "misconfigured"),
    "a recording that is missing": (ReplayMissError, "misconfigured"),
    "a refusal": (PolicyRefusalError, "policy_refusal"),
}


@in_every_shape
@for_both_operations
@each("error,outcome", LOUD)
async def test_what_a_person_has_to_see_stops_the_chain(
    shape: Shape, asked: Ask, error: type[DecideError], outcome: str
) -> None:
    after = Engine("b")

    ended = await asked(Chain([shape(Engine("a", fails(error("x", detail="why")))), after]))

    assert isinstance(ended, Stopped)
    assert ended.trace.stopped_by == outcome
    assert ended.error.kind == outcome
    assert outcomes(ended.trace.attempts) == [("a", outcome)]
    assert not after.calls
    with pytest.raises(type(ended.error)):
        ended.require()


@in_every_shape
@each("error,outcome", LOUD)
async def test_the_trace_names_who_stopped_the_chain_and_why(
    shape: Shape, error: type[DecideError], outcome: str
) -> None:
    ended = await Chain(
        [Engine("z", fails(EngineError("x"))), shape(Engine("a", fails(error("x", detail="why"))))]
    ).decide(REQUEST)

    told = ended.trace.error
    assert told is not None
    assert told.kind == outcome
    assert str(told) == f"chain stopped at a ({outcome}): why"


async def test_an_engine_that_writes_its_own_attempt_cannot_hide_who_stopped_the_chain() -> None:
    ended = await Chain([TracedEngine("a", fails(QuotaError("x")))]).decide(REQUEST)

    assert isinstance(ended, Stopped)
    assert str(ended.trace.error) == "chain stopped at a (quota)"


@for_both_operations
async def test_a_chain_may_be_told_to_go_on_after_a_spent_allowance(asked: Ask) -> None:
    chain = Chain(
        [Engine("a", fails(QuotaError("x"))), Budget(Engine("b"), max_calls=0), Engine("c")],
        stop_on_quota=StopPolicy.FALL_THROUGH,
    )

    ended = await asked(chain)

    assert outcomes(ended.trace.attempts) == [("a", "quota"), ("b", "budget"), ("c", "decided")]
    assert (ended.trace.stopped_by, ended.trace.error) == ("", None)


@for_both_operations
async def test_a_chain_may_be_told_to_go_on_after_a_broken_setting(asked: Ask) -> None:
    chain = Chain(
        [Engine("a", fails(MisconfiguredError("x"))), Engine("b")], stop_on_misconfigured=StopPolicy.FALL_THROUGH
    )

    assert (await asked(chain)).trace.decided_by == "b"


async def test_each_of_the_two_is_told_on_its_own() -> None:
    quota = Chain([Engine("a", fails(QuotaError("x"))), Engine("b")], stop_on_misconfigured=StopPolicy.FALL_THROUGH)
    broken = Chain([Engine("a", fails(MisconfiguredError("x"))), Engine("b")], stop_on_quota=StopPolicy.FALL_THROUGH)

    assert isinstance(await quota.decide(REQUEST), Stopped)
    assert isinstance(await broken.decide(REQUEST), Stopped)


async def test_nothing_lets_a_refusal_through() -> None:
    chain = Chain(
        [Engine("a", fails(PolicyRefusalError("x"))), Engine("b")],
        stop_on_quota=StopPolicy.FALL_THROUGH,
        stop_on_misconfigured=StopPolicy.FALL_THROUGH,
    )

    assert isinstance(await chain.decide(REQUEST), Stopped)


@pytest.mark.parametrize(
    "error", [AuthError("x"), InvalidRequestError("x"), TimeBudgetError("x"), EngineError("x")], ids=repr
)
async def test_nothing_else_stops_a_chain(error: DecideError) -> None:
    ended = await Chain([Engine("a", fails(error)), Engine("b")]).decide(REQUEST)

    assert ended.trace.decided_by == "b"


async def test_spent_time_is_told_from_a_spent_budget() -> None:
    ended = await Chain([Engine("a", fails(TimeBudgetError("x"))), Engine("b")]).decide(REQUEST)

    assert (ended.trace.attempts[0].outcome, ended.trace.attempts[0].dimension) == ("budget", "time")


async def test_the_loudest_of_several_kinds_stops_the_chain() -> None:
    race = Race(Engine("a", fails(EngineError("x"))), Engine("b", fails(QuotaError("x"), after=0.1)))

    ended = await Chain([race, Engine("c")]).decide(REQUEST)

    assert isinstance(ended, Stopped)
    assert isinstance(ended.error, QuotaError)
    assert str(ended.trace.error) == "chain stopped at b (quota)"


async def test_a_cause_that_is_loud_is_loud() -> None:
    async def wrap() -> object:
        raise RuntimeError("the client wraps everything") from QuotaError("x")

    ended = await Chain([Engine("a", wrap), Engine("b")]).decide(REQUEST)

    assert isinstance(ended, Stopped)
    assert ended.trace.stopped_by == "quota"


@pytest.mark.parametrize("build", [Fallback, Hedged], ids=["fallback", "hedged"])
async def test_a_quota_that_was_made_to_start_the_backup_stops_nothing(build: type[Fallback] | type[Hedged]) -> None:
    engine = build(Engine("a", fails(QuotaError("x"))), Engine("b"), fail_over=["quota"])

    assert (await Chain([engine]).decide(REQUEST)).trace.decided_by


async def test_one_slow_engine_is_not_reported_as_anything_but_slow() -> None:
    ended = await Chain([Single(Engine("a", fails(TimeoutError(), after=0.1)))]).decide(REQUEST)

    assert (ended.trace.stopped_by, ended.trace.error) == ("", None)
    assert outcomes(ended.trace.attempts) == [("a", "error")]


@pytest.mark.parametrize("word", ["stop", "fall_through"])
def test_a_stop_policy_may_be_given_as_its_word(word: str) -> None:
    assert StopPolicy(word).value == word


def test_a_stop_policy_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="sometimes"):
        Chain([], stop_on_quota="sometimes")  # type: ignore[arg-type] # the error is the point
