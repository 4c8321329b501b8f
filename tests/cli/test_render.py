"""Answers as a person reads them."""

import io

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from decide.answers import Answer, ChoiceAnswer, NoulAnswer, RelevanceAnswer, ScoreAnswer, ScoreResult
from decide.asking import Answers
from decide.cli._render import AnswerBlock, bar_text, rows_of
from decide.cli._verdicts import Judged, Verdict, judge_answers
from decide.policies import NARROWING, SelectionPolicy
from decide.questions import ChoiceQuestion, NoulQuestion, Question, RelevanceQuestion, ScoreQuestion, ScoreRequest
from decide.traces import Trace

TEAM = ChoiceQuestion("Which team?", ["billing", "technical"])
TOPIC = RelevanceQuestion("Which topics?", ["a"])


def judged(
    question: Question, answer: Answer, *, policy: SelectionPolicy = NARROWING, accept_proposals: bool = False
) -> Judged:
    """One question, answered and judged."""
    request = ScoreRequest(text="x", questions={"k": question})
    answers = Answers(request=request, result=ScoreResult(answers={"k": answer}), policy=policy, trace=Trace())
    (one,) = judge_answers(answers, accept_proposals=accept_proposals)
    return one


def shown(one: Judged, *, encoding: str = "utf-8", width: int = 100) -> list[str]:
    """The lines that *one* prints."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    Console(file=file, width=width).print(AnswerBlock(one))
    file.seek(0)
    return file.read().splitlines()


def test_a_measured_choice_is_printed_with_its_verdict_and_ranked_bars() -> None:
    answer = ChoiceAnswer(probabilities={"technical": 0.25, "billing": 0.75}, calibrated=True)

    assert shown(judged(TEAM, answer)) == [
        "k: Which team?",
        "  billing  actionable  selected (it passes the policy narrowing)",
        "    billing    ██████████████████        0.75",
        "    technical  ██████                    0.25",
    ]


@pytest.mark.parametrize("width", [40, 60])
def test_a_narrow_terminal_keeps_every_bar_and_probability(width: int) -> None:
    options = ["a-very-long-name-of-a-billing-department", "technical"]
    answer = ChoiceAnswer(probabilities=dict(zip(options, (0.75, 0.25), strict=True)), calibrated=True)

    lines = shown(judged(ChoiceQuestion("Which team?", options), answer), width=width)

    assert max(map(len, lines)) <= width
    assert [line.split()[-1] for line in lines[-2:]] == ["0.75", "0.25"]
    assert all("█" in line for line in lines[-2:])
    assert not [line for line in lines if line.endswith(" ")]


def test_a_score_is_printed_by_level() -> None:
    answer = ScoreAnswer(score=0.9, levels=("later", "now"), probabilities={0: 0.1, 1: 0.9}, calibrated=True)

    assert [line.split()[:2] for line in shown(judged(ScoreQuestion("?", ["later", "now"]), answer))[1:]] == [
        ["1", "now"],
        ["0", "later"],
        ["1", "now"],
    ]


def test_an_unknown_answer_has_no_bars() -> None:
    assert shown(judged(NoulQuestion("Angry?"), NoulAnswer())) == [
        "k: Angry?",
        "  no pick  not actionable  unscored: no_answer (the engine did not answer this question)",
    ]


def test_a_plain_terminal_gets_bars_of_plain_letters() -> None:
    lines = shown(judged(NoulQuestion("Angry?"), NoulAnswer(noul=0.5, calibrated=True)), encoding="ascii")

    assert lines[-1] == "    false  ############              0.50"


def test_a_long_list_is_cut_and_the_rest_is_counted() -> None:
    options = [f"option-{number:03}" for number in range(200)]
    answer = RelevanceAnswer(probabilities=dict.fromkeys(options, 0.1), calibrated=True)

    lines = shown(judged(RelevanceQuestion("?", options), answer))

    assert len(lines) == 2 + 8 + 1
    assert lines[-1] == "    and 192 more"


def test_an_answer_that_is_invalid_is_printed_and_never_accepted() -> None:
    one = judged(TEAM, ChoiceAnswer(probabilities={"billing": 7.0, "technical": -1.0}), accept_proposals=True)

    assert one.verdict is Verdict.NOT_ACTIONABLE
    assert "invalid: bad_scores" in shown(one)[1]


@pytest.mark.parametrize(("accept", "verdict"), [(False, Verdict.PROPOSAL), (True, Verdict.ACCEPTED_PROPOSAL)])
def test_a_proposal_counts_only_when_it_was_accepted(accept: bool, verdict: Verdict) -> None:
    one = judged(TEAM, ChoiceAnswer(probabilities={"billing": 0.9, "technical": 0.1}), accept_proposals=accept)

    assert one.verdict is verdict
    assert one.counts is accept


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (NoulQuestion("?"), NoulAnswer(noul=0.5)),
        (RelevanceQuestion("?", ["a", "b"]), RelevanceAnswer(probabilities={"a": 0.1, "b": 0.2})),
        (ChoiceQuestion("?", ["a", "none"], none_id="none"), ChoiceAnswer(probabilities={"a": 0.1, "none": 0.9})),
    ],
)
def test_a_self_reported_answer_that_proposes_nothing_is_never_accepted(question: Question, answer: Answer) -> None:
    one = judged(question, answer, accept_proposals=True)

    assert one.verdict is Verdict.NOT_ACTIONABLE
    assert one.why.endswith("it proposes nothing")


@pytest.mark.parametrize(
    ("question", "answer", "why"),
    [
        (TEAM, ChoiceAnswer(probabilities={"billing": 0.6, "technical": 0.5}), "the runner-up is less than 0.2 behind"),
        (TEAM, ChoiceAnswer(choice="billing"), "the engine gave no probabilities"),
        (
            TEAM,
            ChoiceAnswer(probabilities={"billing": 0.9}, confidence=2),
            "the confidence is not a number from 0 to 1",
        ),
        (TOPIC, RelevanceAnswer(probabilities={"a": 0.4}), "nothing reaches 0.6, some come near"),
        (TOPIC, RelevanceAnswer(probabilities={"a": 0.1}), "nothing reaches 0.6"),
    ],
)
def test_a_reason_is_told_in_words_with_the_bar_that_was_missed(question: Question, answer: Answer, why: str) -> None:
    assert judged(question, attrs.evolve(answer, calibrated=True)).why == why


def test_a_pick_that_passes_may_still_have_a_reason() -> None:
    answer = RelevanceAnswer(probabilities={"a": 0.9, "b": 0.8}, calibrated=True)

    one = judged(RelevanceQuestion("?", ["a", "b"]), answer, policy=attrs.evolve(NARROWING, max_picks=1))

    assert one.verdict is Verdict.ACTIONABLE
    assert one.why == "it passes the policy narrowing; more would pass, the policy takes 1"


def test_a_policy_of_other_models_says_so() -> None:
    answer = ChoiceAnswer(probabilities={"billing": 0.9, "technical": 0.1}, calibrated=True)

    one = judged(TEAM, answer, policy=attrs.evolve(NARROWING, models=("other-1",)))

    assert one.why == "the policy was not measured on this model"


@given(st.floats(min_value=-1, max_value=2, allow_nan=False), st.booleans())
def test_a_bar_is_never_longer_than_its_space(probability: float, smooth: bool) -> None:
    assert len(bar_text(probability, 24, smooth=smooth)) <= 24


def test_a_yes_or_no_answer_shows_both_sides() -> None:
    assert [(row.id, row.probability) for row in rows_of(NoulAnswer(noul=0.75))] == [("true", 0.75), ("false", 0.25)]
