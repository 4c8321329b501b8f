"""What a rule listens for: exact words, a beginning, words anywhere, or words around named slots."""

from __future__ import annotations

from enum import StrEnum
from string import Formatter
from typing import Final

import attrs

from decide.rules.normalizing import normalize, words

SLOT: Final = "\uffff"
"""Stands for a slot in a prepared phrase: a noncharacter, so that no phrase needs it."""


class How(StrEnum):
    """How a phrase is compared with a text."""

    EXACT = "exact"
    STARTS_WITH = "starts_with"
    CONTAINS = "contains"
    PATTERN = "pattern"


@attrs.frozen
class Phrase:
    """
    Something a user may say, as the programmer wrote it.

    Attributes:
        text: The words.
        how: How they are compared; in a pattern, `{name}` is a slot and a doubled brace is a brace.
    """

    text: str
    how: How = How.PATTERN


def exact(text: str) -> Phrase:
    """
    Listen for *text* and nothing besides; braces are ordinary characters here.
    """
    return Phrase(text, How.EXACT)


def starts_with(text: str) -> Phrase:
    """
    Listen for texts that begin with *text*, which must not end inside a word of theirs.
    """
    return Phrase(text, How.STARTS_WITH)


def contains(text: str) -> Phrase:
    """
    Listen for *text* anywhere, but not inside a word.
    """
    return Phrase(text, How.CONTAINS)


@attrs.frozen(kw_only=True)
class Wording:
    """
    A phrase made ready for comparing.

    Attributes:
        phrase: The phrase as it was written.
        how: How it is compared.
        text: The phrase as if a user had said it, normalised, with `SLOT` for each slot.
        pieces: The words before, between and after the slots: one piece when there is none.
        slots: Their names, in order.
    """

    phrase: Phrase
    how: How
    text: str
    pieces: tuple[tuple[str, ...], ...]
    slots: tuple[str, ...] = ()


def prepare(phrase: Phrase) -> Wording:
    """
    Make *phrase* ready.

    Raises:
        ValueError: If it can match nothing, or everything. The message does not repeat the phrase.
    """
    if SLOT in phrase.text:
        raise ValueError("U+FFFF is not a character of any text")
    text, slots = _parsed(phrase.text) if phrase.how is How.PATTERN else (phrase.text, ())
    text = normalize(text)
    if slots:
        _check_slots(text, slots)
    elif not text and phrase.how in {How.STARTS_WITH, How.CONTAINS}:
        raise ValueError("nothing is left of it after normalising, so it would match every text")
    how = How.EXACT if phrase.how is How.PATTERN and not slots else phrase.how
    pieces = tuple(tuple(words(piece)) for piece in text.split(SLOT))
    return Wording(phrase=phrase, how=how, text=text, pieces=pieces, slots=slots)


def _parsed(text: str) -> tuple[str, tuple[str, ...]]:
    complaint = "a slot is a name in braces, like {city}; double a brace that is meant as one"
    try:
        fields = list(Formatter().parse(text))
    except ValueError:
        raise ValueError(complaint) from None
    slots = [name for _, name, _, _ in fields if name is not None]
    if not all(map(str.isidentifier, slots)) or any(spec or conversion for _, _, spec, conversion in fields):
        raise ValueError(complaint)
    return "".join(literal if name is None else literal + SLOT for literal, name, _, _ in fields), tuple(slots)


def _check_slots(text: str, slots: tuple[str, ...]) -> None:
    if len(set(slots)) < len(slots):
        raise ValueError("two slots have one name")
    if not text.replace(SLOT, "").strip(" "):
        raise ValueError("it needs a word besides its slots, or it would match every text")
    if any(len(words(text.replace(SLOT, stand_in))) < len(words(text)) for stand_in in "x0"):
        raise ValueError("a slot stands for whole words: put a space between it and the word or slot next to it")
