"""What a dialect is: how servers that answer the same questions differ in what they are sent and send back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import attrs

from decide.engines._systemone_encode import WireRequest
from decide.engines.health import WELL
from decide.engines.limits import NO_LIMITS, Limits

Document = Mapping[str, object]

NOUL: Final = "noul"
_SPELLINGS: Final = {"boolean": "probability", "predicate": "probability", NOUL: NOUL}
"""How dialects call the answer to a yes/no question, and the member that holds its number."""

_ENVELOPES: Final = ("result", "response")


class AnotherDialectError(Exception):
    """
    A reply is an answer, in words of another dialect. Never leaves the engines.
    """


def _statuses(codes: Mapping[str, int]) -> dict[str, int]:
    return dict(codes)


class UnreadableError(Exception):
    """
    A reply is none to what was asked. Never leaves the engines.

    Attributes:
        problem: What is wrong with it, in our own words.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


@attrs.frozen(kw_only=True)
class Dialect:
    """
    A dialect: facts, and two functions that neither wait nor know of a network.

    Attributes:
        name: What it is chosen by.
        write: Returns the body of a request, given what is asked and the model, which may be empty.
        read: Returns a reply as a System One server would have sent it, given what was asked and what came; raises
            AnotherDialectError when it is one of another dialect, and UnreadableError when it is none.
        route: What is put on a base URL; `{model}` in it stands for the model.
        envelope: The member that a reply is wrapped in; empty for none.
        yes_no: What an answer to a yes/no question is called.
        listed: Answers come as a list, in the order of the questions.
        key_header: The header for the key.
        key_prefix: What stands before the key in it.
        cost_header: A header of replies with their cost in US dollars; empty for none.
        codes: What error codes of this service mean, as an HTTP status.
        health: The route that says whether the server is well.
        well: What it calls its status then.
        models: The route that lists models.
        limits: What the protocol itself limits.
    """

    name: str
    write: Callable[[WireRequest, str], dict[str, object]] = attrs.field(repr=False)
    read: Callable[[WireRequest, Document], Document] = attrs.field(repr=False)
    route: str = "/v1/systemone"
    envelope: str = ""
    yes_no: str = NOUL
    listed: bool = False
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    cost_header: str = ""
    codes: dict[str, int] = attrs.field(factory=dict, converter=_statuses)
    health: str = "/health"
    well: frozenset[str] = WELL
    models: str = "/v1/models"
    limits: Limits = NO_LIMITS

    def holds(self, document: Document) -> bool:
        """
        Say whether a reply has answers, in this dialect or another; if not, it may be an error.
        """
        if self.envelope and document.get("success") is False:
            return False
        return bool(_answers(document, self.envelope, listed=self.listed)) or self.is_foreign(document)

    def has_form(self, document: Document) -> bool:
        """
        Say whether a reply has the form of one in this dialect, answers or not.
        """
        return _answers(document, self.envelope, listed=self.listed) is not None

    def is_foreign(self, document: Document) -> bool:
        """
        Say whether a reply has answers where, or in the form in which, another dialect has them.
        """
        if _answers(document, self.envelope, listed=self.listed):
            return False
        for place in ("", *_ENVELOPES):
            if _answers(document, place, listed=False):
                return True
            listed = _answers(document, place, listed=True)
            if isinstance(listed, list) and any(map(_is_listed, listed)):
                return True
        return False


def entries_in(document: Document, envelope: str, asked: WireRequest, yes_no: str) -> dict[str, object]:
    """
    Return the answers of a reply by wire name, each yes/no answer as a noul.

    Raises:
        AnotherDialectError: If every yes/no answer is spelled as another dialect would.
    """
    answers = _answers(document, envelope, listed=False)
    entries = dict(answers) if isinstance(answers, Mapping) else {}
    nouls = [name for name in asked.questions if asked.questions[name]["type"] == NOUL and name in entries]
    check_spelling((entries[name] for name in nouls), yes_no)
    if yes_no != NOUL:
        entries |= {name: as_noul(entries[name], yes_no) for name in nouls}
    return entries


def check_spelling(entries: Iterable[object], yes_no: str) -> None:
    """
    Refuse yes/no answers that are all spelled in another way.

    Raises:
        AnotherDialectError: If they are.
    """
    spelled = {_spelling(entry) for entry in entries}
    if spelled and spelled <= _SPELLINGS.keys() - {yes_no}:
        raise AnotherDialectError


def as_noul(entry: object, yes_no: str) -> object:
    """
    Return a yes/no answer as a System One server would have sent it; anything else as it is.
    """
    if not isinstance(entry, dict) or entry.get("type") != yes_no:
        return entry
    return {**entry, "type": NOUL, NOUL: entry.get("probability")}


def _spelling(entry: object) -> str:
    if not isinstance(entry, Mapping):
        return ""
    kind = entry.get("type")
    number = entry.get(_SPELLINGS[kind]) if isinstance(kind, str) and kind in _SPELLINGS else None
    return str(kind) if isinstance(number, int | float) else ""


def _answers(document: Document, envelope: str, *, listed: bool) -> object:
    inner = document.get(envelope) if envelope else document
    answers = inner.get("answers") if isinstance(inner, Mapping) else None
    return answers if isinstance(answers, list if listed else Mapping) else None


def _is_listed(entry: object) -> bool:
    return isinstance(entry, Mapping) and ("name" in entry or entry.get("type") == "predicate")
