"""A chain of engines in order, the stops between them, and the three ways it can end."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from enum import StrEnum
from typing import NoReturn, TypeVar

import anyio.lowlevel
import attrs

from decide._askings import Scoring, refuse_invalid
from decide._chain_askings import ChainDeciding, ChainScoring
from decide._chain_judging import Judge
from decide._checks import positive_seconds
from decide._legs import Asking, Ending, run_leg
from decide._runs import Run, tell
from decide.answers import ScoreResult
from decide.decisions import Decision
from decide.errors import DecideError, Kind, UndecidedError
from decide.outcomes import AttemptOutcome
from decide.policies import SelectionPolicy, strictest
from decide.providers import AnyProvider, Engine, adapt
from decide.questions import ScoreRequest
from decide.requests import Request
from decide.taxonomy import Taxonomy
from decide.traces import Observer, Trace

T = TypeVar("T", Decision, ScoreResult)


class StopPolicy(StrEnum):
    """
    What a chain does when an engine ends in a way that a person has to see.
    """

    STOP = "stop"
    FALL_THROUGH = "fall_through"


@attrs.frozen(kw_only=True)
class Decided:
    """
    The chain decided.

    Attributes:
        decision: The decision, always actionable; None after `score`.
        result: The accepted result, whose selections say what may be acted on; None after `decide`.
        trace: Every attempt.
    """

    decision: Decision | None = None
    result: ScoreResult | None = None
    trace: Trace

    def require(self) -> Decision | ScoreResult:
        """
        Return what was asked for.
        """
        found = self.result if self.decision is None else self.decision
        if found is None:
            raise UndecidedError("the chain decided nothing", trace=self.trace)
        return found


@attrs.frozen(kw_only=True)
class Undecided:
    """
    No engine of the chain gave an answer that may be acted on.

    Attributes:
        kept: The answer that came closest, when the chain keeps those; never actionable.
        errors: What its engines raised, in their order, to be looked at by a person: whatever an engine put into an
            exception is in there, so it is neither chained to an error of ours nor part of the trace.
        trace: Every attempt; `trace.outage` tells an outage from a lack of opinion.
    """

    kept: Decision | ScoreResult | None = None
    errors: tuple[BaseException, ...] = attrs.field(default=(), repr=False)
    trace: Trace

    def require(self) -> NoReturn:
        """
        Raise, because there is nothing to return.

        Raises:
            UndecidedError: Always, with the trace.
        """
        raise UndecidedError(f"nothing decided: {self.trace.summary}", trace=self.trace, errors=self.errors)


@attrs.frozen(kw_only=True)
class Stopped:
    """
    An engine ended in a way that a person has to see, so the engines after it were not asked.

    Attributes:
        error: What the engine ended with.
        trace: Every attempt; `trace.stopped_by` says which kind.
    """

    error: DecideError
    trace: Trace

    def require(self) -> NoReturn:
        """
        Raise the error that stopped the chain.
        """
        raise self.error


Ended = Decided | Undecided | Stopped


class Chain:
    """
    Ask engines in order until one decides.

    An engine that fails, abstains or is unsure is passed over. A spent allowance or a broken setting stops the chain,
    because going on would hide it or cost money.

    Args:
        providers: The engines, the preferred first. An empty chain is legal and undecided.
        min_confidence: Without a policy, the least confidence in module and intent; None accepts any.
        timeout: Seconds each engine has that does not declare its own `decision_timeout`.
        policy: Judges every decision; without one, `min_confidence` and the bars for side effects do.
        keep_non_selected: Return the first answer that a policy does not let act, the chain's own or that of a
            combinator in it, marked as such, instead of asking on. What is below `min_confidence` is never kept.
        stop_on_quota: Whether a spent quota or budget stops the chain.
        stop_on_misconfigured: Whether a broken setting stops the chain.
        observers: Called with the trace of every run, also of a cancelled one.

    Raises:
        ValueError: If a number is out of range.
        TypeError: If a provider is no engine.
    """

    def __init__(
        self,
        providers: Iterable[AnyProvider],
        *,
        min_confidence: float | None = 0.7,
        timeout: float = 1.5,
        policy: SelectionPolicy | None = None,
        keep_non_selected: bool = False,
        stop_on_quota: StopPolicy = StopPolicy.STOP,
        stop_on_misconfigured: StopPolicy = StopPolicy.STOP,
        observers: Iterable[Observer] = (),
    ) -> None:
        if not isinstance(providers, Iterable):
            raise TypeError(f"providers are a list of engines, got {type(providers).__name__}: put it in a list")
        self._engines = tuple(adapt(provider) for provider in providers)
        self._judge = Judge(policy=policy, floor=min_confidence, keep=keep_non_selected)
        self._timeout = positive_seconds("timeout", timeout)
        self._stops = _stops(quota=StopPolicy(stop_on_quota), misconfigured=StopPolicy(stop_on_misconfigured))
        self._observers = tuple(observers)
        if any(inspect.iscoroutinefunction(observer) for observer in self._observers):
            raise TypeError("an observer is a plain function: a coroutine function would never be awaited")

    @property
    def policy(self) -> SelectionPolicy | None:
        """
        The policy that judges here; without one, the strictest of those that judge in the engines.
        """
        return self._judge.policy or strictest(engine.policy for engine in self._engines)

    async def decide(self, request: Request) -> Ended:
        """
        Ask the engines in order for a decision.

        Cancelled by the caller, it cancels what runs, tells the observers and lets the cancellation through.
        """
        run, trace = await self._run(ChainDeciding(request, self._judge))
        if run.stopped is not None:
            return _stopped(run.stopped, trace)
        if run.taken is None or run.taken.kept:
            return Undecided(kept=run.taken.answer if run.taken else None, errors=tuple(run.errors), trace=trace)
        return Decided(decision=run.taken.answer, trace=trace)

    async def score(self, request: ScoreRequest) -> Ended:
        """
        Ask the engines in order for answers to questions; those that only decide are passed over.

        Raises:
            InvalidRequestError: If no engine could answer the request.
        """
        refuse_invalid(request)
        asking = ChainScoring(Scoring(request, self._judge.policy), self._judge.keep)
        run, trace = await self._run(asking)
        if run.stopped is not None:
            return _stopped(run.stopped, trace)
        if run.taken is None or run.taken.kept:
            return Undecided(kept=run.taken.answer if run.taken else None, errors=tuple(run.errors), trace=trace)
        return Decided(result=run.taken.answer, trace=trace)

    def rejudge(self, decision: Decision, taxonomy: Taxonomy) -> Decision:
        """
        Judge a stored decision again, by this chain's bars. Read `actionable` of what is returned.

        A refusal that was stored stays one, and a rule's answer is judged as any other.
        """
        return self._judge.rejudge(decision, taxonomy)

    async def _run(self, asking: Asking[T]) -> tuple[Run[T], Trace]:
        run: Run[T] = Run(self._judge.policy)
        try:
            await anyio.lowlevel.checkpoint_if_cancelled()
            for engine in self._engines:
                if await self._leg(asking, engine, run):
                    break
        except BaseException:
            tell(self._observers, run.trace(cancelled=True))
            raise
        trace = run.trace()
        tell(self._observers, trace)
        return run, trace

    async def _leg(self, asking: Asking[T], engine: Engine, run: Run[T]) -> bool:
        """
        Ask one engine; say whether the chain ends with it.
        """
        log = run.leg(engine.name)
        ending = await run_leg(asking, engine, log, within=engine.timeout or self._timeout)
        if ending.error is not None:
            run.errors.append(ending.error)
        if ending.kind in self._stops:
            run.stopped = ending
        elif ending.outcome is AttemptOutcome.DECIDED:
            run.take(engine.name, log, ending)
        return run.stopped is not None or run.taken is not None


def _stops(*, quota: StopPolicy, misconfigured: StopPolicy) -> frozenset[Kind]:
    stops = {Kind.POLICY_REFUSAL}
    if quota is StopPolicy.STOP:
        stops |= {Kind.QUOTA, Kind.BUDGET}
    if misconfigured is StopPolicy.STOP:
        stops.add(Kind.MISCONFIGURED)
    return frozenset(stops)


def _stopped(ending: Ending[T], trace: Trace) -> Stopped:
    """
    Say what stopped the chain by an error of its own kind, even when it came wrapped in another.
    """
    error = ending.error
    if not (isinstance(error, DecideError) and type(error).kind is ending.kind):
        cause = error if isinstance(error, DecideError) else None
        error = trace.error or DecideError("chain stopped")
        error.__cause__ = cause
    error.trace = trace
    return Stopped(error=error, trace=trace)
