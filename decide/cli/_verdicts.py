"""What the answers come to: for each question whether a caller may act, and why."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import attrs

from decide.answers import Answer
from decide.asking import Answers
from decide.outcomes import Reason
from decide.policies import SelectionPolicy
from decide.questions import Question
from decide.selecting import Selection


class Verdict(StrEnum):
    """
    Whether a caller may act on one answer.
    """

    ACTIONABLE = "actionable"
    PROPOSAL = "proposal"
    ACCEPTED_PROPOSAL = "accepted proposal"
    NOT_ACTIONABLE = "not actionable"


@attrs.frozen(kw_only=True)
class Judged:
    """
    One question with its answer and what the policy made of it.
    """

    key: str
    question: Question
    answer: Answer
    selection: Selection
    verdict: Verdict
    why: str

    @property
    def counts(self) -> bool:
        """
        Whether the answer counts as one that may be acted on.
        """
        return self.verdict in (Verdict.ACTIONABLE, Verdict.ACCEPTED_PROPOSAL)

    @property
    def picks(self) -> tuple[str, ...]:
        """
        What was picked, or proposed.
        """
        return self.selection.picks or self.selection.proposals


def judge_answers(answers: Answers, *, accept_proposals: bool) -> tuple[Judged, ...]:
    """
    Hold every answer to the policy, in the order of the questions.
    """
    return tuple(
        _judge_one(answers, key, question, accept_proposals=accept_proposals)
        for key, question in answers.request.questions.items()
        if key in answers.result.answers
    )


def all_count(judged: Iterable[Judged], asked: int) -> bool:
    """
    Say whether each of the *asked* questions has an answer that counts.
    """
    return sum(one.counts for one in judged) == asked


def _judge_one(answers: Answers, key: str, question: Question, *, accept_proposals: bool) -> Judged:
    selection = answers.selection(key)
    return Judged(
        key=key,
        question=question,
        answer=answers.result.answers[key],
        selection=selection,
        verdict=_verdict(selection, accept_proposals=accept_proposals),
        why=_why(selection, answers.policy),
    )


def _verdict(selection: Selection, *, accept_proposals: bool) -> Verdict:
    if selection.actionable:
        return Verdict.ACTIONABLE
    if selection.proposals:
        return Verdict.ACCEPTED_PROPOSAL if accept_proposals else Verdict.PROPOSAL
    return Verdict.NOT_ACTIONABLE


_WORDS: Final[dict[str, str]] = {
    Reason.NO_ANSWER: "the engine did not answer this question",
    Reason.BAD_CONFIDENCE: "the confidence is not a number from 0 to 1",
    Reason.BAD_SCORES: "a score is not a number from 0 to 1",
    Reason.MODEL_NOT_MEASURED: "the policy was not measured on this model",
    Reason.NOT_CALIBRATED: "the engine's own numbers, which nobody measured",
    Reason.NO_SCORES: "the engine gave no probabilities",
    Reason.NONE_OF_THESE: "none of these fits",
    Reason.LOW_CONFIDENCE: "the confidence is below {policy.min_confidence:g}",
    Reason.NARROW_GAP: "the runner-up is less than {policy.min_gap:g} behind",
    Reason.TRUNCATED_TO_MAX_PICKS: "more would pass, the policy takes {policy.max_picks}",
    Reason.ONLY_POTENTIAL: "nothing reaches {policy.min_probability:g}, some come near",
    Reason.NOTHING_ABOVE_FLOOR: "nothing reaches {policy.min_probability:g}",
}


def _why(selection: Selection, policy: SelectionPolicy) -> str:
    words = _WORDS.get(selection.reason, "").format(policy=policy)
    if selection.actionable:
        return "; ".join(part for part in (f"it passes the policy {policy.name}", words) if part)
    if selection.reason == Reason.NOT_CALIBRATED and not selection.proposals:
        return f"{words}; it proposes nothing"
    return words
