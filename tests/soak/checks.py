"""What must hold after every call, whatever the engines, the callers and the clock did."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from decide import Attempt, Decided, ScoreResult, Stopped, Trace, Undecided
from decide.attempts import NOT_CALLED
from decide.decisions import Decision, validate
from decide.outcomes import AttemptOutcome
from decide.results import validate_score_result
from tests.fakes import QUESTIONS, TAXONOMY, Says
from tests.soak.callers import Call
from tests.soak.engines import COST, EngineCall, SoakEngine
from tests.soak.worlds import World

_SLACK = 1e-6
_ALWAYS = {"timeout", "cancelled"}
_SAYING = {
    Says.YES: {"decided", "uncertain", "low_confidence"},
    Says.UNSURE: {
        "decided",
        "uncertain",
        "low_confidence",
        "invalid",
    },  # an option that is not the top contradicts itself
    Says.NOTHING: {"abstained"},
    Says.NONSENSE: {"invalid"},
}
_TAKEN = {"decided", "uncertain"}  # a chain may take what a stricter combinator in it was not sure of
_STOPS = {"quota", "budget", "misconfigured", "policy_refusal"}


@attrs.define
class Made:
    """
    One finished call beside what the engines saw of it.
    """

    world: World
    call: Call
    trace: Trace
    engine_calls: dict[str, list[EngineCall]]

    @classmethod
    def of(cls, world: World, call: Call, trace: Trace) -> Made:
        """Collect what the engines saw, which they may forget then."""
        seen = {name: engine.calls.pop(call.text, []) for name, engine in world.engines.items()}
        return cls(world, call, trace, seen)

    def problems(self) -> Iterator[str]:
        """Say everything that is wrong."""
        yield from self.call.problems
        yield from self._ending()
        yield from self._winner()
        for name, calls in self.engine_calls.items():
            attempts = [attempt for attempt in self.trace.attempts if attempt.provider == name]
            if any(not call.end for call in calls):
                yield f"{name} still runs after the call is over"
            yield from self._counts(name, calls, attempts)
            yield from self._truth(name, calls, attempts)
        for attempt in self.trace.attempts:
            yield from self._timing(attempt)
        yield from self._usage()

    def _ending(self) -> Iterator[str]:
        ways = [self.call.cancelled, self.call.fatal, self.call.ended is not None]
        if sum(ways) != 1:
            yield f"it was cancelled, fatal, returned: {ways}"
        if self.trace.cancelled != (self.call.ended is None):
            yield "the observer was told otherwise"
        fatal = any(call.fatal for calls in self.engine_calls.values() for call in calls)
        if fatal != self.call.fatal:
            yield f"an engine raised what is no error: {fatal}, its caller saw it: {self.call.fatal}"
        if self.call.ended is not None and self.call.ended.trace is not self.trace:
            yield "the observer got another trace than the caller"

    def _winner(self) -> Iterator[str]:
        ended = self.call.ended
        if isinstance(ended, Decided):
            answer: object = ended.decision or ended.result
            yield from self._valid(answer)
            if isinstance(answer, Decision) and not answer.actionable:
                yield "a decision that nobody may act on was returned as decided"
            if not any(one.provider == self.trace.engine and one.outcome in _TAKEN for one in self.trace.attempts):
                told = [(one.provider, one.outcome) for one in self.trace.attempts]
                yield f"no attempt of {self.trace.engine!r} decided: {told}"
            says = {call.said for call in self.engine_calls.get(self.trace.engine, []) if call.end == "answered"}
            if not says & {Says.YES, Says.UNSURE}:
                yield f"{self.trace.engine!r} is said to have decided and said {says}"
        if isinstance(ended, Undecided) and ended.kept is not None:
            yield from self._valid(ended.kept)
            if (isinstance(ended.kept, Decision) and ended.kept.actionable) or not self.world.keeps:
                yield "an answer was kept that should not be"
        if isinstance(ended, Stopped) and self.trace.stopped_by not in _STOPS:
            yield f"stopped by {self.trace.stopped_by!r}"

    def _valid(self, answer: object) -> Iterator[str]:
        if isinstance(answer, Decision):
            if validate(answer, TAXONOMY):
                yield "an invalid decision was returned"
        elif not isinstance(answer, ScoreResult) or validate_score_result(QUESTIONS, answer):
            yield "an invalid result was returned"

    def _counts(self, name: str, calls: list[EngineCall], attempts: list[Attempt]) -> Iterator[str]:
        """
        Compare the calls of an engine with its attempts: only one that says so may have reached nobody.
        """
        most = sum(attempt.tries for attempt in attempts)
        surely = most - sum(attempt.outcome in NOT_CALLED or attempt.outcome == "cancelled" for attempt in attempts)
        if not surely <= len(calls) <= most:
            told = [(attempt.outcome, attempt.tries) for attempt in attempts]
            yield f"{name} was called {len(calls)} times, and its attempts are {told}"
        if len(attempts) > 1 and not self.world.retries:
            yield f"{name} has {len(attempts)} attempts"
        called_off = sum(call.called_off for call in calls)
        hidden = sum(attempt.outcome in NOT_CALLED for attempt in attempts)
        if called_off > hidden + sum(attempt.outcome in {"cancelled", "error"} for attempt in attempts):
            yield f"{name} refused {called_off} times, which its attempts do not tell"

    def _truth(self, name: str, calls: list[EngineCall], attempts: list[Attempt]) -> Iterator[str]:
        """
        Compare the last attempt of an engine with how its last call ended.
        """
        if not calls or not attempts or attempts[-1].outcome in NOT_CALLED:
            return
        last, attempt = calls[-1], attempts[-1]
        possible = set(_ALWAYS)
        if last.end == "answered":
            possible |= _SAYING.get(last.said, {"invalid"}) if isinstance(last.said, Says) else {"invalid"}
        elif last.end == "raised":
            possible |= {last.outcome} | ({"error"} if last.called_off or self.call.fatal else set())
        else:
            possible.add("error")  # it may have cancelled itself
        if attempt.outcome not in possible:
            yield f"{name} {last.end} {last.said or last.outcome}, and its attempt is {attempt.outcome}"
        alone = self.trace.strategy == "" and len(self.trace.attempts) == 1
        if alone and attempt.outcome == AttemptOutcome.CANCELLED and self.call.ended is not None:
            yield f"{name} was cancelled by nobody"

    def _timing(self, attempt: Attempt) -> Iterator[str]:
        if attempt.latency < 0 or attempt.waited < 0 or attempt.started < 0 or attempt.tries < 1:
            yield f"impossible times: {attempt}"
        if attempt.started + attempt.waited + attempt.latency > self.call.seconds + _SLACK:
            yield f"an attempt took longer than the call of {self.call.seconds} s: {attempt}"
        if attempt.clipped and (attempt.outcome != "timeout" or self.call.budget is None):
            yield f"clipped by nobody: {attempt}"
        if attempt.dimension and (attempt.outcome != "budget" or self.call.budget is None):
            yield f"out of time that nobody limited: {attempt}"
        if attempt.outcome not in set(AttemptOutcome):
            yield f"no outcome: {attempt}"
        engine: SoakEngine | None = self.world.engines.get(attempt.provider)
        if engine is not None and engine.deterministic and (attempt.dimension or attempt.clipped):
            yield f"an engine without a model was held up: {attempt}"

    def _usage(self) -> Iterator[str]:
        calls = [call for calls in self.engine_calls.values() for call in calls if not call.called_off]
        told, true = self.trace.usage, COST.input_tokens * len(calls)
        if told.input_tokens > true or (told.exact and told.input_tokens != true):
            yield f"usage of {told.input_tokens} (exact: {told.exact}) where {true} was spent"
