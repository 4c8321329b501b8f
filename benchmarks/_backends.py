"""Measures our calls on one backend, beside the hand-written ones that exist there."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

import _anyio_floors
import _floors
import _ours
import anyio
from _anyio_floors import AnyioLoop
from _measuring import AsyncioLoop, Call, Effort, Told, above, bytes_in_flight, microseconds, over, per_cpu_second

ON_ANY: Mapping[str, Call] = {
    "bare await": _floors.bare,
    "anyio.CancelScope": _anyio_floors.cancel_scope,
    "anyio.move_on_after": _anyio_floors.move_on_after,
    "hedge in an anyio task group": _anyio_floors.hedge,
    "race in an anyio task group": _anyio_floors.race,
}
ON_ASYNCIO: Mapping[str, Call] = {"hedge in asyncio tasks": _floors.hedge, "race in asyncio tasks": _floors.race}
H = "hedge in asyncio tasks"

BESIDE = {
    "single": "anyio.move_on_after",
    "fallback answers": "anyio.move_on_after",
    "hedged": "hedge in an anyio task group",
    "race": "race in an anyio task group",
}
"""What one would write by hand instead, on either backend."""

Numbers = dict[str, float]


def on(backend: str, effort: Effort, told: Told) -> dict[str, Numbers]:
    """
    Return what everything costs on *backend*.
    """
    return anyio.run(_measured, backend == "asyncio", effort, told, backend=backend)


async def _measured(on_asyncio: bool, effort: Effort, told: Told) -> dict[str, Numbers]:
    loop = AsyncioLoop() if on_asyncio else AnyioLoop()
    floors = {**ON_ANY, **ON_ASYNCIO} if on_asyncio else ON_ANY
    ours = _ours.calls()
    spent = await microseconds({**floors, **ours}, loop, effort, told)
    spent["breaker adds"] = above(spent, "single of breaker", "single")
    spent["budget adds"] = above(spent, "single of budget", "single")
    found = {
        "us": {name: median(rounds) for name, rounds in spent.items()},
        "of its floor": {name: over(spent, name, floor) for name, floor in BESIDE.items()},
        "per CPU second": await _rates(loop, effort),
        "bytes in flight": await _weights(loop, effort),
    }
    if on_asyncio:
        found["H"] = {name: over(spent, name, H) for name in spent}
    return found


async def _rates(loop: AsyncioLoop | AnyioLoop, effort: Effort) -> Numbers:
    calls = {
        "Chain(Hedged(Breaker))": _ours.composed(loop.turn),
        "hedge in an anyio task group": _anyio_floors.hedged(loop.turn),
    }
    if isinstance(loop, AsyncioLoop):
        calls["hedge in asyncio tasks"] = _floors.hedged(loop.turn)
    return {name: await per_cpu_second(call, loop, effort) for name, call in calls.items()}


async def _weights(loop: AsyncioLoop | AnyioLoop, effort: Effort) -> Numbers:
    bare = await bytes_in_flight(lambda engine: engine, loop, effort)
    ways = {"Hedged": _ours.hedged, "hedge in an anyio task group": _anyio_floors.hedged}
    if isinstance(loop, AsyncioLoop):
        ways["hedge in asyncio tasks"] = _floors.hedged
    return {name: await bytes_in_flight(around, loop, effort) - bare for name, around in ways.items()}
