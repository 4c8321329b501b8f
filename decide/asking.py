"""The shortest way in: ask an engine questions about a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import attrs

from decide.answers import ChoiceAnswer, NoulAnswer, RelevanceAnswer, ScoreAnswer, ScoreResult, pick_any
from decide.chain import Chain, Stopped, Undecided
from decide.errors import UndecidedError
from decide.policies import NARROWING, SelectionPolicy
from decide.providers import ScoredProvider
from decide.questions import ChoiceQuestion, Question, ScoreRequest
from decide.selecting import Selection
from decide.traces import TotalUsage, Trace


@attrs.frozen(kw_only=True)
class Answers:
    """
    What came back, question by question, and what may be acted on.

    Attributes:
        request: What was asked.
        result: What was answered.
        policy: What `selection` holds answers to.
        trace: Every attempt.
    """

    request: ScoreRequest
    result: ScoreResult
    policy: SelectionPolicy
    trace: Trace

    @property
    def model(self) -> str:
        """
        The model that answered.
        """
        return self.result.model

    @property
    def usage(self) -> TotalUsage:
        """
        What all attempts cost, and whether that is exact.
        """
        return self.trace.usage

    def noul(self, key: str) -> NoulAnswer:
        """
        Return the yes/no answer called *key*; errors as in `ScoreResult.noul`.
        """
        return self.result.noul(key)

    def choice(self, key: str) -> ChoiceAnswer:
        """
        Return the choice called *key*; errors as in `ScoreResult.noul`.
        """
        return self.result.choice(key)

    def score(self, key: str) -> ScoreAnswer:
        """
        Return the score called *key*; errors as in `ScoreResult.noul`.
        """
        return self.result.score(key)

    def relevance(self, key: str) -> RelevanceAnswer:
        """
        Return the relevance answer called *key*; errors as in `ScoreResult.noul`.
        """
        return self.result.relevance(key)

    def selection(self, key: str) -> Selection:
        """
        Return what the policy makes of the answer called *key*. Read `actionable` before acting.

        The question's own none-of-these option counts, also when the engine forgot to repeat it.

        Raises:
            AbsentAnswerError: A KeyError: there is no such answer.
        """
        answer = pick_any(self.result.answers, key)
        question = self.request.questions.get(key)
        if isinstance(answer, ChoiceAnswer) and isinstance(question, ChoiceQuestion):
            answer = attrs.evolve(answer, none_id=question.none_id)
        return self.policy.evaluate(answer, model=self.result.model)


async def ask(
    engine: ScoredProvider | Chain,
    state: object,
    questions: Mapping[str, Question],
    *,
    policy: SelectionPolicy | None = None,
) -> Answers:
    """
    Ask *engine* questions about *state*, all in one call.

    Args:
        engine: An engine, a combinator, or a chain.
        state: Text, or any JSON object or list.
        questions: Questions by key.
        policy: What selections are held to; by default the policy of *engine*, the strictest where several judge in
            it, and `NARROWING` where none does.

    Raises:
        InvalidRequestError: If no engine could answer the request.
        UndecidedError: If no engine answered; its trace says why.
        DecideError: What stopped the chain, if something did.
    """
    chain = engine if isinstance(engine, Chain) else Chain([engine])
    request = ScoreRequest(text=cast("str | Mapping[str, object] | Sequence[object]", state), questions=questions)
    ended = await chain.score(request)
    if isinstance(ended, Stopped):
        raise ended.error
    result = ended.kept if isinstance(ended, Undecided) else ended.result
    if not isinstance(result, ScoreResult):
        errors = ended.errors if isinstance(ended, Undecided) else ()
        raise UndecidedError(f"no engine answered: {ended.trace.summary}", trace=ended.trace, errors=errors)
    return Answers(request=request, result=result, policy=policy or chain.policy or NARROWING, trace=ended.trace)
