"""A small decision model in this process: no network, no key, no cost, and no claim that its numbers were measured."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Final

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from decide.answers import ScoreResult, Usage
from decide.attempt_log import AttemptLog
from decide.decisions import Decision
from decide.engines import _answering
from decide.engines._first_words import first_words
from decide.engines._setup import SetupError
from decide.engines._systemone_decode import Reading, read_answers
from decide.engines._systemone_encode import WireRequest, wire_request
from decide.errors import EngineError, InvalidRequestError
from decide.policies import NARROWING, SelectionPolicy
from decide.questions import ChoiceQuestion, ScoreRequest
from decide.requests import Request

Ask = Callable[[object, dict[str, dict[str, object]]], Mapping[str, object]]

_THREADS: Final = 4
LEAST_OPTIONS: Final = 2


class LocalEngine:
    """
    Answer all four kinds of question with sparrow-decider, in a worker thread.

    What it is good for: a choice between described options (about 76 of 100 right on an independent support queue). It
    is near chance on a yes/no question whose two sides are not described, and on a score. It reads the first 512 tokens
    of a state; the rest is not even looked at, so that a long state takes no longer. Its numbers are self-reported, so
    that a policy only takes them as proposals unless it opts in. A call is known to cost nothing: its usage is zero
    tokens, not unknown.

    The model is loaded here and now, about 0.1 s, so that what is missing shows at start-up and not in the first call.
    A question then takes well under a millisecond; at most four calls of one engine run at a time on one event loop,
    and further ones wait. A cancelled call returns at once and its thread ends a few milliseconds later.

    Args:
        model: The name of a model that sparrow-decider finds, or the path of a file; None for its own default.
        name: What traces call the engine.
        decision_timeout: Seconds a combinator gives it; half a second is far more than it needs.
        policy: The bars for what is folded into a decision, see `decide`.

    Raises:
        SetupError: If sparrow-decider is not installed, or cannot load that model.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        name: str = "local",
        decision_timeout: float | None = 0.5,
        policy: SelectionPolicy = NARROWING,
    ) -> None:
        self._ask, self._model, self._begins = _loaded(model)
        self._name = name
        self._threads: RunVar[anyio.CapacityLimiter] = RunVar("decide.engines.local")
        self.decision_timeout = decision_timeout
        self.policy = policy

    def __repr__(self) -> str:
        return f"LocalEngine({self._model!r}, name={self._name!r})"

    @property
    def name(self) -> str:
        """
        What traces call the engine.
        """
        return self._name

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        return await self.score_traced(request, AttemptLog())

    async def score_traced(self, request: ScoreRequest, log: AttemptLog, /) -> ScoreResult:
        return await _answering.score(self, request, log)

    async def decide(self, request: Request, /) -> Decision | None:
        return await self.decide_traced(request, AttemptLog())

    async def decide_traced(self, request: Request, log: AttemptLog, /) -> Decision | None:
        return await _answering.decide(self, request, log)

    async def read(self, request: ScoreRequest, log: AttemptLog, /) -> Reading:  # noqa: ARG002 - nothing waits here
        """
        Ask the model.

        Raises:
            InvalidRequestError: If a choice has fewer than two options, which the model cannot take, or the state is no
                JSON.
            EngineError: If the model fails.
        """
        asked = wire_request(request)
        for number, question in enumerate(request.questions.values(), start=1):
            if isinstance(question, ChoiceQuestion) and len(question.candidates) < LEAST_OPTIONS:
                raise InvalidRequestError(
                    f"question {number}: {self._name} needs at least {LEAST_OPTIONS} options",
                    detail=f"question {number}: fewer than {LEAST_OPTIONS} options",
                )
        document = {"model": self._model, "answers": await self._in_thread(asked)}
        return read_answers(request, asked, document, engine=self._name, calibrated=False, usage=Usage())

    async def _in_thread(self, asked: WireRequest) -> dict[str, object]:
        limiter = self._threads.get(None)
        if limiter is None:
            limiter = anyio.CapacityLimiter(_THREADS)
            self._threads.set(limiter)
        failed = ""
        try:
            return await anyio.to_thread.run_sync(
                lambda: dict(self._ask(self._begins(asked.state), asked.questions)),
                limiter=limiter,
                abandon_on_cancel=True,
            )
        except Exception as error:  # noqa: BLE001 - a foreign model, whose message may quote the state
            failed = type(error).__name__
        raise EngineError(f"{self._name}: the model failed ({failed})", detail=failed)


def _loaded(model: str | None) -> tuple[Ask, str, Callable[[object], object]]:
    decider, problem = None, ""
    try:
        decider = importlib.import_module("sparrow_decider").Decider.load(model)
    except ImportError:
        problem = "the local engine needs sparrow-decider: install the extra decide-engine[local]"
    except Exception:  # noqa: BLE001 - a file that is no model fails in as many ways as there are files
        problem = "model: sparrow-decider cannot load it; `sparrow-decider models` lists those it has"
    if decider is None:
        raise SetupError(problem)
    return decider.ask, decider.name, _beginning(decider)


def _beginning(decider: Any) -> Callable[[object], object]:
    """
    Return what leaves out of a state what *decider* does not read, and nothing else.

    Models of other kinds also look at the end of a state, or at the numbers all over it.
    """
    static = decider.static
    if static is None or static.kv:
        return lambda state: state
    return lambda state: first_words(state, static.max_len)
