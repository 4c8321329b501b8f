"""Scripted engines: each call takes the next behaviour of its script, and the engine remembers what became of it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import Enum
from typing import cast

import anyio
import anyio.lowlevel
import attrs
import trio
from trio.testing import MockClock

from decide import (
    AttemptLog,
    ChoiceAnswer,
    ChoiceQuestion,
    Decision,
    ModuleSpec,
    Request,
    Scored,
    ScoreRequest,
    ScoreResult,
    Taxonomy,
    Usage,
)
from tests.virtual_time import AutojumpLoop

TAXONOMY = Taxonomy(modules=[ModuleSpec(name="billing", intents=["refund", "invoice"])])
REQUEST = Request(text="I want my money back", taxonomy=TAXONOMY)
QUESTIONS = ScoreRequest(
    text="I want my money back", questions={"team": ChoiceQuestion("Which team?", {"billing": None, "other": None})}
)


class Says(Enum):
    """What an engine says, whether it is asked to decide or to answer questions."""

    YES = "yes"
    UNSURE = "unsure"
    NOTHING = "nothing"
    NONSENSE = "nonsense"


def decision(confidence: float = 0.95, *, intent: str = "refund") -> Decision:
    return Decision(
        module=Scored("billing", confidence),
        intent=Scored(intent, confidence),
        interaction="command",
        interaction_confidence=confidence,
        scores={f"billing/{intent}": confidence, "billing/invoice": (1 - confidence) / 2},
        calibrated=True,
        model="model-1",
    )


def result(probability: float = 0.95, *, usage: Usage | None = None, unknown: bool = False) -> ScoreResult:
    answer = ChoiceAnswer(
        probabilities={} if unknown else {"billing": probability, "other": 1 - probability},
        confidence=None if unknown else probability,
        unknown=unknown,
        calibrated=True,
    )
    return ScoreResult(engine="its own name", model="model-1", usage=usage, answers={"team": answer})


_DECISIONS: dict[Says, Decision | None] = {
    Says.YES: decision(),
    Says.UNSURE: decision(0.45),
    Says.NOTHING: None,
    Says.NONSENSE: decision(intent="unheard-of"),
}
_RESULTS: dict[Says, ScoreResult] = {
    Says.YES: result(),
    Says.UNSURE: result(0.45),
    Says.NOTHING: result(unknown=True),
    Says.NONSENSE: result(7.0),
}

Behaviour = Callable[[], Awaitable[object]]


def answers(says: object = Says.YES, *, after: float = 0.0) -> Behaviour:
    """Answer after a while; at once means without a single await."""

    async def behave() -> object:
        if after:
            await anyio.sleep(after)
        return says

    return behave


def abstains(*, after: float = 0.0) -> Behaviour:
    return answers(Says.NOTHING, after=after)


def fails(error: BaseException | type[BaseException], *, after: float = 0.0) -> Behaviour:
    async def behave() -> object:
        if after:
            await anyio.sleep(after)
        raise error

    return behave


def hangs() -> Behaviour:
    return answers(after=10**6)


def steps(awaits: int, then: Behaviour | None = None) -> Behaviour:
    """Reach so many scheduling points before the rest of the behaviour."""

    async def behave() -> object:
        for _ in range(awaits):
            await anyio.lowlevel.checkpoint()
        return await (then or answers())()

    return behave


def shields(behaviour: Behaviour) -> Behaviour:
    """Let nobody cancel it."""

    async def behave() -> object:
        with anyio.CancelScope(shield=True):
            return await behaviour()
        raise AssertionError("a scope that nobody cancels swallows nothing")

    return behave


def swallows(then: Behaviour | None = None) -> Behaviour:
    """Hang until cancelled, and then go on all the same, out of reach of further cancelling."""

    async def behave() -> object:
        with suppress(anyio.get_cancelled_exc_class()):
            await anyio.sleep_forever()
        return await shields(then or answers())()

    return behave


def cleans_up(seconds: float, *, after: Behaviour | None = None, error: BaseException | None = None) -> Behaviour:
    """Hang (or behave) and take so long to let go when cancelled, perhaps only to fail."""

    async def behave() -> object:
        try:
            return await (after or hangs())()
        except anyio.get_cancelled_exc_class() as cancelled:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(seconds)
            raise error or cancelled from None

    return behave


def blocks(seconds: float, then: Behaviour | None = None) -> Behaviour:
    """Hold the thread, and so the whole loop, as a sleep that is not awaited does."""

    async def behave() -> object:
        block(seconds)
        return await (then or answers())()

    return behave


def block(seconds: float) -> None:
    """Let virtual time pass without letting anybody else run."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        clock = trio.lowlevel.current_clock()
        assert isinstance(clock, MockClock)
        clock.jump(seconds)
    else:
        assert isinstance(loop, AutojumpLoop)
        loop.jump(seconds)


@attrs.define
class Call:
    """One call as the engine saw it. It ended with `answered`, `raised` or `cancelled`; empty while it runs."""

    started: float
    ended: float | None = None
    end: str = ""


class Engine:
    """An engine that decides and answers questions as its script says; the last behaviour repeats."""

    def __init__(
        self,
        name: str,
        *script: Behaviour,
        timeout: float | None = None,
        deterministic: bool = False,
        exclusive: bool = False,
    ) -> None:
        self._script = script or (answers(),)
        self.name = name
        self.decision_timeout = timeout
        self.deterministic = deterministic
        self.exclusive = exclusive
        self.calls: list[Call] = []

    async def decide(self, request: Request) -> Decision | None:
        said = await self._behave()
        return _DECISIONS[said] if isinstance(said, Says) else cast("Decision | None", said)

    async def score(self, request: ScoreRequest) -> ScoreResult:
        said = await self._behave()
        return _RESULTS[said] if isinstance(said, Says) else cast("ScoreResult", said)

    @property
    def running(self) -> int:
        return sum(call.ended is None for call in self.calls)

    def ends(self) -> list[str]:
        return [call.end for call in self.calls]

    async def _behave(self) -> object:
        behaviour = self._script[min(len(self.calls), len(self._script) - 1)]
        call = Call(anyio.current_time())
        self.calls.append(call)
        try:
            said = await behaviour()
            call.end = "answered"
            return said
        except anyio.get_cancelled_exc_class():
            call.end = "cancelled"
            raise
        except BaseException:
            call.end = "raised"
            raise
        finally:
            call.ended = anyio.current_time()


class TracedEngine(Engine):
    """An engine that writes its own attempt, with what it cost."""

    usage = Usage(input_tokens=10, output_tokens=2)

    async def decide_traced(self, request: Request, log: AttemptLog) -> Decision | None:
        with log.attempt(self.name) as attempt:
            found = await self.decide(request)
            attempt.usage = self.usage
            return found

    async def score_traced(self, request: ScoreRequest, log: AttemptLog) -> ScoreResult:
        with log.attempt(self.name) as attempt:
            found = await self.score(request)
            attempt.usage = self.usage
            return found


class DecidingOnly:
    """An engine that cannot answer questions."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def decide(self, request: Request) -> Decision | None:
        return decision()


class ScoringOnly:
    """An engine that cannot decide."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def score(self, request: ScoreRequest) -> ScoreResult:
        return result()


class Clock:
    """A clock for breakers and budgets that moves when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now
