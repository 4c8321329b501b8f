"""The numbers as tables for a terminal, which are also Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from _backends import BESIDE
from _goals import Row

_VERDICTS = {True: "ok", False: "missed", None: "not measured"}
_PEER_CALLS = ("under a timeout", "fallback answers", "fallback fails", "hedged", "breaker closed", "breaker open")


def report(found: Mapping[str, Any], rows: Sequence[Row]) -> Iterator[str]:
    """
    Yield everything that was measured, line by line.
    """
    machine = found["machine"]
    yield f"{machine['python']} on {machine['cores']} cores of {machine['cpu']}; load {machine['load']:.1f}"
    yield f"H, a hedge in asyncio tasks whose timer never fires, is {found['H us']:.1f} us of CPU time"
    yield ""
    yield from _table(("on asyncio", "is", "goal", ""), (_goal(row) for row in rows))
    yield ""
    yield from _table(("us", "asyncio", "trio", "of it by hand, asyncio", "trio"), _both(found))
    yield ""
    yield from _table(("1,000 in flight, per CPU second", "asyncio", "trio"), _beside(found, "per CPU second"))
    yield ""
    yield from _table(("bytes in flight above a bare task", "asyncio", "trio"), _beside(found, "bytes in flight"))
    yield ""
    yield from _table(("CPU ms", ""), ((name, _number(spent)) for name, spent in found["import"]["ms"].items()))
    yield ""
    heads = ("peer, in H", *_PEER_CALLS, "fallbacks per CPU second", "bytes hedged")
    yield from _table(heads, (_peer(name, peer) for name, peer in found["peers"].items()))
    yield from (
        f"{name} {peer['version']}: not measured: {peer['not measured']}"
        for name, peer in found["peers"].items()
        if "not measured" in peer
    )


def _goal(row: Row) -> tuple[str, ...]:
    sign = ">=" if row.at_least else "<="
    value = "" if row.value is None else _number(row.value)
    return row.what, f"{value} {row.unit}", f"{sign} {_number(row.goal)}", _VERDICTS[row.holds]


def _both(found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, spent in found["asyncio"]["us"].items():
        beside = [_number(found[backend]["of its floor"].get(name)) for backend in ("asyncio", "trio")]
        hint = f" (by hand: {BESIDE[name]})" if name in BESIDE else ""
        yield name + hint, _number(spent), _number(found["trio"]["us"].get(name)), *beside


def _beside(found: Mapping[str, Any], what: str) -> Iterator[tuple[str, ...]]:
    for name, number in found["asyncio"][what].items():
        yield name, _number(number), _number(found["trio"][what].get(name))


def _peer(name: str, peer: Mapping[str, Any]) -> tuple[str, ...]:
    spent = peer.get("H", {})
    more = (peer.get("fallbacks per CPU second"), peer.get("bytes hedged"))
    return f"{name} {peer['version']}", *(_number(spent.get(call)) for call in _PEER_CALLS), *map(_number, more)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    lines = [heads, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    for at, line in enumerate(lines):
        cells = [
            line[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
        ]
        yield f"| {' | '.join(cells)} |"
        if at == 0:
            yield f"| {' | '.join(['-' * widths[0], *('-' * (width - 1) + ':' for width in widths[1:])])} |"
