"""The embedded model: all kinds of question, self-reported numbers, and nothing that holds up the loop."""

import sys
from collections.abc import Mapping
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest

from decide.answers import Usage
from decide.attempt_log import AttemptLog
from decide.distributions import choice_confidence, score_confidence
from decide.engines._setup import SetupError
from decide.engines.local import LocalEngine
from decide.errors import EngineError, InvalidRequestError, MisconfiguredError
from decide.policies import DURABLE, NARROWING
from decide.providers import adapt
from decide.questions import ChoiceQuestion, NoulQuestion, RelevanceQuestion, ScoreQuestion, ScoreRequest
from decide.requests import Request
from decide.results import validate_score_result
from decide.taxonomy import ModuleSpec, Taxonomy

pytestmark = pytest.mark.real_time

TEAM = ChoiceQuestion(
    "Which team should answer?",
    {"billing": "charges and refunds", "technical": "bugs and errors", "sales": "before buying"},
)
REQUEST = ScoreRequest(
    text="My card was charged twice",
    questions={
        "team": TEAM,
        "angry": NoulQuestion("Is the writer angry?", true="angry", false="calm"),
        "urgency": ScoreQuestion("How urgent?", ["can wait", "this week", "today"]),
        "topics": RelevanceQuestion("What is it about?", {"money": "charges and refunds", "bugs": None}),
    },
)


@pytest.fixture(scope="module")
def local() -> LocalEngine:
    return LocalEngine()


async def test_all_four_kinds_are_answered(local: LocalEngine) -> None:
    result = await local.score(REQUEST)

    assert validate_score_result(REQUEST, result) == ()
    assert (result.engine, result.model) == ("local", "sparrow-nano-general-v1.1")
    assert result.choice("team").choice == "billing"
    assert result.score("urgency").levels == ("can wait", "this week", "today")
    assert list(result.relevance("topics").probabilities) == ["money", "bugs"]
    assert result.noul("angry").noul is not None


async def test_confidence_is_computed_by_our_formulas(local: LocalEngine) -> None:
    result = await local.score(REQUEST)

    team, urgency = result.choice("team"), result.score("urgency")
    assert team.confidence == choice_confidence(team.probabilities.values(), 3)
    assert urgency.confidence == score_confidence(urgency.probabilities, 3)
    assert urgency.reported_confidence is not None
    assert urgency.reported_confidence != urgency.confidence


async def test_its_numbers_are_self_reported_and_stay_proposals(local: LocalEngine) -> None:
    result = await local.score(REQUEST)

    assert not any(answer.calibrated for answer in result.answers.values())
    selection = NARROWING.evaluate(result.choice("team"), model=result.model)
    assert selection.detail == "unscored: not_calibrated"
    assert selection.proposals == ("billing",)


async def test_a_call_is_one_attempt_that_is_known_to_cost_nothing(local: LocalEngine) -> None:
    log = AttemptLog()

    await local.score_traced(REQUEST, log)

    (attempt,) = log.report().attempts
    assert (attempt.provider, attempt.outcome, attempt.usage) == ("local", "decided", Usage())
    assert (log.report().engine, log.report().model) == ("local", "sparrow-nano-general-v1.1")


async def test_it_decides_over_a_taxonomy_without_claiming_calibration(local: LocalEngine) -> None:
    taxonomy = Taxonomy(
        modules=(ModuleSpec(name="billing", intents=("invoice", "refund")), ModuleSpec(name="support")),
        descriptions={
            "billing/invoice": "look at an invoice",
            "billing/refund": "get money back",
            "support": "bugs and errors",
        },
    )

    decision = await local.decide(Request(text="show my last invoice", taxonomy=taxonomy))

    assert decision is not None
    assert (decision.module.value, decision.intent.value) == ("billing", "invoice")
    assert not decision.calibrated
    assert NARROWING.judge(decision)[0].actionable
    assert not DURABLE.judge(decision)[0].actionable


async def test_a_choice_of_one_is_refused_by_position(local: LocalEngine) -> None:
    log = AttemptLog()
    request = ScoreRequest(text="t", questions={"a": TEAM, "secret": ChoiceQuestion("?", ["only"])})

    with pytest.raises(InvalidRequestError) as caught:
        await local.score_traced(request, log)

    assert caught.value.detail == "question 2: fewer than 2 options"
    assert [attempt.outcome for attempt in log.report().attempts] == ["rejected"]


async def test_a_model_that_fails_is_an_error_that_quotes_nothing(
    local: LocalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(state: object, questions: object) -> Mapping[str, object]:
        raise ValueError(f"sentinel {state}")

    monkeypatch.setattr(local, "_ask", fail)

    with pytest.raises(EngineError) as caught:
        await local.score(REQUEST)

    assert "sentinel" not in str(caught.value)
    assert caught.value.__context__ is None


async def test_the_model_runs_off_the_loop(local: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    ask = local._ask

    def noted(state: object, questions: Any) -> Mapping[str, object]:
        anyio.from_thread.check_cancelled()  # raises outside a worker thread
        asked.append(True)
        return ask(state, questions)

    monkeypatch.setattr(local, "_ask", noted)
    await local.score(REQUEST)

    assert asked == [True]


async def test_many_calls_at_once_are_all_answered(local: LocalEngine) -> None:
    picks: list[str] = []

    async def one() -> None:
        picks.append((await local.score(REQUEST)).choice("team").choice)

    async with anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(one)

    assert picks == ["billing"] * 50


def test_one_engine_serves_one_event_loop_after_another(local: LocalEngine) -> None:
    results = [anyio.run(local.score, REQUEST, backend=backend) for backend in ("asyncio", "trio", "asyncio")]

    assert [result.choice("team").choice for result in results] == ["billing"] * 3


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sparrow_decider", None)

    with pytest.raises(MisconfiguredError, match=r"decide-engine\[local\]"):
        LocalEngine()


@pytest.mark.parametrize("model", ["no-such-model", __file__])
def test_a_model_that_is_none_is_refused_when_the_engine_is_built(model: str) -> None:
    with pytest.raises(SetupError, match="cannot load") as caught:
        LocalEngine(model)

    assert caught.value.__context__ is None


def test_a_model_can_be_chosen_by_name() -> None:
    assert repr(LocalEngine("nano-robot", name="robot")) == "LocalEngine('sparrow-nano-robot-v1.2', name='robot')"


def test_combinators_see_its_timeout(local: LocalEngine) -> None:
    assert (adapt(local).timeout, adapt(local).traced) == (0.5, True)
