"""The slot a verdict lives in, out of reach of constructors, copies and decoders."""

from __future__ import annotations

from typing import NamedTuple

from decide.outcomes import ACTIONABLE, Outcome


class Seal(NamedTuple):
    """
    A verdict, bound to the content it was reached on.

    Attributes:
        outcome: What the judge said.
        deterministic: Whether the content came from a rule rather than from a model.
        content: A snapshot of everything that was judged; None binds nothing and never matches.
    """

    outcome: Outcome
    deterministic: bool
    content: object


class Sealable:
    """
    One slot that attrs does not know about.

    `__init__`, `evolve`, `copy`, `pickle`, `asdict` and every decoder leave it behind, so that none of them can carry a
    verdict over to other content.
    """

    __slots__ = ("_seal",)


def seal(value: Sealable, verdict: Seal) -> None:
    """
    Write *verdict* into a value that was just made. Only judging calls this.
    """
    object.__setattr__(value, "_seal", verdict)


def seal_of(value: Sealable) -> Seal | None:
    """
    Return the seal of *value*, or None when it has none or something that is not exactly one.
    """
    found = getattr(value, "_seal", None)
    return found if type(found) is Seal else None


def holds(found: Seal | None, content: object) -> bool:
    """
    Say whether *found* is an actionable verdict on exactly *content*.
    """
    return found is not None and found.outcome in ACTIONABLE and found.content is not None and found.content == content
