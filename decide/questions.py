"""The four kinds of bounded question, with their limits, and the request that carries them."""

from __future__ import annotations

import enum
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from decide._converters import object_dict, str_tuple
from decide.problems import Problem

MAX_OPTIONS: Final = 255
MIN_LEVELS: Final = 2
MAX_LEVELS: Final = 10
MAX_ID_LENGTH: Final = 1000

CandidateId = str | enum.Enum
Candidates = Mapping[Any, str | None] | Iterable[CandidateId | tuple[CandidateId, str | None]]


def candidate_dict(candidates: Candidates) -> dict[str, str | None]:
    """
    Read candidates given as a mapping, as ids or as (id, description) pairs, keeping their order.

    An enum member stands for its value if that is a string, else for its name; an enum class for all its members.

    Raises:
        ValueError: If an id is empty, too long or there twice, also after Unicode normalisation.
        TypeError: If *candidates* is one string, or an id is no string.
    """
    if isinstance(candidates, str):
        raise TypeError("candidates are a mapping or a sequence of ids, got one string")
    entries = candidates.items() if isinstance(candidates, Mapping) else (_pair(entry) for entry in candidates)
    found = [(_plain(name), description) for name, description in entries]
    check_ids([name for name, _ in found], what="candidate")
    return dict(found)


def check_ids(ids: Sequence[str], *, what: str) -> None:
    """
    Refuse ids that cannot be told apart or cannot travel.

    Raises:
        ValueError: Naming the id: empty, over 1,000 characters, no Unicode, or the same as another, NFC applied.
    """
    seen: set[str] = set()
    for position, name in enumerate(ids, start=1):
        if not name:
            raise ValueError(f"{what} {position}: an id is required")
        if len(name) > MAX_ID_LENGTH:
            raise ValueError(f"{what} {position}: an id has at most {MAX_ID_LENGTH} characters, got {len(name)}")
        if any("\ud800" <= character <= "\udfff" for character in name):
            raise ValueError(f"{what} {position}: an id must be Unicode text, got half a surrogate pair")
        composed = unicodedata.normalize("NFC", name)
        if composed in seen:
            raise ValueError(f"{what} {position}: duplicate id {name!r} (compared after Unicode normalisation)")
        seen.add(composed)


def _pair(entry: object) -> tuple[object, str | None]:
    if isinstance(entry, tuple) and len(entry) == 2 and not isinstance(entry, enum.Enum):
        return entry
    return entry, None


def _plain(name: object) -> str:
    if isinstance(name, enum.Enum):
        return name.value if isinstance(name.value, str) else name.name
    if not isinstance(name, str):
        raise TypeError(f"a candidate's id is a string or an enum member, got {type(name).__name__}")
    return name


def _option_count(_: object, __: object, candidates: Mapping[str, str | None]) -> None:
    if not 1 <= len(candidates) <= MAX_OPTIONS:
        raise ValueError(f"a choice needs 1..{MAX_OPTIONS} options, got {len(candidates)}")


def _some_candidates(_: object, __: object, candidates: Mapping[str, str | None]) -> None:
    if not candidates:
        raise ValueError("a relevance question needs at least 1 candidate, got 0")


def _level_count(_: object, __: object, levels: Sequence[str]) -> None:
    if not MIN_LEVELS <= len(levels) <= MAX_LEVELS:
        raise ValueError(f"a score needs {MIN_LEVELS}..{MAX_LEVELS} ordered levels, got {len(levels)}")


def _names_a_candidate(question: ChoiceQuestion, _: object, none_id: str) -> None:
    if none_id and none_id not in question.candidates:
        raise ValueError("none_id must name one of the candidates")


@attrs.frozen
class NoulQuestion:
    """
    A yes/no question, answered with the probability of yes.

    Attributes:
        instructions: The question, as the engine reads it.
        true: What yes means; None leaves it out, "" sends it blank.
        false: What no means, likewise.
    """

    instructions: str
    true: str | None = attrs.field(default=None, kw_only=True)
    false: str | None = attrs.field(default=None, kw_only=True)


@attrs.frozen
class ChoiceQuestion:
    """
    Exactly one of 1 to 255 options.

    Attributes:
        instructions: The question, as the engine reads it.
        candidates: Option ids and what each means, in the caller's order. Describe every option by what picking it
            does.
        none_id: The option that means "none of these", if there is one; picking it never acts.
    """

    instructions: str
    candidates: dict[str, str | None] = attrs.field(converter=candidate_dict, validator=_option_count)
    none_id: str = attrs.field(default="", kw_only=True, validator=_names_a_candidate)


@attrs.frozen
class ScoreQuestion:
    """
    A place on a scale of 2 to 10 ordered levels.

    Attributes:
        instructions: The question, as the engine reads it.
        levels: What each level means, the lowest first; the index is the level's number.
    """

    instructions: str
    levels: tuple[str, ...] = attrs.field(converter=str_tuple, validator=_level_count)


@attrs.frozen
class RelevanceQuestion:
    """
    Each candidate judged on its own: several may hold, or none.

    Attributes:
        instructions: The question that is asked of every candidate.
        candidates: Candidate ids and what each means, in the caller's order.
    """

    instructions: str
    candidates: dict[str, str | None] = attrs.field(converter=candidate_dict, validator=_some_candidates)


Question = NoulQuestion | ChoiceQuestion | ScoreQuestion | RelevanceQuestion


def _question_dict(questions: Mapping[str, Question]) -> dict[str, Question]:
    if not isinstance(questions, Mapping):
        raise TypeError(f"questions are a mapping of keys to questions, got {type(questions).__name__}")
    return dict(questions)


def _is_state(_: object, __: object, state: Any) -> None:
    if not isinstance(state, str | Mapping | Sequence) or isinstance(state, bytes | bytearray):
        raise TypeError(f"the state is text, or a JSON object or list, got {type(state).__name__}")


def _named_questions(_: object, __: object, questions: Mapping[str, Question]) -> None:
    check_ids(list(questions), what="question")
    for key, question in questions.items():
        if not isinstance(question, NoulQuestion | ChoiceQuestion | ScoreQuestion | RelevanceQuestion):
            raise TypeError(f'"{key}": expected a question, got {type(question).__name__}')


@attrs.frozen(kw_only=True)
class ScoreRequest:
    """
    Questions about one state, asked together.

    Attributes:
        text: The state: text, or any JSON object or list.
        questions: Questions by key, in the caller's order. Keys come back on the answers.
        context: Further facts for engines that take them.
        product: Which product asks.
    """

    text: str | Mapping[str, object] | Sequence[object] = attrs.field(repr=False, validator=_is_state)
    questions: dict[str, Question] = attrs.field(converter=_question_dict, validator=_named_questions)
    context: dict[str, object] = attrs.field(factory=dict, converter=object_dict, repr=False)
    product: str = ""


def validate_score_request(request: ScoreRequest) -> tuple[Problem, ...]:
    """
    Return what makes *request* unanswerable by any engine; empty means fine.

    What a question alone can get wrong is refused when it is built, so that only an empty request is left to find here.
    """
    return () if request.questions else (Problem("no questions"),)
