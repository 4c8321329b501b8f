"""A chat model as an engine: one structured inference, read without trusting it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Final, TypeVar

import anyio

from decide._checks import positive_seconds, whole
from decide._json import DocumentError
from decide.answers import ScoreResult
from decide.attempt_log import AttemptLog, OpenAttempt
from decide.decisions import Decision
from decide.engines._llm_prompt import decision_inference, score_inference
from decide.engines._llm_reading import answers_of, decision_of, finish_reason
from decide.engines._setup import SetupError
from decide.engines._usage import UNREADABLE_MODEL, read_model
from decide.engines.chat import ChatModel, ChatReply, Inference, Profile
from decide.errors import (
    AuthError,
    BudgetError,
    BusyError,
    DecideError,
    EngineError,
    EngineTimeoutError,
    InvalidAnswerError,
    InvalidRequestError,
    MisconfiguredError,
    PolicyRefusalError,
    QuotaError,
    TimeBudgetError,
    UnavailableError,
    UnsupportedError,
    kind_of,
)
from decide.questions import ScoreRequest, validate_score_request
from decide.requests import Request

T = TypeVar("T")

MAX_RECENT: Final = 8

_DEFAULT = Profile()
_KNOWN = {
    known.kind: known
    for known in (
        AuthError,
        BudgetError,
        BusyError,
        EngineTimeoutError,
        InvalidAnswerError,
        InvalidRequestError,
        MisconfiguredError,
        PolicyRefusalError,
        QuotaError,
        TimeBudgetError,
        UnavailableError,
        UnsupportedError,
    )
}


class LLMEngine:
    """
    Have a chat model decide over a taxonomy, or answer all four kinds of question, in one inference.

    It never abstains, and its numbers are its own opinion of itself, so that a policy takes them as proposals unless it
    opts in. The exception is a yes/no question under `Profile(probability="logprobs")`: where the provider gives the
    probability of the token that says true or false, that answer alone is calibrated.

    A reply is searched for the one JSON object that answers what was asked. None, two that differ, one in a list, one
    cut off, a key twice, NaN, an id that was not offered, a number as text: the reply is invalid, and nothing is
    guessed. Questions go under the names q0, q1 and so on, so that renaming a key changes no answer.

    Args:
        model: The chat model, see `decide.engines.chat.ChatModel`.
        name: What traces call the engine.
        max_recent: How many of a request's latest turns the model is shown; None for all.
        decision_timeout: Seconds a combinator gives it, and it gives itself when called directly; None for no limit.
        profile: How the model is asked; None for a request of nothing but messages.
        opaque_keys: Hide the keys of questions from the model; False shows them to it instead of q0, q1.

    Raises:
        SetupError: A ValueError: an argument makes no sense.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        name: str = "llm-decider",
        max_recent: int | None = MAX_RECENT,
        decision_timeout: float | None = 4.0,
        profile: Profile | None = _DEFAULT,
        opaque_keys: bool = True,
    ) -> None:
        if not callable(getattr(model, "infer", None)) or not isinstance(getattr(model, "model", None), str):
            raise SetupError("model: must have an async infer and the name of its model as model")
        if not name:
            raise SetupError("name: is required")
        try:
            self._max_recent = None if max_recent is None else whole("max_recent", max_recent, least=0)
            self.decision_timeout: float | None = (
                None if decision_timeout is None else positive_seconds("decision_timeout", decision_timeout)
            )
        except ValueError as error:
            raise SetupError(str(error)) from None
        self._model = model
        self._name = name
        self._profile = profile
        self._opaque_keys = opaque_keys

    def __repr__(self) -> str:
        return f"LLMEngine({self._model!r}, name={self._name!r})"

    @property
    def name(self) -> str:
        """
        What traces call the engine.
        """
        return self._name

    async def decide(self, request: Request, /) -> Decision | None:
        with anyio.move_on_after(self.decision_timeout):
            return await self.decide_traced(request, AttemptLog())
        raise self._too_late()

    async def decide_traced(self, request: Request, log: AttemptLog, /) -> Decision | None:
        with log.attempt(self._name) as attempt:
            asked = decision_inference(
                request, max_recent=self._max_recent, profile=self._profile, now=dt.datetime.now(dt.UTC)
            )
            reply = await self._inferred(asked, log, attempt)
            return self._read(reply, lambda: decision_of(reply, model=log.model))

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        with anyio.move_on_after(self.decision_timeout):
            return await self.score_traced(request, AttemptLog())
        raise self._too_late()

    async def score_traced(self, request: ScoreRequest, log: AttemptLog, /) -> ScoreResult:
        with log.attempt(self._name) as attempt:
            if validate_score_request(request):
                raise InvalidRequestError("no questions", detail="no questions")
            keys = {f"q{n}" if self._opaque_keys else key: key for n, key in enumerate(request.questions)}
            questions = {name: request.questions[key] for name, key in keys.items()}
            asked = score_inference(request, questions, profile=self._profile)
            reply = await self._inferred(asked, log, attempt)
            answers = self._read(reply, lambda: answers_of(reply, questions, self._profile))
            named = {keys[name]: answer for name, answer in answers.items()}
            return ScoreResult(engine=self._name, model=log.model, usage=reply.usage, answers=named)

    async def _inferred(self, asked: Inference, log: AttemptLog, attempt: OpenAttempt) -> ChatReply:
        log.engine = self._name
        reply = await self._asked(asked)
        if isinstance(reply, DecideError):
            raise reply
        log.model = read_model(reply.model) or self._model.model
        attempt.malformed = int(log.model == UNREADABLE_MODEL)
        attempt.usage, attempt.detail = reply.usage, _finished(reply)
        return reply

    async def _asked(self, asked: Inference) -> ChatReply | DecideError:
        """
        Ask the model, or say how it failed.

        A foreign error is returned in our words and not raised, because raised in here it would keep the other as its
        context, which may quote the prompt.
        """
        try:
            reply = await self._model.infer(asked)
        except DecideError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a model's client raises
            what = type(error).__name__
            failed = _KNOWN.get(kind_of(error), EngineError)
            return failed(f"{self._name}: the model failed ({what})", detail=what[:200])
        if isinstance(reply, ChatReply):
            return reply
        what = type(reply).__name__
        return InvalidAnswerError(
            f"{self._name}: the model must return a ChatReply, got {what}", detail=f"returned {what}"[:200]
        )

    def _read(self, reply: ChatReply, read: Callable[[], T]) -> T:
        problem = ""
        try:
            return read()
        except DocumentError as error:
            problem = ", ".join(filter(None, (str(error), _finished(reply))))
        raise InvalidAnswerError(
            f"{self._name}: the reply cannot be used: {problem}", detail=problem, usage=reply.usage
        )

    def _too_late(self) -> EngineTimeoutError:
        return EngineTimeoutError(f"{self._name}: no answer within {self.decision_timeout} s")


def _finished(reply: ChatReply) -> str:
    reason = finish_reason(reply)
    return f"finish_reason={reason}" if reason else ""
