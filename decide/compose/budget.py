"""A cap on the calls of one engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

import attrs

from decide._checks import positive_seconds, whole
from decide._legs import Asking
from decide.attempt_log import AttemptLog
from decide.attempts import NOT_CALLED
from decide.compose._window import Window
from decide.compose._wrapper import Wrapper
from decide.errors import MEANINGS, BudgetError, kind_of
from decide.providers import AnyProvider

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class BudgetStats:
    """
    Where a budget stands.

    Attributes:
        used: Calls of the current window.
        max: The most calls of one window.
        refused: Calls that were refused, ever.
    """

    used: int
    max: int
    refused: int


class Budget(Wrapper):
    """
    Let an engine be called at most so many times.

    A call counts when it starts, whatever becomes of it; one that reached no engine, because a breaker or a budget
    below refused it, is given back. One budget may
    be shared between tasks, event loops and threads.

    Args:
        engine: The engine. The budget has its name, timeout and traces.
        max_calls: The most calls of one window; 0 never calls.
        per: Seconds of the window, which starts with its first call; None for one window that never ends.
        clock: Seconds on a clock that never jumps.

    Raises:
        ValueError: If a setting is out of range.
    """

    def __init__(
        self,
        engine: AnyProvider,
        *,
        max_calls: int,
        per: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(engine)
        if self._engine.retries:
            raise ValueError(f"engine {self.name!r}: a budget around a retry would overspend, put the budget inside")
        self._window = Window(
            max_calls=whole("max_calls", max_calls, least=0), per=None if per is None else positive_seconds("per", per)
        )
        self._clock = clock
        self._lock = Lock()

    def stats(self) -> BudgetStats:
        """
        Return where the budget stands. An old window shows until the next call.
        """
        with self._lock:
            window = self._window
            return BudgetStats(used=window.used, max=window.max_calls, refused=window.refused)

    async def _guard(self, asking: Asking[T], log: AttemptLog) -> T | None:
        taken = self._take()
        spent = True
        try:
            return await self._ask(asking, log)
        except Exception as error:
            spent = log.spent() and (bool(log.attempts()) or MEANINGS[kind_of(error)].outcome not in NOT_CALLED)
            raise
        except BaseException:
            spent = log.spent()
            raise
        finally:
            if not spent:
                with self._lock:
                    self._window.give_back(taken)

    def _take(self) -> int:
        with self._lock:
            taken = self._window.take(self._clock())
            used = self._window.used
        if taken is None:
            again = "the cap never resets" if self._window.per is None else f"per {self._window.per:g} s"
            calls = "1 call" if used == 1 else f"{used} calls"
            raise BudgetError(f"engine {self.name!r}: budget used up ({calls}, {again})", detail=f"{calls} used")
        return taken
