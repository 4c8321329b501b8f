"""Walk through a call: let the caller give up at every scheduling point there is, one after the other."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import Context
from itertools import count
from typing import Any, TypeVarTuple

import anyio
import attrs
import trio
from trio.testing import MockClock

from tests.virtual_time import AutojumpLoop

Args = TypeVarTuple("Args")
FAR: int = 10_000
"""More scheduling points than any call of a test has."""


class Steps(trio.abc.Instrument):
    """Counts scheduling points, and does something right before one of them."""

    def __init__(self) -> None:
        self._left = -1
        self._acts: tuple[Callable[[], object], ...] = ()

    def arm(self, at: int, *acts: Callable[[], object]) -> None:
        self._left, self._acts = at, acts

    def disarm(self) -> bool:
        """Say whether the point was reached."""
        reached = self._left < 0
        self._left = -1
        return reached

    def tick(self) -> None:
        if self._left == 0:
            for act in self._acts:
                act()
        self._left = max(self._left - 1, -1)

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.tick()


class SteppingLoop(AutojumpLoop):
    """An asyncio loop, in virtual time, all of whose callbacks are scheduling points."""

    def __init__(self) -> None:
        self.steps = Steps()
        super().__init__()

    def call_soon(
        self, callback: Callable[[*Args], object], *args: *Args, context: Context | None = None
    ) -> asyncio.Handle:
        return super().call_soon(self._step, callback, args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*Args], object],
        *args: *Args,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return super().call_at(when, self._step, callback, args, context=context)

    def _step(self, callback: Callable[..., object], args: tuple[Any, ...]) -> None:
        self.steps.tick()
        callback(*args)


BACKENDS = [
    ("asyncio", {"loop_factory": SteppingLoop}),
    ("trio", {"clock": MockClock(autojump_threshold=0)}),
]


@contextmanager
def stepping() -> Iterator[Steps]:
    """Count the scheduling points of the backend that runs; on asyncio only a `SteppingLoop` will do."""
    loop = _asyncio_loop()
    if loop is not None:
        assert isinstance(loop, SteppingLoop)
        yield loop.steps
        return
    steps = Steps()
    trio.lowlevel.add_instrument(steps)
    try:
        yield steps
    finally:
        trio.lowlevel.remove_instrument(steps)


def _asyncio_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


@attrs.frozen
class Surroundings:
    """What a call must leave as it found it."""

    tasks: int
    timers: float
    cancel_requests: int
    deadline: float

    @classmethod
    def now(cls) -> "Surroundings":
        deadline = anyio.current_effective_deadline()
        loop = _asyncio_loop()
        if loop is None:
            statistics = trio.lowlevel.current_statistics()
            return cls(statistics.tasks_living, statistics.seconds_to_next_deadline, 0, deadline)
        assert isinstance(loop, SteppingLoop)
        task = asyncio.current_task()
        assert task is not None
        timers = sum(not handle.cancelled() for handle in loop._scheduled)  # type: ignore[attr-defined]
        return cls(len(asyncio.all_tasks()), timers, task.cancelling(), deadline)


async def walk(
    scene: Callable[[], Awaitable[None]],
    after: Callable[[bool], Awaitable[None]],
    cut: Callable[[], None] = lambda: None,
) -> int:
    """
    Call *scene* again and again, its caller giving up at the first scheduling point, at the second, and so on, until
    it ends before that; *cut* is called when it does, and *after* is told each time whether it was cut off.

    Returns:
        How many points there were.
    """
    with stepping() as steps:
        for at in count():
            assert at < FAR, "the call does not end"
            before = Surroundings.now()
            with anyio.CancelScope() as scope:
                steps.arm(at, scope.cancel, cut)
                await scene()
            reached = steps.disarm()
            assert Surroundings.now() == before, f"something is left behind when the caller gives up at point {at}"
            await after(scope.cancelled_caught)
            if not reached:
                return at
    raise AssertionError(math.inf)


async def walk_timers(
    scene: Callable[[], Awaitable[None]], after: Callable[[bool], Awaitable[None]], instants: Iterable[float]
) -> int:
    """
    As `walk`, but the caller's deadline is each of these instants, counted from the start of the call.
    """
    cut_offs = 0
    for instant in instants:
        before = Surroundings.now()
        with anyio.move_on_after(instant) as scope:
            await scene()
        assert Surroundings.now() == before, f"something is left behind when the caller's time is up after {instant} s"
        await after(scope.cancelled_caught)
        cut_offs += scope.cancelled_caught
    return cut_offs


async def walk_natively(
    scene: Callable[[], Awaitable[None]], after: Callable[[bool], Awaitable[None]], _: Callable[[], None]
) -> int:
    """
    As `walk`, but the caller is an asyncio task that is cancelled by asyncio's own means.

    Until that task runs again nobody can tell this from a scope inside an engine, so a racer may still start.
    """
    with stepping() as steps:
        for at in count():
            assert at < FAR, "the call does not end"
            before = Surroundings.now()
            caller = asyncio.ensure_future(scene())
            steps.arm(at, caller.cancel)
            await asyncio.wait([caller])
            reached = steps.disarm()
            assert Surroundings.now() == before, f"something is left behind when the task is cancelled at point {at}"
            if not caller.cancelled():
                caller.result()
            await after(caller.cancelled())
            if not reached:
                return at
    raise AssertionError(math.inf)
