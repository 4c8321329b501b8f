"""Questions as they are written on a command line: `KEY: TEXT | part | part`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

import click

from decide.questions import ChoiceQuestion, NoulQuestion, Question, RelevanceQuestion, ScoreQuestion

_KEY: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SHAPES: Final = {
    "choice": '"team: Which team? | billing=charges | technical=bugs | *other"',
    "noul": '"angry: Is the writer angry? | true=insults, threats | false=calm"',
    "score": '"urgency: How urgent? | can wait | this week | today"',
    "relevant": '"topics: Which topics come up? | money=charges, refunds | access=logging in"',
}


def read_question(kind: str, text: str) -> tuple[str, Question]:
    """
    Return the key and the question that *text* spells.

    The key ends at the first colon and blank; parts are separated by a bar between blanks; an id ends at the first
    equals sign. Blanks around a text, an id or a description are dropped.

    Args:
        kind: `choice`, `noul`, `score` or `relevant`.
        text: What was written after the option of that name.

    Raises:
        click.UsageError: If *text* does not follow the grammar or spells a question that cannot be asked; names the
            option and the remedy.
    """
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise click.UsageError(f"--{kind}: what was written is not UTF-8")
    try:
        key, asked, parts = _split(text)
        return key, _BUILDERS[kind](asked, parts)
    except ValueError as error:
        raise click.UsageError(f"--{kind} {_quoted(text)}: {error}.\nWrite it as --{kind} {_SHAPES[kind]}") from None


def _split(text: str) -> tuple[str, str, list[str]]:
    key, colon, rest = text.partition(": ")
    if not colon:
        raise ValueError("a question starts with its key, a colon and a blank")
    if not _KEY.fullmatch(key):
        raise ValueError("a key is 1 to 64 letters, digits, dots, dashes or underscores (A-Z a-z 0-9 . - _)")
    asked, *parts = (part.strip() for part in rest.split(" | "))
    if not asked:
        raise ValueError("the text of the question is missing after the key")
    for position, part in enumerate(parts, start=1):
        if not part or part.startswith("|") or part.endswith("|"):
            raise ValueError(f"part {position} is empty; parts are separated by a bar with a blank on either side")
    return key, asked, parts


def _option(part: str) -> tuple[str, str | None]:
    name, equals, description = part.partition("=")
    if not name.strip():
        raise ValueError("an id is missing before =")
    return name.strip(), description.strip() if equals else None


def _choice(asked: str, parts: list[str]) -> Question:
    options = [_option(part.removeprefix("*")) for part in parts]
    marked = [name for part, (name, _) in zip(parts, options, strict=True) if part.startswith("*")]
    if len(marked) > 1:
        raise ValueError("only one option can be marked * as none of these")
    return ChoiceQuestion(asked, options, none_id=marked[0] if marked else "")


def _relevant(asked: str, parts: list[str]) -> Question:
    if any(part.startswith("*") for part in parts):
        raise ValueError("only a choice has an option marked * as none of these")
    return RelevanceQuestion(asked, [_option(part) for part in parts])


def _noul(asked: str, parts: list[str]) -> Question:
    sides = [_option(part) for part in parts]
    names = [name for name, description in sides if description is not None]
    if len(names) < len(sides) or not set(names) <= {"true", "false"} or len(set(names)) < len(names):
        raise ValueError("the parts of a yes/no question are true=... and false=..., each at most once")
    meaning = dict(sides)
    return NoulQuestion(asked, true=meaning.get("true"), false=meaning.get("false"))


def _score(asked: str, parts: list[str]) -> Question:
    return ScoreQuestion(asked, parts)


_BUILDERS: Final[dict[str, Callable[[str, list[str]], Question]]] = {
    "choice": _choice,
    "noul": _noul,
    "score": _score,
    "relevant": _relevant,
}


def collect(questions: Iterable[tuple[str, Question]]) -> dict[str, Question]:
    """
    Return *questions* by key, in their order.

    Raises:
        click.UsageError: If there are none, or two under one key.
    """
    found: dict[str, Question] = {}
    for key, question in questions:
        if key in found:
            raise click.UsageError(f"two questions have the key {_quoted(key)}: give each a key of its own")
        found[key] = question
    if not found:
        shapes = "\n".join(f"  --{kind} {shape}" for kind, shape in _SHAPES.items())
        raise click.UsageError(f"there is no question to ask. Add at least one of\n{shapes}\n  --questions FILE")
    return found


def _quoted(text: str) -> str:
    return f'"{text}"' if len(text) <= 60 else f'"{text[:57]}..."'
