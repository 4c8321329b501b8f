"""How long the other side asked us to wait."""

import datetime as dt
import os
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide import MAX_RETRY_DELAY, EngineError, NoAnswerError, RateLimitedError, parse_retry_after, retry_delay

NOW = dt.datetime(2026, 3, 1, 12, 0, 0, tzinfo=dt.UTC)


@pytest.fixture(autouse=True, params=["UTC", "Asia/Tokyo"])
def _zone_of_the_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("1", 1.0),
        (" 2 ", 2.0),
        ("\t7\n", 7.0),
        ("+3", 3.0),
        ("007", 7.0),
        ("1.5", 1.5),
        ("0.25", 0.25),
        ("599", 599.0),
        ("601", MAX_RETRY_DELAY),
        ("9" * 400, MAX_RETRY_DELAY),
        ("9" * 400 + ".5", MAX_RETRY_DELAY),
        ("-0", 0.0),
    ],
)
def test_seconds_are_read_whatever_their_size_and_capped(value: str, seconds: float) -> None:
    assert parse_retry_after(value, NOW) == seconds


@pytest.mark.parametrize(
    "value",
    [
        "Sun, 01 Mar 2026 12:00:30 GMT",
        "Sun, 01 Mar 2026 12:00:30 gmt",
        "MON, 01 MAR 2026 12:00:30 GMT",
        "Sun, 01 Mar 2026 12:00:30 UTC",
        "Sun, 01 Mar 2026 12:00:30 +0000",
        "Sun, 01 Mar 2026 12:00:30 -0000",
        "Sunday, 01-Mar-26 12:00:30 GMT",
        "Sun,  01 Mar 2026  12:00:30   GMT",
        "Sun Mar 1 12:00:30 2026",
        "Sun Mar 01 12:00:30 2026",
        "Sun Mar  1 12:00:30 2026",
    ],
)
@pytest.mark.parametrize("now", [NOW, NOW.replace(tzinfo=None), NOW.astimezone(dt.timezone(dt.timedelta(hours=-8)))])
def test_every_form_of_an_http_date_is_read_as_utc(value: str, now: dt.datetime) -> None:
    assert parse_retry_after(value, now) == 30.0


@pytest.mark.parametrize(
    "value",
    [
        "-1",
        "-0.5",
        "Sun, 01 Mar 2026 11:00:00 GMT",
        "",
        " ",
        "soon",
        "1,5",
        "1.",
        ".5",
        "1e3",
        "1_000",
        "0x10",
        "+1.5",
        "NaN",
        "inf",
        "٣",
        "1 2",
        "1.5.5",
        "30s",
        "Sun, 31 Feb 2026 12:00:30 GMT",
        "Sun, 1 Mar 2026 12:00:30 GMT",
        "Fri, 31 Dec 9999 23:59:59.9999999 GMT",
        "Sun, 01 Mar 2026 25:00:30 GMT",
        "Sun, 01 Xyz 2026 12:00:30 GMT",
        "Xyz, 01 Mar 2026 12:00:30 GMT",
        "Sun, 01-Mar-26 12:00:30 GMT",
        "Sun, 01 Mar 2026 12:00:30 CET",
        "Sun, 01 Mar 2026 12:00:30 +0100",
        "Sun, 01 Mar 2026 12:00:30",
        "2026-03-01T12:00:30Z",
    ],
)
def test_negative_past_and_malformed_values_ask_for_nothing(value: str) -> None:
    assert parse_retry_after(value, NOW) is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("Sun, 01 Mar 2026 12:00:30.25 GMT", 30.25),
        ("Sun Mar  1 12:00:30,5 2026", 30.5),
        ("Sun Mar  1 9:00:00 2026", None),
    ],
)
def test_a_date_may_hold_fractions_and_short_hours(value: str, seconds: float | None) -> None:
    assert parse_retry_after(value, NOW) == seconds


def test_a_date_far_ahead_is_capped() -> None:
    assert parse_retry_after("Mon, 01 Mar 2027 12:00:30 GMT", NOW) == MAX_RETRY_DELAY


@given(st.text(max_size=40))
def test_any_text_is_read_as_a_wait_within_bounds_or_none(value: str) -> None:
    seconds = parse_retry_after(value, NOW)
    assert seconds is None or 0.0 <= seconds <= MAX_RETRY_DELAY


@given(st.datetimes(min_value=dt.datetime(1970, 1, 1), max_value=dt.datetime(2068, 1, 1)))  # noqa: DTZ001 - read as UTC
def test_a_written_date_is_read_back(moment: dt.datetime) -> None:
    moment = moment.replace(microsecond=0, tzinfo=dt.UTC)
    written = moment.strftime("%a, %d %b %Y %H:%M:%S GMT")
    assert parse_retry_after(written, moment - dt.timedelta(seconds=90)) == 90.0


# from an error ------------------------------------------------------------------------------------------------------


def _caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (EngineError("x"), None),
        (ValueError("x"), None),
        (RateLimitedError("x", retry_after=2.0), 2.0),
        (RateLimitedError("x", retry_after=0.0), 0.0),
        (RateLimitedError("x", retry_after=1e9), MAX_RETRY_DELAY),
        (RateLimitedError("x", retry_after=-1.0), 0.0),
        (_caused(ValueError("x"), RateLimitedError("x", retry_after=3.0)), 3.0),
        (_caused(EngineError("x", retry_after=1.0), RateLimitedError("x", retry_after=3.0)), 1.0),
        (NoAnswerError("x", errors=[EngineError("a"), RateLimitedError("b", retry_after=4.0)]), 4.0),
        (ExceptionGroup("x", [ValueError("a"), RateLimitedError("b", retry_after=5.0)]), 5.0),
    ],
)
def test_the_first_wait_that_an_error_carries_counts(error: Exception, seconds: float | None) -> None:
    assert retry_delay(error) == seconds


def test_the_zone_of_the_process_is_the_one_under_test() -> None:
    assert time.tzname[0] == ("UTC" if os.environ["TZ"] == "UTC" else "JST")
