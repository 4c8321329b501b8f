"""One rule: a name, what it listens for, and what is then decided."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Final

import attrs

from decide.decisions import Decision, Scored
from decide.judging import deterministic
from decide.requests import SessionState
from decide.rules.phrases import Phrase, Wording, prepare

Match = Callable[[str, SessionState], Decision | None]

_NAME: Final = re.compile(r"(?! )[A-Za-z0-9._:/@~+ -]{1,200}(?<! )")


def _phrases(given: Iterable[str | Phrase]) -> tuple[Phrase, ...]:
    if isinstance(given, str | Phrase):
        raise TypeError("expected a sequence of phrases, got one phrase: put it in a tuple")
    return tuple(Phrase(one) if isinstance(one, str) else one for one in given)


def _wordings(rule: Rule) -> tuple[Wording, ...]:
    return tuple(_prepared(rule.name, phrase) for phrase in rule.phrases)


def _prepared(name: str, phrase: Phrase) -> Wording:
    try:
        return prepare(phrase)
    except ValueError as error:
        raise ValueError(f"rule {name!r}, phrase {phrase.text!r}: {error}") from None


@attrs.frozen
class Rule:
    """
    What is decided, without a model, when a user says certain words.

    Args:
        name: What traces call the rule: up to 200 of `A-Z a-z 0-9 . _ : / @ ~ + -` and inner spaces.
        phrases: What it listens for. A plain string is said exactly, apart from its `{slots}`; see also `exact`,
            `starts_with` and `contains`.
        decision: What is decided then. A module or an intent without a confidence is certain (1.0), and slots found in
            the text are added to the decision's own, replacing those of the same name.
        match: In place of phrases and decision, a function of the normalised text and the session state that decides or
            returns None. It runs in the event loop and must not block; it is called only when no earlier rule matches.

    Raises:
        ValueError: If the name is not fit for a trace, a phrase cannot be used, or there is no way to match, or two.
        TypeError: If *phrases* is a single phrase, *decision* is none, or *match* is an async function.
    """

    name: str
    phrases: tuple[Phrase, ...] = attrs.field(default=(), converter=_phrases)
    decision: Decision | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.instance_of(Decision))
    )
    match: Match | None = attrs.field(default=None, kw_only=True)
    wordings: tuple[Wording, ...] = attrs.field(
        init=False, repr=False, eq=False, default=attrs.Factory(_wordings, takes_self=True)
    )

    def __attrs_post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(
                f"rule {self.name[:200]!r}: a name is 1 to 200 of A-Z a-z 0-9 . _ : / @ ~ + - and inner spaces, "
                "since traces show it"
            )
        if bool(self.phrases) != (self.decision is not None) or bool(self.phrases) == (self.match is not None):
            raise ValueError(f"rule {self.name!r}: it needs either phrases and a decision, or a match function")
        if inspect.iscoroutinefunction(self.match):
            raise TypeError(f"rule {self.name!r}: its match function is async, but a rule answers at once")


def answer(decision: Decision, slots: dict[str, str] | None = None) -> Decision:
    """
    Return *decision* as a rule's own, certain of what it names, with *slots* added.
    """
    certain = attrs.evolve(
        decision,
        module=_certain(decision.module),
        intent=_certain(decision.intent),
        slots={**decision.slots, **(slots or {})},
    )
    return deterministic(certain)


def _certain(scored: Scored) -> Scored:
    return attrs.evolve(scored, confidence=1.0) if scored.value and scored.confidence == 0 else scored
