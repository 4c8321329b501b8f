"""The members that a policy or a question may have in a file; any other is refused before it is silently ignored."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from typing import Final

import attrs

from decide.policies import SelectionPolicy


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.title() for part in tail)


_POLICY: Final = {field.name: _camel(field.name) for field in attrs.fields(SelectionPolicy)}
_EVERY: Final = ("type", "kind", "instructions")
_OF_KIND: Final[dict[str, tuple[str, ...]]] = {
    "noul": (*_EVERY, "criteria"),
    "choice": (*_EVERY, "criteria", "candidates", "noneId"),
    "score": (*_EVERY, "criteria", "levels"),
    "relevance": (*_EVERY, "criteria", "candidates"),
}
_ONE_OF: Final = (("type", "kind"), ("criteria", "candidates"), ("criteria", "levels"))


def check_policy(document: object) -> None:
    """
    Refuse a policy with a member that no policy has.

    Raises:
        ValueError: Naming the place and the nearest member that there is.
    """
    if isinstance(document, Mapping):
        _refuse_unknown(document, _POLICY.values(), "$")


def check_questions(document: object) -> None:
    """
    Refuse questions with a member that no question of their kind has, or that says the same as another one.

    Raises:
        ValueError: Naming the question, the member and the nearest one that there is.
    """
    for key, question in document.items() if isinstance(document, Mapping) else ():
        kind = question.get("kind", question.get("type")) if isinstance(question, Mapping) else None
        if isinstance(question, Mapping) and isinstance(kind, str) and kind in _OF_KIND:
            _check_question(question, kind, f'"{key}"')


def in_their_spelling(problem: str) -> str:
    """
    Return *problem* with the members of a policy as a file spells them.
    """
    return re.sub(r"[a-z]+(?:_[a-z]+)+", lambda found: _POLICY.get(found[0], found[0]), problem)


def _check_question(question: Mapping[str, object], kind: str, place: str) -> None:
    _refuse_unknown(question, _OF_KIND[kind], place)
    for one, other in _ONE_OF:
        if one in question and other in question:
            raise ValueError(f"{place}.{other}: says the same as {one}: leave one of them out")
    criteria = question.get("criteria")
    if kind == "noul" and isinstance(criteria, Mapping):
        _refuse_unknown(criteria, ("true", "false"), f"{place}.criteria")
    candidates = question.get("candidates", criteria)
    for position, candidate in enumerate(candidates if isinstance(candidates, list) else ()):
        if isinstance(candidate, Mapping):
            _refuse_unknown(candidate, ("id", "description"), f"{place}.candidates[{position}]")


def _refuse_unknown(members: Mapping[str, object], known: Collection[str], place: str) -> None:
    for name in members:
        if name not in known:
            near = difflib.get_close_matches(name.replace("_", ""), known, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"it may be one of {', '.join(known)}"
            raise ValueError(f"{place}.{name}: there is no such member; {remedy}")
