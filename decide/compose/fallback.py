"""Engines in order: the next one when the one before gives nothing."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, TypeVar

from decide.compose._combinator import DEFAULT_TIMEOUT, Combinator
from decide.compose._fail_over import FAIL_OVER, checked
from decide.compose._settle import Legs
from decide.policies import SelectionPolicy
from decide.providers import AnyProvider

T = TypeVar("T")


class Fallback(Combinator):
    """
    Ask the first engine; when it gives nothing, the next, and so on.

    Each engine has its own timeout, so the whole may take their sum. A spent allowance, a spent budget or a broken
    setting goes to no further engine.

    Args:
        engines: The engines, the preferred first; two is the common case.
        fail_over: The endings that start the next engine. `abstained`, `uncertain` and `quota` may be added; `budget`,
            `misconfigured` and `policy_refusal` never.
        name: What traces call it; by default made from the engines' names.
        policy: Judges every answer; without one it is passed on as it comes.
        default_timeout: Seconds an engine has that declares no `decision_timeout`.

    Raises:
        ValueError: If there is no engine, two share a name, or a setting is out of range.
    """

    strategy: ClassVar[str] = "fallback"

    def __init__(
        self,
        *engines: AnyProvider,
        fail_over: Collection[str] = FAIL_OVER,
        name: str = "",
        policy: SelectionPolicy | None = None,
        default_timeout: float = DEFAULT_TIMEOUT,
    ) -> None:
        super().__init__(
            engines, name=name, policy=policy, default_timeout=default_timeout, fail_over=checked(fail_over)
        )

    @property
    def decision_timeout(self) -> float:
        """
        The most seconds it takes: all engines one after the other.
        """
        return sum(self._timeouts)

    async def _run(self, legs: Legs[T]) -> None:
        for index in range(len(legs)):
            legs.log.fallback_fired = index > 0
            log = legs.open(index, "backup" if index else "primary")
            log.backup_waiting = log.backup_waiting or index + 1 < len(legs)
            ending = await legs.run(index)
            if legs.winner is not None:
                return
            legs.halted = legs.halts(ending)
            if not legs.triggers(ending):
                return
