"""Replies that were good or bad once, and what can happen to them on the way: hypothesis strategies."""

import json
import unicodedata
from collections.abc import Iterator
from typing import Any

import attrs
import hypothesis.strategies as st

from decide import ScoreRequest
from tests.engines import exchanges
from tests.engines.exchanges import MODELS, OUTCOMES, asked_in, dialect_of
from tests.engines.wire import cases, request_of

Slot = tuple[list[Any], int]


class Pairs(list[list[Any]]):
    """A JSON object as a list of its members, in which a key may stand twice."""


@attrs.frozen
class Recorded:
    """An exchange that took place, in some dialect."""

    name: str
    dialect: str
    model: str
    request: ScoreRequest
    reply: object


@attrs.frozen
class Reply:
    """What a server answers now."""

    status: int
    content_type: str
    body: bytes


PLAIN = ("typesafe_ok", "strands_decider", "bad_responses")


def _plain_exchanges() -> Iterator[Recorded]:
    for stem in PLAIN:
        for case in cases(stem):
            asked, said = case["request"]["body"], case["response"] or {}
            if isinstance(asked, dict) and "body" in said and _askable(asked):
                yield Recorded(f"{stem} {case['name']}", "systemone", "", request_of(asked), said["body"])


def _askable(body: dict[str, Any]) -> bool:
    return all(question.get("type") in {"noul", "choice", "score"} for question in body.get("questions", {}).values())


def _spoken_exchanges() -> Iterator[Recorded]:
    for name in OUTCOMES:
        case = exchanges.RECORDED[name]
        if "body" in case["response"] and (case["request"]["body"] or {}).get("questions"):
            dialect = dialect_of(name, case)
            model = MODELS.get(dialect, "")
            yield Recorded(name, dialect, model, asked_in(case), case["response"]["body"])


RECORDED = [*_plain_exchanges(), *_spoken_exchanges()]

ODD: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([None, True, False, [], {}, [[]], {"": None}]),
    st.sampled_from(["", " ", "0.9", "95%", "NaN", "\ud800", "__class__", "{0.__class__}"]),
    st.sampled_from(["noul", "choice", "score", "box", "refusal", "unsupported", "boolean", "predicate"]),
    st.sampled_from([0, 1, -1, 2, 95, 10**30, 10**400, 0.5, 1.5, -0.0, 5e-324, 1e308, -1e-9, 1.0000000000000002]),
    st.sampled_from([float("nan"), float("inf"), float("-inf")]),
)
STATUSES = st.sampled_from([200] * 12 + [201, 204, 206, 302, 400, 401, 402, 422, 429, 500, 503, 529])
CONTENT_TYPES = st.sampled_from(["application/json"] * 8 + ["text/plain", "text/html; charset=utf-8", ""])


def tree(value: object) -> Any:
    """Copy a JSON value so that it can be taken apart."""
    if isinstance(value, dict):
        return Pairs([key, tree(member)] for key, member in value.items())
    return [tree(member) for member in value] if isinstance(value, list) else value


def written(value: object) -> str:
    if isinstance(value, Pairs):
        return "{" + ",".join(f"{json.dumps(str(key))}:{written(member)}" for key, member in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value)


def slots(value: Any) -> list[Slot]:
    """Return every place below *value* that holds another value."""
    found: list[Slot] = []
    if isinstance(value, Pairs):
        for pair in value:
            found += [(pair, 1), *slots(pair[1])]
    elif isinstance(value, list):
        for at, member in enumerate(value):
            found += [(value, at), *slots(member)]
    return found


def objects(value: Any) -> list[Pairs]:
    below = [found for holder, at in slots(value) for found in [holder[at]] if isinstance(found, Pairs) and found]
    return [*([value] if isinstance(value, Pairs) and value else []), *below]


@st.composite
def replies(draw: st.DrawFn, reply: object) -> Reply:
    """Draw what may become of *reply*."""
    root = [tree(reply)]
    for _ in range(draw(st.integers(0, 4))):
        _mutate(draw, root)
    body = written(root[0]).encode("utf-8", "surrogatepass")
    if draw(st.integers(0, 5)) == 0:
        body = draw(torn(body))
    return Reply(draw(STATUSES), draw(CONTENT_TYPES), body)


def _mutate(draw: st.DrawFn, root: list[Any]) -> None:
    holder, at = draw(st.sampled_from(slots(root)))
    members = objects(root[0])
    match draw(st.sampled_from(["odd", "number", "number", "other", "wrap", "rename", "swap", "drop", "twice"])):
        case "number" if isinstance(holder[at], int | float) and abs(holder[at]) < 1e300:
            holder[at] = _off(draw, float(holder[at]))
        case "other":
            there, where = draw(st.sampled_from(slots(root)))
            holder[at] = tree(_plain(there[where]))
        case "wrap":
            holder[at] = draw(st.sampled_from([[holder[at]], Pairs([["value", holder[at]]])]))
        case "rename" if members:
            pair = draw(st.sampled_from(draw(st.sampled_from(members))))
            pair[0] = _respelled(draw, str(pair[0]))
        case "swap" if members:
            found = draw(st.sampled_from(members))
            one, other = draw(st.sampled_from(found)), draw(st.sampled_from(found))
            one[0], other[0] = other[0], one[0]
        case "drop" if members:
            found = draw(st.sampled_from(members))
            del found[draw(st.integers(0, len(found) - 1))]
        case "twice" if members:
            found = draw(st.sampled_from(members))
            pair = draw(st.sampled_from(found))
            found.append([pair[0], tree(_plain(draw(st.one_of(st.just(pair[1]), ODD))))])
        case _:
            holder[at] = tree(draw(ODD))


def _off(draw: st.DrawFn, number: float) -> object:
    return draw(
        st.sampled_from(
            [number + 0.01, number - 0.01, number + 1e-9, number + 1, -number, number * 100, 1 - number, str(number)]
        )
        | st.floats(0, 1)
    )


def _respelled(draw: st.DrawFn, key: str) -> str:
    return draw(
        st.sampled_from(
            [key.upper(), f" {key}", f"{key} ", unicodedata.normalize("NFD", key), f"{key}\u200b", "", "0", "answers"]
        )
    )


@st.composite
def torn(draw: st.DrawFn, body: bytes) -> bytes:
    """Draw what a bad line, or a bad program, makes of *body*."""
    at = draw(st.integers(0, len(body)))
    to = draw(st.integers(at, min(len(body), at + 40)))
    inserted = draw(
        st.binary(max_size=6) | st.sampled_from([b"NaN", b"1e999", b"<html>", b"\xef\xbb\xbf", body[at:to]])
    )
    return draw(st.sampled_from([body[:at], body[:at] + inserted + body[to:], inserted + body, body + inserted]))


def _plain(value: object) -> object:
    return json.loads(written(value), object_pairs_hook=dict) if isinstance(value, list) else value
