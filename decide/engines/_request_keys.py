"""The key under which a recorded answer is found: what was asked, of which model, and about what."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Final, TypeVar, cast

import attrs

from decide._json import DocumentError, canonical
from decide.errors import InvalidRequestError
from decide.questions import ScoreRequest
from decide.requests import EntityRef, Request, SessionState
from decide.wire import canonical_request, to_json

Asked = Request | ScoreRequest

_NUL: Final = "\0"
"""Between the parts of a key; JSON escapes it, so that no part can hold one."""


def essence_of(request: Asked, ignored: Collection[str] = ()) -> Asked:
    """
    Return what of *request* an answer depends on.

    Left out is what no engine is sent, and what differs at every turn: entity keys, what is pending and was last shown,
    the client's context, the turn's id, the time, the product that asks questions. So are members called as in
    *ignored*, at any depth of the state and the context.
    """
    if isinstance(request, Request):
        return attrs.evolve(
            request,
            interaction_id="",
            client_context=None,
            now=None,
            state=visible(request.state),
            context=_without(request.context, ignored),
        )
    return attrs.evolve(
        request, text=_without(request.text, ignored), context=_without(request.context, ignored), product=""
    )


def visible(state: SessionState) -> SessionState:
    """
    Return what of a session an engine may see: what the user sees of it, not what identifies it in the product.
    """
    return attrs.evolve(
        state,
        focused=_bare(state.focused) if state.focused else None,
        selection=map(_bare, state.selection),
        sidebar=map(_bare, state.sidebar),
        pending=None,
        last_shown=None,
    )


def key_of(essence: Asked, model: str) -> str:
    """
    Return the key: the canonical form of model and questions, then that of the state.

    The order of an object's members does not matter, that of a list does. Whole numbers and the same with a point are
    different.

    Raises:
        InvalidRequestError: If the request cannot be written as JSON.
    """
    problem = ""
    try:
        return _key_of(essence, model)
    except DocumentError as error:
        problem = error.problem
    # Raised out here, so that it has no context that could quote the request.
    raise InvalidRequestError(f"the request cannot be written as JSON: {problem}", detail="no JSON")


def hashed(key: str) -> str:
    """
    Return the hash of a key, which tells nothing of what was asked.
    """
    return hashlib.sha256(key.encode()).hexdigest()


def _key_of(essence: Asked, model: str) -> str:
    if isinstance(essence, ScoreRequest):
        parts = [canonical_request(model, essence.questions), canonical(essence.text)]
        return _NUL.join([*parts, canonical(essence.context)] if essence.context else parts)
    about = to_json(essence)
    taxonomy = about.pop("taxonomy")
    return _NUL.join([canonical({"model": model, "taxonomy": taxonomy}), canonical(about)])


def _bare(entity: EntityRef) -> EntityRef:
    return attrs.evolve(entity, keys=None)


Value = TypeVar("Value")


def _without(value: Value, ignored: Collection[str]) -> Value:
    return cast(Value, _dropped(value, ignored)) if ignored else value


def _dropped(value: object, ignored: Collection[str]) -> object:
    if isinstance(value, Mapping):
        return {key: _dropped(member, ignored) for key, member in value.items() if key not in ignored}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return [_dropped(member, ignored) for member in value]
    return value
