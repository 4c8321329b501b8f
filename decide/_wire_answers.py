"""Answers and their probabilities as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from decide._json import DocumentError, Node
from decide._wire_fields import TEXTS, Codec
from decide.answers import Answer, ChoiceAnswer, NoulAnswer, RelevanceAnswer, ScoreAnswer, kind_name
from decide.distributions import Distribution


def write_answer(key: str, answer: Answer) -> dict[str, object]:
    """
    Return *answer* as it stands in a result; what can be derived from the rest is left out.
    """
    scored = answer.probabilities.pairs if isinstance(answer, ChoiceAnswer | RelevanceAnswer) else ()
    written: dict[str, object] = {
        "questionId": key,
        "kind": kind_name(type(answer)),
        "scores": [{"id": option, "probability": value} for option, value in scored] or None,
        "calibrated": answer.calibrated,
        **_own_members(answer),
    }
    if answer.unknown:
        written["unknown"] = True
    return written


def _own_members(answer: Answer) -> dict[str, object]:
    match answer:
        case NoulAnswer(noul=noul):
            return {} if noul is None else {"noul": noul}
        case ScoreAnswer():
            members: dict[str, object] = {"score": answer.score, **_confidences(answer)}
            if answer.levels:
                members["levels"] = list(answer.levels)
            if answer.probabilities:
                members["probabilities"] = {str(level): value for level, value in answer.probabilities.items()}
            return members
        case ChoiceAnswer():
            members = _confidences(answer)
            if answer.none_id:
                members["noneId"] = answer.none_id
            if answer.choice != ChoiceAnswer(probabilities=answer.probabilities).choice:
                members["choice"] = answer.choice
            return members
        case RelevanceAnswer():
            return _confidence(answer.confidence)


def _confidences(answer: ChoiceAnswer | ScoreAnswer) -> dict[str, object]:
    members = _confidence(answer.confidence)
    if answer.reported_confidence is not None:
        members["reportedConfidence"] = answer.reported_confidence
    return members


def _confidence(confidence: float | None) -> dict[str, object]:
    if confidence is None:
        return {}
    return {"hasConfidence": True, "confidence": confidence} if confidence else {"hasConfidence": True}


def read_answer(node: Node) -> Answer:
    """
    Read one answer; its key stands with the result.
    """
    kind = node.need("kind")
    calibrated, unknown = _flag(node, "calibrated"), _flag(node, "unknown")
    match kind.text():
        case "noul":
            return NoulAnswer(noul=_optional_number(node, "noul"), calibrated=calibrated, unknown=unknown)
        case "score":
            return _read_score(node, calibrated=calibrated, unknown=unknown)
        case "choice":
            return _read_choice(node, calibrated=calibrated, unknown=unknown)
        case "relevance":
            return RelevanceAnswer(
                probabilities=_read_scores(node),
                confidence=_read_confidence(node),
                calibrated=calibrated,
                unknown=unknown,
            )
        case _:
            raise DocumentError(kind.path, "expected one of noul, choice, score, relevance")


def _read_score(node: Node, *, calibrated: bool, unknown: bool) -> ScoreAnswer:
    levels, probabilities = node.find("levels"), node.find("probabilities")
    return ScoreAnswer(
        score=_optional_number(node, "score") or 0.0,
        levels=TEXTS.read(levels) if levels else (),
        probabilities={_level(key, member): member.number() for key, member in probabilities.members()}
        if probabilities
        else {},
        confidence=_read_confidence(node),
        reported_confidence=_optional_number(node, "reportedConfidence"),
        calibrated=calibrated,
        unknown=unknown,
    )


def _read_choice(node: Node, *, calibrated: bool, unknown: bool) -> ChoiceAnswer:
    probabilities = _read_scores(node)
    choice, none_id = node.find("choice"), node.find("noneId")
    return ChoiceAnswer(
        probabilities=probabilities,
        choice=choice.text() if choice else ChoiceAnswer(probabilities=probabilities).choice,
        confidence=_read_confidence(node),
        reported_confidence=_optional_number(node, "reportedConfidence"),
        none_id=none_id.text() if none_id else "",
        calibrated=calibrated,
        unknown=unknown,
    )


def _read_scores(node: Node) -> Distribution:
    scores = node.find("scores")
    if scores is None or scores.value is None:
        return Distribution()
    return Distribution([(item.need("id").text(), item.need("probability").number()) for item in scores.items()])


def _read_confidence(node: Node) -> float | None:
    return (_optional_number(node, "confidence") or 0.0) if _flag(node, "hasConfidence") else None


def _optional_number(node: Node, key: str) -> float | None:
    member = node.find(key)
    return member.number() if member else None


def _flag(node: Node, key: str) -> bool:
    member = node.find(key)
    return member.flag() if member else False


def _level(key: str, member: Node) -> int:
    if not (key.isascii() and key.isdigit() and str(int(key)) == key):
        raise DocumentError(member.path, "expected the number of a level as key")
    return int(key)


def _read_answers(node: Node) -> dict[str, Answer]:
    return {key: read_answer(member) for key, member in node.members()}


ANSWERS: Final[Codec[Mapping[str, Answer]]] = Codec(
    lambda answers: {key: write_answer(key, answer) for key, answer in answers.items()} or None,
    _read_answers,
    null=True,
)
