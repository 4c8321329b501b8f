"""Rules told slowly, character by character and phrase by phrase: what the index has to agree with."""

import unicodedata
from collections.abc import Iterator, Sequence

from decide.rules import Phrase, Rule, normalize
from decide.rules.phrases import How, prepare

Answer = tuple[str, dict[str, str]]
"""The name of the rule that decides, and the slots it found."""


def naive_words(text: str) -> list[str]:
    found: list[str] = []
    for at, character in enumerate(text):
        if found and _joins(found[-1], character, text[at + 1 : at + 2]):
            found[-1] += character
        else:
            found.append(character)
    return found


def naive_answer(rules: Sequence[Rule], text: str) -> Answer | None:
    said = normalize(text)
    for rule in rules:
        for phrase in rule.phrases:
            slots = naive_slots(phrase, said)
            if slots is not None:
                return rule.name, slots
    return None


def naive_slots(phrase: Phrase, said: str) -> dict[str, str] | None:
    """
    Return the slots when *phrase* matches the normalised text *said*; none of them for a phrase without slots.
    """
    wording = prepare(phrase)
    if wording.slots:
        values = next(_fillings(["".join(piece) for piece in wording.pieces], said, _edges(said)), None)
        return None if values is None else dict(zip(wording.slots, values, strict=True))
    edges, length = _edges(said), len(wording.text)
    places = [at for at in range(len(said) - length + 1) if said[at : at + length] == wording.text]
    whole = [at for at in places if at in edges and at + length in edges]
    match phrase.how:
        case How.CONTAINS:
            matches = bool(whole)
        case How.STARTS_WITH:
            matches = 0 in whole
        case _:
            matches = said == wording.text
    return {} if matches else None


def _fillings(pieces: list[str], said: str, edges: set[int], begin: int = 0) -> Iterator[list[str]]:
    """
    Yield every way to fill the slots between *pieces*, short values first.
    """
    piece, *others = pieces
    after = begin + len(piece)
    if not said.startswith(piece, begin) or after not in edges:
        return
    if not others:
        if after == len(said):
            yield []
        return
    for end in sorted(edges):
        value = said[after:end].strip(" ")
        if end > after and value:
            yield from ([value, *more] for more in _fillings(others, said, edges, end))


def _edges(text: str) -> set[int]:
    edges = {0}
    for word in naive_words(text):
        edges.add(max(edges) + len(word))
    return edges


def _joins(word: str, character: str, following: str) -> bool:
    kind = _kind(word[0])
    if _is_mark(character):
        return kind != "sign"
    if character in "'\u2019":
        return kind == "letter" and _kind(following) == "letter"
    if character in ".,":
        return kind == "letter" and word[-1].isdecimal() and following.isdecimal() and _kind(following) == "letter"
    return kind in {"letter", "katakana"} and kind == _kind(character)


def _kind(character: str) -> str:
    if not character:
        return "sign"
    name = unicodedata.name(character, "")
    if _is_mark(character):
        return "letter"
    if name.startswith(("KATAKANA LETTER", "KATAKANA-HIRAGANA PROLONGED", "HALFWIDTH KATAKANA LETTER")):
        return "katakana"
    if name.startswith(("CJK UNIFIED", "HIRAGANA LETTER", "THAI CHARACTER")):
        return "unspaced"
    return "letter" if character.isalnum() or character == "_" else "sign"


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M") or character in "\u200c\u200d"
