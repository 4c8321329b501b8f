"""Whether a scored result answers the questions that were asked."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from decide.answers import (
    Answer,
    ChoiceAnswer,
    NoulAnswer,
    RelevanceAnswer,
    ScoreAnswer,
    ScoreResult,
    confidence_in_range,
)
from decide.distributions import (
    Distribution,
    expected_score,
    is_number,
    is_probability,
    score_tolerance,
    sums_to_one,
)
from decide.problems import Problem
from decide.questions import (
    ChoiceQuestion,
    NoulQuestion,
    Question,
    RelevanceQuestion,
    ScoreQuestion,
    ScoreRequest,
)

_ANSWER_TO = {
    NoulQuestion: NoulAnswer,
    ChoiceQuestion: ChoiceAnswer,
    ScoreQuestion: ScoreAnswer,
    RelevanceQuestion: RelevanceAnswer,
}


def validate_score_result(request: ScoreRequest, result: ScoreResult) -> tuple[Problem, ...]:
    """
    Return everything that keeps *result* from being an answer to *request*; empty means fine.

    Problems stand in the order of the questions. Answers to questions that were not asked are ignored. An explicit
    unknown is a valid answer.
    """
    problems: list[Problem] = []
    for number, (key, question) in enumerate(request.questions.items(), start=1):
        answer = result.answers.get(key)
        texts = ["no answer"] if answer is None else answer_problems(question, answer)
        problems.extend(Problem(f"question {number}: {text}") for text in texts)
    return tuple(problems)


def answer_problems(question: Question, answer: Answer) -> Iterator[str]:
    """
    Yield what keeps *answer* from being one to *question*, in our own words.
    """
    if not isinstance(answer, _ANSWER_TO[type(question)]):
        yield "an answer of another kind"
    if answer.unknown:
        return
    match answer:
        case NoulAnswer():
            yield from _noul_problems(answer)
        case ScoreAnswer():
            yield from _score_problems(question, answer)
        case ChoiceAnswer() | RelevanceAnswer():
            yield from _candidate_problems(question, answer)
    if not confidence_in_range(answer):
        yield "confidence out of range"


def _noul_problems(answer: NoulAnswer) -> Iterator[str]:
    if not is_probability(answer.noul):
        yield "probability out of range"


def _candidate_problems(question: Question, answer: ChoiceAnswer | RelevanceAnswer) -> Iterator[str]:
    offered = question.candidates if isinstance(question, ChoiceQuestion | RelevanceQuestion) else {}
    yield from _distribution_problems(answer.probabilities, offered)
    if not answer.probabilities and not (isinstance(answer, ChoiceAnswer) and answer.choice):
        yield "neither scores nor a pick"
    if isinstance(answer, ChoiceAnswer) and answer.choice and not _names_one(answer, offered):
        yield "the pick is not a candidate"
    values = [value for _, value in answer.probabilities.pairs if is_number(value)]
    if isinstance(question, ChoiceQuestion) and answer.probabilities and not sums_to_one(values):
        yield "probabilities do not sum to about 1"


def _names_one(answer: ChoiceAnswer, offered: Collection[str]) -> bool:
    return answer.choice in offered or answer.choice in answer.probabilities


def _distribution_problems(probabilities: Distribution, offered: Collection[str]) -> Iterator[str]:
    for option, value in probabilities.pairs:
        if option not in offered or not is_probability(value):
            break
    else:
        if len(probabilities) == len(probabilities.pairs):
            return
    known, seen = set(offered), set[str]()
    for position, (option, value) in enumerate(probabilities.pairs, start=1):
        if option not in known:
            yield f"score {position}: not a candidate"
        elif not is_probability(value):
            yield f"score {position}: probability out of range"
        if option in seen:
            yield f"score {position}: a candidate scored twice"
        seen.add(option)


def _score_problems(question: Question, answer: ScoreAnswer) -> Iterator[str]:
    levels = len(question.levels) if isinstance(question, ScoreQuestion) else len(answer.levels)
    if not is_number(answer.score) or not 0.0 <= answer.score <= levels - 1:
        yield "score outside the scale"
        return
    if not answer.probabilities:
        return
    values = answer.probabilities
    if any(not 0 <= level < levels for level in values):
        yield "a level that was not asked"
    elif not all(is_probability(value) for value in values.values()):
        yield "probability out of range"
    elif not sums_to_one(list(values.values())):
        yield "probabilities do not sum to about 1"
    elif abs(answer.score - expected_score(values)) > score_tolerance(values, levels):
        yield "score off its own distribution"
