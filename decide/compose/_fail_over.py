"""Which endings of an engine start the next one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from decide.outcomes import AttemptOutcome

FAIL_OVER: Final = frozenset(
    {
        AttemptOutcome.ERROR,
        AttemptOutcome.TIMEOUT,
        AttemptOutcome.UNAVAILABLE,
        AttemptOutcome.BUSY,
        AttemptOutcome.UNSUPPORTED,
        AttemptOutcome.INVALID,
        AttemptOutcome.REJECTED,
        AttemptOutcome.AUTH,
    }
)
"""What starts the next engine by default: whatever another engine might not meet."""

_OPTIONAL = frozenset({AttemptOutcome.ABSTAINED, AttemptOutcome.UNCERTAIN, AttemptOutcome.QUOTA})
_NEVER = frozenset({AttemptOutcome.BUDGET, AttemptOutcome.MISCONFIGURED, AttemptOutcome.POLICY_REFUSAL})


def checked(fail_over: Collection[str]) -> frozenset[AttemptOutcome]:
    """
    Return *fail_over* as attempt outcomes.

    Raises:
        TypeError: If *fail_over* is one string.
        ValueError: Naming what can never start a backup, because a person has to see it, and what is no outcome at all.
    """
    if isinstance(fail_over, str):
        raise TypeError("fail_over is a collection of outcomes, got one string: put it in a tuple")
    allowed = FAIL_OVER | _OPTIONAL
    for outcome in fail_over:
        if outcome in _NEVER:
            raise ValueError(f"fail_over cannot hold {outcome!r}: a person has to see that, so it starts no backup")
        if outcome not in allowed:
            raise ValueError(f"fail_over cannot hold {outcome!r}: choose from {', '.join(sorted(allowed))}")
    return frozenset(AttemptOutcome(outcome) for outcome in fail_over)
