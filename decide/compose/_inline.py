"""
The cheap form of a crew on asyncio: the work that leads runs in the caller's own task.

A timer that never fires costs a handle instead of a task, and an engine's context variables stay visible to the caller.
Work beside it runs in tasks that have a
cancel scope of their own, since anyio's scopes do not reach into tasks that it did not start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVarTuple

import anyio
import anyio.lowlevel

from decide._native import cancel_requests, current_task, wait
from decide.compose._tasks import Crew, TaskGroupCrew

if TYPE_CHECKING:
    from asyncio import Task, TimerHandle

Args = TypeVarTuple("Args")


def muster() -> Crew:
    """
    Return the cheapest crew that is right here.
    """
    task = current_task()
    return TaskGroupCrew() if task is None else InlineCrew(task)


class InlineCrew:
    """
    A crew led in the caller's own task.
    """

    __slots__ = ("_dismissed", "_leading", "_loop", "_raised", "_requests", "_scope", "_sides", "_task", "_timer")

    def __init__(self, task: Task[object]) -> None:
        self._task = task
        self._loop = task.get_loop()
        self._requests = cancel_requests()
        self._scope = anyio.CancelScope()
        self._leading = False
        self._dismissed = False
        self._timer: TimerHandle | None = None
        self._sides: dict[Task[None], anyio.CancelScope] = {}
        self._raised: list[BaseException] = []

    def start(self, work: Callable[[*Args], Awaitable[None]], *args: *Args) -> None:
        """
        As in `Crew`.
        """
        self._start_in(anyio.CancelScope(), work, *args)

    def after(self, delay: float, work: Callable[[*Args], Awaitable[None]], *args: *Args) -> None:
        """
        As in `Crew`.
        """
        # Made here: in the callback of a timer anyio cannot tell which loop runs, unless `anyio.run` started it.
        self._timer = self._loop.call_later(delay, self._start_in, anyio.CancelScope(), work, *args)

    def _start_in(self, scope: anyio.CancelScope, work: Callable[[*Args], Awaitable[None]], *args: *Args) -> None:
        self._sides[self._loop.create_task(self._carry(scope, work, args))] = scope

    def dismiss(self) -> None:
        """
        As in `Crew`.
        """
        self._dismissed = True
        self._cancel()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        current = current_task()
        for side, scope in self._sides.items():
            if side is not current and not side.done():
                scope.cancel()
        if self._leading and self._task is not current:
            self._scope.cancel()

    def abandoned(self) -> bool:
        """
        As in `Crew`. anyio does not tell this of another task's scope in public.
        """
        return bool(getattr(self._scope, "_effectively_cancelled", False))

    def forsaken(self) -> bool:
        """
        As in `Crew`: what was asked by asyncio's own means cannot be told from a scope inside the engine that leads.
        """
        return self.abandoned() or self._task.cancelling() > self._requests

    async def lead(self, work: Callable[[*Args], Awaitable[None]], *args: *Args) -> None:
        """
        As in `Crew`.
        """
        self._leading = True
        try:
            with self._scope:
                await work(*args)
            self._leading = False
            if self._sides:
                await self._all_ended()
                await anyio.lowlevel.checkpoint_if_cancelled()
        except BaseException:
            await self._let_go()
            self._raise_first()
            raise
        finally:
            if self._timer is not None:
                self._timer.cancel()
        self._raise_first()

    def _raise_first(self) -> None:
        if self._raised:
            raise self._raised[0]

    async def _all_ended(self) -> None:
        while running := [side for side in self._sides if not side.done()]:
            await wait(running)

    async def _let_go(self) -> None:
        """
        Cancel everything and wait for it, whatever happens to the caller meanwhile: nothing outlives the call.
        """
        self._leading = False
        self._cancel()
        with anyio.CancelScope(shield=True):
            while any(not side.done() for side in self._sides):
                try:
                    await self._all_ended()
                except anyio.get_cancelled_exc_class():
                    self._cancel()

    async def _carry(
        self, scope: anyio.CancelScope, work: Callable[[*Args], Awaitable[None]], args: tuple[*Args]
    ) -> None:
        try:
            with scope:
                if not self._dismissed:
                    await anyio.lowlevel.checkpoint_if_cancelled()
                    if self.abandoned():
                        return
                await work(*args)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 - nobody awaits a side's result; `lead` raises it bare
            self._raised.append(error)
            self.dismiss()
