"""Breakers, budgets and turns that keep a record of what they did, so that it can be checked afterwards."""

from __future__ import annotations

from typing import Any, TypeVar

import anyio
import attrs

from decide import Provider
from decide._legs import Asking
from decide.attempt_log import AttemptLog
from decide.compose import Breaker, Budget, Turns
from decide.compose._circuit import Circuit, Ticket, Verdict
from decide.errors import UnavailableError
from tests.soak.engines import EngineCall, SoakEngine

T = TypeVar("T")


class WatchedBreaker(Breaker):
    """A breaker that writes down what it let through, what it refused and what became of it."""

    def __init__(self, engine: Provider, **settings: Any) -> None:
        self.changes: list[tuple[str, str]] = []
        self.under_way: list[Ticket] = []
        super().__init__(
            engine, clock=anyio.current_time, on_change=lambda _, *change: self.changes.append(change), **settings
        )
        self._replayed = attrs.evolve(self._circuit)

    def _admit(self) -> Ticket:
        now = self._clock()
        try:
            ticket = super()._admit()
        except UnavailableError:
            self._expect(self._replayed.admit(now), None)
            raise
        self._expect(self._replayed.admit(now), ticket)
        self.under_way.append(ticket)
        return ticket

    def _settle(self, ticket: Ticket, verdict: Verdict, retry_after: float) -> None:
        now = self._clock()
        super()._settle(ticket, verdict, retry_after)
        self.under_way.remove(ticket)
        self._replayed.settle(ticket, verdict, now, retry_after)

    def _expect(self, replayed: Ticket | None, real: Ticket | None) -> None:
        if replayed != real:
            raise AssertionError(f"breaker {self.name}: let {real} through where the replay lets {replayed}")

    def problems(self) -> list[str]:
        """Say what is wrong now that nothing runs."""
        found = []
        if self.under_way:
            found.append(f"breaker {self.name}: {len(self.under_way)} calls let through and never settled")
        if _standing(self._circuit) != _standing(self._replayed):
            found.append(f"breaker {self.name}: {_standing(self._circuit)}, replayed {_standing(self._replayed)}")
        if self._circuit._probing:
            found.append(f"breaker {self.name}: a probe never came back")
        states = ["closed", *[after for _, after in self.changes]]
        if [before for before, _ in self.changes] != states[:-1] or states[-1] != self.state:
            found.append(f"breaker {self.name}: told {self.changes}, stands at {self.state}")
        return found


def _standing(circuit: Circuit) -> tuple[object, ...]:
    return circuit.state, circuit.failures, circuit.slow, circuit._generation, circuit._closed_until


class WatchedBudget(Budget):
    """A budget that is told by the engines below it which calls it has to count."""

    def __init__(self, engine: Provider, below: list[SoakEngine], **settings: Any) -> None:
        super().__init__(engine, clock=anyio.current_time, **settings)
        self._below = below
        self._due = 0
        self._unsure = 0

    async def _guard(self, asking: Asking[T], log: AttemptLog) -> T | None:
        text: str = asking.request.text  # type: ignore[attr-defined] # all that asks in here holds a request
        before = [len(engine.calls.get(text, ())) for engine in self._below]
        try:
            answer = await super()._guard(asking, log)
        except BaseException as error:
            made = self._made(text, before)
            self._due += any(not call.called_off for call in made)
            # An engine that refused while its caller gave up may be told as cancelled.
            self._unsure += bool(made) and all(call.called_off for call in made) and not isinstance(error, Exception)
            raise
        self._due += 1
        return answer

    def _made(self, text: str, before: list[int]) -> list[EngineCall]:
        return [
            call for engine, old in zip(self._below, before, strict=True) for call in engine.calls.get(text, [])[old:]
        ]

    def problems(self) -> list[str]:
        """Say what is wrong now that nothing runs. What a window has forgotten cannot be counted again."""
        used = self._window.used
        if self._window.per is None and not self._due <= used <= self._due + self._unsure:
            return [f"budget {self.name}: {used} units used for {self._due} calls that reached an engine"]
        if not 0 <= used <= self._window.max_calls:
            return [f"budget {self.name}: {used} of {self._window.max_calls} units used"]
        return []


class WatchedTurns(Turns):
    """Turns that count how many are inside."""

    def __init__(self, engine: Provider, *, at_once: int, wait: float) -> None:
        super().__init__(engine, at_once=at_once, wait=wait)
        self._at_once = at_once
        self._inside = 0
        self._most = 0

    async def _ask(self, asking: Asking[T], log: AttemptLog) -> T | None:
        self._inside += 1
        self._most = max(self._most, self._inside)
        try:
            return await super()._ask(asking, log)
        finally:
            self._inside -= 1

    def problems(self) -> list[str]:
        """Say what is wrong now that nothing runs."""
        found = []
        if self._most > self._at_once or self._inside:
            found.append(f"turns {self.name}: {self._most} at once of {self._at_once}, {self._inside} still inside")
        free = sum(self._queue.take_free() for _ in range(self._at_once + 1))
        for _ in range(free):
            self._queue.pass_on()
        if free != self._at_once:
            found.append(f"turns {self.name}: {free} of {self._at_once} turns free")
        return found
