"""What a reply over HTTP means when it is no answer: told by status and code, never by the words of a message."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from decide._json import DocumentError, loads
from decide.answers import Usage
from decide.engines._replies import Reply
from decide.engines._usage import read_usage
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
from decide.retry_after import MAX_RETRY_DELAY, parse_retry_after

__all__ = ["MAX_PARTS", "MAX_SERVER_TEXT", "REDACTED", "Reply", "answered", "asked_wait", "redacted"]

MAX_SERVER_TEXT: Final = 200
MAX_PARTS: Final = 50_000
"""The most objects and lists in a reply: far beyond any answer, and what a megabyte of brackets costs is bounded."""

REDACTED: Final = "«redacted»"

_QUOTA_CODES = frozenset(
    {"insufficient_quota", "budget_exceeded", "payment_required", "quota", "customer_verification_required"}
)
_CODES: Final = {
    "authentication_error": 401,
    "unauthorized": 401,
    "permission_denied": 403,
    "not_found": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limited": 429,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_usage_error": 400,
    "bad_request": 400,
    "context_length_exceeded": 400,
    "invalid_request": 400,
    "invalid_request_error": 400,
    "max_tokens_exceeded": 400,
}
"""What an error body that comes with a 200 says, as the status that it should have come with."""

_REMEDIES: dict[type[DecideError], str] = {
    AuthError: "the server refused the credentials; check api_key",
    QuotaError: "the allowance with the server is spent",
    RateLimitedError: "the server asks for fewer calls",
    MisconfiguredError: "no such route or model; check base_url and model",
    InvalidRequestError: "the server refused the request",
    EngineError: "the server failed",
}
_ACCOUNT = re.compile(r'("(?:user_id|account_id|org_id|organization)"\s*:\s*)(?:"[^"]*"|[^\s,}\]]+)')
_MAX_SOURCE = 16 * 1024
_MAX_COMPLAINTS = 20
_NO_CODES: Final[Mapping[str, int]] = MappingProxyType({})
_MILLISECONDS = re.compile(r"[0-9]+(?:\.[0-9]+)?", re.ASCII)


def has_answers(document: Mapping[str, object]) -> bool:
    """
    Say whether a reply holds answers to questions.
    """
    return isinstance(document.get("answers"), dict) and bool(document["answers"])


def answered(
    reply: Reply,
    engine: str,
    *,
    secret: str = "",
    holds: Callable[[Mapping[str, object]], bool] = has_answers,
    codes: Mapping[str, int] = _NO_CODES,
) -> dict[str, object]:
    """
    Return the JSON object of a reply that holds answers.

    Args:
        reply: What came back.
        engine: Who asked, for the message.
        secret: The key that was sent, so that no text of the server repeats it.
        holds: Says whether an object is what was asked for.
        codes: What error codes of this service mean, as a status; it becomes the status of the error.

    Raises:
        DecideError: Of the kind that the status, or the error body, stands for; with status, wait, usage and the
            redacted text of the server on it.
    """
    found = _read(reply, engine, secret, holds=holds, codes=codes)
    # Some who print a traceback print what its frames hold.
    del secret
    if isinstance(found, DecideError):
        raise found
    return found


def _read(
    reply: Reply,
    engine: str,
    secret: str,
    *,
    holds: Callable[[Mapping[str, object]], bool],
    codes: Mapping[str, int],
) -> dict[str, object] | DecideError:
    document, problem = document_in(reply)
    if not 200 <= reply.status < 300:
        return _failure(_by_status(reply.status, _codes(document)), reply, document, engine, secret)
    if _is_page(reply):
        return MisconfiguredError(
            f"{engine}: a web page came instead of answers; check base_url",
            detail=f"http {reply.status}, a web page of {len(reply.body)} bytes",
            http_status=reply.status,
        )
    if document is None:
        return _invalid(problem, reply, engine, None)
    version = document.get("protocol", 1)
    if type(version) is not int or version != 1:
        return MisconfiguredError(
            f"{engine}: the server speaks another version of the protocol", detail="protocol", http_status=reply.status
        )
    if holds(document):
        return document
    if _is_error(document):
        status = _status_in(document, codes)
        failure = _failure(_by_status(status, _codes(document)), reply, document, engine, secret)
        if status in codes.values():
            failure.http_status = status
        return failure
    return _invalid("no answers in it", reply, engine, document)


def asked_wait(headers: Mapping[str, str], now: dt.datetime) -> float | None:
    """
    Return how many seconds a reply asks us to wait: `retry-after-ms` if it can be read, else `Retry-After`.
    """
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _MILLISECONDS.fullmatch(milliseconds):
        return min(float(milliseconds) / 1000, MAX_RETRY_DELAY)
    return parse_retry_after(headers.get("retry-after", ""), now)


def redacted(text: str, secret: str = "") -> str:
    """
    Return *text* of a server fit for an exception.

    That is without our key, without account numbers, on one line, cut at 200 characters.
    """
    text = text.lstrip()[:_MAX_SOURCE]
    if secret:
        text = text.replace(secret, REDACTED)
    text = _ACCOUNT.sub(rf'\1"{REDACTED}"', text)
    return "".join(character if character.isprintable() else " " for character in text).strip()[:MAX_SERVER_TEXT]


def document_in(reply: Reply) -> tuple[dict[str, object] | None, str]:
    """
    Return the JSON object that a reply holds, or None and what is wrong with the reply.
    """
    problem = ""
    if not reply.plain:
        problem = "packed in an encoding that was not asked for"
    elif not reply.complete:
        problem = f"larger than {len(reply.body)} bytes"
    elif not reply.body:
        problem = "empty"
    elif reply.body.count(b"[") + reply.body.count(b"{") > MAX_PARTS:
        problem = "too many objects and lists"
    if problem:
        return None, problem
    try:
        document = loads(reply.body)
    except DocumentError as error:
        return None, str(error)
    return (document, "") if isinstance(document, dict) else (None, "not a JSON object")


def _is_page(reply: Reply) -> bool:
    content_type = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    return bool(reply.body) and (
        content_type == "text/html" or reply.body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    )


def _is_error(document: Mapping[str, object]) -> bool:
    return (
        bool(document.get("error") or document.get("errors") or document.get("detail"))
        or document.get("success") is False
    )


def _codes(document: Mapping[str, object] | None) -> frozenset[str]:
    return frozenset(str(code).lower() for code in _raw_codes(document or {}))


def _raw_codes(document: Mapping[str, object]) -> Iterator[object]:
    error = document.get("error")
    nested = error.get("metadata") if isinstance(error, dict) else None
    listed = document.get("errors")
    several = listed[:_MAX_COMPLAINTS] if isinstance(listed, list) else []
    for place in (error, nested, document.get("detail"), document, *several):
        if isinstance(place, dict):
            for name in ("type", "code", "error_type"):
                if isinstance(place.get(name), str | int):
                    yield place[name]


def _by_status(status: int, codes: frozenset[str]) -> type[DecideError]:
    if status == 402 or codes & _QUOTA_CODES:
        return QuotaError
    if status in {401, 403}:
        return AuthError
    if status == 429:
        return RateLimitedError
    if status in {404, 405} or 300 <= status < 400:
        return MisconfiguredError
    if 400 <= status < 500 and status not in {408, 425}:
        return InvalidRequestError
    return EngineError


def _status_in(document: Mapping[str, object], codes: Mapping[str, int]) -> int:
    """
    Return the status that an error body stands for: a code that is known, else one that is a status itself.
    """
    named = sorted(_codes(document))
    known = [status for table in (codes, _CODES) for code, status in table.items() if code in named]
    statuses = [int(code) for code in named if code.isascii() and code.isdigit() and len(code) == 3]
    return next(iter([*known, *statuses]), 500)


def _failure(
    kind: type[DecideError], reply: Reply, document: Mapping[str, object] | None, engine: str, secret: str
) -> DecideError:
    # What a server says about a refused key most often repeats a part of it.
    said = "" if kind is AuthError else _message(document) or ("" if document else _text(reply.body))
    return kind(
        f"{engine}: {_REMEDIES[kind]} (http {reply.status})",
        detail=f"http {reply.status}",
        http_status=reply.status,
        retry_after=asked_wait(reply.headers, dt.datetime.now(dt.UTC)),
        server_text=redacted(said, secret),
        usage=_usage(document),
    )


def _invalid(problem: str, reply: Reply, engine: str, document: Mapping[str, object] | None) -> InvalidAnswerError:
    return InvalidAnswerError(
        f"{engine}: the reply cannot be used: {problem}",
        detail=f"http {reply.status}, {problem}",
        http_status=reply.status,
        usage=_usage(document),
    )


def _usage(document: Mapping[str, object] | None) -> Usage | None:
    return read_usage(document.get("usage")) if document else None


def _text(body: bytes) -> str:
    return body.lstrip()[:_MAX_SOURCE].decode("utf-8", "replace")


def _message(document: Mapping[str, object] | None) -> str:
    return next((text for text in _texts(document or {}) if isinstance(text, str) and text), "")


def _texts(document: Mapping[str, object]) -> Iterator[object]:
    listed = document.get("errors")
    first = listed[0] if isinstance(listed, list) and listed else None
    for place in (document.get("error"), document, document.get("detail"), first):
        yield place
        if isinstance(place, dict):
            yield place.get("message")
    detail = document.get("detail")
    if isinstance(detail, list):
        yield "; ".join(_complaints(detail))


def _complaints(entries: list[object]) -> Iterator[str]:
    for entry in entries[:_MAX_COMPLAINTS]:
        if isinstance(entry, dict):
            place = entry.get("loc")
            parts = [str(part) for part in place] if isinstance(place, list) else []
            yield f"{'.'.join(parts[1:] if parts[:1] == ['body'] else parts)}: {entry.get('msg')}"
