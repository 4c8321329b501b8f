"""Servers whose HTTP is in order and whose replies are not: other formats, other answers, other statuses."""

import json

from tests.faults.connections import GOOD
from tests.faults.rows import Row
from tests.faults.server import Behaviour, reply, says

PAGE = b"<!doctype html><title>Sign in</title>"
DEEP = 10_000
DIGITS = 1_000_000


def noul(number: bytes) -> bytes:
    return b'{"model": "m-1", "answers": {"n": {"type": "noul", "noul": ' + number + b"}}}"


def answers(**entries: object) -> bytes:
    return json.dumps({"model": "m-1", "answers": entries}).encode()


def body(data: bytes, *headers: str, status: str = "200 OK") -> Behaviour:
    return says(reply(data, *headers, status=status))


def status(line: str, *headers: str, data: bytes = b'{"detail": "no"}') -> Behaviour:
    return says(reply(data, *headers, status=line))


FORMATS = [
    Row("empty", "answers 200 with nothing", body(b""), "invalid", "http 200, empty"),
    Row("no-content", "answers 204", body(b"", status="204 No Content"), "invalid", "http 204, empty"),
    Row(
        "page",
        "shows a web page with 200",
        body(PAGE, "Content-Type: text/html"),
        "misconfigured",
        "http 200, a web page of 37 bytes",
    ),
    Row(
        "page-as-json",
        "shows a web page with 200 and calls it JSON",
        body(PAGE),
        "misconfigured",
        "http 200, a web page of 37 bytes",
    ),
    Row(
        "json-as-page",
        "calls a good reply a web page",
        body(GOOD, "Content-Type: text/html"),
        "misconfigured",
        "http 200, a web page of 65 bytes",
    ),
    Row(
        "plain-text",
        "calls a good reply plain text",
        body(GOOD, "Content-Type: text/plain"),
        "decided",
        why="JSON, whatever it is called",
    ),
    Row(
        "event-stream",
        "streams events",
        body(b"data: " + GOOD + b"\n\n", "Content-Type: text/event-stream"),
        "invalid",
        "http 200, $: not JSON at line 1, column 1",
    ),
    Row(
        "two-documents",
        "sends two JSON documents in one body",
        body(GOOD + b"\n" + GOOD),
        "invalid",
        "http 200, $: not JSON at line 2, column 1",
    ),
    Row("cut", "breaks off in the JSON", body(GOOD[:40]), "invalid", "http 200, $: not JSON at line 1, column 36"),
    Row(
        "guarded", "puts )]}' in front", body(b")]}'\n" + GOOD), "invalid", "http 200, $: not JSON at line 1, column 1"
    ),
    Row("list", "sends a list", body(b"[]"), "invalid", "http 200, not a JSON object"),
    Row("text", "sends a text", body(b'"yes"'), "invalid", "http 200, not a JSON object"),
    Row("nothing-in-it", "sends {}", body(b"{}"), "invalid", "http 200, no answers in it"),
    Row("null", "sends null", body(b"null"), "invalid", "http 200, not a JSON object"),
    Row(
        "latin-1",
        "does not send UTF-8",
        body('{"model": "é", "answers": {}}'.encode("latin-1")),
        "invalid",
        "http 200, $: not UTF-8",
    ),
    Row("utf-16", "sends UTF-16", body(GOOD.decode().encode("utf-16")), "invalid", "http 200, $: not UTF-8"),
    Row(
        "half-a-pair",
        "sends half of a surrogate pair",
        body(GOOD.replace(b"m-1", rb"\ud800")),
        "invalid",
        "http 200, $[0]: text that is not Unicode: half a surrogate pair",
    ),
    Row("bom", "puts a byte order mark in front", body(b"\xef\xbb\xbf" + GOOD), "decided", why="it says nothing"),
    Row("nan", "sends NaN", body(noul(b"NaN")), "invalid", "http 200, $[1][0][1]: a number that is not finite"),
    Row(
        "infinity",
        "sends a number that is none (1e999)",
        body(noul(b"1e999")),
        "invalid",
        "http 200, $[1][0][1]: a number that is not finite",
    ),
    Row(
        "many-digits",
        "sends a whole number of a million digits",
        body(noul(b"1" * (DIGITS - 200))),
        "invalid",
        "http 200, $: a number is too long",
    ),
    Row(
        "many-decimals",
        "sends a fraction of a million digits",
        body(noul(b"0." + b"9" * (DIGITS - 200))),
        "decided",
        why="one number from 0 to 1, however it is written",
    ),
    Row(
        "duplicate-keys",
        "answers one question twice",
        body(b'{"answers": {"n": {"type": "noul", "noul": 0.1}, "n": {"type": "noul", "noul": 0.9}}}'),
        "invalid",
        "http 200, $[0]: a key stands twice in this object",
    ),
    Row(
        "deep",
        "nests 10,000 lists",
        body(b'{"x": ' + b"[" * DEEP + b"]" * DEEP + b', "answers": {}}'),
        "invalid",
        "http 200, $: nested deeper than 100",
    ),
    Row(
        "wide",
        "fills a megabyte with empty lists",
        body(b'{"answers": {"n": [' + b"[]," * 340_000 + b"0]}}"),
        "invalid",
        "http 200, too many objects and lists",
    ),
    Row(
        "matted",
        "fills a megabyte with nests of lists",
        body(b'{"answers": {"n": [' + (b"[" * 95 + b"]" * 95 + b",") * 5400 + b"0]}}"),
        "invalid",
        "http 200, too many objects and lists",
    ),
    Row(
        "long-list",
        "fills a megabyte with numbers",
        body(b'{"answers": {"n": [' + b"0," * 500_000 + b"0]}}"),
        "invalid",
        "1 malformed",
    ),
]

CONTENT = [
    Row(
        "other-ids",
        "sends the answers of another request",
        body(answers(m={"type": "noul", "noul": 0.9})),
        "abstained",
        "no_answer",
    ),
    Row(
        "more-ids",
        "answers more than it was asked",
        body(answers(n={"type": "noul", "noul": 0.9}, m=0, o=None)),
        "decided",
        why="answers to other questions are not read",
    ),
    Row(
        "other-kind",
        "answers a question of another kind",
        body(answers(n={"type": "choice", "choice": "a"})),
        "invalid",
        "1 malformed",
    ),
    Row(
        "answers-list",
        "sends its answers as a list",
        body(b'{"answers": [{"type": "noul", "noul": 0.9}]}'),
        "invalid",
        "http 200, no answers in it",
    ),
    Row("answers-null", "sends no answers", body(b'{"answers": null}'), "invalid", "http 200, no answers in it"),
    Row("answers-empty", "sends an empty answer", body(b'{"answers": {}}'), "invalid", "http 200, no answers in it"),
    Row("declined", "declines", body(answers(n={"type": "refusal"})), "abstained", "no_answer"),
    Row("above-one", "is 150 % sure", body(noul(b"1.5")), "invalid", "1 malformed"),
    Row("hair-above-one", "is a hair more than sure", body(noul(b"1.0000000000000002")), "invalid", "1 malformed"),
    Row("minus-zero", "answers -0.0", body(noul(b"-0.0")), "decided", why="a certain no"),
    Row("hardly-anything", "answers 5e-324", body(noul(b"5e-324")), "decided", why="a certain no"),
    Row("percent", "answers in percent", body(noul(b'"95%"')), "invalid", "1 malformed"),
    Row("true", "answers true", body(noul(b"true")), "invalid", "1 malformed"),
    Row(
        "protocol-2",
        "speaks version 2 of the protocol",
        body(b'{"protocol": 2, ' + GOOD[1:]),
        "misconfigured",
        "protocol",
    ),
    Row(
        "odd-model",
        "calls its model <script>",
        body(GOOD.replace(b"m-1", b"<script>")),
        "decided",
        why="the trace says ?",
    ),
    Row(
        "odd-usage",
        "bills 10^300 tokens",
        body(GOOD[:-1] + b', "usage": {"input_tokens": 1e300, "output_tokens": 1}}'),
        "decided",
        why="the cost is unknown",
    ),
    Row(
        "loading-200", "says with 200 that it is loading", body(b'{"error": {"code": "loading"}}'), "error", "http 200"
    ),
    Row(
        "refused-200",
        "refuses the request with 200",
        body(b'{"error": {"code": "bad_request"}}'),
        "rejected",
        "http 200",
    ),
    Row("unpaid-200", "asks for money with 200", body(b'{"error": {"code": 402}}'), "quota", "http 200"),
]

STATUSES = [
    Row("moved", "redirects (301)", status("301 No", "Location: /elsewhere"), "misconfigured", "http 301"),
    Row("refused", "refuses the request (400)", status("400 No"), "rejected", "http 400"),
    Row("no-key", "wants a key (401)", status("401 No", "WWW-Authenticate: Bearer"), "auth", "http 401"),
    Row("unpaid", "wants money (402)", status("402 No"), "quota", "http 402"),
    Row("forbidden", "refuses the key (403)", status("403 No"), "auth", "http 403"),
    Row("nowhere", "has no such route (404)", status("404 No", data=PAGE), "misconfigured", "http 404"),
    Row("no-post", "takes no POST (405)", status("405 No", "Allow: GET"), "misconfigured", "http 405"),
    Row("too-slow-for-it", "says that we were slow (408)", status("408 No"), "error", "http 408"),
    Row("too-large", "finds the request too large (413)", status("413 No"), "rejected", "http 413"),
    Row(
        "echoes",
        "echoes the request (422)",
        status("422 No", data=b'{"detail": [{"loc": ["body"], "msg": "no", "input": "all that was sent"}]}'),
        "rejected",
        "http 422",
    ),
    Row("too-early", "calls it too early (425)", status("425 No"), "error", "http 425"),
    Row("too-many", "asks for fewer calls (429)", status("429 No", "Retry-After: 2"), "error", "http 429"),
    Row(
        "spent",
        "says that the allowance is spent (429)",
        status("429 No", data=b'{"error": {"code": "insufficient_quota"}}'),
        "quota",
        "http 429",
    ),
    Row(
        "spent-422",
        "says that the budget is spent (422)",
        status("422 No", data=b'{"error": {"type": "budget_exceeded"}}'),
        "quota",
        "http 422",
    ),
    Row("broken", "is broken (500)", status("500 No", data=b"\xff\xfe"), "error", "http 500"),
    Row("loading", "is loading (503)", status("503 No", "Retry-After: 5"), "error", "http 503"),
    Row("edge-timeout", "gave up at the edge (524)", status("524 No", data=PAGE), "error", "http 524"),
    Row("overloaded", "is overloaded (529)", status("529 No"), "error", "http 529"),
]
