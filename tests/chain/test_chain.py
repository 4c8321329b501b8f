"""A chain: engines in order, what is taken, what is passed over, and what the trace says about it."""

import anyio
import attrs
import pytest

from decide import (
    DURABLE,
    NARROWING,
    AuthError,
    Chain,
    ChoiceQuestion,
    Decided,
    Decision,
    EngineError,
    Fallback,
    InvalidRequestError,
    NoulAnswer,
    NoulQuestion,
    Race,
    Scored,
    ScoreRequest,
    ScoreResult,
    Single,
    Undecided,
    UndecidedError,
    Usage,
    deterministic,
)
from tests.compose.asking import Ask, each, for_both_operations, of, outcomes
from tests.fakes import (
    QUESTIONS,
    REQUEST,
    TAXONOMY,
    Behaviour,
    DecidingOnly,
    Engine,
    Says,
    ScoringOnly,
    TracedEngine,
    abstains,
    answers,
    decision,
    fails,
    hangs,
    result,
    shields,
)

BROKEN = fails(EngineError("x"))


async def test_an_empty_chain_is_legal_and_undecided() -> None:
    for ended in (await Chain([]).decide(REQUEST), await Chain([]).score(QUESTIONS)):
        assert isinstance(ended, Undecided)
        assert ended.trace.attempts == ()
        assert (ended.trace.outage, ended.trace.stopped_by, ended.kept) == (False, "", None)


@for_both_operations
async def test_the_first_engine_to_decide_is_taken(asked: Ask) -> None:
    last = Engine("c")

    ended = await asked(Chain([Engine("a", BROKEN), Engine("b", answers(after=0.2)), last]))

    assert isinstance(ended, Decided)
    assert outcomes(ended.trace.attempts) == [("a", "error"), ("b", "decided")]
    assert (ended.trace.decided_by, ended.trace.engine, ended.trace.model) == ("b", "b", "model-1")
    assert not last.calls


async def test_a_decision_may_be_acted_on() -> None:
    ended = await Chain([Engine("a")]).decide(REQUEST)

    assert isinstance(ended, Decided)
    assert ended.decision is not None
    assert ended.decision.actionable
    assert ended.require() is ended.decision
    assert ended.result is None


async def test_accepted_answers_are_returned_as_they_are() -> None:
    ended = await Chain([Engine("a")]).score(QUESTIONS)

    assert isinstance(ended, Decided)
    assert ended.result == result()
    assert ended.require() is ended.result
    assert ended.decision is None


PASSED_OVER: dict[str, tuple[Behaviour, str]] = {
    "an abstention": (abstains(), "abstained"),
    "a failure": (BROKEN, "error"),
    "a timeout": (hangs(), "timeout"),
    "nonsense": (answers(Says.NONSENSE), "invalid"),
    "an unsure answer": (answers(Says.UNSURE), "uncertain"),
}


@each("behaviour,outcome", PASSED_OVER)
@for_both_operations
async def test_an_engine_without_a_usable_answer_is_passed_over(asked: Ask, behaviour: Behaviour, outcome: str) -> None:
    ended = await asked(Chain([Engine("a", behaviour), Engine("b")], policy=NARROWING))

    assert outcomes(ended.trace.attempts) == [("a", outcome), ("b", "decided")]
    assert (ended.trace.decided_by, ended.trace.policy) == ("b", "narrowing")


@for_both_operations
async def test_an_engine_without_the_operation_is_passed_over(asked: Ask) -> None:
    ended = await asked(Chain([DecidingOnly("a"), ScoringOnly("b")]))

    assert isinstance(ended, Decided)
    assert {one.outcome for one in ended.trace.attempts} <= {"unsupported", "decided"}


@each("behaviour,outcome", PASSED_OVER)
@for_both_operations
async def test_an_outage_does_not_read_like_a_lack_of_opinion(asked: Ask, behaviour: Behaviour, outcome: str) -> None:
    ended = await asked(Chain([Engine("a", behaviour)], policy=NARROWING))

    assert isinstance(ended, Undecided)
    assert ended.trace.outage == (outcome in {"error", "timeout", "invalid"})


async def test_a_chain_that_decided_knows_no_outage() -> None:
    ended = await Chain([Engine("a", BROKEN), Engine("b")]).decide(REQUEST)

    assert not ended.trace.outage


async def test_whoever_requires_a_decision_gets_the_trace_with_the_error() -> None:
    ended = await Chain([Engine("a", BROKEN)]).decide(REQUEST)

    with pytest.raises(UndecidedError) as caught:
        ended.require()

    assert caught.value.trace is ended.trace


@pytest.mark.parametrize(("confidence", "decided"), [(0.70, True), (0.69, False)])
async def test_without_a_policy_a_floor_holds(confidence: float, decided: bool) -> None:
    ended = await Chain([Engine("a", answers(decision(confidence)))]).decide(REQUEST)

    assert isinstance(ended, Decided) == decided
    assert of("a", ended.trace.attempts).outcome == ("decided" if decided else "low_confidence")


async def test_a_floor_of_none_lets_anything_valid_pass() -> None:
    ended = await Chain([Engine("a", answers(decision(0.01)))], min_confidence=None).decide(REQUEST)

    assert isinstance(ended, Decided)


async def test_a_rule_needs_no_policy_and_no_floor_of_its_own() -> None:
    ruled = deterministic(
        Decision(module=Scored("billing", 1.0), intent=Scored("refund", 1.0), interaction="cancellation")
    )

    ended = await Chain([Engine("a", answers(ruled))], policy=DURABLE).decide(REQUEST)

    assert isinstance(ended, Decided)
    assert (ended.trace.provenance, ended.trace.outcome) == ("deterministic", "deterministic")


@for_both_operations
async def test_an_answer_that_may_not_be_acted_on_is_kept_if_it_is_asked_for(asked: Ask) -> None:
    after, chain_of = Engine("b"), [Engine("a", answers(Says.UNSURE))]

    kept = await asked(Chain([*chain_of, after], policy=NARROWING, keep_non_selected=True))
    not_kept = await asked(Chain(chain_of, policy=NARROWING))

    assert isinstance(kept, Undecided)
    assert kept.kept is not None
    assert not getattr(kept.kept, "actionable", False)
    assert isinstance(not_kept, Undecided)
    assert not_kept.kept is None
    assert not after.calls


@for_both_operations
async def test_an_invalid_answer_is_never_kept(asked: Ask) -> None:
    chain = Chain([Engine("a", answers(Says.NONSENSE))], policy=NARROWING, keep_non_selected=True)

    ended = await asked(chain)

    assert isinstance(ended, Undecided)
    assert ended.kept is None
    assert of("a", ended.trace.attempts).outcome == "invalid"


async def test_whoever_requires_what_was_kept_is_refused() -> None:
    ended = await Chain([Engine("a", answers(Says.UNSURE))], policy=NARROWING, keep_non_selected=True).decide(REQUEST)

    with pytest.raises(UndecidedError):
        ended.require()


async def test_what_an_inner_policy_refused_is_not_let_through_by_a_chain_without_one() -> None:
    inner = Single(Engine("a", answers(decision(0.8))), policy=DURABLE)

    ended = await Chain([inner], min_confidence=None).decide(REQUEST)

    assert isinstance(ended, Undecided)


async def test_a_verdict_that_an_engine_claims_is_forgotten() -> None:
    claimed = attrs.evolve(decision(0.3), outcome="selected", judged_by="durable")

    ended = await Chain([Engine("a", answers(claimed))]).decide(REQUEST)

    assert isinstance(ended, Undecided)


async def test_the_decision_an_engine_hands_out_is_left_as_it_was() -> None:
    shared = decision()
    chain = Chain([Engine("a", answers(shared))], policy=NARROWING)

    first, second = await chain.decide(REQUEST), await chain.decide(REQUEST)

    assert not shared.actionable
    assert isinstance(first, Decided)
    assert isinstance(second, Decided)
    assert first.decision is not second.decision


@for_both_operations
async def test_each_engine_has_its_own_time_or_that_of_the_chain(asked: Ask) -> None:
    chain = Chain([Engine("a", hangs(), timeout=0.4), Engine("b", hangs()), Engine("c")], timeout=0.9)
    begun = anyio.current_time()

    ended = await asked(chain)

    assert [round(one.latency, 6) for one in ended.trace.attempts] == [0.4, 0.9, 0.0]
    assert [round(one.started, 6) for one in ended.trace.attempts] == [0.0, 0.4, 1.3]
    assert anyio.current_time() - begun == pytest.approx(1.3)


@for_both_operations
async def test_a_chain_cuts_off_an_engine_that_ignores_its_time_and_drops_its_answer(asked: Ask) -> None:
    ended = await asked(Chain([Engine("a", shields(answers(after=5.0)))], timeout=0.2))

    assert isinstance(ended, Undecided)
    assert of("a", ended.trace.attempts).outcome == "timeout"
    assert of("a", ended.trace.attempts).latency == pytest.approx(5.0)


async def test_timeouts_start_when_the_engine_starts_however_old_the_chain_is() -> None:
    chain = Chain([Engine("a", fails(EngineError("x"), after=0.9)), Engine("b", answers(after=0.5))], timeout=1.0)
    await anyio.sleep(10.0)

    ended = await chain.decide(REQUEST)

    assert ended.trace.decided_by == "b"


async def test_one_engine_that_answers_one_question_at_a_time_may_be_asked_twice_in_a_row() -> None:
    engine = Engine("a", BROKEN, answers(), exclusive=True)

    ended = await Chain([engine, Single(engine)]).decide(REQUEST)

    assert ended.trace.decided_by == "single(a)"


@for_both_operations
async def test_costs_are_summed_and_said_to_be_a_lower_bound_when_some_are_unknown(asked: Ask) -> None:
    known = Race(TracedEngine("a"), TracedEngine("b", answers(after=0.1)))

    exact = await asked(Chain([TracedEngine("a", abstains()), TracedEngine("b")]))
    at_least = await asked(Chain([known]))

    assert (exact.trace.usage.input_tokens, exact.trace.usage.exact) == (20, True)
    assert (at_least.trace.usage.input_tokens, at_least.trace.usage.exact) == (10, False)


async def test_the_cost_of_answers_is_that_of_the_result() -> None:
    ended = await Chain([Engine("a", answers(result(usage=Usage(input_tokens=7, output_tokens=1))))]).score(QUESTIONS)

    assert ended.trace.usage.input_tokens == 7
    assert ended.trace.usage.exact


async def test_a_refused_key_is_warned_of_once_for_each_engine() -> None:
    refused = fails(AuthError("x"))
    chain = Chain([Engine("a", refused), Fallback(Engine("b", refused), Engine("a", refused)), Engine("c")])

    ended = await chain.decide(REQUEST)

    assert ended.trace.warnings == ("auth:a", "auth:b")


async def test_a_request_without_questions_is_the_callers_error() -> None:
    with pytest.raises(InvalidRequestError, match="no questions"):
        await Chain([Engine("a")]).score(ScoreRequest(text="x", questions={}))


async def test_an_unknown_answer_is_no_answer_under_a_policy_and_an_answer_without_one() -> None:
    request = ScoreRequest(
        text="x", questions={"angry": NoulQuestion("?"), "team": ChoiceQuestion("?", ["billing", "other"])}
    )
    partly = ScoreResult(answers={**result().answers, "angry": NoulAnswer(calibrated=True)})

    strict = await Chain([Engine("a", answers(partly))], policy=NARROWING).score(request)
    lax = await Chain([Engine("a", answers(partly))]).score(request)

    assert (of("a", strict.trace.attempts).outcome, of("a", strict.trace.attempts).detail) == ("uncertain", "no_answer")
    assert isinstance(lax, Decided)


async def test_answers_that_were_all_declined_abstain() -> None:
    ended = await Chain([Engine("a", abstains())]).score(QUESTIONS)

    assert outcomes(ended.trace.attempts) == [("a", "abstained")]
    assert not ended.trace.outage


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), True], ids=repr)
def test_a_timeout_that_is_none_is_refused(timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout"):
        Chain([], timeout=timeout)


@pytest.mark.parametrize("floor", [-0.1, 1.1, float("nan"), True], ids=repr)
def test_a_floor_that_is_no_probability_is_refused(floor: float) -> None:
    with pytest.raises(ValueError, match="min_confidence"):
        Chain([], min_confidence=floor)


def test_a_floor_of_zero_is_a_floor() -> None:
    assert Chain([], min_confidence=0).policy is None


def test_what_is_no_engine_is_refused_when_the_chain_is_built() -> None:
    with pytest.raises(TypeError, match="is no engine"):
        Chain([object()])  # type: ignore[list-item] # the error is the point


async def test_a_stored_decision_is_judged_again_by_the_chains_own_bars() -> None:
    chain = Chain([Engine("a")], policy=DURABLE)
    ended = await chain.decide(REQUEST)
    assert isinstance(ended, Decided)
    assert ended.decision is not None
    stored = attrs.evolve(ended.decision)

    assert not stored.actionable
    assert chain.rejudge(stored, TAXONOMY).actionable
    assert not chain.rejudge(attrs.evolve(stored, outcome="uncertain"), TAXONOMY).actionable
    assert not chain.rejudge(attrs.evolve(stored, intent=Scored("unheard-of", 0.95)), TAXONOMY).actionable
