"""How each kind of vector is run through the product."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from tests.conformance.adapter import (
    deciders,
    hosts,
    judging,
    llm_decider,
    llm_styles,
    recorded,
    replies,
    scenarios,
    seals,
    states,
    tables,
    typed_questions,
    typesafe,
    validating,
    wires,
)
from tests.conformance.adapter.outcome import Ran, RefusedError

__all__ = ["KINDS", "Ran", "RefusedError"]

KINDS: Final[dict[str, Callable[[dict[str, Any]], Ran | Awaitable[Ran]]]] = {
    "answer_reading": deciders.answer_reading,
    "at_least": judging.at_least,
    "batch": states.batch,
    "breaker": scenarios.scenario,
    "budget": scenarios.scenario,
    "budget_and_turns": hosts.budget_and_turns,
    "canonical_request": typed_questions.canonical,
    "chain": scenarios.scenario,
    "compose": scenarios.scenario,
    "compose_score": scenarios.scenario,
    "degenerate": replies.degenerate_criteria,
    "errors_and_secrets": replies.errors_and_secrets,
    "evaluate": judging.evaluate,
    "evaluate_decision": judging.evaluate_decision,
    "health": deciders.health,
    "llm_style": llm_styles.llm_style,
    "llmdecider": llm_decider.llm_decider,
    "limits": typed_questions.limits,
    "loopback": deciders.loopback,
    "merge_report": validating.merged_report,
    "near_uniform": judging.near_uniform,
    "parse_retry_after": validating.retry_after,
    "policy_validate": judging.policy_validate,
    "retry": replies.retry,
    "rules": tables.rules,
    "seal_rejudge": seals.seal_rejudge,
    "state_builders": states.build,
    "static_lookup": recorded.lookup,
    "status": hosts.status,
    "threshold": deciders.threshold,
    "trust": deciders.trust,
    "typesafe": typesafe.typesafe,
    "validate_decision": validating.validate_decision,
    "validate_score_request": validating.score_request,
    "validate_score_result": validating.score_result,
    "wire": wires.wire,
    "wire_decode": replies.wire_decode,
}
"""By the stem of the file."""
