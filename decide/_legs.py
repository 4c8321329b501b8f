"""One leg: an engine called under one timer of ours, and every way it can end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

import anyio
import attrs

from decide._native import cancel_requests, heed
from decide.answers import Usage
from decide.attempt_log import AttemptLog
from decide.attempts import Attempt
from decide.deadlines import charged, current_budget
from decide.errors import (
    MEANINGS,
    DecideError,
    EngineError,
    EngineTimeoutError,
    InvalidAnswerError,
    Kind,
    UnsupportedError,
    detail_of,
    kind_of,
    stands_before,
)
from decide.outcomes import AttemptOutcome
from decide.providers import Engine
from decide.retry_after import retry_delay

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@attrs.define(kw_only=True)
class Ending(Generic[T_co]):
    """
    How a leg ended.

    Attributes:
        outcome: As it will be recorded.
        detail: In our own words.
        answer: What it answered, if that may be used.
        error: What it failed with.
        kind: What that means; None when it did not fail.
        usage: What it cost, as far as the answer or the error say.
        answered: Whether there was an answer to judge, usable or not.
        kept: The answer may not be acted on, and is taken all the same because the chain keeps such answers.
    """

    outcome: AttemptOutcome
    detail: str = ""
    answer: T_co | None = None
    error: BaseException | None = None
    kind: Kind | None = None
    usage: Usage | None = None
    answered: bool = False
    kept: bool = False


class Asking(Protocol[T]):
    """
    What is asked of a leg, and how its answer is judged: to decide, or to answer questions.
    """

    def call(self, engine: Engine) -> Callable[[AttemptLog], Awaitable[T | None]] | None:
        """
        Return how to ask *engine*, or None when it has no such operation.
        """
        ...

    def judge(self, answer: T | None) -> Ending[T]:
        """
        Return what to make of *answer*.
        """
        ...

    def usage(self, answer: T | None, /) -> Usage | None:
        """
        Return what *answer* says it cost.
        """
        ...

    def failed(self, error: Exception) -> Ending[T]:
        """
        Return what to make of an error.
        """
        ...


async def run_leg(asking: Asking[T], engine: Engine, log: AttemptLog, *, within: float) -> Ending[T]:
    """
    Ask *engine*, judge what it says, and settle its log, whichever way it ends.

    Args:
        asking: What to ask.
        engine: Whom.
        log: The leg's own log.
        within: Seconds until the leg is cut off.

    Returns:
        The ending. The engine's errors are in it; only cancellation by the caller, and exceptions that are no errors,
        are raised.
    """
    started = log.now()
    ending: Ending[T] = Ending(outcome=AttemptOutcome.CANCELLED)
    log.deadline = min(log.deadline, started + within)
    try:
        ending = await _ended(asking, engine, log)
    finally:
        log.settle(_attempt(engine, ending, started, log), answered=ending.answered)
    return ending


def _attempt(engine: Engine, ending: Ending[T], started: float, log: AttemptLog) -> Attempt:
    return Attempt(
        provider=engine.name,
        outcome=ending.outcome.value,
        detail=ending.detail,
        latency=max(0.0, log.now() - started - log.waited),
        role=log.role,
        usage=ending.usage,
        started=log.since_origin(started),
        waited=log.waited,
        tries=log.tries,
        dimension="time" if ending.kind is Kind.TIME else "",
        clipped=log.clipped and ending.kind is Kind.TIMEOUT,
    )


async def _ended(asking: Asking[T], engine: Engine, log: AttemptLog) -> Ending[T]:
    if asking.call(engine) is None:
        return failed(unsupported(engine))
    try:
        answer = await bounded(asking, engine, log)
    except Exception as error:  # noqa: BLE001 - whatever an engine raises is its ending, never the caller's exception
        return asking.failed(error)
    try:
        return asking.judge(answer)
    except Exception:  # noqa: BLE001 - an engine may return anything at all, and then no judge can read it
        return invalid("not an answer that can be read")


def unsupported(engine: Engine) -> UnsupportedError:
    """
    Return the error of an engine that has no such operation.
    """
    return UnsupportedError(f"engine {engine.name!r} has no such operation")


def failed(error: Exception) -> Ending[T]:
    """
    Return the ending that *error* means.
    """
    kind = kind_of(error)
    usage = error.usage if isinstance(error, DecideError) else None
    return Ending(outcome=MEANINGS[kind].outcome, detail=detail_of(error), error=error, kind=kind, usage=usage)


def invalid(detail: str, *, usage: Usage | None = None, answer: T | None = None) -> Ending[T]:
    """
    Return the ending of a leg whose answer is not an answer to what was asked.
    """
    error = InvalidAnswerError(detail, detail=detail)
    return Ending(
        outcome=AttemptOutcome.INVALID,
        detail=detail,
        answer=answer,
        error=error,
        kind=Kind.INVALID,
        usage=usage,
        answered=True,
    )


async def bounded(asking: Asking[T], engine: Engine, log: AttemptLog) -> T | None:
    """
    Ask *engine*, which gives its answer, or is cut off, by `log.deadline`.

    Only an engine that is none of ours gets a timer: whatever of ours lies in between ends because the engines below
    it do, so that their attempts are always reported, and one decision arms one clock.

    Raises:
        EngineTimeoutError: If the timer fired before an answer was handed over.
        UnsupportedError: If the engine has no such operation.
        TimeBudgetError: If there is too little time left to start.
        EngineError: If the engine cancelled itself.
        Exception: What the engine raised in time, or what outranks a timeout.
    """
    call = asking.call(engine)
    if call is None:
        raise unsupported(engine)
    if engine.layers:
        return await call(log)
    if engine.deterministic or current_budget() is None:
        return await _timed(asking, call, log)
    with charged() as until:
        log.clip(until)
        return await _timed(asking, call, log)


async def _timed(asking: Asking[T], call: Callable[[AttemptLog], Awaitable[T | None]], log: AttemptLog) -> T | None:
    requests = cancel_requests()
    log.reached = True
    answer: T | None = None
    failure: Exception | None = None
    scope = anyio.CancelScope(deadline=log.deadline)
    try:
        with scope:
            try:
                answer = await call(log)
            except BaseExceptionGroup as group:
                failure = _ungrouped(group)
            except Exception as error:  # noqa: BLE001 - told apart below, once it is known whether it came in time
                failure = error
    except anyio.get_cancelled_exc_class():
        # Not our timer's, or the scope had kept it. The caller's is raised again below; else the engine made it up.
        failure = _made_up()
    await heed(requests, log.given_up)
    try:
        if scope.cancel_called or log.now() >= log.deadline:
            raise _late(failure, asking.usage(answer), clipped=log.clipped)
        if failure is not None:
            raise failure
        return answer
    finally:
        # An error that this frame still named would keep the frame, and what the call was asked, until a collection.
        del failure


def _late(failure: Exception | None, usage: Usage | None, *, clipped: bool) -> Exception:
    """
    Return what to make of a leg whose timer fired first: only what a person has to see outranks the timeout.

    What a late answer or error is known to have cost, and the wait that it asks for, are kept.
    """
    if failure is not None and stands_before(kind_of(failure), Kind.TIMEOUT):
        return failure
    if isinstance(failure, DecideError):
        usage = failure.usage
    wait = None if failure is None else retry_delay(failure)
    timeout = EngineTimeoutError("no answer in time", usage=usage, retry_after=wait)
    timeout.clipped = clipped
    return timeout


def _made_up() -> EngineError:
    return EngineError("the engine cancelled itself", detail="cancelled itself")


def _ungrouped(group: BaseExceptionGroup[BaseException]) -> Exception:
    """
    Return one error that stands for a group an engine raised, so that no caller ever meets a group.

    Its members are the causes. Cancellations in it are left to those who asked for them.

    Raises:
        BaseException: The first member that is neither an error nor a cancellation, bare.
    """
    _, rest = group.split(anyio.get_cancelled_exc_class())
    if rest is None:
        return _made_up()
    errors, others = rest.split(Exception)
    if others is not None:
        raise _first_of(others) from None
    error = EngineError("the engine raised several errors", detail=type(group).__name__)
    error.__cause__ = errors
    return error


def _first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _first_of(first) if isinstance(first, BaseExceptionGroup) else first
