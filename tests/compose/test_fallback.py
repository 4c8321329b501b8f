"""Single and Fallback: one engine after the other, who is asked next, and what is returned when nobody decides."""

import anyio
import pytest

from decide import (
    DURABLE,
    NARROWING,
    AuthError,
    BudgetError,
    EngineError,
    EngineTimeoutError,
    Fallback,
    InvalidRequestError,
    MisconfiguredError,
    NoAnswerError,
    PolicyRefusalError,
    QuotaError,
    ScoreRequest,
    Single,
    UnavailableError,
    UnsupportedError,
)
from decide.attempt_log import AttemptLog
from tests.compose.asking import directly, each, of, outcomes, scored_directly, to_score, trace_of
from tests.fakes import (
    Behaviour,
    DecidingOnly,
    Engine,
    Says,
    ScoringOnly,
    abstains,
    answers,
    decision,
    fails,
    hangs,
)

BROKEN = fails(EngineError("x"))
STARTING: dict[str, tuple[Behaviour, str]] = {
    "an error": (BROKEN, "error"),
    "a foreign error": (fails(KeyError("x")), "error"),
    "a timeout": (hangs(), "timeout"),
    "an open breaker": (fails(UnavailableError("x")), "unavailable"),
    "no such operation": (fails(UnsupportedError("x")), "unsupported"),
    "nonsense": (answers(Says.NONSENSE), "invalid"),
    "a refused request": (fails(InvalidRequestError("x")), "rejected"),
    "a refused key": (fails(AuthError("x")), "auth"),
}
HALTING: dict[str, tuple[Behaviour, str]] = {
    "a spent allowance": (fails(QuotaError("x")), "quota"),
    "a spent budget": (fails(BudgetError("x")), "budget"),
    "a broken setting": (fails(MisconfiguredError("x")), "misconfigured"),
    "a refusal": (fails(PolicyRefusalError("x")), "policy_refusal"),
}


async def test_a_single_engine_decides_in_the_primary_role() -> None:
    log = AttemptLog()

    found = await directly(Single(Engine("a", answers(after=0.2))), log)

    assert found == decision()
    report = log.report()
    assert (report.strategy, report.engine, report.model) == ("single", "a", "model-1")
    assert of("a", report.attempts).role == "primary"
    assert of("a", report.attempts).latency == pytest.approx(0.2)


async def test_the_first_engine_to_decide_is_the_last_to_be_asked() -> None:
    first, second, third = Engine("a", BROKEN), Engine("b"), Engine("c")
    log = AttemptLog()

    await directly(Fallback(first, second, third), log)

    report = log.report()
    assert [(one.provider, one.outcome, one.role) for one in report.attempts] == [
        ("a", "error", "primary"),
        ("b", "decided", "backup"),
    ]
    assert (report.strategy, report.engine, report.fallback_fired, report.hedge_fired) == ("fallback", "b", True, False)
    assert not third.calls


async def test_nothing_fired_when_the_first_engine_decides() -> None:
    log = AttemptLog()

    await directly(Fallback(Engine("a"), Engine("b")), log)

    assert not log.report().fallback_fired


@each("behaviour,outcome", STARTING)
async def test_an_ending_that_another_engine_may_not_meet_starts_it(behaviour: Behaviour, outcome: str) -> None:
    trace = await trace_of(Fallback(Engine("a", behaviour), Engine("b")))

    assert outcomes(trace.attempts) == [("a", outcome), ("b", "decided")]


@each("behaviour,outcome", STARTING)
async def test_an_ending_that_was_taken_out_starts_nobody(behaviour: Behaviour, outcome: str) -> None:
    spare = Engine("b")

    await trace_of(Fallback(Engine("a", behaviour), spare, fail_over=["abstained"]))

    assert not spare.calls


@each("behaviour,outcome", HALTING)
async def test_an_ending_that_a_person_has_to_see_goes_to_no_further_engine(behaviour: Behaviour, outcome: str) -> None:
    spare = Engine("b")

    trace = await trace_of(Fallback(Engine("a", behaviour), spare))

    assert outcomes(trace.attempts) == [("a", outcome)]
    assert trace.stopped_by == outcome
    assert not spare.calls


@each(
    "behaviour,outcome",
    {
        "an abstention": (abstains(), "abstained"),
        "an unsure answer": (answers(Says.UNSURE), "uncertain"),
        "a spent allowance": (fails(QuotaError("x")), "quota"),
    },
)
async def test_endings_that_start_nobody_by_default_may_be_made_to(behaviour: Behaviour, outcome: str) -> None:
    stays, goes_on = Engine("b"), Engine("b")

    await trace_of(Fallback(Engine("a", behaviour), stays, policy=NARROWING))
    trace = await trace_of(Fallback(Engine("a", behaviour), goes_on, policy=NARROWING, fail_over=["error", outcome]))

    assert not stays.calls
    assert outcomes(trace.attempts) == [("a", outcome), ("b", "decided")]


async def test_an_unsure_answer_is_returned_when_nobody_does_better() -> None:
    engine = Fallback(Engine("a", answers(Says.UNSURE)), Engine("b", BROKEN), policy=DURABLE, fail_over=["uncertain"])
    log = AttemptLog()

    found = await directly(engine, log)

    assert found is not None
    assert (found.outcome, found.judged_by, found.actionable) == ("uncertain", "durable", False)
    assert log.report().engine == "a"


async def test_an_abstention_is_returned_when_others_only_failed() -> None:
    engine = Fallback(Engine("a", BROKEN), Engine("b", abstains()))

    assert await directly(engine) is None


async def test_an_abstention_does_not_make_an_outage_look_like_no_opinion() -> None:
    trace = await trace_of(Fallback(Engine("a", BROKEN), Engine("b", abstains())))

    assert trace.outage


@each("behaviour,outcome", HALTING)
async def test_what_a_person_has_to_see_is_not_hidden_by_an_unsure_answer(behaviour: Behaviour, outcome: str) -> None:
    engine = Fallback(
        Engine("a", answers(Says.UNSURE)), Engine("b", behaviour), policy=NARROWING, fail_over=["uncertain"]
    )

    trace = await trace_of(engine)

    assert trace.stopped_by == outcome


async def test_an_exhausted_list_reports_every_failure_in_order() -> None:
    first, second = EngineError("one", http_status=503), InvalidRequestError("two", http_status=413)

    with pytest.raises(NoAnswerError) as caught:
        await directly(Fallback(Engine("a", fails(first)), Engine("b", fails(second))))

    assert caught.value.errors == (first, second)
    assert caught.value.kinds == {"error", "rejected"}
    assert str(caught.value).splitlines() == [
        "fallback(a,b): no engine answered",
        "a: error: http 503",
        "b: rejected: http 413",
    ]


async def test_a_single_engine_that_is_too_slow_is_reported_as_that() -> None:
    with pytest.raises(NoAnswerError, match="a: timeout") as caught:
        await directly(Single(Engine("a", hangs())))

    (error,) = caught.value.errors
    assert isinstance(error, EngineTimeoutError)


async def test_a_hung_primary_leaves_time_for_the_backup() -> None:
    begun = anyio.current_time()

    with anyio.fail_after(2.0):
        trace = await trace_of(Fallback(Engine("a", hangs()), Engine("b", answers(after=0.05))))

    assert trace.decided_by
    assert anyio.current_time() - begun == pytest.approx(1.55)
    assert of("b", trace.attempts).started == pytest.approx(1.5)


async def test_engines_that_were_never_started_are_no_attempts() -> None:
    hanging = [Engine(name, hangs()) for name in "abc"]
    spare = Engine("d")
    log = AttemptLog()

    with anyio.move_on_after(2.0):
        await directly(Fallback(*hanging, spare), log)

    assert outcomes(log.report().attempts) == [("a", "timeout"), ("b", "cancelled")]
    assert not spare.calls


async def test_timeouts_start_when_the_engine_starts() -> None:
    fallback = Fallback(
        Engine("a", fails(EngineError("x"), after=0.9)), Engine("b", answers(after=0.5)), default_timeout=1
    )
    await anyio.sleep(10.0)

    trace = await trace_of(fallback)

    assert outcomes(trace.attempts) == [("a", "error"), ("b", "decided")]
    assert of("a", trace.attempts).latency == pytest.approx(0.9)
    assert of("b", trace.attempts).latency == pytest.approx(0.5)


async def test_an_engine_that_only_answers_questions_is_passed_over_when_it_should_decide() -> None:
    trace = await trace_of(Fallback(ScoringOnly("a"), Engine("b")))

    assert outcomes(trace.attempts) == [("a", "unsupported"), ("b", "decided")]


async def test_an_engine_that_only_decides_is_passed_over_when_it_should_answer_questions() -> None:
    trace = await trace_of(Fallback(DecidingOnly("a"), Engine("b")), asked=to_score)

    assert outcomes(trace.attempts) == [("a", "unsupported"), ("b", "decided")]


async def test_answers_come_with_who_gave_them_and_how_that_came_about() -> None:
    result = await scored_directly(Fallback(Engine("a", BROKEN), Engine("b")))

    assert result.engine == "b"
    assert result.report is not None
    assert outcomes(result.report.attempts) == [("a", "error"), ("b", "decided")]
    assert (result.report.strategy, result.report.engine, result.report.model) == ("fallback", "b", "model-1")
    assert result.report.fallback_fired


async def test_answers_that_were_all_declined_are_returned_only_for_want_of_better_ones() -> None:
    declined = Fallback(Engine("a", abstains()), Engine("b", BROKEN), fail_over=["abstained", "error"])
    better = Fallback(Engine("a", abstains()), Engine("b"), fail_over=["abstained"])

    assert (await scored_directly(declined)).choice("team").unknown
    assert (await scored_directly(better)).choice("team").choice == "billing"


async def test_a_request_without_questions_reaches_nobody() -> None:
    engine = Engine("a")

    with pytest.raises(InvalidRequestError, match="no questions"):
        await Single(engine).score(ScoreRequest(text="x", questions={}))

    assert not engine.calls


async def test_a_policy_makes_the_decision_actionable() -> None:
    with_policy = await directly(Single(Engine("a"), policy=DURABLE))
    without = await directly(Single(Engine("a")))

    assert with_policy is not None
    assert without is not None
    assert (with_policy.actionable, with_policy.judged_by) == (True, "durable")
    assert not without.actionable
