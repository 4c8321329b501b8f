"""Random calls of random compositions by the thousand, in virtual time, with every invariant checked after each."""

from __future__ import annotations

import asyncio
import gc
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import anyio
import attrs
import trio
from trio.testing import MockClock

from decide import Request, ScoreRequest, Trace
from decide.chain import Ended
from tests.fakes import QUESTIONS, TAXONOMY
from tests.soak.callers import Call, place
from tests.soak.checks import Made
from tests.soak.engines import on_asyncio
from tests.soak.worlds import World, build
from tests.virtual_time import AutojumpLoop

CALLS_A_WORLD = 50
MOST_PROBLEMS = 30
WORLDS_BETWEEN_COLLECTIONS = 50

_CALLER: ContextVar[str] = ContextVar("caller")


@attrs.define
class Report:
    """
    What a soak did and found.

    Attributes:
        tally: How often what happened.
        problems: What did not hold, each with the world in which it happened.
        memory: Bytes of the process over time, where the system tells; the first is from after a warm-up.
    """

    seed: int
    backend: str
    calls: int = 0
    seconds: float = 0.0
    tally: Counter[str] = attrs.field(factory=Counter)
    problems: list[str] = attrs.field(factory=list)
    memory: list[int] = attrs.field(factory=list)


def soak(
    calls: int,
    *,
    seed: int,
    backend: str,
    first_world: int = 0,
    told: Callable[[float], None] = lambda share: None,
) -> Report:
    """
    Make so many calls, and stop early when too much is wrong.

    The seed decides the compositions, the engines and the callers. In what order a loop wakes tasks at one instant is
    its own affair, on asyncio.
    """
    report = Report(seed, backend)
    began = time.perf_counter()
    with _complaints(report):
        gc.freeze()
        for number in range(first_world, first_world + -(-calls // CALLS_A_WORLD)):
            size = min(CALLS_A_WORLD, calls - report.calls)
            before = len(report.problems)
            _run(backend, _World(f"{seed}/{number}", size, report).live)
            if number % WORLDS_BETWEEN_COLLECTIONS == 0:
                gc.collect()
                if report.calls >= calls / 10:
                    report.memory.append(_memory())
            report.problems[before:] = [f"world {number}: {problem}" for problem in report.problems[before:]]
            told(report.calls / calls)
            if len(report.problems) >= MOST_PROBLEMS:
                break
        gc.collect()
        gc.unfreeze()
    report.seconds = time.perf_counter() - began
    return report


class _World:
    """One world while its calls run."""

    def __init__(self, seed: str, size: int, report: Report) -> None:
        self._seed = seed
        self._size = size
        self._report = report
        self._traces: dict[str, list[Trace]] = {}
        self._world: World = build(seed, [self._observe])

    def _observe(self, trace: Trace) -> None:
        self._traces.setdefault(_CALLER.get(), []).append(trace)

    async def live(self) -> None:
        """
        Make all calls, and see that nothing is left of them.
        """
        if on_asyncio():
            asyncio.get_running_loop().set_exception_handler(self._complain)
        before = left_over()
        async with anyio.create_task_group() as group:
            for number in range(self._size):
                group.start_soon(self._call, str(number))
        self._found(left_over() - before)
        for gate in self._world.gates:
            self._found(gate.problems())
        for engine in self._world.engines.values():
            if engine.inside or engine.calls:
                self._found([f"{engine.name} was called for nobody: {engine.calls}"])

    async def _call(self, text: str) -> None:
        _CALLER.set(text)
        dice = random.Random(f"{self._seed}/{text}")
        decides = dice.random() < 0.7
        chain = self._world.chain

        async def ask() -> Ended:
            if decides:
                return await chain.decide(Request(text=text, taxonomy=TAXONOMY))
            return await chain.score(ScoreRequest(text=text, questions=QUESTIONS.questions))

        try:
            call = await place(dice, text, ask)
        except BaseException as error:
            self._found([f"call {text}: {error!r} reached the caller"])
            raise
        traces = self._traces.pop(text, [])
        if len(traces) != 1:
            self._found([f"call {text}: {len(traces)} traces"])
            return
        made = Made.of(self._world, call, traces[0])
        self._found([f"call {text}: {problem}" for problem in made.problems()])
        self._count(call, made)

    def _count(self, call: Call, made: Made) -> None:
        tally = self._report.tally
        self._report.calls += 1
        how = "cancelled" if call.cancelled else "fatal" if call.fatal else type(call.ended).__name__.lower()
        tally[f"calls: {how}"] += 1
        tally["engine calls"] += sum(len(calls) for calls in made.engine_calls.values())
        tally["hedges fired"] += made.trace.hedge_fired
        tally["fallbacks fired"] += made.trace.fallback_fired
        for attempt in made.trace.attempts:
            tally[f"attempts: {attempt.outcome}"] += 1
            tally["tries after the first"] += attempt.tries - 1

    def _found(self, problems: Iterable[str]) -> None:
        self._report.problems.extend(problems)

    def _complain(self, _: object, context: dict[str, Any]) -> None:
        self._found([f"the loop complains: {context.get('message')} {context.get('exception')!r}"])


def left_over() -> Counter[str]:
    """
    Return what is alive on the loop beside the task that asks.
    """
    if on_asyncio():
        loop: Any = asyncio.get_running_loop()
        timers = sum(not handle.cancelled() for handle in loop._scheduled)
        return Counter({"tasks left": len(asyncio.all_tasks()), "timers left": timers})
    statistics = trio.lowlevel.current_statistics()
    timers = statistics.seconds_to_next_deadline != float("inf")
    return Counter({"tasks left": statistics.tasks_living, "timers left": timers})


@contextmanager
def _complaints(report: Report) -> Iterator[None]:
    """
    Take every warning, and every error that could not be raised, for a problem.
    """
    hook = sys.unraisablehook
    sys.unraisablehook = lambda told: report.problems.append(f"could not be raised: {told.exc_value!r}")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        report.problems.extend(f"warning: {warning.message}" for warning in caught)
    finally:
        sys.unraisablehook = hook


def _run(backend: str, main: Callable[[], Awaitable[None]]) -> None:
    if backend == "asyncio":
        anyio.run(main, backend="asyncio", backend_options={"loop_factory": AutojumpLoop})
        return
    # Trio shuffles what is ready at one instant; so that a seed repeats, it shuffles alike.
    scheduler: Any = trio._core._run  # where pytest plugins of trio seed it as well
    scheduler._ALLOW_DETERMINISTIC_SCHEDULING = True
    scheduler._r.seed(0)
    anyio.run(main, backend="trio", backend_options={"clock": MockClock(autojump_threshold=0)})


def _memory() -> int:
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * 4096 if statm.exists() else 0
