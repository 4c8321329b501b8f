"""Child tasks that report and never raise, so that no exception group ever reaches a caller."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, TypeVarTuple

import anyio

Args = TypeVarTuple("Args")


class Crew:
    """
    A task group whose tasks hand what they raise to the host.

    The first of it is raised bare there, once all tasks have let go.
    """

    def __init__(self) -> None:
        self._group = anyio.create_task_group()
        self._raised: list[BaseException] = []

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        handled = await self._group.__aexit__(error_type, error, traceback)
        if self._raised:
            raise self._raised[0]
        return handled

    def start(self, work: Callable[[*Args], Awaitable[None]], *args: *Args) -> None:
        """
        Start *work* as a task.
        """
        self._group.start_soon(self._carry, work, args)

    def dismiss(self) -> None:
        """
        Cancel every task.
        """
        self._group.cancel_scope.cancel()

    async def _carry(self, work: Callable[[*Args], Awaitable[None]], args: tuple[*Args]) -> None:
        try:
            await work(*args)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 - raised here, a task group would wrap it; the host raises it bare
            self._raised.append(error)
            self.dismiss()
