"""Finds the phrases that match a text, at a cost that does not grow with the number of phrases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from decide.rules.normalizing import lower, squeeze, words
from decide.rules.phrases import How, Wording


class Utterance:
    """
    A text, normalised once for a whole table.

    Attributes:
        said: The normalised text in the user's own case.
        text: The normalised text.
    """

    def __init__(self, text: str) -> None:
        self.said: str = squeeze(text)
        self.text: str = lower(self.said)

    @cached_property
    def words(self) -> list[str]:
        """
        The words of `text`.
        """
        return words(self.text)


class _Node:
    """
    A word on the way through phrases that begin alike.
    """

    __slots__ = ("ends", "following")

    def __init__(self) -> None:
        self.following: dict[str, _Node] = {}
        self.ends: list[int] = []

    def add(self, phrase: Iterable[str], position: int) -> None:
        node = self
        for word in phrase:
            node = node.following.setdefault(word, _Node())
        node.ends.append(position)

    def walk(self, heard: Sequence[str], start: int) -> Iterator[list[int]]:
        """
        Yield the positions of every phrase that stands in *heard* at *start*.
        """
        node = self
        for index in range(start, len(heard)):
            below = node.following.get(heard[index])
            if below is None:
                return
            if below.ends:
                yield below.ends
            node = below


class PhraseIndex:
    """
    The phrases of a table, found by what is said instead of one after the other.

    Exact phrases are the keys of a dict, beginnings and contained phrases the paths of tries over words. A pattern is
    looked up by the piece of it that the fewest patterns share, and then compared. The cost is linear in the text,
    unless the text repeats long beginnings of phrases over and over.

    Args:
        wordings: Phrases by position, in ascending order.
    """

    def __init__(self, wordings: Mapping[int, Wording]) -> None:
        self._wordings = wordings
        self._exact: dict[str, list[int]] = {}
        self._beginnings = _Node()
        self._parts = _Node()
        patterns = (wording for wording in wordings.values() if wording.how is How.PATTERN)
        shared = Counter(piece for wording in patterns for piece in map(_bare, wording.pieces))
        for position, wording in wordings.items():
            match wording.how:
                case How.EXACT:
                    self._exact.setdefault(wording.text, []).append(position)
                case How.STARTS_WITH:
                    self._beginnings.add(wording.pieces[0], position)
                case How.CONTAINS:
                    self._parts.add(wording.pieces[0], position)
                case How.PATTERN:
                    pieces = ((shared[piece], -len(piece), piece) for piece in map(_bare, wording.pieces) if piece)
                    self._parts.add(min(pieces)[-1], position)

    def first(self, heard: Utterance) -> int | None:
        """
        Return the lowest position whose phrase matches, or None.
        """
        best: int | None = None
        for positions in self._found(heard):
            for position in positions:
                if best is not None and position >= best:
                    break
                if self._fits(position, heard):
                    best = position
                    break
        return best

    def every(self, heard: Utterance) -> set[int]:
        """
        Return every position whose phrase matches.
        """
        return {one for positions in self._found(heard) for one in positions if self._fits(one, heard)}

    def slots(self, position: int, heard: Utterance) -> dict[str, str]:
        """
        Return what stands in the slots of the phrase at *position*, in the user's own case.
        """
        wording = self._wordings[position]
        spans = _spans(wording.pieces, heard.words) if wording.slots else None
        if spans is None:
            return {}
        starts = [0]
        for word in heard.words:
            starts.append(starts[-1] + len(word))
        values = (heard.said[starts[begin] : starts[end]].strip(" ") for begin, end in spans)
        return dict(zip(wording.slots, values, strict=True))

    def _found(self, heard: Utterance) -> Iterator[list[int]]:
        same = self._exact.get(heard.text)
        if same is not None:
            yield same
        if self._beginnings.following:
            yield from self._beginnings.walk(heard.words, 0)
        if self._parts.following:
            for start, word in enumerate(heard.words):
                if word in self._parts.following:
                    yield from self._parts.walk(heard.words, start)

    def _fits(self, position: int, heard: Utterance) -> bool:
        wording = self._wordings[position]
        return wording.how is not How.PATTERN or _spans(wording.pieces, heard.words) is not None


def _bare(piece: Sequence[str]) -> tuple[str, ...]:
    """
    Return *piece* without the spaces that part it from its slots.
    """
    begin, end = int(piece[:1] == (" ",)), len(piece) - int(piece[-1:] == (" ",))
    return tuple(piece[begin:end])


def _spans(pieces: Sequence[Sequence[str]], heard: Sequence[str]) -> list[tuple[int, int]] | None:
    """
    Return where each slot begins and ends, or None when the pattern does not match.

    From left to right every slot is as short as it can be. The leftmost place of a piece leaves the most room to those
    after it, so that no choice has to be taken back.
    """
    begin, stop = len(pieces[0]), len(heard) - len(pieces[-1])
    if list(heard[:begin]) != list(pieces[0]) or list(heard[stop:]) != list(pieces[-1]):
        return None
    spans: list[tuple[int, int]] = []
    for piece in pieces[1:-1]:
        end = _find(piece, heard, _least_end(heard, begin), stop)
        if end is None:
            return None
        spans.append((begin, end))
        begin = end + len(piece)
    if _least_end(heard, begin) > stop:
        return None
    return [*spans, (begin, stop)]


def _least_end(heard: Sequence[str], begin: int) -> int:
    """
    Return where a slot that begins at *begin* ends at the earliest, since a space alone fills none.
    """
    return begin + 1 + (heard[begin : begin + 1] == [" "])


def _find(piece: Sequence[str], heard: Sequence[str], begin: int, stop: int) -> int | None:
    wanted = list(piece)
    places = range(begin, stop - len(wanted) + 1)
    return next((place for place in places if heard[place : place + len(wanted)] == wanted), None)
