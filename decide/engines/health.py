"""Whether a server is well: what it says of itself, or else whether it answers at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Final

import anyio
import attrs

from decide.attempt_log import AttemptLog
from decide.engines._http import HttpService
from decide.engines._http_errors import document_in
from decide.engines._replies import Reply
from decide.engines._usage import UNREADABLE_MODEL, read_model
from decide.errors import DecideError, EngineTimeoutError, detail_of

Document = Mapping[str, object]

PATIENCE: Final = 2.0
"""Seconds for the question after its health, and as many for a probe. They are charged to no time budget."""

WELL: Final = frozenset({"ok"})
_NO_SUCH_ROUTE = frozenset({404, 405})


@attrs.frozen(kw_only=True)
class Health:
    """
    What became of a look at a server.

    Attributes:
        healthy: It is well, as far as it can be told.
        detail: A few words of our own: a status, or what went wrong.
        probed: It has no route for its health, so that it was asked something instead.
        same_protocol: It speaks the version of the protocol that we do, as far as it says.
        model: The model that it says it has.
        error: What went wrong.
    """

    healthy: bool
    detail: str = ""
    probed: bool = False
    same_protocol: bool = True
    model: str = ""
    error: DecideError | None = attrs.field(default=None, repr=False, eq=False)


async def check_health(
    service: HttpService, *, path: str, well: Collection[str], probe: bytes, answers: Callable[[Document], bool]
) -> Health:
    """
    Look at a server, without ever raising what it does wrong.

    It is well when its route for that answers 200 with a status that is one of *well*. When it has no such route (404,
    405), it is asked something, once, and is well when it answers 200 in the right form, whatever it says. Anything
    else is unwell and not asked.

    Args:
        service: The server.
        path: Its route for that.
        well: What it may call its status.
        probe: The body of what it is asked.
        answers: Says whether a reply to that has the right form.
    """
    looked = await _within(PATIENCE, lambda log: service.get(path, log))
    if isinstance(looked, DecideError):
        return Health(healthy=False, detail=detail_of(looked), error=looked)
    if looked.status not in _NO_SUCH_ROUTE:
        document = _document(looked)
        status = document.get("status")
        return _health(looked, document, healthy=isinstance(status, str) and status in well)
    probed = await _within(PATIENCE, lambda log: service.post(probe, log))
    if isinstance(probed, DecideError):
        return Health(healthy=False, detail=detail_of(probed), probed=True, error=probed)
    document = _document(probed)
    return attrs.evolve(_health(probed, document, healthy=answers(document)), probed=True)


def has_models(document: Document) -> bool:
    """
    Say whether a reply lists models, as System One or as OpenAI writes it.
    """
    return isinstance(document.get("models", document.get("data")), list)


def model_names(document: Document) -> tuple[str, ...]:
    """
    Return the ids of the models in such a list, without those that may not stand in a trace.
    """
    listed = document.get("models", document.get("data"))
    entries = listed if isinstance(listed, list) else []
    named = (entry.get("name", entry.get("id")) for entry in entries if isinstance(entry, dict))
    return tuple(name for name in map(read_model, named) if name not in {"", UNREADABLE_MODEL})


def _health(reply: Reply, document: Document, *, healthy: bool) -> Health:
    version = document.get("protocol", 1)
    return Health(
        healthy=reply.status == 200 and healthy,
        detail=f"http {reply.status}",
        same_protocol=type(version) is int and version == 1,
        model=read_model(document.get("model")),
    )


async def _within(seconds: float, ask: Callable[[AttemptLog], Awaitable[Reply]]) -> Reply | DecideError:
    log = AttemptLog()
    log.deadline = log.now() + seconds
    with anyio.CancelScope(deadline=log.deadline):
        try:
            return await ask(log)
        except DecideError as error:
            return error.with_traceback(None)
    return EngineTimeoutError(f"no answer within {seconds} s", detail="no answer in time")


def _document(reply: Reply) -> Document:
    document, _ = document_in(reply)
    return document or {}
