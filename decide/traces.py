"""What is left of a run afterwards: every attempt, what it cost, and how it ended."""

from __future__ import annotations

from decimal import Decimal
from typing import Protocol

import attrs

from decide._converters import str_tuple
from decide._svg import draw
from decide._timeline import lay_out
from decide.answers import Usage
from decide.attempts import NOT_CALLED, Attempt
from decide.errors import BudgetError, DecideError, MisconfiguredError, PolicyRefusalError, QuotaError
from decide.outcomes import AttemptOutcome


@attrs.frozen(kw_only=True)
class TotalUsage:
    """
    What a whole call cost.

    Attributes:
        input_tokens: The sum of what is known.
        output_tokens: The sum of what is known.
        cost: US dollars; None when no attempt reported any.
        exact: Every attempt that reached an engine reported all it cost; else the sums are a lower bound. What tries
            before the last one cost is never known for sure.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None
    exact: bool = True


_STOPS: dict[str, type[DecideError]] = {
    AttemptOutcome.QUOTA: QuotaError,
    AttemptOutcome.BUDGET: BudgetError,
    AttemptOutcome.MISCONFIGURED: MisconfiguredError,
    AttemptOutcome.POLICY_REFUSAL: PolicyRefusalError,
}


@attrs.frozen(kw_only=True)
class Trace:
    """
    Everything that happened in one run of a chain. Holds no text, state, id or key of the caller's.

    Attributes:
        decided_by: The provider of the chain that decided; empty when none did.
        attempts: Every attempt of every engine.
        engine: The engine whose answer was taken.
        strategy: The combinator it came through.
        fallback_fired: As in `Report`.
        hedge_fired: As in `Report`.
        calibrated: Whether the decision claims measured probabilities.
        provenance: See `Provenance`.
        outcome: The verdict on the decision.
        model: The model that answered.
        stopped_by: The attempt outcome that stopped the chain; empty when nothing did.
        policy: The name of the policy that judged.
        outage: Nothing was decided, and some engine failed: not the same as nobody having an opinion.
        cancelled: The caller gave up.
        warnings: Things a person should look at, such as `auth:NAME`.
    """

    decided_by: str = ""
    attempts: tuple[Attempt, ...] = ()
    engine: str = ""
    strategy: str = ""
    fallback_fired: bool = False
    hedge_fired: bool = False
    calibrated: bool = False
    provenance: str = ""
    outcome: str = ""
    model: str = ""
    stopped_by: str = ""
    policy: str = ""
    outage: bool = False
    cancelled: bool = False
    warnings: tuple[str, ...] = attrs.field(default=(), converter=str_tuple)

    @property
    def error(self) -> DecideError | None:
        """
        The error that a stopped chain stands for, naming the engine that stopped it; None when nothing did.
        """
        kind = _STOPS.get(self.stopped_by)
        if kind is None:
            return None
        last = next((one for one in reversed(self.attempts) if one.outcome == self.stopped_by), None)
        place = f" at {last.provider}" if last else ""
        more = f": {last.detail}" if last and last.detail else ""
        return kind(f"chain stopped{place} ({self.stopped_by}){more}")

    @property
    def summary(self) -> str:
        """
        How each attempt ended, in one line of our own words.
        """
        ends = (f"{one.provider}: {one.outcome}" + (f" ({one.detail})" if one.detail else "") for one in self.attempts)
        return "; ".join(ends) or "there was no engine to ask"

    @property
    def usage(self) -> TotalUsage:
        """
        The sum over all attempts, and whether it is exact or a lower bound.
        """
        called = [attempt for attempt in self.attempts if attempt.outcome not in NOT_CALLED or attempt.tries > 1]
        known = [attempt.usage for attempt in called if attempt.usage is not None]
        costs = [usage.cost for usage in known if usage.cost is not None]
        return TotalUsage(
            input_tokens=sum(usage.input_tokens for usage in known),
            output_tokens=sum(usage.output_tokens for usage in known),
            cost=sum(costs, Decimal(0)) if costs else None,
            exact=len(known) == len(called)
            and all(attempt.tries == 1 for attempt in called)
            and not (costs and any(_has_no_price(usage) for usage in known)),
        )

    def _repr_html_(self) -> str:
        return draw(lay_out(self))


def _has_no_price(usage: Usage) -> bool:
    return usage.cost is None and usage.input_tokens + usage.output_tokens > 0


class Observer(Protocol):
    """
    Gets one finished Trace per run. What it raises never reaches the caller of the decision.
    """

    def __call__(self, trace: Trace, /) -> None: ...
