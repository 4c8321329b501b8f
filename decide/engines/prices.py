"""What a vendor charges for tokens, so that a cost can be told that the server leaves out."""

from __future__ import annotations

from decimal import Decimal

import attrs

from decide.answers import Usage

_MILLION = Decimal(1_000_000)


def _dollars(value: Decimal | float | str) -> Decimal:
    return Decimal(str(value))


def _payable(_: object, attribute: attrs.Attribute[Decimal], value: Decimal) -> None:
    if not (value.is_finite() and value >= 0):
        raise ValueError(f"{attribute.name}: must be 0 dollars or above")


@attrs.frozen
class Price:
    """
    A published price. It can change without notice, so that a cost told by it is an estimate.

    Attributes:
        read: US dollars for a million input tokens.
        written: US dollars for a million output tokens.

    Raises:
        ValueError: If a price is negative or no number.
    """

    read: Decimal = attrs.field(converter=_dollars, validator=_payable)
    written: Decimal = attrs.field(default=Decimal(0), converter=_dollars, validator=_payable)

    def charge(self, usage: Usage) -> Usage:
        """
        Return *usage* with its cost; one that the server reported stands.
        """
        if usage.cost is not None:
            return usage
        cost = (usage.input_tokens * self.read + usage.output_tokens * self.written) / _MILLION
        return attrs.evolve(usage, cost=cost)
