"""The closed list of what counts as the answer to a yes/no question, in the shapes that models give one."""

from __future__ import annotations

from typing import Final

from decide._json import DocumentError, Node
from decide.distributions import is_probability

YES: Final = frozenset({"1", "entailed", "entailment", "holds", "supported", "true", "yes"})
NO: Final = frozenset({"0", "contradicted", "contradiction", "false", "neutral", "no", "not_supported", "unsupported"})


def read_noul(node: Node) -> float:
    """
    Return the probability of yes that an answer stands for.

    A number from 0 to 1; a boolean; an object with a `noul` or a `verdict`; one with probabilities of yes and no by any
    of their words, or only of yes; one that picks such a word.

    Raises:
        DocumentError: If it is anything else, a third option and a number as text included.
    """
    match node.value:
        case bool() as verdict:
            return float(verdict)
        case int() | float():
            return read_probability(node)
        case dict():
            return _from_object(node)
        case _:
            raise node.expected("an answer to a yes/no question")


def read_probability(node: Node) -> float:
    """
    Read a number from 0 to 1. Nothing is clamped: 95 is neither 0.95 nor 1.
    """
    value = node.number()
    if not is_probability(value):
        raise node.expected("a number from 0 to 1")
    return value


def _from_object(node: Node) -> float:
    noul, verdict = node.find("noul"), node.find("verdict")
    if noul is not None:
        return read_probability(noul)
    if verdict is not None:
        return float(verdict.flag())
    sides = _sides(node)
    if sides is not None:
        yes, no = sides
        return yes if no is None else yes / (yes + no)
    picked = node.find("choice")
    word = picked.text().strip().lower() if picked is not None else ""
    if word not in YES | NO:
        raise node.expected("an answer to a yes/no question")
    return float(word in YES)


def _sides(node: Node) -> tuple[float, float | None] | None:
    """
    Return what is given to yes and to no, None for a side that is not mentioned; None if yes is not mentioned at all.
    """
    given = node.find("probabilities")
    yes, no = list[float](), list[float]()
    for word, member in given.members() if given is not None and given.value is not None else ():
        side = yes if word.strip().lower() in YES else no if word.strip().lower() in NO else None
        if side is None:
            raise DocumentError(member.path, "neither yes nor no")
        side.append(read_probability(member))
    total = sum(yes) + sum(no)
    if not yes or not total or (not no and total > 1):
        return None
    return sum(yes), sum(no) if no else None
