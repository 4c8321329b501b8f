"""A primary engine, and a backup for when it is silent."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, TypeVar

from decide._checks import seconds
from decide.compose._combinator import DEFAULT_TIMEOUT, Combinator
from decide.compose._fail_over import FAIL_OVER, checked
from decide.compose._inline import muster
from decide.compose._settle import Legs
from decide.compose._tasks import Crew
from decide.outcomes import AttemptOutcome
from decide.policies import SelectionPolicy
from decide.providers import AnyProvider

T = TypeVar("T")

_PRIMARY, _BACKUP = 0, 1
_STANDING = frozenset({AttemptOutcome.ABSTAINED, AttemptOutcome.UNCERTAIN})


class Hedged(Combinator):
    """
    Ask *backup* too when *primary* is silent for *delay* seconds.

    The first to decide wins and the other is cancelled; its attempt is recorded as cancelled, with no usage, because
    what it cost is unknown. A primary that
    fails before *delay* starts the backup at once, except for spent allowances and broken configuration, which a person
    has to see. A primary that abstains
    or is unsure stands, unless *fail_over* says otherwise.

    Args:
        primary: The engine to prefer.
        backup: The engine that may be billed for the same question. At the primary's median latency, half of all
            questions are paid for twice.
        delay: Seconds of silence that start the backup; 0 starts both at once.
        fail_over: The endings of the primary that start the backup, as for `Fallback`.
        name: What traces call it; by default made from the engines' names.
        policy: Judges every answer; without one the first answer wins.
        default_timeout: Seconds an engine has that declares no `decision_timeout`.

    Raises:
        ValueError: If *delay* is negative or not finite, the engines share a name, or a setting is out of range.
    """

    strategy: ClassVar[str] = "hedged"

    def __init__(
        self,
        primary: AnyProvider,
        backup: AnyProvider,
        *,
        delay: float = 0.6,
        fail_over: Collection[str] = FAIL_OVER,
        name: str = "",
        policy: SelectionPolicy | None = None,
        default_timeout: float = DEFAULT_TIMEOUT,
    ) -> None:
        self._delay = seconds("delay", delay)
        super().__init__(
            [primary, backup], name=name, policy=policy, default_timeout=default_timeout, fail_over=checked(fail_over)
        )

    @property
    def decision_timeout(self) -> float:
        """
        The most seconds it takes: the primary's, or the delay and the backup's.
        """
        return max(self._timeouts[_PRIMARY], self._delay + self._timeouts[_BACKUP])

    async def _run(self, legs: Legs[T]) -> None:
        crew = legs.crew = muster()
        crew.after(self._delay, _run_hedge, legs, crew)
        legs.open(_PRIMARY, "primary").backup_waiting = True
        await crew.lead(_run_primary, legs, crew)


async def _run_primary(legs: Legs[T], crew: Crew) -> None:
    ending = await legs.run(_PRIMARY)
    if legs.winner is None:
        legs.halted = legs.halts(ending)
        if not legs.triggers(ending):
            legs.stands = ending.outcome in _STANDING
        elif not legs.started(_BACKUP):
            legs.log.fallback_fired = True
            legs.open(_BACKUP, "backup")
            await legs.run(_BACKUP)
    if legs.over:
        crew.dismiss()


async def _run_hedge(legs: Legs[T], crew: Crew) -> None:
    if legs.over or legs.started(_BACKUP) or crew.forsaken() or not legs.silent(_PRIMARY):
        return
    if not legs.worth_starting(_BACKUP):
        return
    legs.log.hedge_fired = True
    legs.open(_BACKUP, "backup")
    await legs.run(_BACKUP)
    if legs.winner == _BACKUP:
        legs.supersede(_PRIMARY)
        crew.dismiss()
