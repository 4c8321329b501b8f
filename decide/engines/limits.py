"""What a server takes at most, checked before anything is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from decide.engines._setup import SetupError
from decide.engines._systemone_encode import WireRequest
from decide.errors import InvalidRequestError


def _whole(_: object, attribute: attrs.Attribute[int | None], value: int | None) -> None:
    if value is not None and (type(value) is not int or value < 1):
        raise SetupError(f"limits: {attribute.name} must be a whole number, 1 or above, or None")


def _limit() -> int | None:
    limit: int | None = attrs.field(default=None, validator=_whole)
    return limit


@attrs.frozen(kw_only=True)
class Limits:
    """
    What a server takes, as its vendor says. None is no limit that is known, so that the server itself has to refuse.

    Attributes:
        questions: The most questions in one request. A relevance question counts once for each candidate.
        least_options: The fewest options of a choice.
        options: The most options of a choice.
        all_options: The most options of all choices together.
        levels: The most levels of a score.
        state_characters: The longest state, as JSON unless it is a text.
        state_tokens: The most tokens of the state and the longest question together, taken as four bytes each.
        body_bytes: The longest body of a request.
        instructions: Every question needs instructions.
        both_sides: A yes/no question describes both sides or none.
        filled_state: The state may not be an empty text.

    Raises:
        SetupError: If a limit is not a whole number above 0.
    """

    questions: int | None = _limit()
    least_options: int | None = _limit()
    options: int | None = _limit()
    all_options: int | None = _limit()
    levels: int | None = _limit()
    state_characters: int | None = _limit()
    state_tokens: int | None = _limit()
    body_bytes: int | None = _limit()
    instructions: bool = False
    both_sides: bool = False
    filled_state: bool = False

    def within(self, other: Limits) -> Limits:
        """
        Return what both allow.
        """
        return Limits(
            questions=_lower(self.questions, other.questions),
            least_options=_higher(self.least_options, other.least_options),
            options=_lower(self.options, other.options),
            all_options=_lower(self.all_options, other.all_options),
            levels=_lower(self.levels, other.levels),
            state_characters=_lower(self.state_characters, other.state_characters),
            state_tokens=_lower(self.state_tokens, other.state_tokens),
            body_bytes=_lower(self.body_bytes, other.body_bytes),
            instructions=self.instructions or other.instructions,
            both_sides=self.both_sides or other.both_sides,
            filled_state=self.filled_state or other.filled_state,
        )


NO_LIMITS: Final = Limits()
"""Nothing is known of what a server takes."""


def _lower(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _higher(*limits: int | None) -> int | None:
    return max((limit for limit in limits if limit is not None), default=None)


def check(asked: WireRequest, limits: Limits) -> None:
    """
    Refuse what a server would not take.

    Raises:
        InvalidRequestError: Naming the question by its position, the limit and what there is, never what it says.
    """
    problem = next(_problems(asked, limits), "")
    if problem:
        raise InvalidRequestError(problem, detail=problem)


def check_size(body: bytes, limits: Limits) -> None:
    """
    Refuse a body that a server would not read.

    Raises:
        InvalidRequestError: If it is too long.
    """
    if limits.body_bytes is not None and len(body) > limits.body_bytes:
        problem = f"a request of {len(body)} bytes, at most {limits.body_bytes}"
        raise InvalidRequestError(problem, detail=problem)


def _problems(asked: WireRequest, limits: Limits) -> Iterator[str]:
    if limits.questions is not None and len(asked.questions) > limits.questions:
        yield f"{len(asked.questions)} questions, at most {limits.questions}"
    options = 0
    for position, names in enumerate(asked.names.values(), start=1):
        for name in names:
            question = asked.questions[name]
            yield from (f"question {position}: {problem}" for problem in _question_problems(question, limits))
            options += len(_criteria(question)) if question["type"] == "choice" else 0
    if limits.all_options is not None and options > limits.all_options:
        yield f"{options} options in all, at most {limits.all_options}"
    yield from _state_problems(asked, limits)


def _question_problems(question: Mapping[str, object], limits: Limits) -> Iterator[str]:
    criteria, kind = _criteria(question), question["type"]
    if limits.instructions and not question.get("instructions"):
        yield "instructions are required"
    if kind == "noul" and limits.both_sides and len(criteria) == 1:
        yield "both sides have to be described, or none"
    if kind == "choice" and limits.options is not None and len(criteria) > limits.options:
        yield f"{len(criteria)} options, at most {limits.options}"
    if kind == "choice" and limits.least_options is not None and len(criteria) < limits.least_options:
        yield f"{len(criteria)} options, at least {limits.least_options}"
    if kind == "score" and limits.levels is not None and len(criteria) > limits.levels:
        yield f"{len(criteria)} levels, at most {limits.levels}"


def _state_problems(asked: WireRequest, limits: Limits) -> Iterator[str]:
    state = asked.state
    if limits.filled_state and state == "":
        yield "the state is empty"
    if limits.state_characters is not None:
        length = len(state) if isinstance(state, str) else len(_written(state))
        if length > limits.state_characters:
            yield f"a state of {length} characters, at most {limits.state_characters}"
    if limits.state_tokens is not None:
        longest = max(map(_size, asked.questions.values()), default=0)
        tokens = -(-(_size(state) + longest) // 4)
        if tokens > limits.state_tokens:
            yield f"a state and a question of about {tokens} tokens, at most {limits.state_tokens}"


def _criteria(question: Mapping[str, object]) -> Mapping[str, object] | list[object]:
    criteria = question.get("criteria")
    return criteria if isinstance(criteria, Mapping | list) else {}


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _size(value: object) -> int:
    return len(_written(value).encode())
