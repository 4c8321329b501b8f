"""How each kind of vector is run through the product."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from tests.conformance.adapter import (
    judging,
    llm_decider,
    llm_styles,
    recorded,
    scenarios,
    seals,
    states,
    tables,
    typed_questions,
    validating,
    wires,
)
from tests.conformance.adapter.outcome import Ran, RefusedError

__all__ = ["KINDS", "Ran", "RefusedError"]

KINDS: Final[dict[str, Callable[[dict[str, Any]], Ran | Awaitable[Ran]]]] = {
    "at_least": judging.at_least,
    "batch": states.batch,
    "breaker": scenarios.scenario,
    "budget": scenarios.scenario,
    "canonical_request": typed_questions.canonical,
    "chain": scenarios.scenario,
    "compose": scenarios.scenario,
    "compose_score": scenarios.scenario,
    "evaluate": judging.evaluate,
    "evaluate_decision": judging.evaluate_decision,
    "llm_style": llm_styles.llm_style,
    "llmdecider": llm_decider.llm_decider,
    "limits": typed_questions.limits,
    "merge_report": validating.merged_report,
    "near_uniform": judging.near_uniform,
    "parse_retry_after": validating.retry_after,
    "policy_validate": judging.policy_validate,
    "rules": tables.rules,
    "seal_rejudge": seals.seal_rejudge,
    "state_builders": states.build,
    "static_lookup": recorded.lookup,
    "validate_decision": validating.validate_decision,
    "validate_score_request": validating.score_request,
    "validate_score_result": validating.score_result,
    "wire": wires.wire,
}
"""By the stem of the file."""
