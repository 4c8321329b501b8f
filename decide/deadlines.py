"""One limit on time, shared by every call inside it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

import anyio

from decide._checks import positive_seconds
from decide.errors import TimeBudgetError

LEAST_TIME: Final = 0.05
"""Seconds that must be left for a call to be worth starting."""


class TimeBudget:
    """
    Seconds that all calls inside a `time_budget` share.

    Only time spent in engines, or waiting for a turn at one, is charged; calls that overlap are charged once.
    """

    def __init__(self, limit: float, outer: TimeBudget | None) -> None:
        self._limit = limit
        self._outer = outer
        self._spent = 0.0
        self._waiting = 0
        self._waiting_since = 0.0

    @property
    def spent(self) -> float:
        """
        Seconds charged so far, a call under way included.
        """
        return self._spent + (anyio.current_time() - self._waiting_since if self._waiting else 0.0)

    @property
    def left(self) -> float:
        """
        Seconds left, here and in every budget around; never negative.
        """
        around = math.inf if self._outer is None else self._outer.left
        return max(0.0, min(self._limit - self.spent, around))

    def enter(self) -> None:
        """
        Start charging for one call.
        """
        if self._outer is not None:
            self._outer.enter()
        if self._waiting == 0:
            self._waiting_since = anyio.current_time()
        self._waiting += 1

    def leave(self) -> None:
        """
        Stop charging for one call.
        """
        if self._outer is not None:
            self._outer.leave()
        self._waiting -= 1
        if self._waiting == 0:
            self._spent += anyio.current_time() - self._waiting_since


_CURRENT: ContextVar[TimeBudget | None] = ContextVar("decide_time_budget", default=None)


@contextmanager
def time_budget(seconds: float) -> Iterator[TimeBudget]:
    """
    Let every call inside the block share *seconds*.

    Each engine is cut off when the shared time is up, which is nobody's fault and trips no breaker. A call needs at
    least 50 ms to start; otherwise its attempt is
    recorded as `budget` with the dimension `time`, and a chain goes on to engines that need no model: those are never
    held up. Budgets may be nested; the
    tightest one counts.

    Raises:
        ValueError: If *seconds* is not above 0.
    """
    budget = TimeBudget(positive_seconds("seconds", seconds), _CURRENT.get())
    token = _CURRENT.set(budget)
    try:
        yield budget
    finally:
        _CURRENT.reset(token)


def current_budget() -> TimeBudget | None:
    """
    Return the budget around the current call, if there is one.
    """
    return _CURRENT.get()


def time_left() -> float:
    """
    Return the seconds left in the budget around the current call; infinite without one.
    """
    budget = _CURRENT.get()
    return math.inf if budget is None else budget.left


def enough_time(after: float = 0.0) -> bool:
    """
    Say whether a call may start now, or *after* so many seconds.
    """
    return time_left() - after >= LEAST_TIME


@contextmanager
def charged(*, exempt: bool = False) -> Iterator[float]:
    """
    Charge the block to the budget around it, and yield when, on the loop's clock, its time will be up.

    Args:
        exempt: There is no limit for this block, because what it serves needs no model.

    Raises:
        TimeBudgetError: If there is too little time left to start.
    """
    budget = None if exempt else _CURRENT.get()
    if budget is None:
        yield math.inf
        return
    left = budget.left
    if left < LEAST_TIME:
        raise TimeBudgetError("the time budget is used up", detail="no time left")
    budget.enter()
    try:
        yield anyio.current_time() + left
    finally:
        budget.leave()
