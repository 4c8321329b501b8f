"""The one JSON object in what a model wrote that is its answer, found by reading JSON and never by guessing at it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, cast

import attrs

from decide._json import DocumentError, canonical, loads

MAX_TEXT: Final = 200_000
"""The longest text that is searched, in characters: far beyond any answer. It bounds the time that a reply takes."""

_MAX_STRAY = 8
_MAX_REPEATED = 16
_REASONING = "think|thinking|reasoning|thought"
_OPENING = re.compile(rf"\s*<({_REASONING})>")
_CLOSING = re.compile(rf"</({_REASONING})>")
_LIKE_JSON = re.compile(r"""\{\s*(?:["']|[A-Za-z_$][\w$]*\s*:)""")
_BRACE_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}]', re.DOTALL)
_DECODER = json.JSONDecoder()


@attrs.frozen
class Found:
    """
    An object in a text.

    Attributes:
        document: What it says, read strictly.
        start: Where it begins in the text.
    """

    document: dict[str, object]
    start: int


def find_answer(text: str, holds: Callable[[Mapping[str, object]], bool]) -> Found:
    """
    Return the object of *text* that is the answer.

    Everything around it is prose: fences, citations, other objects, braces that are no JSON. A reasoning block in front
    is cut first. The same answer may stand there twice.

    Args:
        text: What a model wrote.
        holds: Tells an answer to what was asked from any other object.

    Raises:
        DocumentError: If there is none, or it cannot be told which one is meant: two that differ, one inside a list,
            one that is cut off; or if the answer is no strict JSON. Never quotes the text.
    """
    if len(text) > MAX_TEXT:
        raise DocumentError("$", f"longer than {MAX_TEXT} characters")
    begin, last = _reasoning(text)
    for at in dict.fromkeys((last, begin)):
        # An end of reasoning may also be data: then the answer is the object around it.
        spans = [span for span in _answers(text, at, holds) if span[1] > last]
        if spans:
            return _only(text, spans)
    raise DocumentError("$", "no answer in it")


def _only(text: str, spans: list[tuple[int, int]]) -> Found:
    if len(spans) > _MAX_REPEATED:
        raise DocumentError("$", f"more than {_MAX_REPEATED} answers")
    if any(_in_a_list(text, start, end) for start, end in spans):
        raise DocumentError("$", "an answer inside a list")
    documents = [loads(text[start:end]) for start, end in spans]
    if len({canonical(document) for document in documents}) > 1:
        raise DocumentError("$", "two answers that differ")
    return Found(cast("dict[str, object]", documents[0]), spans[0][0])


def _answers(text: str, at: int, holds: Callable[[Mapping[str, object]], bool]) -> Iterator[tuple[int, int]]:
    stray = 0
    while (start := text.find("{", at)) >= 0:
        value, at = _decoded(text, start)
        if value is not None:
            if holds(value):
                yield start, at
        elif at < 0:
            # What follows stands inside a brace that never closes: harmless in prose, half an answer otherwise.
            stray += 1
            if _LIKE_JSON.match(text, start) or stray > _MAX_STRAY:
                raise DocumentError("$", "JSON that does not end")
            at = start + 1


def _decoded(text: str, start: int) -> tuple[dict[str, object] | None, int]:
    """
    Read the object that begins at *start*, and say where what begins there ends; -1 when it does not.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, _closing(text, start)
    return value, end


def _closing(text: str, start: int) -> int:
    depth = 0
    for piece in _BRACE_OR_STRING.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(piece[0], 0)
        if depth == 0:
            return piece.end()
    return -1


def _reasoning(text: str) -> tuple[int, int]:
    """
    Return where the reasoning ends that a model wrote in front of its answer, and where the last end of any is.

    Some models begin it before the reply, so that only its end is there.
    """
    at = 0
    while opening := _OPENING.match(text, at):
        closing = f"</{opening[1]}>"
        at = text.find(closing, opening.end())
        if at < 0:
            raise DocumentError("$", "reasoning that does not end")
        at += len(closing)
    return at, max((closing.end() for closing in _CLOSING.finditer(text, at)), default=at)


def _in_a_list(text: str, start: int, end: int) -> bool:
    before, after = text[:start].rstrip()[-1:], text[end:].lstrip()[:1]
    return before == "[" or after == "]" or (before == "," and after == ",")
