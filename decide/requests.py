"""What a caller asks to have decided, and the session it happens in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping

import attrs

from decide._converters import object_dict, str_tuple
from decide.taxonomy import Taxonomy


@attrs.frozen(kw_only=True)
class EntityRef:
    """
    Something the user has in view.

    Attributes:
        type: Its entity type.
        keys: What identifies it in the product, as any JSON. Never sent to an engine.
        title: What the user sees.
    """

    type: str = ""
    keys: object = attrs.field(default=None, repr=False)
    title: str = attrs.field(default="", repr=False)


def _entities(entities: Iterable[EntityRef]) -> tuple[EntityRef, ...]:
    return tuple(entities)


@attrs.frozen(kw_only=True)
class Previous:
    """
    The turn before this one.

    Attributes:
        kind: What kind of turn it was.
    """

    kind: str = ""


@attrs.frozen(kw_only=True)
class SessionState:
    """
    Where the user is. Everything is optional and left out of the wire form when empty.

    Attributes:
        focused: What the user looks at.
        selection: What the user has selected.
        sidebar: What stands beside it.
        previous: The turn before.
        pending: What waits for an answer, as any JSON. Never sent to an engine.
        last_shown: What was shown last, as any JSON. Never sent to an engine.
    """

    focused: EntityRef | None = None
    selection: tuple[EntityRef, ...] = attrs.field(default=(), converter=_entities)
    sidebar: tuple[EntityRef, ...] = attrs.field(default=(), converter=_entities)
    previous: Previous | None = None
    pending: object = attrs.field(default=None, repr=False)
    last_shown: object = attrs.field(default=None, repr=False)


def _optional_object(context: Mapping[str, object] | None) -> dict[str, object] | None:
    return None if context is None else dict(context)


@attrs.frozen(kw_only=True)
class Request:
    """
    One utterance to be decided against a taxonomy.

    Attributes:
        product: Which product asks.
        interaction_id: The caller's id for this turn.
        client_context: Opaque JSON object of the client's; never sent to an engine.
        text: What the user said.
        taxonomy: What may be decided.
        state: Where the user is.
        recent: Earlier turns, oldest first.
        context: Further facts for engines that take them.
        now: The user's time; None when unknown.
        tz: The user's time zone, as an IANA name.
    """

    text: str = attrs.field(default="", repr=False)
    taxonomy: Taxonomy = attrs.field(factory=Taxonomy)
    product: str = ""
    interaction_id: str = ""
    client_context: dict[str, object] | None = attrs.field(default=None, converter=_optional_object, repr=False)
    state: SessionState = attrs.field(factory=SessionState)
    recent: tuple[str, ...] = attrs.field(default=(), converter=str_tuple, repr=False)
    context: dict[str, object] = attrs.field(factory=dict, converter=object_dict, repr=False)
    now: dt.datetime | None = None
    tz: str = ""
