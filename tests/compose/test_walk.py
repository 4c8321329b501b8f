"""The caller gives up at every scheduling point of every pair of nested combinators: nothing leaks, nothing lies."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from decide import (
    Breaker,
    Budget,
    Chain,
    Decided,
    EngineError,
    Fallback,
    Hedged,
    Provider,
    Race,
    Retry,
    Single,
    Trace,
    Turns,
)
from tests.compose.asking import Ask, to_decide, to_score
from tests.compose.walker import BACKENDS, walk, walk_natively, walk_timers
from tests.fakes import Behaviour, Engine, answers, cleans_up, fails, shields, steps

NOT_CALLED = {"unavailable", "unsupported", "busy", "budget"}
WORDS_FOR = {
    "answered": {"decided", "cancelled"},
    "raised": {"error", "cancelled"},
    "cancelled": {"cancelled"},
}


@pytest.fixture(params=BACKENDS, ids=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    backend: tuple[str, dict[str, Any]] = request.param
    return backend


def _slowly(then: Behaviour) -> Behaviour:
    async def behave() -> object:
        await anyio.sleep(0.3)
        return await steps(1, then)()

    return behave


class Stage:
    """A composition two deep over engines that need a few awaits, and what has to hold of it whatever happens."""

    def __init__(self, outer: str, inner: str, first: Behaviour) -> None:
        self.engines = [
            Engine("a", steps(2, first), answers()),
            Engine("b", steps(3), answers()),
            Engine("c", steps(1, _slowly(answers())), answers()),
        ]
        self.breakers: list[Breaker] = []
        self.budgets: list[tuple[Budget, list[Engine]]] = []
        self.traces: list[Trace] = []
        self.called_by_then: int | None = None
        a, b, c = self.engines
        self.chain = Chain(
            [self._around(outer, self._around(inner, a, b, [a, b]), c, self.engines)], observers=[self.traces.append]
        )

    def _around(self, kind: str, engine: Provider, spare: Engine, below: list[Engine]) -> Provider:
        match kind:
            case "single":
                return Single(engine)
            case "fallback":
                return Fallback(engine, spare)
            case "hedged":
                return Hedged(engine, spare, delay=0.1)
            case "race":
                return Race(engine, spare)
            case "breaker":
                self.breakers.append(Breaker(engine, slow_threshold=5))
                return self.breakers[-1]
            case "budget":
                self.budgets.append((budget := Budget(engine, max_calls=10), below))
                return budget
            case "retry":
                return Retry(engine, retries=1, backoff=0.05)
            case _:
                return Turns(engine, at_once=1)

    @property
    def called(self) -> int:
        return sum(len(engine.calls) for engine in self.engines)

    def cut(self) -> None:
        self.called_by_then = self.called

    def check(self, *, cut_off: bool) -> None:
        (trace,) = self.traces
        if cut_off and self.called_by_then is not None:
            assert self.called == self.called_by_then, "no engine is called once the caller has given up"
        assert trace.cancelled == cut_off
        for engine in self.engines:
            assert engine.running == 0
            attempts = [one for one in trace.attempts if one.provider == engine.name and one.outcome not in NOT_CALLED]
            assert sum(one.tries for one in attempts) == len(engine.calls)
            for one, call in zip(reversed(attempts), reversed(engine.calls), strict=False):
                assert one.outcome in WORDS_FOR[call.end]
                assert one.latency >= 0
        for breaker in self.breakers:
            raised = sum(engine.ends().count("raised") for engine in self.engines)
            assert breaker.stats().failures <= raised
            assert breaker.stats().slow <= 1
        for budget, below in self.budgets:
            calls = [len(engine.calls) for engine in below if engine.name in budget.name]
            assert budget.stats().used == max(calls)


KINDS = ["single", "fallback", "hedged", "race", "breaker", "budget", "retry", "turns"]
PAIRS = [(outer, inner) for outer in KINDS for inner in KINDS if (outer, inner) != ("budget", "retry")]
"""A budget around a retry is refused."""
FIRST: dict[str, Behaviour] = {
    "answers": _slowly(answers()),
    "fails": _slowly(fails(EngineError("x", http_status=503))),
    "lets go slowly": cleans_up(0.15, after=_slowly(answers())),
    "shields itself": shields(_slowly(answers())),
}


async def _walked(outer: str, inner: str, first: str, asked: Ask, walking: Callable[..., Any]) -> int:
    stages: list[Stage] = []

    async def scene() -> None:
        stages.append(Stage(outer, inner, FIRST[first]))
        ended = await asked(stages[-1].chain)
        assert isinstance(ended, Decided) or (first == "fails" and stages[-1].engines[0].ends()[0] == "raised")

    async def after(cut_off: bool) -> None:
        stage = stages[-1] if stages else None
        if stage is None or not stage.traces:
            assert cut_off
            return
        stage.check(cut_off=cut_off)
        while len(stage.engines[0].calls) < 2 and not isinstance(await asked(stage.chain), Decided):
            assert stage.engines[0].ends() == ["raised"], "the composition still works"

    def cut() -> None:
        if stages:
            stages[-1].cut()

    return int(await walking(scene, after, cut))


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
@pytest.mark.parametrize("first", ["answers", "fails"])
async def test_the_caller_may_give_up_at_any_point(outer: str, inner: str, first: str) -> None:
    assert await _walked(outer, inner, first, to_decide, walk) > 2


@pytest.mark.parametrize("inner", ["fallback", "hedged", "race", "breaker"])
@pytest.mark.parametrize("outer", ["fallback", "hedged", "race"])
@pytest.mark.parametrize("first", ["lets go slowly", "shields itself"])
async def test_the_caller_may_give_up_at_any_point_on_an_engine_that_holds_on(
    outer: str, inner: str, first: str
) -> None:
    assert await _walked(outer, inner, first, to_decide, walk) > 2


@pytest.mark.parametrize("inner", ["fallback", "hedged", "race"])
@pytest.mark.parametrize("outer", ["fallback", "hedged", "race"])
@pytest.mark.parametrize("first", ["answers", "fails"])
async def test_the_caller_may_give_up_on_answers_at_any_point(outer: str, inner: str, first: str) -> None:
    assert await _walked(outer, inner, first, to_score, walk) > 2


@pytest.mark.parametrize("inner", ["fallback", "hedged", "race"])
@pytest.mark.parametrize("outer", ["fallback", "hedged", "race", "retry", "turns"])
@pytest.mark.parametrize("first", list(FIRST))
async def test_the_caller_may_give_up_at_the_instant_of_any_timer(outer: str, inner: str, first: str) -> None:
    async def walking(
        scene: Callable[[], Awaitable[None]], after: Callable[[bool], Awaitable[None]], _: Callable[[], None]
    ) -> int:
        return await walk_timers(scene, after, [0.05 * tick for tick in range(15)])

    assert await _walked(outer, inner, first, to_decide, walking) > 0


@pytest.mark.parametrize("anyio_backend", BACKENDS[:1], ids=["asyncio"])
@pytest.mark.parametrize("inner", ["single", "fallback", "hedged", "race", "breaker", "turns"])
@pytest.mark.parametrize("outer", ["single", "hedged", "race"])
@pytest.mark.parametrize("first", list(FIRST))
async def test_the_callers_task_may_be_cancelled_at_any_point(outer: str, inner: str, first: str) -> None:
    assert await _walked(outer, inner, first, to_decide, walk_natively) > 2
