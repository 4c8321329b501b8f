"""What the measured numbers are held to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """
    One number and its goal; a `value` of None was not measured, and then nothing is known.
    """

    what: str
    value: float | None
    unit: str
    goal: float
    at_least: bool = False

    @property
    def holds(self) -> bool | None:
        if self.value is None:
            return None
        return self.value >= self.goal if self.at_least else self.value <= self.goal


_IN_H = {
    "single": ("Single", 0.7),
    "fallback answers": ("Fallback, primary answers", 0.8),
    "fallback fails": ("Fallback, primary fails", 1.3),
    "hedged": ("Hedged, timer never fires", 0.9),
    "race": ("Race of two", 1.9),
    "breaker adds": ("Breaker closed, adds", 0.12),
    "breaker open": ("Breaker open, refuses", 0.2),
    "budget adds": ("Budget, adds", 0.05),
    "chain of three": ("Chain of three, the third decides", 1.6),
}


def rows(asyncio: Mapping[str, Any], peers: Mapping[str, Mapping[str, Any]], imports: Mapping[str, Any]) -> list[Row]:
    """
    Return every goal with its number.
    """
    return list(_rows(asyncio, peers, imports))


def _rows(
    asyncio: Mapping[str, Any], peers: Mapping[str, Mapping[str, Any]], imports: Mapping[str, Any]
) -> Iterator[Row]:
    for name, (what, goal) in _IN_H.items():
        yield Row(what, asyncio["H"][name], "H", goal)
    hedges = [peer["H"]["hedged"] for peer in peers.values() if "hedged" in peer.get("H", {})]
    cheapest = asyncio["H"]["hedged"] / min(hedges) if hedges else None
    yield Row("Hedged, of the cheapest hedge of a peer", cheapest, "times", 1.0)
    rate = asyncio["per CPU second"]["Chain(Hedged(Breaker))"]
    yield Row(
        "decisions per CPU second, 1,000 in flight, Chain(Hedged(Breaker))", rate, "a second", 25_000, at_least=True
    )
    yield Row(
        "memory of a hedged call in flight above a bare task", asyncio["bytes in flight"]["Hedged"], "bytes", 3_000
    )
    yield Row("import decide, of importing anyio and attrs", imports["ratio"], "times", 1.3)
    yield Row("import decide loads besides anyio and attrs", len(imports["loads besides"]), "packages", 0)
