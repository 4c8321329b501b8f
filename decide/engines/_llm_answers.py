"""The answers to typed questions out of the JSON that a model wrote: one that cannot be used fails them all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

import attrs

from decide import distributions
from decide._json import DocumentError, Node
from decide.answers import Answer, ChoiceAnswer, NoulAnswer, RelevanceAnswer, ScoreAnswer
from decide.engines._llm_nouls import read_noul, read_probability
from decide.questions import ChoiceQuestion, NoulQuestion, Question, RelevanceQuestion, ScoreQuestion

ANSWERS: Final = "answers"

_KINDS = {NoulQuestion: "noul", ChoiceQuestion: "choice", ScoreQuestion: "score", RelevanceQuestion: "relevance"}
_TIE = 1e-9


def holds_answers(names: Collection[str]) -> Callable[[Mapping[str, object]], bool]:
    """
    Return what tells answers to the questions called *names* from other objects; their envelope may be lost.
    """
    return lambda document: ANSWERS in document or any(name in document for name in names)


def read_answers(
    document: Mapping[str, object], questions: Mapping[str, Question], measured: Mapping[str, float]
) -> dict[str, Answer]:
    """
    Read an answer to every question.

    Answers to questions that were not asked are ignored, and so are numbers for options that were not offered; an
    option without a number has 0. The probabilities of a choice, or of the levels of a score, are brought to a sum of
    1: models are asked for a distribution and rarely add up.

    Args:
        document: What the model wrote.
        questions: By the names that the model was given.
        measured: The probability of yes of those nouls whose token told it, by name.

    Raises:
        DocumentError: If a question is not answered, or with something that is no answer to it.
    """
    node = Node(document)
    envelope = node.find(ANSWERS) or node
    if isinstance(envelope.value, list):
        return _read_list(envelope, questions)
    entries = _by_label(envelope, questions)
    answers = dict[str, Answer]()
    for number, (name, question) in enumerate(questions.items(), start=1):
        if name not in entries:
            raise DocumentError(envelope.path, f"question {number} is not answered")
        answers[name] = _answer(question, entries[name], measured.get(name))
    return answers


def _by_label(node: Node, labels: Collection[str]) -> dict[str, Node]:
    """
    Return the members of an object that go by one of *labels*, blanks around it aside.
    """
    found = dict[str, Node]()
    for key, member in node.members():
        label = _offered(key, labels)
        if label is None:
            continue
        if label in found:
            raise DocumentError(member.path, "stands twice")
        found[label] = member
    return found


def _answer(question: Question, node: Node, measured: float | None) -> Answer:
    if isinstance(question, NoulQuestion):
        said = read_noul(node)
        return NoulAnswer(noul=said) if measured is None else NoulAnswer(noul=measured, calibrated=True)
    kind = node.find("type")
    if kind is not None and kind.text() != _KINDS[type(question)]:
        raise DocumentError(kind.path, "an answer of another kind")
    match question:
        case ChoiceQuestion():
            return _choice(question, node)
        case ScoreQuestion():
            return _score(question, node)
        case RelevanceQuestion():
            given = _numbers(node.need("probabilities"), question.candidates)
            return RelevanceAnswer(probabilities=_of_all(question.candidates, given))


def _choice(question: ChoiceQuestion, node: Node) -> ChoiceAnswer:
    given, picked, reported = _given(node, question.candidates), node.find("choice"), _reported(node)
    pick = _offered(picked.text(), question.candidates) if picked is not None else None
    if picked is not None and pick is None:
        raise DocumentError(picked.path, "not an option that was offered")
    if not given:
        if pick is None:
            raise DocumentError(node.path, "neither a pick nor probabilities")
        return ChoiceAnswer(choice=pick, confidence=reported, reported_confidence=reported, none_id=question.none_id)
    if pick is not None and max(given.values()) - given.get(pick, 0.0) > distributions.rounding(given.values()) + _TIE:
        raise DocumentError(node.path, "the pick is not the most probable option")
    spread = _normalised(_of_all(question.candidates, given), node)
    answer = ChoiceAnswer(
        probabilities=spread,
        confidence=distributions.choice_confidence(spread.values(), len(spread)),
        reported_confidence=reported,
        none_id=question.none_id,
    )
    return answer if pick is None else attrs.evolve(answer, choice=pick)


def _score(question: ScoreQuestion, node: Node) -> ScoreAnswer:
    levels = len(question.levels)
    said, reported = node.find("score"), _reported(node)
    given = _given(node, [str(level) for level in range(levels)])
    score = said.number() if said is not None else None
    if score is not None and not 0 <= score <= levels - 1:
        raise DocumentError(node.path, "a score outside the scale")
    if not given:
        if score is None:
            raise DocumentError(node.path, "neither a score nor probabilities")
        return ScoreAnswer(score=score, levels=question.levels, confidence=reported, reported_confidence=reported)
    if score is None:
        given = _normalised(given, node)
    spread = {int(level): value for level, value in given.items()}
    mean = distributions.expected_score(spread)
    if score is not None and not (
        distributions.sums_to_one(list(given.values()))
        and abs(score - mean) <= distributions.score_tolerance(spread, levels)
    ):
        raise DocumentError(node.path, "a score off its own distribution")
    return ScoreAnswer(
        score=min(mean, levels - 1.0) if score is None else score,
        levels=question.levels,
        probabilities=spread,
        confidence=distributions.score_confidence(spread, levels),
        reported_confidence=reported,
    )


def _given(node: Node, offered: Collection[str]) -> dict[str, float]:
    probabilities = node.find("probabilities")
    if probabilities is None or probabilities.value is None or probabilities.value == {}:
        return {}
    given = _numbers(probabilities, offered)
    if not given:
        raise DocumentError(probabilities.path, "no option that was offered")
    return given


def _numbers(node: Node, offered: Collection[str]) -> dict[str, float]:
    return {option: read_probability(member) for option, member in _by_label(node, offered).items()}


def _offered(label: str, offered: Collection[str]) -> str | None:
    return label if label in offered else stripped if (stripped := label.strip()) in offered else None


def _of_all(offered: Iterable[str], given: Mapping[str, float]) -> dict[str, float]:
    return {option: given.get(option, 0.0) for option in offered}


def _normalised(numbers: Mapping[str, float], node: Node) -> dict[str, float]:
    total = 0.0
    for value in numbers.values():
        total += value
    if not total:
        raise DocumentError(node.path, "probabilities without mass")
    return {option: value / total for option, value in numbers.items()}


def _reported(node: Node) -> float | None:
    confidence = node.find("confidence")
    return read_probability(confidence) if confidence is not None and confidence.value is not None else None


def _read_list(node: Node, questions: Mapping[str, Question]) -> dict[str, Answer]:
    """
    Read answers as a list of `questionId` and `scores`: the reference's form, read as the reference reads it.

    It has choices and relevance only. The first of two answers counts, and the first of two numbers for one option,
    brought into 0 to 1; no confidence is computed. No model is asked for this form.
    """
    entries = dict[str, Node]()
    for entry in node.items():
        entries.setdefault(entry.need("questionId").text().strip(), entry)
    answers = dict[str, Answer]()
    for number, (name, question) in enumerate(questions.items(), start=1):
        if name not in entries or not isinstance(question, ChoiceQuestion | RelevanceQuestion):
            raise DocumentError(node.path, f"question {number} is not answered")
        scores, given = entries[name].need("scores"), dict[str, float]()
        for score in scores.items():
            option = _offered(score.need("id").text(), question.candidates)
            if option is not None and option not in given:
                given[option] = min(max(score.need("probability").number(), 0.0), 1.0)
        every = _of_all(question.candidates, given)
        if isinstance(question, ChoiceQuestion):
            answers[name] = ChoiceAnswer(probabilities=_normalised(every, scores), none_id=question.none_id)
        else:
            answers[name] = RelevanceAnswer(probabilities=every)
    return answers
