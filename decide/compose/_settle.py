"""The legs of one call of a combinator: who was started, who ended how, and what all of that comes to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

import attrs

from decide._legs import Asking, Ending, run_leg
from decide.answers import ScoreResult
from decide.attempt_log import AttemptLog
from decide.compose._tasks import Crew
from decide.deadlines import enough_time
from decide.errors import MEANINGS, EngineError, Kind, NoAnswerError
from decide.outcomes import AttemptOutcome
from decide.providers import Engine

T = TypeVar("T")

_PRIMARY = 0


class Legs(Generic[T]):
    """
    Runs legs and remembers how they ended.

    Attributes:
        log: The combinator's own log.
        crew: Who runs the legs, when several run at once.
        winner: The index of the leg whose answer was accepted; it stays the winner whatever happens afterwards.
        stands: The primary ended without a usable answer in a way that no backup is asked about.
        halted: A leg ended in a way that goes to no further engine.
    """

    def __init__(
        self,
        asking: Asking[T],
        engines: Sequence[Engine],
        timeouts: Sequence[float],
        fail_over: frozenset[str],
        log: AttemptLog,
    ) -> None:
        self._asking = asking
        self._engines = engines
        self._timeouts = timeouts
        self._fail_over = fail_over
        self._logs: dict[int, AttemptLog] = {}
        self._endings: dict[int, Ending[T]] = {}
        self.log = log
        self.crew: Crew | None = None
        self.winner: int | None = None
        self.stands = False
        self.halted = False

    def __len__(self) -> int:
        return len(self._engines)

    @property
    def over(self) -> bool:
        """
        Whether the outcome is settled, so that whatever still runs may be cancelled.
        """
        return self.winner is not None or self.stands or self.halted

    def started(self, index: int) -> bool:
        """
        Say whether the leg was started.
        """
        return index in self._logs

    def silent(self, index: int) -> bool:
        """
        Say whether the leg has no answer yet; a combinator there that only waits for its losers has one.
        """
        return not self._logs[index].accepted_any()

    def worth_starting(self, index: int) -> bool:
        """
        Say whether the time that is left is enough for the leg; one that needs no model always has enough.
        """
        return self._engines[index].deterministic or enough_time()

    def open(self, index: int, role: str) -> AttemptLog:
        """
        Start the log of a leg, which is what makes it started.
        """
        log = self._logs[index] = self.log.child(self._engines[index].name, role)
        if (crew := self.crew) is not None:
            above = log.given_up
            log.given_up = lambda: crew.abandoned() or above()
        return log

    async def run(self, index: int) -> Ending[T]:
        """
        Run a leg whose log is open, to its end.
        """
        ending = await run_leg(self._asking, self._engines[index], self._logs[index], within=self._timeouts[index])
        self._endings[index] = ending
        if ending.outcome is AttemptOutcome.DECIDED and self.winner is None:
            self._accept(index, ending)
        return ending

    def _accept(self, index: int, ending: Ending[T]) -> None:
        self.winner = index
        self.log.accepted = True
        self._write_down(index, ending)

    def supersede(self, index: int) -> None:
        """
        Write down, before it is cancelled, that a leg was overtaken.
        """
        if index not in self._endings:
            self._logs[index].supersede()

    def triggers(self, ending: Ending[T]) -> bool:
        """
        Say whether *ending* starts the next engine. None is started without any time left, only to be cut off.
        """
        return self.log.now() < self.log.deadline and ending.outcome in self._fail_over

    def halts(self, ending: Ending[T]) -> bool:
        """
        Say whether *ending* goes to no further engine.
        """
        return ending.kind is not None and MEANINGS[ending.kind].halts and ending.outcome not in self._fail_over

    def conclude(self, name: str) -> T | None:
        """
        Return what the combinator answers, once nothing runs any more.

        Raises:
            NoAnswerError: If no leg answered and none abstained, or one ran into something a person has to see.
        """
        if self.winner is not None:
            return self._endings[self.winner].answer
        if not self.halted and not any(self._refused(ending) for ending in self._endings.values()):
            for outcome in (AttemptOutcome.UNCERTAIN, AttemptOutcome.ABSTAINED):
                for index, ending in self._in_order():
                    if ending.outcome is outcome and (index == _PRIMARY or not self.stands):
                        self._write_down(index, ending)
                        return ending.answer
        raise self._no_answer(name)

    def _refused(self, ending: Ending[T]) -> bool:
        return ending.kind is Kind.BUDGET or (self.halts(ending) and not self.stands)

    def _in_order(self) -> Iterator[tuple[int, Ending[T]]]:
        return iter(sorted(self._endings.items()))

    def _write_down(self, index: int, ending: Ending[T]) -> None:
        if ending.answer is None:
            return
        self.log.engine = self._logs[index].engine or self._engines[index].name
        self.log.model = getattr(ending.answer, "model", "")

    def _no_answer(self, name: str) -> NoAnswerError:
        lines = [
            f"{self._engines[index].name}: {ending.outcome}: {ending.detail}".removesuffix(": ")
            for index, ending in self._in_order()
        ]
        errors = [_error_of(ending) for _, ending in self._in_order()]
        return NoAnswerError("\n".join([f"{name}: no engine answered", *lines]), errors=errors)


def _error_of(ending: Ending[object]) -> BaseException:
    return ending.error or EngineError(ending.detail or ending.outcome.value)


def with_report(result: ScoreResult | None, log: AttemptLog) -> ScoreResult:
    """
    Return *result* under the name of the engine that gave it, with how the combinator came by it.

    Raises:
        NoAnswerError: If there is none.
    """
    if result is None:
        raise NoAnswerError("no engine answered")
    return attrs.evolve(result, engine=log.engine, report=log.report())
