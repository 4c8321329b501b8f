"""
Measures calls in CPU time, the same way in every process: interleaved rounds, medians, and what a call in flight holds.

Only the standard library, because it also runs where nothing but a peer is installed.
"""

from __future__ import annotations

import asyncio
import gc
import time
import tracemalloc
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Protocol

Call = Callable[[], Coroutine[object, object, object]]
Told = Callable[[float], None]

BATCH = 100
"""Calls between two turns of the loop, which are measured too: that is when it sweeps out cancelled timers."""

_MOST_SECONDS = 2.0
"""What needs longer than this for one call of every task is measured once."""


@dataclass(frozen=True)
class Effort:
    """
    How much to measure.

    `sample` is the CPU seconds that one sample of one call takes, about; `in_flight` the tasks that call at once, and
    `calls_each` the most calls that each of them makes.
    """

    rounds: int
    sample: float
    in_flight: int
    calls_each: int


FULL = Effort(rounds=15, sample=0.02, in_flight=1_000, calls_each=20)
QUICK = Effort(rounds=3, sample=0.001, in_flight=50, calls_each=1)


class Event(Protocol):
    """
    What asyncio's and anyio's events have in common.
    """

    def set(self) -> object: ...

    async def wait(self) -> object: ...


class Loop(Protocol):
    """
    What measuring needs of an event loop.
    """

    def event(self) -> Event:
        """
        Return an event of this loop.
        """
        ...

    async def turn(self) -> None:
        """
        Let everything else that is ready run once.
        """
        ...

    async def crowd(self, call: Call, count: int) -> None:
        """
        Run *call* in so many tasks and wait for all of them.
        """
        ...


class AsyncioLoop:
    """
    asyncio, without anything between.
    """

    def event(self) -> Event:
        return asyncio.Event()

    async def turn(self) -> None:
        await asyncio.sleep(0)

    async def crowd(self, call: Call, count: int) -> None:
        await asyncio.gather(*(call() for _ in range(count)))


async def microseconds(calls: Mapping[str, Call], loop: Loop, effort: Effort, told: Told) -> dict[str, list[float]]:
    """
    Return what each call costs, one number a round; in every round each has its turn, so that a busy moment hits all.
    """
    counts = {name: await _count(call, loop, effort) for name, call in calls.items()}
    spent: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    gc.freeze()
    for number in range(effort.rounds):
        for name, call in calls.items():
            spent[name].append(await _cpu_seconds(call, loop, counts[name]) / counts[name] * 1e6)
        told((number + 1) / effort.rounds)
    gc.unfreeze()
    return spent


async def _count(call: Call, loop: Loop, effort: Effort) -> int:
    await _cpu_seconds(call, loop, 3)  # what only a first call pays
    fit = effort.sample / max(await _cpu_seconds(call, loop, 5) / 5, 1e-9)
    return max(3, min(int(fit), 20_000))


async def _cpu_seconds(call: Call, loop: Loop, count: int) -> float:
    begun = time.process_time()
    for at in range(count):
        await call()
        if at % BATCH == BATCH - 1:
            await loop.turn()
    return time.process_time() - begun


async def per_cpu_second(call: Call, loop: Loop, effort: Effort) -> float:
    """
    Return how many calls one CPU second carries with so many in flight.
    """
    rate = await _rate(call, loop, effort.in_flight, 1)
    each = min(effort.calls_each, int(rate * _MOST_SECONDS / effort.in_flight))
    if each == 0:
        return rate
    return median([await _rate(call, loop, effort.in_flight, each) for _ in range(max(3, effort.rounds // 3))])


async def _rate(call: Call, loop: Loop, in_flight: int, each: int) -> float:
    async def several() -> None:
        for _ in range(each):
            await call()

    gc.collect()
    begun = time.process_time()
    await loop.crowd(several, in_flight)
    return in_flight * each / (time.process_time() - begun)


class _Parking:
    """
    Where calls stand still until all are there, so that what they hold can be weighed.
    """

    def __init__(self, event: Event, expected: int) -> None:
        self._event = event
        self._missing = expected
        self.bytes = 0

    async def stand(self) -> None:
        self._missing -= 1
        if self._missing:
            await self._event.wait()
            return
        gc.collect()
        self.bytes = tracemalloc.get_traced_memory()[0]
        self._event.set()


async def bytes_in_flight(around: Callable[[Call], Call], loop: Loop, effort: Effort) -> float:
    """
    Return what one of many tasks holds whose call, made by *around* from an engine, waits for that engine.
    """
    weights = []
    for _ in range(3):  # the first one also pays for what stays
        parking = _Parking(loop.event(), effort.in_flight)
        call = around(parking.stand)
        gc.collect()
        tracemalloc.start()
        try:
            await loop.crowd(call, effort.in_flight)
        finally:
            tracemalloc.stop()
        weights.append(parking.bytes / effort.in_flight)
    return min(weights)


def over(spent: Mapping[str, list[float]], name: str, base: str) -> float:
    """
    Return how many times *base* a call costs: the median of the rounds' own ratios.
    """
    return median([one / other for one, other in zip(spent[name], spent[base], strict=True)])


def above(spent: Mapping[str, list[float]], name: str, base: str) -> list[float]:
    """
    Return what *name* costs more than *base*, round by round.
    """
    return [one - other for one, other in zip(spent[name], spent[base], strict=True)]
