"""Scenarios: operations on engines, a chain, breakers and budgets, in virtual time."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel
import attrs

from decide import (
    AttemptLog,
    Decided,
    Decision,
    InvalidRequestError,
    Request,
    ScoreRequest,
    ScoreResult,
    Undecided,
    UnsupportedError,
)
from decide.errors import DecideError
from tests.conformance.adapter import reading, writing
from tests.conformance.adapter.engines import classes
from tests.conformance.adapter.nodes import Plant
from tests.conformance.adapter.numbers import milliseconds
from tests.conformance.adapter.outcome import Ran

Doc = dict[str, Any]

_TURNS = 50
"""Turns of the loop after which everything that can run without time passing has run."""

_OF_A_CANCELLED_CALL = ("op", "calls", "elapsedMs", "breakers", "budgets")


@attrs.define
class Background:
    """
    A call that goes on while others are made.
    """

    done: anyio.Event = attrs.field(factory=anyio.Event)
    result: Doc = attrs.field(factory=dict)


async def scenario(given: Doc) -> Ran:
    """
    Perform every operation in order, taking stock after each.
    """
    plant, results = Plant(given), list[Result]()
    async with anyio.create_task_group() as group:
        stage = Stage(given, plant, group)
        for operation in given["ops"]:
            results.append(await stage.perform(operation))
        group.cancel_scope.cancel()
    actual = {"results": [result.doc for result in results], "transitions": plant.transitions}
    cancelled = [result.cancelled for result in results]
    return Ran(actual=_compared(actual, cancelled), expect=lambda expected: _compared(expected, cancelled))


@attrs.frozen
class Result:
    """
    What one operation came to.

    Attributes:
        doc: As a vector writes it.
        cancelled: The caller gave up, so that only part of it is compared (ruling 20).
    """

    doc: Doc
    cancelled: bool = False


class Stage:
    """
    One scenario while it is performed.
    """

    def __init__(self, given: Doc, plant: Plant, group: anyio.abc.TaskGroup) -> None:
        self.plant = plant
        self._given = given
        self._request = Request(product="p", text="hello", taxonomy=reading.taxonomy(given.get("taxonomy")))
        self._group = group
        self._background: dict[str, Background] = {}

    async def perform(self, operation: Doc) -> Result:
        """
        Perform one operation and let everything come to rest.
        """
        doc: Doc = {}
        match operation["op"]:
            case "advance":
                await anyio.sleep(operation["ms"] / 1000)
            case "start":
                self._background[operation["id"]] = Background()
                self._group.start_soon(self._run, self._background[operation["id"]], operation)
            case "join":
                call = self._background[operation["id"]]
                await call.done.wait()
                doc = call.result
            case "info":
                doc = _facts(self.plant.root)
            case _:
                doc = await self._called(operation)
        for _ in range(_TURNS):
            await anyio.lowlevel.checkpoint()
        cancelled = doc.pop("cancelled", False)
        return Result({"op": operation["op"], **doc, **self.plant.snapshot()}, cancelled)

    async def _run(self, call: Background, operation: Doc) -> None:
        call.result = await self._called(operation)
        call.done.set()

    async def _called(self, operation: Doc) -> Doc:
        """
        Make one call, which the caller may cancel, and tell how long it took.
        """
        call = {"score": self._score, "chain": self._chain}.get(operation["op"], self._decide)
        limit = operation.get("cancelAfterMs", operation.get("deadlineMs"))
        began = anyio.current_time()
        doc: Doc = {}
        with anyio.CancelScope() as scope:
            if limit is not None and limit < 0:
                scope.cancel()
            elif limit is not None:
                scope.deadline = began + limit / 1000
            await call(doc)
        return {
            **doc,
            "elapsedMs": milliseconds(anyio.current_time() - began),
            "cancelled": scope.cancelled_caught,
        }

    async def _decide(self, doc: Doc) -> None:
        root, log = self.plant.root, AttemptLog()
        traced: Callable[..., Awaitable[Decision | None]] | None = getattr(root, "decide_traced", None)
        try:
            decision = await (root.decide(self._request) if traced is None else traced(self._request, log))
            doc |= {"ok": decision is not None}
            if decision is not None:
                doc["result"] = writing.decision(decision)
        except DecideError as error:
            doc |= {"ok": False, "error": _error(error)}
        finally:
            if traced is not None:
                doc["report"] = writing.report(log.report())

    async def _score(self, doc: Doc) -> None:
        root, log = self.plant.root, AttemptLog()
        traced: Callable[..., Awaitable[ScoreResult]] | None = getattr(root, "score_traced", None)
        try:
            request = self._score_request()
            if not hasattr(root, "score"):
                raise UnsupportedError("the engine only decides")
            result = await (root.score(request) if traced is None else traced(request, log))
            doc["result"] = writing.score_result(result)
        except DecideError as error:
            log.strategy = log.strategy or getattr(root, "strategy", "")
            doc["error"] = _error(error)
        finally:
            doc["report"] = writing.report(log.report())

    def _score_request(self) -> ScoreRequest:
        try:
            return reading.score_request(self._given["scoreRequest"])
        except ValueError as error:
            raise InvalidRequestError("the request cannot be built") from error

    async def _chain(self, doc: Doc) -> None:
        chain = self.plant.chain
        assert chain is not None
        self.plant.traces.clear()
        try:
            ended = await chain.decide(self._request)
            match ended:
                case Decided(decision=Decision() as decision) | Undecided(kept=Decision() as decision):
                    doc |= {"ok": True, "result": writing.decision(decision)}
                case _:
                    doc["ok"] = False
        finally:
            (trace,) = self.plant.traces
            doc |= {"trace": writing.trace(trace), "err": None if trace.error is None else _error(trace.error)}


def _error(error: BaseException) -> Doc:
    return {"classes": classes(error)}


def _facts(root: Any) -> Doc:
    return {
        "decisionTimeoutMs": milliseconds(root.decision_timeout or 0),
        "engineName": root.name,
        "isDeterministic": root.deterministic,
    }


def _compared(document: Doc, cancelled: list[bool]) -> Doc:
    """
    Leave out of a document what is prose, and of a call that its caller cancelled all but what ruling 20 compares.
    """
    results = [
        _of_cancelled(doc) if was_cancelled else _of_ended(doc)
        for doc, was_cancelled in itertools.zip_longest(document["results"], cancelled[: len(document["results"])])
    ]
    return {**document, "results": results}


def _of_cancelled(doc: Doc) -> Doc:
    log = doc.get("trace") or doc.get("report") or {}
    kept = {key: doc[key] for key in _OF_A_CANCELLED_CALL if key in doc}
    return {**kept, "calls": _made(doc), "attempts": _attempts(log)}


def _of_ended(doc: Doc) -> Doc:
    compared = {**doc, "calls": _made(doc)}
    for key in ("trace", "report"):
        if doc.get(key) is not None:
            compared[key] = {**doc[key], "attempts": _attempts(doc[key])}
    for key in ("error", "err"):
        if doc.get(key) is not None:
            compared[key] = {"classes": doc[key].get("classes") or []}
    return compared


def _made(doc: Doc) -> Doc:
    """
    Leave out the engines that were not called, which some write down and some do not.
    """
    return {name: calls for name, calls in (doc.get("calls") or {}).items() if calls}


def _attempts(log: Doc) -> list[Doc]:
    return [writing.compared_attempt(attempt) for attempt in log.get("attempts") or ()]
