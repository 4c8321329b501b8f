"""Vectors about policies and what they make of answers and decisions."""

from __future__ import annotations

import math
from typing import Any

from decide import Decision, InvalidPolicyError, deterministic, distributions
from tests.conformance.adapter import reading, writing
from tests.conformance.adapter.numbers import number
from tests.conformance.adapter.outcome import Ran

Doc = dict[str, Any]

_INVALID_POLICY = {
    "outcome": "uncertain",
    "reason": "invalid_policy",
    "detail": "uncertain: invalid_policy",
    "actionable": False,
}


def evaluate(given: Doc) -> Ran:
    """
    Hold an answer to a policy.
    """
    answer = reading.answer(given["answer"])
    try:
        policy = reading.policy(given["policy"])
    except InvalidPolicyError:
        return Ran(actual=_INVALID_POLICY, refused=True)
    return Ran(actual=writing.selection(policy.evaluate(answer)))


def evaluate_decision(given: Doc) -> Ran:
    """
    Hold a decision to a policy, and judge it.
    """
    decision = reading.decision(given["decision"])
    if given.get("deterministic"):
        decision = deterministic(decision)
    try:
        policy = reading.policy(given["policy"])
    except InvalidPolicyError:
        judged = {"outcome": "uncertain", "actionable": False, "provenance": decision.provenance.value}
        return Ran(actual={**_INVALID_POLICY, "judged": judged}, refused=True)
    selection, (sealed, again) = policy.evaluate_decision(decision), policy.judge(decision)
    assert selection == again
    return Ran(actual={**writing.selection(selection), "judged": state(sealed)})


def state(decision: Decision) -> Doc:
    """
    Write what a decision says about itself.
    """
    return {
        "outcome": decision.outcome,
        "actionable": decision.actionable,
        "provenance": decision.provenance.value,
    }


def policy_validate(given: Doc) -> Ran:
    """
    Build a policy, or count what keeps it from being built.
    """
    try:
        reading.policy(given["policy"])
    except InvalidPolicyError as error:
        return Ran(actual={"valid": False, "problemCount": len(error.problems)}, refused=True)
    return Ran(actual={"valid": True})


def at_least(given: Doc) -> Ran:
    """
    Combine two policies.
    """
    try:
        combined = reading.policy(given["p"]).at_least(reading.policy(given["o"]))
    except InvalidPolicyError:
        return Ran(actual={}, expect=lambda expected: {"valid": expected.get("valid", False)}, refused=True)
    return Ran(actual={"policy": writing.plain(combined, "policy"), "valid": True})


def near_uniform(given: Doc) -> Ran:
    """
    Say whether a distribution says nothing.
    """
    probabilities = {key: number(value) for key, value in given["probabilities"].items()}
    count = len(probabilities)
    deviation = max((abs(value - 1 / count) for value in probabilities.values()), default=math.nan)
    return Ran(
        actual={
            "near_uniform": distributions.near_uniform(probabilities),
            "max_deviation": None if math.isnan(deviation) else deviation,
        }
    )
