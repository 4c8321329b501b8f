"""All engines at once: the first to decide wins."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, TypeVar

from decide.compose._combinator import DEFAULT_TIMEOUT, Combinator
from decide.compose._fail_over import FAIL_OVER, checked
from decide.compose._inline import muster
from decide.compose._settle import Legs
from decide.compose._tasks import Crew
from decide.policies import SelectionPolicy
from decide.providers import AnyProvider

T = TypeVar("T")


class Race(Combinator):
    """
    Ask all engines at once. The first to decide wins and the others are cancelled.

    An engine that fails, abstains or is unsure wins nothing, however fast it is. Every engine is billed for every
    question. One with a spent allowance or a broken setting ends the race, because a person has to see it.

    Args:
        engines: One or more engines.
        fail_over: The endings after which the others run on, as for `Fallback`; adding `quota` is what makes a
            difference here.
        name: What traces call it; by default made from the engines' names.
        policy: Judges every answer; without one the first answer wins.
        default_timeout: Seconds an engine has that declares no `decision_timeout`.

    Raises:
        ValueError: If there is no engine, two share a name, or a setting is out of range.
    """

    strategy: ClassVar[str] = "race"

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

    async def _run(self, legs: Legs[T]) -> None:
        crew = legs.crew = muster()
        for index in range(len(legs)):
            legs.open(index, "racer")
        for index in range(1, len(legs)):
            crew.start(_run_racer, legs, index, crew)
        await crew.lead(_run_racer, legs, 0, crew)


async def _run_racer(legs: Legs[T], index: int, crew: Crew) -> None:
    ending = await legs.run(index)
    legs.halted = legs.halted or legs.halts(ending)
    if legs.over:
        crew.dismiss()
