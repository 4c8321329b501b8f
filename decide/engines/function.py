"""A function as an engine: async, or sync and then in a worker thread."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

import attrs

from decide.answers import Answer, ScoreResult
from decide.decisions import Decision
from decide.engines._setup import SetupError
from decide.errors import InvalidAnswerError
from decide.questions import ScoreRequest
from decide.requests import Request
from decide.threads import in_thread

T = TypeVar("T")

Decides = Callable[[Request], Decision | None] | Callable[[Request], Awaitable[Decision | None]]
Scored = ScoreResult | Mapping[str, Answer]
Scores = Callable[[ScoreRequest], Scored] | Callable[[ScoreRequest], Awaitable[Scored]]

MAX_THREADS: Final = 40
"""As many as anyio gives a whole program by default."""


@attrs.frozen
class _Blocking:
    """
    The functions as an engine for `in_thread`, each answer in a tuple: trio lets no bare coroutine out of a thread.
    """

    name: str
    functions: _Functions

    def decide(self, request: Request) -> Any:
        return (self.functions.decide(request),)

    def score(self, request: ScoreRequest) -> Any:
        return (self.functions.score(request),)


@attrs.frozen
class _Functions:
    decide: Any
    score: Any


class FunctionEngine:
    """
    Have a function decide, or answer questions, or one function for each.

    A sync function runs in a worker thread, with the caller's context variables, so that it never blocks the event
    loop. A cancelled call does not wait for it: the thread runs to its end, and what it says or raises then is dropped.
    It keeps its place among the *max_threads* until then; a call that finds none free fails at once with BusyError, so
    that a function that hangs cannot use up the threads of the whole program.

    What the function raises is the engine's failure; what it returns and is no answer raises InvalidAnswerError. The
    engine has only the operations that it has a function for; the other one is None instead of a method.

    Args:
        name: What traces call the engine.
        decide: Takes a Request; returns a Decision, or None to abstain.
        score: Takes a ScoreRequest; returns a ScoreResult, or the answers by question key.
        decision_timeout: Seconds a combinator gives it; None leaves that to the combinator.
        deterministic: No model is involved.
        max_threads: Most threads at a time, abandoned ones included.

    Raises:
        SetupError: If there is no name, or no function.
        ValueError: If *max_threads* is below 1.
    """

    def __init__(
        self,
        name: str,
        decide: Decides | None = None,
        score: Scores | None = None,
        *,
        decision_timeout: float | None = None,
        deterministic: bool = False,
        max_threads: int = MAX_THREADS,
    ) -> None:
        if not name:
            raise SetupError("name: is required")
        if decide is None and score is None:
            raise SetupError("a function that decides or one that scores is required")
        self._name = name
        self._functions = _Functions(decide, score)
        self._threads = in_thread(_Blocking(name, self._functions), max_threads=max_threads)
        # An operation that is not callable is none: whoever puts the engine to use looks for that, once.
        if decide is None:
            vars(self)["decide"] = None
        if score is None:
            vars(self)["score"] = None
        self.decision_timeout = decision_timeout
        self.deterministic = deterministic

    def __repr__(self) -> str:
        return f"FunctionEngine({self._name!r})"

    @property
    def name(self) -> str:
        """
        What traces call the engine.
        """
        return self._name

    async def decide(self, request: Request, /) -> Decision | None:
        """
        Decide with the function given as *decide*.

        Raises:
            InvalidAnswerError: If it returns something else than a Decision or None.
            BusyError: If no thread is free.
        """
        answer = await self._called(self._functions.decide, self._threads.decide, request)
        if answer is not None and not isinstance(answer, Decision):
            raise self._wrong(answer, "a Decision or None")
        return answer

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        """
        Answer questions with the function given as *score*. The result gets the engine's name, unless it has one.

        Raises:
            InvalidAnswerError: If it returns something else than a ScoreResult or a mapping.
            BusyError: If no thread is free.
        """
        answer = await self._called(self._functions.score, self._threads.score, request)
        if isinstance(answer, Mapping):
            answer = ScoreResult(answers=answer)
        if not isinstance(answer, ScoreResult):
            raise self._wrong(answer, "a ScoreResult or a mapping of answers")
        return answer if answer.engine else attrs.evolve(answer, engine=self._name)

    async def _called(
        self, function: Callable[[T], object], blocking: Callable[[T], Awaitable[Any]], request: T
    ) -> object:
        if inspect.iscoroutinefunction(function):
            return await function(request)
        (answer,) = await blocking(request)
        # What a lambda, a partial or a callable object returns may be the coroutine of an async function.
        return await answer if inspect.isawaitable(answer) else answer

    def _wrong(self, answer: object, expected: str) -> InvalidAnswerError:
        kind = type(answer).__name__
        return InvalidAnswerError(
            f"{self._name}: the function must return {expected}, got {kind}", detail=f"returned {kind}"[:200]
        )
