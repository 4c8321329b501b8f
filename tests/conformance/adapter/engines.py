"""Scripted engines: each call plays one step of a script, on the clock of the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio

from decide import (
    AttemptLog,
    AuthError,
    BudgetError,
    Decision,
    EngineError,
    EngineTimeoutError,
    InvalidRequestError,
    MisconfiguredError,
    QuotaError,
    Request,
    ScoreRequest,
    ScoreResult,
    UnavailableError,
    UnsupportedError,
    deterministic,
)
from decide.errors import DecideError, Kind, kinds_of, walk
from tests.conformance.adapter import reading

Doc = dict[str, Any]


class CanceledError(EngineError):
    """
    What a scripted engine of kind `canceled` raises: no cancellation, only an error that says so.
    """


class NoEngineError(EngineError):
    """
    What a scripted engine of kind `no_engine` raises.
    """


_ERRORS: dict[str, Callable[[str], DecideError]] = {
    "unavailable": UnavailableError,
    "unsupported": UnsupportedError,
    "invalid_request": InvalidRequestError,
    "auth": AuthError,
    "quota": QuotaError,
    "budget": BudgetError,
    "misconfigured": MisconfiguredError,
    "deadline": EngineTimeoutError,
    "canceled": CanceledError,
    "no_engine": NoEngineError,
}
_CLASSES = {
    "unavailable": Kind.UNAVAILABLE,
    "unsupported": Kind.UNSUPPORTED,
    "invalid_request": Kind.REJECTED,
    "auth": Kind.AUTH,
    "quota": Kind.QUOTA,
    "budget": Kind.BUDGET,
    "misconfigured": Kind.MISCONFIGURED,
    "deadline": Kind.TIMEOUT,
}


def error_of(script: Doc) -> EngineError:
    """
    Build one error that carries every kind of the script, through its explicit causes.
    """
    error = EngineError(script.get("text", ""))
    if "retryAfterMs" in script:
        error.retry_after = script["retryAfterMs"] / 1000
    last: BaseException = error
    for kind in script.get("kinds") or ():
        last.__cause__ = _ERRORS[kind](kind)
        last = last.__cause__
    return error


def classes(error: BaseException) -> list[str]:
    """
    Name the classes that an error matches, in the order of the reference.
    """
    kinds, found = kinds_of(error), list(walk(error))
    named = [name for name, kind in _CLASSES.items() if kind in kinds]
    named += ["canceled"] if any(isinstance(one, CanceledError) for one in found) else []
    return named + (["no_engine"] if any(isinstance(one, NoEngineError) for one in found) else [])


class Scripted:
    """
    An engine that decides as its script says.
    """

    def __init__(self, node: Doc) -> None:
        self._name: str = node["name"]
        self._steps: list[Doc] = node.get("steps") or [{}]
        self.calls = 0
        self.decision_timeout: float | None = node["timeoutMs"] / 1000 if node.get("timeoutMs") else None
        self.deterministic: bool = node.get("isDeterministic", False)

    @property
    def name(self) -> str:
        return self._name

    async def decide(self, request: Request, /) -> Decision | None:
        return await self._play_decision(None)

    async def _play_decision(self, log: AttemptLog | None) -> Decision | None:
        step = await self._played(log)
        if "decision" not in step:
            return None
        decision = reading.decision(step["decision"])
        if step.get("deterministic"):
            decision = deterministic(decision)
        return reading.policy(step["judgedBy"]).judge(decision)[0] if "judgedBy" in step else decision

    async def _play_score(self, log: AttemptLog | None) -> ScoreResult:
        return reading.score_result((await self._played(log)).get("result") or {})

    async def _played(self, log: AttemptLog | None) -> Doc:
        """
        Play the next step up to what it returns.
        """
        step = self._steps[min(self.calls, len(self._steps) - 1)]
        self.calls += 1
        with anyio.CancelScope(shield=step.get("ignoreCancel", False)):
            await anyio.sleep(step.get("latencyMs", 0) / 1000)
        if log is not None and "report" in step:
            log.include(reading.report(step["report"]))
        if step.get("hang"):
            await anyio.sleep_forever()
        if "error" in step:
            raise error_of(step["error"])
        return step


class Traced(Scripted):
    """
    A scripted engine that also reports about itself.
    """

    async def decide_traced(self, request: Request, log: AttemptLog, /) -> Decision | None:
        return await self._play_decision(log)


class Scoring(Scripted):
    """
    A scripted engine that also answers questions.
    """

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        return await self._play_score(None)


class TracedScoring(Traced, Scoring):
    """
    A scripted engine that does both and reports about itself.
    """

    async def score_traced(self, request: ScoreRequest, log: AttemptLog, /) -> ScoreResult:
        return await self._play_score(log)


def scripted(node: Doc) -> Scripted:
    """
    Build the engine of a node, with the methods it asks for.
    """
    if node.get("traced"):
        return TracedScoring(node) if node.get("scored") else Traced(node)
    return Scoring(node) if node.get("scored") else Scripted(node)
