"""Draws the pictures of docs/composing.md from real traces, of scripted engines on a clock that jumps ahead."""

from __future__ import annotations

import sys
import threading
from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path

import anyio
import anyio.from_thread
from trio.testing import MockClock

from decide import (
    Breaker,
    Budget,
    Chain,
    ChoiceAnswer,
    ChoiceQuestion,
    EngineError,
    Fallback,
    Hedged,
    Race,
    Retry,
    ScoreRequest,
    ScoreResult,
    Single,
    Trace,
    Turns,
    Usage,
    in_thread,
    time_budget,
)
from decide.engines.function import FunctionEngine
from decide.observe.timelines import svg
from decide.providers import ScoredProvider

TEAM = ChoiceQuestion("Which team should answer?", {"billing": "charges", "technical": "errors"})
REQUEST = ScoreRequest(text="My card was charged twice", questions={"team": TEAM})
ANSWER = ChoiceAnswer(probabilities={"billing": 0.94, "technical": 0.06}, calibrated=True)
BILLED = Usage(input_tokens=214, output_tokens=9, cost=Decimal("0.002"))
DOWN = EngineError("overloaded", http_status=503)


Step = float | tuple[float, Exception]


def engine(name: str, *script: Step, usage: Usage | None = None, deterministic: bool = False) -> FunctionEngine:
    """
    Return an engine that answers after so many seconds, or fails after them, call by call; the last entry repeats.
    """
    calls = iter(range(sys.maxsize))

    async def score(_: ScoreRequest) -> ScoreResult:
        entry = script[min(next(calls), len(script) - 1)]
        seconds, error = entry if isinstance(entry, tuple) else (entry, None)
        await anyio.sleep(seconds)
        if error is not None:
            raise error
        return ScoreResult(engine=name, usage=usage, answers={"team": ANSWER})

    return FunctionEngine(name, score=score, deterministic=deterministic)


def local() -> FunctionEngine:
    return engine("local", 0.04)


async def asked(*engines: ScoredProvider) -> Trace:
    """
    Ask a chain of *engines*, and return what is left of it.
    """
    return (await Chain(engines).score(REQUEST)).trace


async def single() -> Trace:
    return await asked(Single(engine("server", 5.0), default_timeout=0.3))


async def fallback() -> Trace:
    return await asked(Fallback(engine("server", (0.12, DOWN)), local()))


async def hedged() -> Trace:
    return await asked(Hedged(engine("server", 0.4, usage=BILLED), local(), delay=0.1))


async def race() -> Trace:
    east, west = engine("east", 0.18, usage=BILLED), engine("west", 0.26, usage=BILLED)
    return await asked(Race(east, west, engine("north", (0.06, DOWN))))


async def breaker() -> Trace:
    guarded = Breaker(engine("server", (0.12, DOWN)), threshold=3, clock=anyio.current_time)
    for _ in range(3):
        await asked(guarded)
    return await asked(Hedged(guarded, local(), delay=0.1))


async def budget() -> Trace:
    capped = Budget(engine("server", 0.12, usage=BILLED), max_calls=1, clock=anyio.current_time)
    await asked(capped)
    return await asked(Fallback(engine("cheap", (0.04, DOWN)), capped, engine("dear", 0.2, usage=BILLED)))


async def retry() -> Trace:
    return await asked(Retry(engine("server", (0.1, DOWN), 0.12, usage=BILLED), retries=2, backoff=0.2))


async def turns() -> Trace:
    queue = Turns(engine("gpu", 0.12), at_once=1)
    async with anyio.create_task_group() as group:
        group.start_soon(asked, queue)
        await anyio.sleep(0.03)
        trace = await asked(queue)
    return trace  # noqa: RET504 - inside the group, mypy takes it for one that may be skipped


async def threads() -> Trace:
    begun, over = anyio.Event(), threading.Event()

    class Model:
        name = "model"

        def score(self, _: ScoreRequest) -> ScoreResult:
            anyio.from_thread.run_sync(begun.set)
            over.wait()
            return ScoreResult(engine="model", answers={"team": ANSWER})

    model = in_thread(Model(), max_threads=1)
    async with anyio.create_task_group() as group:
        group.start_soon(model.score, REQUEST)
        await begun.wait()
        trace = await asked(Fallback(model, local()))
        over.set()
    return trace


async def budgeted() -> Trace:
    with time_budget(0.3):
        return await asked(engine("server", 5.0), engine("other", 0.1), engine("rules", 0.001, deterministic=True))


async def nested() -> Trace:
    tried = Retry(engine("server", (0.08, DOWN), usage=BILLED), retries=3, backoff=0.1)
    remote = Fallback(Breaker(tried, clock=anyio.current_time), engine("mirror", 0.6))
    return await asked(Hedged(remote, local(), delay=0.25))


SCENES: dict[str, Callable[[], Awaitable[Trace]]] = {
    "single": single,
    "fallback": fallback,
    "hedged": hedged,
    "race": race,
    "breaker": breaker,
    "budget": budget,
    "retry": retry,
    "turns": turns,
    "in-thread": threads,
    "time-budget": budgeted,
    "nested": nested,
}


def picture(scene: Callable[[], Awaitable[Trace]]) -> str:
    """
    Return the timeline of *scene*. As a file of its own it has no page to take its colours from.
    """
    clock = MockClock(autojump_threshold=0)
    drawn = svg(anyio.run(scene, backend="trio", backend_options={"clock": clock}))
    return drawn.replace('style="', 'style="background:#ffffff;color:#1f2328;', 1) + "\n"


def main(folder: Path) -> None:
    for name, scene in SCENES.items():
        (folder / f"composing-{name}.svg").write_text(picture(scene), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "images")
