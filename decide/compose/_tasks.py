"""Work that runs beside the caller, on any backend: it reports and never raises, and none of it outlives the call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVarTuple

import anyio
import anyio.lowlevel

Args = TypeVarTuple("Args")


class Crew(Protocol):
    """
    One piece of work that leads, and others beside it.

    What any of them raises that is no cancellation is raised bare by `lead`, once all have let go: no exception group
    ever reaches a caller.
    """

    def start(self, work: Callable[[*Args], Awaitable[None]], *args: *Args) -> None:
        """
        Start *work* beside the one that leads.
        """
        ...

    def after(self, delay: float, work: Callable[[*Args], Awaitable[None]], *args: *Args) -> None:
        """
        Start *work* in *delay* seconds, unless everything is dismissed before. May be asked once.
        """
        ...

    def dismiss(self) -> None:
        """
        Cancel all that runs, except whoever asks, and what was to start later.
        """
        ...

    def abandoned(self) -> bool:
        """
        Say whether the caller has surely given up while the one that leads takes its time to let go.
        """
        ...

    def forsaken(self) -> bool:
        """
        As `abandoned`, and when in doubt, yes.
        """
        ...

    async def lead(self, work: Callable[[*Args], Awaitable[None]], *args: *Args) -> None:
        """
        Run *work*, and return when it and all others have let go.
        """
        ...


class TaskGroupCrew:
    """
    A crew in a task group, which is right on every backend.
    """

    def __init__(self) -> None:
        self._group = anyio.create_task_group()
        self._first: list[Callable[[], None]] = []
        self._raised: list[BaseException] = []
        self._entered = False
        self._dismissed = False
        self._working = 0

    def start(self, work: Callable[[*Args], Awaitable[None]], *args: *Args) -> None:
        """
        As in `Crew`. What is started before anything leads waits for that.
        """
        if self._entered:
            self._working += 1
            self._group.start_soon(self._carry, work, args)
        else:
            self._first.append(lambda: self.start(work, *args))

    def after(self, delay: float, work: Callable[[*Args], Awaitable[None]], *args: *Args) -> None:
        """
        As in `Crew`.
        """
        self._first.append(lambda: self._start_waiting(delay, lambda: self.start(work, *args)))

    def dismiss(self) -> None:
        """
        As in `Crew`.
        """
        self._dismissed = True
        self._group.cancel_scope.cancel()

    def abandoned(self) -> bool:
        """
        As in `Crew`. A task group cancels all its tasks at once.
        """
        return False

    def forsaken(self) -> bool:
        """
        As in `Crew`.
        """
        return False

    async def lead(self, work: Callable[[*Args], Awaitable[None]], *args: *Args) -> None:
        """
        As in `Crew`.
        """
        try:
            async with self._group:
                self._entered = True
                self._working += 1
                while self._first:
                    self._first.pop(0)()
                await self._carry(work, args)
            await anyio.lowlevel.checkpoint_if_cancelled()
        finally:
            if self._raised:
                raise self._raised[0]

    def _start_waiting(self, delay: float, begin: Callable[[], None]) -> None:
        self._group.start_soon(self._wait, delay, begin)

    async def _wait(self, delay: float, begin: Callable[[], None]) -> None:
        await anyio.sleep(delay)
        begin()

    async def _carry(self, work: Callable[[*Args], Awaitable[None]], args: tuple[*Args]) -> None:
        try:
            if not self._dismissed:
                await anyio.lowlevel.checkpoint_if_cancelled()
            await work(*args)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 - raised here, a task group would wrap it; `lead` raises it bare
            self._raised.append(error)
            self.dismiss()
        finally:
            self._working -= 1
            if self._working == 0:
                self.dismiss()
