"""How long the other side asked us to wait, from a header or from an error."""

from __future__ import annotations

import datetime as dt
import re
from typing import Final

from decide.errors import DecideError, walk

MAX_RETRY_DELAY: Final = 600.0
"""The longest wait, in seconds, that any answer can ask of us."""

_SECONDS = re.compile(r"[+-]?[0-9]+|[0-9]+\.[0-9]+", re.ASCII)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_DAY = r"(?i:mon|tue|wed|thu|fri|sat|sun)"
_MONTH = r"(?P<month>[A-Za-z]{3})"
_LONG_DAY = r"(?i:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2}):(?P<second>\d{2}(?:[.,]\d+)?)"
_ZONE = r"(?:[Gg][Mm][Tt]|UTC|[+-]0000)"
_DATES = (
    re.compile(rf"{_DAY}, +(?P<day>\d{{2}}) +{_MONTH} +(?P<year>\d{{4}}) +{_CLOCK} +{_ZONE}", re.ASCII),
    re.compile(rf"{_LONG_DAY}, +(?P<day>\d{{2}})-{_MONTH}-(?P<year>\d{{2}}) +{_CLOCK} +{_ZONE}", re.ASCII),
    re.compile(rf"{_DAY} +{_MONTH} +(?P<day>\d{{1,2}}) +{_CLOCK} +(?P<year>\d{{4}})", re.ASCII),
)


def parse_retry_after(value: str, now: dt.datetime) -> float | None:
    """
    Read a `Retry-After` header.

    Whole seconds of any size (capped at `MAX_RETRY_DELAY`), fractions of a second, and the three HTTP date forms are
    understood. Zero means at once.

    Args:
        value: The header as it came.
        now: The wall clock; a naive time is read as UTC.

    Returns:
        Seconds to wait, or None when the header asks for nothing: malformed, negative or in the past.
    """
    text = value.strip()
    if _SECONDS.fullmatch(text):
        return _clamped(float(text))
    moment = _http_date(text)
    if moment is None:
        return None
    if now.tzinfo is None:
        now = now.replace(tzinfo=dt.UTC)
    return _clamped((moment - now).total_seconds())


def retry_delay(error: BaseException) -> float | None:
    """
    Return the first wait, in seconds, that *error*, its members or its causes carry; None when none does.
    """
    for current in walk(error):
        if isinstance(current, DecideError) and current.retry_after is not None:
            return min(max(current.retry_after, 0.0), MAX_RETRY_DELAY)
    return None


def _clamped(seconds: float) -> float | None:
    return None if seconds < 0 else min(seconds, MAX_RETRY_DELAY)


def _http_date(text: str) -> dt.datetime | None:
    match = next((found for form in _DATES if (found := form.fullmatch(text))), None)
    if match is None or (month := _MONTHS.get(match["month"].lower())) is None:
        return None
    year = int(match["year"])
    if len(match["year"]) == 2:
        year += 2000 if year < 69 else 1900
    whole, _, fraction = match["second"].replace(",", ".").partition(".")
    clock = int(match["hour"]), int(match["minute"]), int(whole)
    try:
        moment = dt.datetime(year, month, int(match["day"]), *clock, tzinfo=dt.UTC)
        return moment + dt.timedelta(seconds=float(f"0.{fraction}0"))
    except (ValueError, OverflowError):
        return None
