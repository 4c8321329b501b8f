"""One engine under one timer, judged by a policy."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from decide.compose._combinator import DEFAULT_TIMEOUT, Combinator
from decide.compose._settle import Legs
from decide.policies import SelectionPolicy
from decide.providers import AnyProvider

T = TypeVar("T")


class Single(Combinator):
    """
    Ask one engine, under its own timeout, and judge what it says.

    Args:
        engine: The engine.
        name: What traces call it; by default made from the engine's name.
        policy: Judges the answer; without one it is passed on as it comes.
        default_timeout: Seconds the engine has if it declares no `decision_timeout`.

    Raises:
        ValueError: If *default_timeout* is not above 0.
    """

    strategy: ClassVar[str] = "single"

    def __init__(
        self,
        engine: AnyProvider,
        *,
        name: str = "",
        policy: SelectionPolicy | None = None,
        default_timeout: float = DEFAULT_TIMEOUT,
    ) -> None:
        super().__init__([engine], name=name, policy=policy, default_timeout=default_timeout)

    async def _run(self, legs: Legs[T]) -> None:
        legs.open(0, "primary")
        await legs.run(0)
