"""Vectors about rules."""

from __future__ import annotations

from typing import Any

from decide import Request
from decide.rules import Rule, RuleTable, exact, normalize
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
            rules = [_rule(position, doc) for position, doc in enumerate(given["rules"]) if doc.get("phrases")]
            table = RuleTable(rules, on_conflict="first")
            decision = await table.decide(Request(text=given["text"]))
            return Ran(actual={"ok": False} if decision is None else {"ok": True, **writing.decision(decision)})
        case other:
            raise ValueError(f"no such operation: {other}")


def _rule(position: int, doc: Doc) -> Rule:
    """
    Read a rule. Its phrases are words and nothing else, and its name, which nothing shows, may be of any kind.
    """
    return Rule(f"rule {position}", [exact(phrase) for phrase in doc["phrases"]], reading.decision(doc["decision"]))
