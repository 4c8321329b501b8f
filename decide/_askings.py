"""The two things that can be asked of a leg of a combinator: to decide, and to answer questions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs

from decide._legs import Ending, failed, invalid
from decide.answers import ScoreResult, Usage
from decide.attempt_log import AttemptLog
from decide.decisions import Decision, validate
from decide.errors import InvalidRequestError
from decide.outcomes import AttemptOutcome, Outcome, Reason
from decide.policies import SelectionPolicy
from decide.problems import Problem, invalid_detail
from decide.providers import Engine
from decide.questions import ScoreRequest, validate_score_request
from decide.requests import Request
from decide.results import validate_score_result


@attrs.frozen
class Deciding:
    """
    Ask for a decision; with a policy, a decision that it does not let act is uncertain.
    """

    request: Request
    policy: SelectionPolicy | None = None

    def call(self, engine: Engine) -> Callable[[AttemptLog], Awaitable[Decision | None]] | None:
        """
        Return how to ask *engine*, or None when it only answers questions.
        """
        decide = engine.decide
        return None if decide is None else lambda log: decide(self.request, log)

    def judge(self, answer: Decision | None) -> Ending[Decision]:
        """
        Validate and judge; without a policy a decision is passed on with the verdict it came with.
        """
        if answer is None:
            return Ending(outcome=AttemptOutcome.ABSTAINED)
        problems = validate(answer, self.request.taxonomy)
        if problems:
            return invalid(invalid_detail(problems))
        if self.policy is None:
            return Ending(outcome=AttemptOutcome.DECIDED, answer=answer, answered=True)
        judged, selection = self.policy.judge(answer)
        if selection.outcome == Outcome.INVALID:
            return invalid(selection.detail)
        if not selection.actionable:
            return Ending(outcome=AttemptOutcome.UNCERTAIN, detail=selection.detail, answer=judged, answered=True)
        return Ending(outcome=AttemptOutcome.DECIDED, answer=judged, answered=True)

    def usage(self, _: Decision | None, /) -> Usage | None:
        """
        Return None: a decision does not say what it cost.
        """
        return None

    def failed(self, error: Exception) -> Ending[Decision]:
        """
        Return what *error* means.
        """
        return failed(error)


@attrs.frozen
class Scoring:
    """
    Ask for answers to questions; with a policy, one answer it is not sure of makes the result uncertain.
    """

    request: ScoreRequest
    policy: SelectionPolicy | None = None

    def call(self, engine: Engine) -> Callable[[AttemptLog], Awaitable[ScoreResult | None]] | None:
        """
        Return how to ask *engine*, or None when it only decides.
        """
        score = engine.score
        return None if score is None else lambda log: score(self.request, log)

    def judge(self, answer: ScoreResult | None) -> Ending[ScoreResult]:
        """
        Validate and judge. A result whose questions were all declined abstains, and is kept for want of a better one.
        """
        if answer is None:
            return invalid("no result")
        problems = validate_score_result(self.request, answer)
        usage = self.usage(answer)
        if problems:
            return invalid(invalid_detail(problems), usage=usage)
        if all(answer.answers[key].unknown for key in self.request.questions):
            return Ending(outcome=AttemptOutcome.ABSTAINED, answer=answer, usage=usage, answered=True)
        reason = self._doubt(answer)
        outcome = AttemptOutcome.UNCERTAIN if reason else AttemptOutcome.DECIDED
        return Ending(outcome=outcome, detail=reason, answer=answer, usage=usage, answered=True)

    def usage(self, answer: ScoreResult | None, /) -> Usage | None:
        """
        Return what *answer* says it cost; all zeros say nothing.
        """
        usage = answer.usage if isinstance(answer, ScoreResult) else None
        return None if usage == Usage() else usage

    def failed(self, error: Exception) -> Ending[ScoreResult]:
        """
        Return what *error* means.
        """
        return failed(error)

    def _doubt(self, result: ScoreResult) -> str:
        if self.policy is None:
            return ""
        for key in self.request.questions:
            answer = result.answers[key]
            if answer.unknown:
                return Reason.NO_ANSWER.value
            if answer.calibrated:
                selection = self.policy.evaluate(answer, model=result.model)
                if selection.outcome in {Outcome.UNCERTAIN, Outcome.INVALID}:
                    return selection.reason
        return ""


def refuse_invalid(request: ScoreRequest) -> None:
    """
    Refuse a request that no engine could answer.

    Raises:
        InvalidRequestError: Saying what is wrong, by position.
    """
    problems: tuple[Problem, ...] = validate_score_request(request)
    if problems:
        texts = "; ".join(problem.text for problem in problems)
        raise InvalidRequestError(f"request rejected as invalid: {len(problems)} problem(s): {texts}")
