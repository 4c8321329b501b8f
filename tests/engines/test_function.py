"""Functions as engines: sync ones in threads, async ones in the caller's task."""

import functools
import threading
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import anyio
import anyio.from_thread
import pytest

from decide.answers import Answer, NoulAnswer, ScoreResult
from decide.compose import Fallback
from decide.decisions import Decision, Scored
from decide.engines._setup import SetupError
from decide.engines.function import FunctionEngine
from decide.errors import BusyError, InvalidAnswerError
from decide.providers import adapt
from decide.questions import NoulQuestion, ScoreRequest
from decide.requests import Request

DECISION = Decision(module=Scored("m", 0.9), interaction="question")
YES: Mapping[str, Answer] = {"n": NoulAnswer(noul=0.9)}
ASKED = ScoreRequest(text="t", questions={"n": NoulQuestion("?")})
CALLER: ContextVar[str] = ContextVar("caller")


async def test_an_async_function_decides() -> None:
    async def decide(request: Request) -> Decision | None:
        return DECISION if request.text else None

    engine = FunctionEngine("mine", decide)

    assert await engine.decide(Request(text="t")) is DECISION
    assert await engine.decide(Request()) is None


@pytest.mark.parametrize("returned", [YES, ScoreResult(answers=YES)])
async def test_answers_become_a_result_with_the_engines_name(returned: Any) -> None:
    async def score(_: ScoreRequest) -> Any:
        return returned

    result = await FunctionEngine("mine", score=score).score(ASKED)

    assert (result.engine, result.noul("n").noul) == ("mine", 0.9)


async def test_a_result_that_names_its_engine_keeps_the_name() -> None:
    async def score(_: ScoreRequest) -> ScoreResult:
        return ScoreResult(engine="inner", answers=YES)

    assert (await FunctionEngine("mine", score=score).score(ASKED)).engine == "inner"


@pytest.mark.real_time
async def test_a_sync_function_runs_in_another_thread_with_the_callers_context() -> None:
    seen: list[tuple[bool, str]] = []

    def decide(_: Request) -> Decision:
        seen.append((threading.current_thread() is threading.main_thread(), CALLER.get()))
        return DECISION

    CALLER.set("me")
    await FunctionEngine("mine", decide).decide(Request(text="t"))

    assert seen == [(False, "me")]


async def _late(prefix: str, request: Request) -> Decision:
    return Decision(module=Scored(prefix + request.text, 1.0), interaction="question")


@pytest.mark.real_time
@pytest.mark.parametrize("function", [functools.partial(_late, "x"), lambda request: _late("x", request)])
async def test_what_only_returns_a_coroutine_is_awaited(function: Any) -> None:
    decision = await FunctionEngine("mine", function).decide(Request(text="t"))

    assert decision is not None
    assert decision.module.value == "xt"


@pytest.mark.real_time
async def test_a_sync_function_that_hangs_holds_up_neither_its_caller_nor_the_loop() -> None:
    begun, stop = threading.Event(), threading.Event()

    def hang(_: Request) -> None:
        begun.set()
        stop.wait()

    engine = FunctionEngine("mine", hang, max_threads=1)
    try:
        with anyio.move_on_after(0.05) as scope:
            await engine.decide(Request(text="t"))
        assert begun.is_set()
        assert scope.cancelled_caught
        with pytest.raises(BusyError):
            await engine.decide(Request(text="t"))
    finally:
        stop.set()


@pytest.mark.real_time
async def test_a_call_that_is_cancelled_before_it_began_gives_its_thread_back() -> None:
    engine = FunctionEngine("mine", lambda _: DECISION, max_threads=1)

    for _ in range(3):
        with anyio.CancelScope() as scope:
            scope.cancel()
            await engine.decide(Request(text="t"))

    assert await engine.decide(Request(text="t")) is DECISION


@pytest.mark.parametrize("returned", ["yes", 7, {"module": "m"}])
async def test_a_function_that_decides_something_else_is_invalid(returned: Any) -> None:
    async def decide(_: Request) -> Any:
        return returned

    with pytest.raises(InvalidAnswerError, match="a Decision or None") as caught:
        await FunctionEngine("mine", decide).decide(Request(text="t"))

    assert caught.value.detail == f"returned {type(returned).__name__}"


async def test_a_function_that_scores_something_else_is_invalid() -> None:
    async def score(_: ScoreRequest) -> Any:
        return None

    with pytest.raises(InvalidAnswerError, match="mapping of answers"):
        await FunctionEngine("mine", score=score).score(ASKED)


async def test_an_engine_has_only_the_operations_it_has_a_function_for() -> None:
    async def score(_: ScoreRequest) -> Mapping[str, Answer]:
        return YES

    async def decide(_: Request) -> None:
        return None

    scorer, decider = adapt(FunctionEngine("s", score=score)), adapt(FunctionEngine("d", decide))

    assert (scorer.decide, decider.score) == (None, None)
    assert scorer.score is not None
    assert decider.decide is not None


async def test_what_the_engine_declares_is_what_it_was_given() -> None:
    async def decide(_: Request) -> None:
        return None

    ready = adapt(FunctionEngine("d", decide, decision_timeout=0.3, deterministic=True))

    assert (ready.name, ready.timeout, ready.deterministic) == ("d", 0.3, True)


async def test_a_combinator_records_one_attempt_of_a_function() -> None:
    async def fail(_: ScoreRequest) -> Mapping[str, Answer]:
        raise OSError("quotes the sentinel state")

    async def score(_: ScoreRequest) -> Mapping[str, Answer]:
        return YES

    both = Fallback(FunctionEngine("one", score=fail), FunctionEngine("two", score=score))
    result = await both.score(ASKED)

    assert result.report is not None
    assert [(one.provider, one.outcome, one.detail) for one in result.report.attempts] == [
        ("one", "error", "OSError"),
        ("two", "decided", ""),
    ]


@pytest.mark.parametrize(("name", "options"), [("", {"decide": _late}), ("mine", {})])
def test_an_engine_without_name_or_function_is_refused(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(SetupError):
        FunctionEngine(name, **options)


def test_an_engine_without_threads_is_refused() -> None:
    with pytest.raises(ValueError, match="max_threads"):
        FunctionEngine("mine", lambda _: None, max_threads=0)
