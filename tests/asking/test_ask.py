"""ask(): questions in one line, answers by key, and clear errors for everything else."""

import anyio
import pytest

from decide import (
    DURABLE,
    NARROWING,
    BudgetError,
    Chain,
    ChoiceAnswer,
    ChoiceQuestion,
    EngineError,
    Fallback,
    Hedged,
    InvalidRequestError,
    NoulAnswer,
    NoulQuestion,
    Question,
    QuotaError,
    Race,
    RelevanceAnswer,
    RelevanceQuestion,
    ScoreAnswer,
    ScoreQuestion,
    ScoreResult,
    StopPolicy,
    UndecidedError,
    Usage,
    ask,
)
from tests.compose.asking import outcomes
from tests.fakes import DecidingOnly, Engine, Says, abstains, answers, fails, hangs

STATE = "My card was charged twice"
QUESTIONS: dict[str, Question] = {
    "angry": NoulQuestion("Is the writer angry?"),
    "team": ChoiceQuestion("Which team?", {"billing": "charges", "other": None}, none_id="other"),
    "urgency": ScoreQuestion("How urgent?", ["can wait", "this week", "today"]),
    "topics": RelevanceQuestion("What is it about?", ["refund", "invoice"]),
}
TEAM: dict[str, Question] = {"team": ChoiceQuestion("Which team?", ["billing", "other"])}
ANSWERS = ScoreResult(
    engine="a",
    model="model-1",
    usage=Usage(input_tokens=7, output_tokens=1),
    answers={
        "angry": NoulAnswer(noul=0.9, calibrated=True),
        "team": ChoiceAnswer(probabilities={"billing": 0.9, "other": 0.1}, confidence=0.9, calibrated=True),
        "urgency": ScoreAnswer(
            score=1.0,
            levels=["can wait", "this week", "today"],
            probabilities={0: 0.05, 1: 0.9, 2: 0.05},
            confidence=0.9,
            calibrated=True,
        ),
        "topics": RelevanceAnswer(probabilities={"refund": 0.9, "invoice": 0.1}, calibrated=True),
    },
)


async def test_answers_are_found_by_their_key_and_kind() -> None:
    found = await ask(Engine("a", answers(ANSWERS)), STATE, QUESTIONS)

    assert found.noul("angry").noul == 0.9
    assert found.choice("team").choice == "billing"
    assert found.score("urgency").levels == ("can wait", "this week", "today")
    assert found.relevance("topics").probabilities["refund"] == 0.9
    assert (found.model, found.usage.input_tokens, found.usage.exact) == ("model-1", 7, True)
    assert outcomes(found.trace.attempts) == [("a", "decided")]


async def test_every_answer_has_a_verdict() -> None:
    found = await ask(Engine("a", answers(ANSWERS)), STATE, QUESTIONS)

    assert {key: found.selection(key).actionable for key in QUESTIONS} == dict.fromkeys(QUESTIONS, True)
    assert found.selection("angry").picks == ("true",)
    assert found.selection("urgency").picks == ("1",)


async def test_the_verdict_is_that_of_the_policy_that_was_given() -> None:
    engine = Engine("a", answers(ANSWERS))

    strict = await ask(engine, STATE, QUESTIONS, policy=DURABLE)
    own = await ask(Chain([engine], policy=DURABLE), STATE, QUESTIONS)
    usual = await ask(engine, STATE, QUESTIONS)

    assert (strict.policy.name, own.policy.name, usual.policy) == ("durable", "durable", NARROWING)


async def test_a_policy_does_not_hide_the_answers_it_refuses() -> None:
    found = await ask(Engine("a", answers(Says.UNSURE)), STATE, TEAM, policy=DURABLE)

    assert found.choice("team").confidence == 0.45
    assert (found.selection("team").actionable, found.selection("team").reason) == (False, "low_confidence")


async def test_none_of_these_is_never_acted_on_though_the_engine_forgot_what_means_it() -> None:
    none = ScoreResult(
        answers={"team": ChoiceAnswer(probabilities={"billing": 0.02, "other": 0.98}, confidence=0.98, calibrated=True)}
    )

    found = await ask(Engine("a", answers(none)), STATE, {"team": QUESTIONS["team"]})

    assert found.selection("team").outcome == "none"


@pytest.mark.parametrize("absent", ["nobody asked this", ""])
async def test_an_answer_that_is_absent_is_named(absent: str) -> None:
    found = await ask(Engine("a", answers(ANSWERS)), STATE, QUESTIONS)

    with pytest.raises(KeyError, match=f'no answer "{absent}"'):
        found.noul(absent)
    with pytest.raises(KeyError, match=f'no answer "{absent}"'):
        found.selection(absent)


async def test_an_answer_of_another_kind_is_named_with_both_kinds() -> None:
    found = await ask(Engine("a", answers(ANSWERS)), STATE, QUESTIONS)

    with pytest.raises(TypeError, match=r'"team".*choice.*noul'):
        found.noul("team")


@pytest.mark.parametrize(
    "engine",
    [
        Chain([Engine("z", fails(EngineError("x"))), Engine("a", answers(ANSWERS))]),
        Fallback(Engine("z", fails(EngineError("x"))), Engine("a", answers(ANSWERS))),
        Race(Engine("z", hangs()), Engine("a", answers(ANSWERS))),
        Hedged(Engine("z", hangs()), Engine("a", answers(ANSWERS)), delay=0.1),
    ],
    ids=["chain", "fallback", "race", "hedged"],
)
async def test_a_chain_or_a_combinator_is_asked_like_an_engine(engine: Chain | Fallback) -> None:
    found = await ask(engine, STATE, QUESTIONS)

    assert found.trace.engine == "a"
    assert len(found.trace.attempts) == 2


@pytest.mark.parametrize("state", ["text", {"message": "text"}, ["text", 1]], ids=["text", "object", "list"])
async def test_the_state_may_be_any_json(state: object) -> None:
    assert (await ask(Engine("a", answers(ANSWERS)), state, QUESTIONS)).model == "model-1"


async def test_no_questions_are_refused() -> None:
    with pytest.raises(InvalidRequestError, match="no questions"):
        await ask(Engine("a"), STATE, {})


async def test_an_engine_that_fails_raises_with_the_trace() -> None:
    with pytest.raises(UndecidedError) as caught:
        await ask(Engine("a", fails(EngineError("x", http_status=503))), STATE, TEAM)

    assert caught.value.trace is not None
    assert outcomes(caught.value.trace.attempts) == [("a", "error")]
    assert caught.value.trace.attempts[0].detail == "http 503"


async def test_an_engine_that_is_silent_raises_when_its_time_is_up() -> None:
    begun = anyio.current_time()

    with pytest.raises(UndecidedError):
        await ask(Engine("a", hangs()), STATE, TEAM)

    assert anyio.current_time() - begun == pytest.approx(1.5)


async def test_an_engine_that_only_decides_raises() -> None:
    with pytest.raises(UndecidedError) as caught:
        await ask(DecidingOnly("a"), STATE, TEAM)  # type: ignore[arg-type] # the error is the point

    assert caught.value.trace is not None
    assert outcomes(caught.value.trace.attempts) == [("a", "unsupported")]


@pytest.mark.parametrize("error", [QuotaError("x"), BudgetError("x")], ids=repr)
async def test_what_stops_a_chain_is_raised_as_what_it_is(error: QuotaError | BudgetError) -> None:
    with pytest.raises(type(error)) as caught:
        await ask(Engine("a", fails(error)), STATE, TEAM)

    assert caught.value is error


async def test_a_chain_that_goes_on_after_a_quota_is_asked_on() -> None:
    chain = Chain(
        [Engine("z", fails(QuotaError("x"))), Engine("a", answers(ANSWERS))], stop_on_quota=StopPolicy.FALL_THROUGH
    )

    assert (await ask(chain, STATE, QUESTIONS)).trace.decided_by == "a"


async def test_an_unsure_answer_of_a_chain_with_a_policy_is_returned_if_the_chain_keeps_those() -> None:
    engine = Engine("a", answers(Says.UNSURE))

    kept = await ask(Chain([engine], policy=NARROWING, keep_non_selected=True), STATE, TEAM)
    with pytest.raises(UndecidedError):
        await ask(Chain([engine], policy=NARROWING), STATE, TEAM)

    assert not kept.selection("team").actionable


async def test_a_caller_that_gives_up_gets_no_answer() -> None:
    with anyio.move_on_after(0.5) as scope:
        await ask(Engine("a", hangs()), STATE, TEAM)

    assert scope.cancelled_caught


async def test_questions_that_nobody_answered_raise_and_blame_no_outage() -> None:
    with pytest.raises(UndecidedError) as caught:
        await ask(Engine("a", abstains()), STATE, TEAM)

    assert caught.value.trace is not None
    assert not caught.value.trace.outage
