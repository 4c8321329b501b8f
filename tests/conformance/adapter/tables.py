"""Vectors about rules."""

from __future__ import annotations

from typing import Any

from decide import Request
from decide.rules import Rule, RuleTable, normalize
from tests.conformance.adapter import reading, writing
from tests.conformance.adapter.outcome import Ran

Doc = dict[str, Any]


async def rules(given: Doc) -> Ran:
    """
    Normalise a text, ask a table, or tell the facts of one.
    """
    match given["op"]:
        case "normalize":
            return Ran(actual={"text": normalize(given["text"])})
        case "facts":
            table = RuleTable([])
            milliseconds = round((table.decision_timeout or 0) * 1000, 6)
            return Ran(actual={"decisionTimeoutMs": milliseconds, "isDeterministic": table.deterministic})
        case "table":
            table = RuleTable([_rule(doc) for doc in given["rules"]], on_conflict="first")
            decision = await table.decide(Request(text=given["text"]))
            return Ran(actual={"ok": False} if decision is None else {"ok": True, **writing.decision(decision)})
        case other:
            raise ValueError(f"no such operation: {other}")


def _rule(doc: Doc) -> Rule:
    return Rule(doc["name"], doc["phrases"], reading.decision(doc["decision"]))
