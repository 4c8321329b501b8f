"""The probability of yes from the token in which a model wrote true or false, where its log-probabilities tell."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from decide.engines.chat import Token

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")
_LEADING = ' \n:"'
_ROUNDING: Final = 1e-6
"""How far above 0 a log-probability may be by rounding alone."""


def verdicts(text: str, start: int, paths: Iterable[Sequence[str]], tokens: Sequence[Token]) -> list[float | None]:
    """
    Return the probability of yes at each of *paths* in the JSON object of *text* that begins at *start*.

    None where there is no such literal, or no token tells: then the verdict stands as 0 or 1, on the model's own word.
    The tokens must spell the text, alone or once within what they spell.
    """
    spelled = b"".join(token.text for token in tokens)
    written = text.encode("utf-8", "replace")
    begins = spelled.find(written)
    if not written or begins < 0 or spelled.find(written, begins + 1) >= 0:
        return [None for _ in paths]
    found = list[float | None]()
    for path in paths:
        at = _literal(text, start, path)
        token = None if at is None else _covering(tokens, begins + len(text[:at].encode("utf-8", "replace")))
        found.append(None if token is None else yes_probability(token))
    return found


def yes_probability(token: Token) -> float | None:
    """
    Return what *token* gives to true, of all that it gives to true and false; None when it is about neither.

    The alternatives at its place count, or the token itself when none are given. Beginnings of the two words count, and
    words with more behind them.
    """
    yes = no = 0.0
    for text, logprob in token.top or ((token.text.decode("utf-8", "replace"), token.logprob),):
        word = text.lstrip(_LEADING).lower()
        if not word or not -math.inf < logprob <= _ROUNDING:
            continue
        mass = math.exp(min(logprob, 0.0))
        if word.startswith("true") or "true".startswith(word):
            yes += mass
        elif word.startswith("false") or "false".startswith(word):
            no += mass
    return yes / (yes + no) if yes + no else None


def _covering(tokens: Sequence[Token], place: int) -> Token:
    ends = accumulate(len(token.text) for token in tokens)
    return next(token for token, end in zip(tokens, ends, strict=True) if end > place)


def _literal(text: str, start: int, path: Sequence[str]) -> int | None:
    """
    Return where the true or false stands that *path* leads to.
    """
    at: int | None = start
    for key in path:
        at = next((place for name, place in _members(text, at) if name == key), None) if at is not None else None
    return at if at is not None and text.startswith(("true", "false"), at) else None


def _members(text: str, start: int) -> Iterator[tuple[str, int]]:
    """
    Yield the keys of the object at *start*, known to be JSON, and where their values begin.
    """
    at = _past_blanks(text, start + 1)
    while text.startswith("{", start) and text.startswith('"', at):
        key, at = _DECODER.raw_decode(text, at)
        value = _past_blanks(text, _past_blanks(text, at) + 1)
        yield key.strip(), value
        at = _past_blanks(text, _DECODER.raw_decode(text, value)[1])
        at = _past_blanks(text, at + 1)


def _past_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at
