"""What a status, an error type and an error code mean, and what an error keeps of the reply."""

import datetime as dt
from typing import Any

import httpx2
import pytest

from decide.answers import Usage
from decide.attempt_log import AttemptLog
from decide.engines._http_errors import asked_wait, redacted
from decide.errors import (
    AuthError,
    DecideError,
    EngineError,
    InvalidAnswerError,
    InvalidRequestError,
    MisconfiguredError,
    QuotaError,
    RateLimitedError,
)
from tests.engines.wire import ANSWERED, asking, engine_over, replying

NOW = dt.datetime(2026, 11, 30, 12, 0, tzinfo=dt.UTC)
HTML = b"<!doctype html><title>Sign in</title>"


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (301, {}, MisconfiguredError),
        (307, {}, MisconfiguredError),
        (400, {"detail": "no"}, InvalidRequestError),
        (401, {}, AuthError),
        (402, {}, QuotaError),
        (403, {}, AuthError),
        (403, {"error_type": "customer_verification_required"}, QuotaError),
        (403, {"error": {"code": "quota"}}, QuotaError),
        (404, HTML, MisconfiguredError),
        (404, {"error": "not found"}, MisconfiguredError),
        (405, {}, MisconfiguredError),
        (408, {}, EngineError),
        (409, {}, InvalidRequestError),
        (413, {}, InvalidRequestError),
        (422, {"error": {"type": "budget_exceeded", "code": "422"}}, QuotaError),
        (425, {}, EngineError),
        (429, {}, RateLimitedError),
        (429, b"", RateLimitedError),
        (429, HTML, RateLimitedError),
        (429, {"error": {"code": "insufficient_quota", "message": "pay"}}, QuotaError),
        (429, {"error": {"code": "rate_limit_exceeded", "message": "your quota"}}, RateLimitedError),
        (500, b"\xff\xfe", EngineError),
        (502, HTML, EngineError),
        (503, {"error": {"type": "busy"}}, EngineError),
        (504, HTML, EngineError),
        (524, HTML, EngineError),
        (529, {}, EngineError),
        (200, HTML, MisconfiguredError),
        (200, b"\xef\xbb\xbf  <html>", MisconfiguredError),
        (200, b"", InvalidAnswerError),
        (204, b"", InvalidAnswerError),
        (200, "text", InvalidAnswerError),
        (200, {}, InvalidAnswerError),
        (200, {"answers": None}, InvalidAnswerError),
        (200, {"answers": []}, InvalidAnswerError),
        (200, {"answers": {}}, InvalidAnswerError),
        (200, {"answers": {}, "error": {"code": "loading"}}, EngineError),
        (200, {"error": {"code": "bad_request", "message": "?"}}, InvalidRequestError),
        (200, {"error": {"code": 402, "message": "Insufficient credits"}}, QuotaError),
        (200, {"error": {"code": 429}}, RateLimitedError),
        (200, {"error": {"type": "insufficient_quota", "code": "rate_limit_exceeded"}}, QuotaError),
        (200, {"success": False}, EngineError),
        (200, {"protocol": 2, "answers": {}}, MisconfiguredError),
        (200, {"protocol": True, **ANSWERED}, MisconfiguredError),
        (200, {"protocol": 2}, MisconfiguredError),
    ],
)
async def test_a_reply_without_answers_is_an_error_of_its_own_kind(
    status: int, body: object, kind: type[DecideError]
) -> None:
    log = AttemptLog()

    with pytest.raises(DecideError) as caught:
        await engine_over(replying(status, body)).score_traced(asking(), log)

    assert type(caught.value) is kind
    assert caught.value.http_status == status
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert len(log.report().attempts) == 1


async def test_a_web_page_is_described_and_not_quoted() -> None:
    log = AttemptLog()

    with pytest.raises(MisconfiguredError) as caught:
        await engine_over(replying(200, HTML, content_type="text/html; charset=utf-8")).score_traced(asking(), log)

    assert log.report().attempts[0].detail == "http 200, a web page of 37 bytes"
    assert "Sign in" not in f"{caught.value}{caught.value.server_text}"


async def test_protocol_version_one_is_understood() -> None:
    result = await engine_over(replying(200, {**ANSWERED, "protocol": 1})).score(asking())

    assert result.noul("n").noul == 0.9


async def test_a_failed_call_keeps_what_it_cost_and_how_long_to_wait() -> None:
    log = AttemptLog()
    body = {"detail": {"message": "slow down"}, "usage": {"input_tokens": 3, "output_tokens": 1}}

    with pytest.raises(RateLimitedError) as caught:
        await engine_over(replying(429, body, retry_after="7")).score_traced(asking(), log)

    assert caught.value.retry_after == 7.0
    assert caught.value.server_text == "slow down"
    assert log.report().attempts[0].usage == Usage(input_tokens=3, output_tokens=1)


async def test_an_invalid_reply_keeps_what_it_cost() -> None:
    log = AttemptLog()
    body = {"model": "m", "usage": {"input_tokens": 5, "output_tokens": 0}}

    with pytest.raises(InvalidAnswerError):
        await engine_over(replying(200, body)).score_traced(asking(), log)

    assert log.report().attempts[0].usage == Usage(input_tokens=5, output_tokens=0)


async def test_nothing_that_a_server_says_about_a_refused_key_is_kept() -> None:
    with pytest.raises(AuthError) as caught:
        await engine_over(replying(401, {"error": "bad key sk-SECRET"})).score(asking())

    assert caught.value.server_text == ""


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"account_id": 8812, "error":"slow down"}', '{"account_id": "«redacted»", "error":"slow down"}'),
        ('<p>"organization":"acme"</p>', '<p>"organization":"«redacted»"</p>'),
        ("y" * 200, "y" * 200),
        ("y" * 300, "y" * 200),
        ("key sk-1 is odd", "key «redacted» is odd"),
        ("two\nlines \x1b[31mred", "two lines  [31mred"),
    ],
)
def test_the_text_of_a_server_is_redacted_and_cut(text: str, kept: str) -> None:
    assert redacted(text, secret="sk-1") == kept


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "350", "Retry-After": "1"}, 0.35),
        ({"retry-after-ms": "-1", "Retry-After": "1"}, 1.0),
        ({"retry-after-ms": "99999999"}, 600.0),
        ({"Retry-After": "Mon, 30 Nov 2026 12:00:30 GMT"}, 30.0),
        ({}, None),
    ],
)
def test_a_wait_in_milliseconds_wins(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_wait(httpx2.Headers(headers), NOW) == seconds


@pytest.mark.parametrize(
    "body",
    [
        {"error": "plain"},
        {"error": {"message": "plain"}},
        {"message": "plain"},
        {"detail": "plain"},
        {"detail": {"message": "plain"}},
        {"detail": [{"loc": ["body"], "msg": "plain", "input": "SECRET"}]},
    ],
)
async def test_the_message_of_a_server_is_found_in_every_shape(body: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        await engine_over(replying(422, body)).score(asking())

    assert caught.value.server_text.lstrip(": ") == "plain"
