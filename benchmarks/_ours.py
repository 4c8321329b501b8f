"""The calls of ours that are measured: trace, validation and judging included."""

from __future__ import annotations

from _measuring import Call

from decide import (
    NARROWING,
    AttemptLog,
    Breaker,
    Budget,
    Chain,
    Decision,
    EngineError,
    Fallback,
    Hedged,
    ModuleSpec,
    Race,
    Request,
    Scored,
    Single,
    Taxonomy,
    UnavailableError,
)
from decide.providers import TracedProvider

_INTENTS = ("list", "show", "create", "cancel", "export")
_TAXONOMY = Taxonomy(
    modules=[ModuleSpec(name=name, intents=_INTENTS) for name in ("orders", "invoices", "clients", "stock", "billing")],
    presentations=["table", "card"],
    data_kinds=["order", "client"],
    entity_types=["order", "client"],
)
REQUEST = Request(text="show me the order", taxonomy=_TAXONOMY)


def _decision(confidence: float) -> Decision:
    rest = 1.0 - confidence
    return Decision(
        module=Scored("stock", confidence),
        intent=Scored("show", confidence),
        interaction="question",
        interaction_confidence=confidence,
        presentation="card",
        required_data=["order"],
        scores={"stock/show": confidence, "stock/list": rest / 2, "orders/show": rest / 2},
        calibrated=True,
        model="model-1",
    )


_SURE, _UNSURE = _decision(0.94), _decision(0.40)


class Answering:
    """
    An engine that answers at once with the same decision.
    """

    def __init__(self, name: str, decision: Decision | None = _SURE) -> None:
        self.name = name
        self._decision = decision

    async def decide(self, _: Request) -> Decision | None:
        return self._decision


class Failing:
    name = "failing"

    async def decide(self, _: Request) -> Decision | None:
        raise EngineError("down")


class Asking:
    """
    An engine that does something first, such as waiting.
    """

    def __init__(self, name: str, first: Call) -> None:
        self.name = name
        self._first = first

    async def decide(self, _: Request) -> Decision | None:
        await self._first()
        return _SURE


def asking(engine: TracedProvider) -> Call:
    """
    Return a call of *engine* whose report is read.
    """

    async def call() -> object:
        log = AttemptLog()
        decision = await engine.decide_traced(REQUEST, log)
        return decision, log.report()

    return call


def refused(breaker: Breaker) -> Call:
    """
    Return a call of an open breaker.
    """

    async def call() -> object:
        log = AttemptLog()
        try:
            return await breaker.decide_traced(REQUEST, log)
        except UnavailableError:
            return log.report()

    return call


def running(chain: Chain) -> Call:
    """
    Return a run of *chain* that decides.
    """

    async def call() -> object:
        return (await chain.decide(REQUEST)).require()

    return call


def calls() -> dict[str, Call]:
    """
    Return every call of ours, by the name of its row.
    """
    primary, backup = Answering("primary"), Answering("backup")
    opened = Breaker(primary)
    opened.force_open()
    three = [Answering("abstaining", None), Answering("unsure", _UNSURE), Answering("deciding")]
    return {
        "single": asking(Single(primary, policy=NARROWING)),
        "fallback answers": asking(Fallback(primary, backup, policy=NARROWING)),
        "fallback fails": asking(Fallback(Failing(), backup, policy=NARROWING)),
        "hedged": asking(Hedged(primary, backup, policy=NARROWING)),
        "race": asking(Race(primary, backup, policy=NARROWING)),
        "single of breaker": asking(Single(Breaker(primary), policy=NARROWING)),
        "single of budget": asking(Single(Budget(primary, max_calls=10**12), policy=NARROWING)),
        "breaker open": refused(opened),
        "chain of three": running(Chain(three, policy=NARROWING)),
    }


def composed(first: Call) -> Call:
    """
    Return a composed decision whose engines await *first* once.
    """
    hedged = Hedged(Breaker(Asking("primary", first)), Asking("backup", first), delay=60.0, default_timeout=60.0)
    return running(Chain([hedged], policy=NARROWING))


def hedged(first: Call) -> Call:
    """
    Return a hedged call whose engines await *first*.
    """
    primary, backup = Asking("primary", first), Asking("backup", first)
    return asking(Hedged(primary, backup, delay=60.0, default_timeout=60.0, policy=NARROWING))
