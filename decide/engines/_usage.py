"""What a reply says a call cost, and which model it says answered."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final

from decide.answers import Usage
from decide.distributions import is_number

UNREADABLE_MODEL: Final = "?"
MAX_TOKENS: Final = 10**12
MAX_COST: Final = 10**9
"""More than either is no count of one call, and sums of such numbers could not be written any more."""

_MODEL = re.compile(r"[A-Za-z0-9._:/@~+-]{1,200}", re.ASCII)


def read_usage(value: object) -> Usage | None:
    """
    Read the `usage` of a reply: two whole numbers, 12.0 included, and a cost if there is one.

    None when either count is not reported or is no count: unknown is not 0.
    """
    if not isinstance(value, dict):
        return None
    read, written = _count(value.get("input_tokens")), _count(value.get("output_tokens"))
    if read is None or written is None:
        return None
    return Usage(input_tokens=read, output_tokens=written, cost=_cost(value.get("cost")))


def read_cost(text: str) -> Decimal | None:
    """
    Read a cost in US dollars as a header says it; None when it says none.
    """
    try:
        cost = Decimal(text)
    except InvalidOperation:
        return None
    return cost if cost.is_finite() and 0 <= cost <= MAX_COST else None


def read_model(value: object) -> str:
    """
    Read a model's id from outside: empty when there is none, "?" when it is nothing that may stand in a trace.
    """
    if value is None or value == "":
        return ""
    return value if isinstance(value, str) and _MODEL.fullmatch(value) else UNREADABLE_MODEL


def _count(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS else None


def _cost(value: object) -> Decimal | None:
    if not isinstance(value, int | float) or not is_number(value) or not 0 <= value <= MAX_COST:
        return None
    return Decimal(str(value))
