"""One question put to the engines from the command line, and how that ended."""

from __future__ import annotations

import logging

import attrs
import structlog

from decide.answers import ScoreResult
from decide.asking import Answers
from decide.chain import Chain, Stopped, Undecided
from decide.cli._consoles import err_file
from decide.cli._exits import Exit
from decide.cli._verdicts import Judged, all_count, judge_answers
from decide.errors import DecideError, InvalidRequestError
from decide.observe.logs import LogObserver
from decide.outcomes import AttemptOutcome
from decide.policies import SelectionPolicy
from decide.providers import AnyProvider
from decide.questions import ScoreRequest
from decide.traces import Trace


@attrs.frozen(kw_only=True)
class Finished:
    """
    Everything there is to print.

    Attributes:
        judged: Every answer with its verdict, in the order of the questions.
        model: The model that answered.
        trace: Every attempt.
        error: What stopped the engines, or kept them from being asked; None when they were.
        exit: How the command ends.
    """

    judged: tuple[Judged, ...] = ()
    model: str = ""
    trace: Trace
    error: DecideError | None = None
    exit: Exit


async def run(
    engine: AnyProvider, request: ScoreRequest, policy: SelectionPolicy, *, accept_proposals: bool
) -> Finished:
    """
    Ask *engine* and judge what it answers.
    """
    chain = Chain([engine], policy=policy, keep_non_selected=True, observers=[LogObserver(_warnings_on_stderr())])
    try:
        ended = await chain.score(request)
    except InvalidRequestError as error:
        return Finished(trace=Trace(), error=error, exit=Exit.FAILED)
    if isinstance(ended, Stopped):
        return Finished(trace=ended.trace, error=ended.error, exit=Exit.STOPPED)
    result = ended.kept if isinstance(ended, Undecided) else ended.result
    if not isinstance(result, ScoreResult):
        return Finished(trace=ended.trace, exit=_without_answer(ended.trace))
    answers = Answers(request=request, result=result, policy=policy, trace=ended.trace)
    judged = judge_answers(answers, accept_proposals=accept_proposals)
    enough = all_count(judged, len(request.questions))
    return Finished(
        judged=judged,
        model=result.model,
        trace=ended.trace,
        exit=Exit.ACTIONABLE if enough else Exit.NOT_ACTIONABLE,
    )


def _without_answer(trace: Trace) -> Exit:
    """
    Tell engines that have no opinion from engines that failed.
    """
    abstained = [attempt.outcome == AttemptOutcome.ABSTAINED for attempt in trace.attempts]
    return Exit.NOT_ACTIONABLE if abstained and all(abstained) else Exit.FAILED


def _warnings_on_stderr() -> structlog.typing.FilteringBoundLogger:
    logger: structlog.typing.FilteringBoundLogger = structlog.wrap_logger(
        structlog.PrintLogger(err_file()),
        processors=[_sentence],
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
    )
    return logger


def _sentence(_: object, level: str, event: structlog.typing.EventDict) -> str:
    about = {"auth": "refused our credentials, or asks for some"}.get(event["event"], event["event"])
    return f"{level}: {event['engine']} {about}"
