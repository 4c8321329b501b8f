"""Engines that do anything an engine can do, decided by a seed, and remember what they did for whom."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import cast

import anyio
import attrs

from decide import (
    AttemptLog,
    AuthError,
    BusyError,
    Decision,
    EngineError,
    EngineTimeoutError,
    InvalidAnswerError,
    InvalidRequestError,
    MisconfiguredError,
    PolicyRefusalError,
    QuotaError,
    RateLimitedError,
    Request,
    ScoreRequest,
    ScoreResult,
    UnavailableError,
    UnsupportedError,
    Usage,
)
from decide.attempts import NOT_CALLED
from decide.errors import MEANINGS, kind_of
from tests.fakes import (
    Behaviour,
    Says,
    answers,
    blocks,
    cleans_up,
    decision,
    fails,
    hangs,
    result,
    shields,
    steps,
    swallows,
)

COST = Usage(input_tokens=10, output_tokens=1)
"""What every call truly costs, whether the engine says so or not."""

_DECISIONS = {
    Says.YES: decision(),
    Says.UNSURE: decision(0.3),
    Says.NOTHING: None,
    Says.NONSENSE: decision(intent="unheard-of"),
}
_RESULTS = {
    Says.YES: result(),
    Says.UNSURE: result(0.3),
    Says.NOTHING: result(unknown=True),
    Says.NONSENSE: result(7.0),
}


class FatalError(BaseException):
    """An exception that no `except Exception` sees."""


@attrs.define
class EngineCall:
    """One call as the engine saw it: how it ended is `answered`, `raised` or `cancelled`, empty while it runs."""

    end: str = ""
    said: object = None
    outcome: str = ""
    """What an attempt that ended in the error it raised is called."""
    fatal: bool = False

    @property
    def called_off(self) -> bool:
        """Whether it ended as if nobody had been called, which costs nothing."""
        return self.outcome in NOT_CALLED


@attrs.frozen
class Temper:
    """How often an engine fails, is odd about cancelling, and breaks every rule."""

    fails: float
    odd: float
    breaks: float = 0.002


TEMPERS = (
    Temper(fails=0.02, odd=0.0, breaks=0.0),
    Temper(fails=0.1, odd=0.05),
    Temper(fails=0.3, odd=0.15),
    Temper(fails=0.6, odd=0.3),
    Temper(fails=0.95, odd=0.2),
)

_ERRORS: tuple[Callable[[random.Random], Exception], ...] = (
    lambda dice: EngineError("x", http_status=dice.choice((408, 500, 502, 503, 504, 501, 404))),
    lambda dice: EngineError("x", http_status=503, retry_after=_wait(dice)),
    lambda dice: RateLimitedError("x", http_status=429, retry_after=_wait(dice)),
    lambda dice: EngineError("x", http_status=503, usage=COST),
    lambda _: _transient(),
    lambda _: ValueError("x"),
    lambda _: TimeoutError("its own"),
    lambda _: EngineTimeoutError("x"),
    lambda _: InvalidAnswerError("x"),
    lambda _: AuthError("x"),
    lambda _: QuotaError("x"),
    lambda _: MisconfiguredError("x"),
    lambda _: PolicyRefusalError("x"),
    lambda _: InvalidRequestError("x"),
    lambda _: UnsupportedError("x"),
    lambda _: BusyError("x"),
    lambda _: UnavailableError("x"),
    lambda _: ExceptionGroup("several", [ValueError("x"), ExceptionGroup("inner", [EngineError("x")])]),
)


def _wait(dice: random.Random) -> float:
    return dice.choice((0.0, 0.1, 0.7, 2.0, 30.0, 1e6))


def _transient() -> EngineError:
    error = EngineError("x")
    error.transient = True
    return error


class SoakEngine:
    """
    An engine whose behaviour follows from the seed, its name, the caller and the try, whatever else happens.

    The text of a request is the number of its call, so that an engine knows for whom it works.
    """

    def __init__(self, seed: str, name: str, temper: Temper, *, timeout: float | None, deterministic: bool) -> None:
        self._seed = seed
        self._temper = temper
        self.name = name
        self.decision_timeout = timeout
        self.deterministic = deterministic
        self.calls: dict[str, list[EngineCall]] = {}
        self.inside = 0
        self.most_inside = 0

    async def decide(self, request: Request) -> Decision | None:
        said = await self._behave(request.text)
        return _DECISIONS[said] if isinstance(said, Says) else cast("Decision | None", said)

    async def score(self, request: ScoreRequest) -> ScoreResult:
        said = await self._behave(str(request.text))
        return _RESULTS[said] if isinstance(said, Says) else cast("ScoreResult", said)

    async def _behave(self, text: str) -> object:
        calls = self.calls.setdefault(text, [])
        call = EngineCall()
        calls.append(call)
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        try:
            call.said = await self._behaviour(random.Random(f"{self._seed}/{self.name}/{text}/{len(calls)}"))()
            call.end = "answered"
            return call.said
        except anyio.get_cancelled_exc_class():
            call.end = "cancelled"
            raise
        except BaseException as error:
            call.end = "raised"
            call.fatal = _is_fatal(error)
            call.outcome = MEANINGS[kind_of(error)].outcome
            raise
        finally:
            self.inside -= 1

    def _behaviour(self, dice: random.Random) -> Behaviour:
        if dice.random() < self._temper.breaks:
            return dice.choice((fails(FatalError()), fails(BaseExceptionGroup("x", [FatalError()]), after=0.3)))
        behaviour = self._plain(dice)
        if dice.random() >= self._temper.odd:
            return behaviour
        seconds = dice.randrange(1, 25) / 10
        odd: list[Behaviour] = [
            shields(behaviour),
            swallows(behaviour),
            cleans_up(seconds, after=behaviour),
            cleans_up(seconds, after=behaviour, error=RuntimeError("in the clean-up")),
            blocks(seconds, behaviour),
            steps(dice.randrange(6), behaviour),
        ]
        if on_asyncio():
            odd.append(fails(asyncio.CancelledError(), after=seconds))
        return dice.choice(odd)

    def _plain(self, dice: random.Random) -> Behaviour:
        # Tenths of a second, as all timeouts and delays are, so that much happens at the same instant.
        after = dice.choice((0.0, 0.0, 0.1, 0.2, dice.randrange(1, 25) / 10))
        if dice.random() >= self._temper.fails:
            return answers(dice.choices((Says.YES, Says.UNSURE, Says.NOTHING), (8, 1, 1))[0], after=after)
        kind = dice.random()
        if kind < 0.2:
            return hangs()
        if kind < 0.4:
            return fails(EngineError("x", http_status=503), after=after)
        if kind < 0.5:
            return answers(dice.choice((Says.NONSENSE, {"module": "billing"}, 7)), after=after)
        return fails(dice.choice(_ERRORS)(dice), after=after)


class TracedSoakEngine(SoakEngine):
    """An engine that writes its own attempt, and what an answer of it cost."""

    async def decide_traced(self, request: Request, log: AttemptLog) -> Decision | None:
        with log.attempt(self.name) as attempt:
            log.engine = self.name
            found = await self.decide(request)
            attempt.usage = COST
            return found

    async def score_traced(self, request: ScoreRequest, log: AttemptLog) -> ScoreResult:
        with log.attempt(self.name) as attempt:
            log.engine = self.name
            found = await self.score(request)
            attempt.usage = COST
            return found


def _is_fatal(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(_is_fatal(member) for member in error.exceptions)
    return isinstance(error, FatalError)


def on_asyncio() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
