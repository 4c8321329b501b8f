"""What an engine implements, and how one is made ready once instead of being looked at on every call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeGuard

import attrs

from decide.answers import ScoreResult
from decide.attempt_log import AttemptLog
from decide.decisions import Decision
from decide.policies import SelectionPolicy
from decide.questions import ScoreRequest
from decide.requests import Request


class Provider(Protocol):
    """
    An engine that decides.

    Optional attributes, read once when the engine is put to use: `decision_timeout: float | None`, the seconds it
    needs; `deterministic: bool`, no model is
    involved; `exclusive: bool`, it can answer one question at a time.
    """

    @property
    def name(self) -> str:
        """
        What traces call the engine.
        """
        ...

    async def decide(self, request: Request, /) -> Decision | None:
        """
        Return a decision, or None to abstain. Raise to fail.
        """
        ...


class TracedProvider(Provider, Protocol):
    """
    An engine that writes its own attempts: usage, tries, or the engines below it.
    """

    async def decide_traced(self, request: Request, log: AttemptLog, /) -> Decision | None:
        """
        As `decide`, writing into *log*.
        """
        ...


class ScoredProvider(Protocol):
    """
    An engine that answers questions.
    """

    @property
    def name(self) -> str:
        """
        What traces call the engine.
        """
        ...

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        """
        Return an answer to every question, an explicit unknown where there is none. Raise to fail.
        """
        ...


class TracedScorer(ScoredProvider, Protocol):
    """
    An engine that answers questions and writes its own attempts.
    """

    async def score_traced(self, request: ScoreRequest, log: AttemptLog, /) -> ScoreResult:
        """
        As `score`, writing into *log*.
        """
        ...


AnyProvider = Provider | ScoredProvider
DecideCall = Callable[[Request, AttemptLog], Awaitable[Decision | None]]
ScoreCall = Callable[[ScoreRequest, AttemptLog], Awaitable[ScoreResult]]


@attrs.frozen(kw_only=True)
class Engine:
    """
    An engine made ready: every question about its shape is answered.

    Attributes:
        name: What traces call it.
        timeout: Seconds it declares to need; None when it does not say.
        deterministic: No model is involved.
        layers: Combinators and wrappers of ours on the longest path from here down; 0 for an engine that is none.
        exclusives: The identity of every engine in here that answers one question at a time.
        decide: How to have it decide; None when it cannot.
        score: How to have it answer questions; None when it cannot.
        traced: It writes into the log itself.
        retries: Somewhere in here a call is tried again.
        policy: The strictest policy that judges in here; None when none does.
    """

    name: str
    timeout: float | None
    deterministic: bool
    layers: int
    exclusives: frozenset[int]
    decide: DecideCall | None
    score: ScoreCall | None
    traced: bool
    retries: bool
    policy: SelectionPolicy | None


def adapt(engine: AnyProvider) -> Engine:
    """
    Make *engine* ready.

    Raises:
        TypeError: If it has no name, or neither `decide` nor `score`.
        ValueError: If its `decision_timeout` is not a positive number of seconds.
    """
    if isinstance(engine, type):
        raise TypeError(f"{engine.__name__} is a class: pass an engine made of it")
    name = getattr(engine, "name", None)
    if not isinstance(name, str):
        raise TypeError(f"{type(engine).__name__} is no engine: it needs a `name` and an async `decide` or `score`")
    decide, score = _decide_call(engine), _score_call(engine)
    if decide is None and score is None:
        raise TypeError(f"{type(engine).__name__} is no engine: it needs an async `decide` or `score`")
    timeout = getattr(engine, "decision_timeout", None)
    if timeout is not None and not timeout > 0:
        raise ValueError(f"engine {name!r}: decision_timeout must be above 0 seconds, or None")
    exclusives: frozenset[int] = getattr(engine, "_exclusives", frozenset())
    return Engine(
        name=name,
        timeout=timeout,
        deterministic=bool(getattr(engine, "deterministic", False)),
        layers=getattr(engine, "_layers", 0),
        exclusives=exclusives | {id(engine)} if getattr(engine, "exclusive", False) else exclusives,
        decide=decide,
        score=score,
        policy=policy if isinstance(policy := getattr(engine, "policy", None), SelectionPolicy) else None,
        retries=getattr(engine, "_retries", False),
        traced=hasattr(engine, "decide_traced") or hasattr(engine, "score_traced"),
    )


def _decide_call(engine: object) -> DecideCall | None:
    if _traces_decisions(engine):
        return engine.decide_traced
    if _decides(engine):
        plain = engine.decide
        return lambda request, _: plain(request)
    return None


def _score_call(engine: object) -> ScoreCall | None:
    if _traces_scores(engine):
        return engine.score_traced
    if _scores(engine):
        plain = engine.score
        return lambda request, _: plain(request)
    return None


def _traces_decisions(engine: object) -> TypeGuard[TracedProvider]:
    return callable(getattr(engine, "decide_traced", None))


def _decides(engine: object) -> TypeGuard[Provider]:
    return callable(getattr(engine, "decide", None))


def _traces_scores(engine: object) -> TypeGuard[TracedScorer]:
    return callable(getattr(engine, "score_traced", None))


def _scores(engine: object) -> TypeGuard[ScoredProvider]:
    return callable(getattr(engine, "score", None))
