"""Every adapter against a real server: one request each, and an error of the right kind for whatever goes wrong."""

import gzip
import logging
import sys
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

from decide.answers import Usage
from decide.attempt_log import AttemptLog
from decide.chain import Chain
from decide.engines._setup import SetupError
from decide.engines.anthropic import AnthropicMessages
from decide.engines.llm import LLMEngine
from decide.engines.openai import OpenAIChat, OpenAIResponses
from decide.engines.systemone import key_from
from decide.errors import (
    AuthError,
    DecideError,
    EngineError,
    EngineTimeoutError,
    InvalidAnswerError,
    InvalidRequestError,
    MisconfiguredError,
    QuotaError,
    RateLimitedError,
)
from tests.engines.llm.loopback import ANSWER, VENDORS, Answer, Vendor, hang, http, serving
from tests.engines.llm.models import DECIDED, NOUL, asking, request

pytestmark = pytest.mark.real_time

KEY, STATE, SAID = "sk-sentinel-key", "sentinel-state", "sentinel-said"


@pytest.fixture(params=list(VENDORS))
def vendor(request: pytest.FixtureRequest) -> Vendor:
    return VENDORS[request.param]


async def failure(vendor: Vendor, answer: Answer, **options: Any) -> tuple[DecideError, int]:
    """
    Ask a server that says *answer*; return how that failed, and how often the server was asked.
    """
    async with serving(answer) as server:
        engine = LLMEngine(vendor.at(server, **options), decision_timeout=5)
        with pytest.raises(DecideError) as failed:
            await engine.score(asking(NOUL, text=STATE))
        return failed.value, len(server.asked)


async def test_answers_come_with_model_and_usage(vendor: Vendor) -> None:
    async with serving(http(200, vendor.reply(ANSWER))) as server:
        result = await LLMEngine(vendor.at(server)).score(asking(NOUL))

    assert result.noul("n").noul == 0.9
    assert (result.model, result.usage) == ("m-1-2026", Usage(input_tokens=12, output_tokens=5))
    assert [asked.line for asked in server.asked] == [f"POST {vendor.route} HTTP/1.1"]
    assert server.asked[0].body["model"] == "m-1"


async def test_decisions_come_as_well(vendor: Vendor) -> None:
    async with serving(http(200, vendor.reply(DECIDED))) as server:
        decision = await LLMEngine(vendor.at(server)).decide(request())

    assert decision is not None
    assert (decision.intent.value, decision.model) == ("cancel", "m-1-2026")


async def test_one_engine_works_call_after_call(vendor: Vendor) -> None:
    async with serving(http(200, vendor.reply(ANSWER))) as server:
        engine = LLMEngine(vendor.at(server))
        for _ in range(3):
            assert (await engine.score(asking(NOUL))).noul("n").noul == 0.9
        assert len(server.asked) == 3


def test_one_engine_works_on_one_loop_after_the_other(vendor: Vendor) -> None:
    engines: list[LLMEngine] = []

    async def ask() -> float | None:
        async with serving(http(200, vendor.reply(ANSWER))) as server:
            engines.append(LLMEngine(vendor.at(server)))
            return (await engines[-1].score(asking(NOUL))).noul("n").noul

    assert [anyio.run(ask, backend=backend) for backend in ("asyncio", "trio", "asyncio")] == [0.9] * 3


async def test_a_key_is_sent_and_read_anew_for_every_call(vendor: Vendor) -> None:
    keys = iter(["first-key", "second-key"])
    async with serving(http(200, vendor.reply(ANSWER))) as server:
        engine = LLMEngine(vendor.at(server, api_key=lambda: next(keys)))
        await engine.score(asking(NOUL))
        await engine.score(asking(NOUL))

    sent = [asked.headers.get("authorization") or asked.headers.get("x-api-key") for asked in server.asked]
    assert [text.removeprefix("Bearer ") for text in sent if text] == ["first-key", "second-key"]


async def test_keys_of_the_environment_are_for_the_vendor_alone(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(variable, KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "sentinel-org")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "sentinel-project")
    async with serving(http(200, vendor.reply(ANSWER))) as server:
        await LLMEngine(vendor.at(server)).score(asking(NOUL))
        await LLMEngine(vendor.at(server, api_key="other-key")).score(asking(NOUL))

    assert "sentinel" not in str([asked.headers for asked in server.asked])


async def test_a_key_that_is_not_set_is_a_setting_to_fix(vendor: Vendor) -> None:
    async with serving(http(200, vendor.reply(ANSWER))) as server:
        engine = LLMEngine(vendor.at(server, api_key=key_from("NO_SUCH_VARIABLE")))
        with pytest.raises(MisconfiguredError, match="NO_SUCH_VARIABLE"):
            await engine.score(asking(NOUL))
    assert not server.asked


def broken_vault() -> str:
    raise RuntimeError(KEY)


@pytest.mark.parametrize("api_key", [lambda: "", lambda: "two\nlines", broken_vault], ids=["empty", "lines", "broken"])
async def test_a_function_that_gives_no_key_is_a_setting_to_fix(vendor: Vendor, api_key: Callable[[], str]) -> None:
    async with serving(http(200, vendor.reply(ANSWER))) as server:
        with pytest.raises(MisconfiguredError) as failed:
            await LLMEngine(vendor.at(server, api_key=api_key)).score(asking(NOUL))

    assert not server.asked
    assert KEY not in f"{failed.value}{failed.value.__context__}{failed.value.__cause__}"


OPENAI_QUOTA = {"error": {"message": SAID, "type": "insufficient_quota", "param": None, "code": "insufficient_quota"}}
OPENAI_RATE = {"error": {"message": SAID, "type": "requests", "param": None, "code": "rate_limit_exceeded"}}
ANTHROPIC_RATE = {"type": "error", "error": {"type": "rate_limit_error", "message": SAID}}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": SAID}}
TWICE = InvalidAnswerError
CONTENT = {"error": {"message": SAID, "code": "content_filter"}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, CONTENT, InvalidRequestError),
        (401, {"error": {"message": SAID, "code": "invalid_api_key"}}, AuthError),
        (402, {"error": {"message": SAID}}, QuotaError),
        (403, {"error": {"message": SAID}}, AuthError),
        (404, {"error": {"message": SAID, "code": "model_not_found"}}, MisconfiguredError),
        (408, {"error": {"message": SAID}}, EngineError),
        (413, {"error": {"message": SAID, "type": "request_too_large"}}, InvalidRequestError),
        (429, OPENAI_QUOTA, QuotaError),
        (429, OPENAI_RATE, RateLimitedError),
        (429, ANTHROPIC_RATE, RateLimitedError),
        (429, b"", RateLimitedError),
        (500, {"error": {"message": SAID}}, EngineError),
        (503, b"<html>busy</html>", EngineError),
        (529, OVERLOADED, EngineError),
        (307, b"", MisconfiguredError),
        (200, {"error": {"message": SAID, "code": 429}}, RateLimitedError),
        (200, {"error": {"message": SAID, "code": "insufficient_quota"}}, QuotaError),
        (200, b"<html>hello</html>", MisconfiguredError),
        (200, b"", InvalidAnswerError),
        (200, b"{", InvalidAnswerError),
        (200, {}, InvalidAnswerError),
        (200, {"choices": [], "output": [], "content": []}, InvalidAnswerError),
        (
            200,
            b'{"choices": [1], "choices": [2], "output": [1], "output": [2], "content": [1], "content": []}',
            InvalidAnswerError,
        ),
        (200, {"choices": [1], "output": [1], "content": [1]}, InvalidAnswerError),
        (200, {"choices": {"0": 1}, "output": {"0": 1}, "content": {"0": 1}}, InvalidAnswerError),
        (204, b"", InvalidAnswerError),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else str(value)[:60],
)
async def test_statuses_and_bodies_are_told_apart(
    vendor: Vendor, status: int, body: object, kind: type[DecideError]
) -> None:
    error, asked = await failure(vendor, http(status, body, Location="/elsewhere"), api_key=KEY)

    assert type(error) is kind
    assert asked == 1
    assert SAID not in f"{error}{error.detail}"
    if status != 200:
        assert error.http_status == status


async def test_a_wait_that_the_server_asks_for_is_on_the_error(vendor: Vendor) -> None:
    error, _ = await failure(vendor, http(429, OPENAI_RATE, Retry_After="7"))
    exact, _ = await failure(vendor, http(503, {}, Retry_After="7", retry_after_ms="1500"))

    assert (error.retry_after, exact.retry_after) == (7.0, 1.5)


async def test_what_the_server_says_is_kept_on_the_error_without_the_key(vendor: Vendor) -> None:
    error, _ = await failure(vendor, http(500, {"error": {"message": f"{SAID} {KEY}"}}), api_key=KEY)

    assert error.server_text == f"{SAID} «redacted»"


async def test_a_server_that_is_not_there_is_a_failed_connection(vendor: Vendor) -> None:
    async with serving(hang) as server:
        pass
    with pytest.raises(EngineError) as failed:
        await LLMEngine(vendor.at(server)).score(asking(NOUL))

    assert (type(failed.value), failed.value.transient) == (EngineError, True)


async def test_a_connection_that_breaks_is_the_engines_failure(vendor: Vendor) -> None:
    half = http(200, vendor.reply(ANSWER))[:-20]

    for broken in (b"", b"HTTP/1.1 200 OK\r\nContent-", half, b"nonsense\r\n\r\n"):
        error, asked = await failure(vendor, broken)
        assert (type(error), asked) == (EngineError, 1)


async def test_a_reply_is_read_so_far_and_no_further(vendor: Vendor) -> None:
    async def flood(stream: SocketStream) -> None:
        await stream.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while True:
            await stream.send(b" " * 65536)

    error, _ = await failure(vendor, flood, max_response_bytes=100_000)
    short, _ = await failure(vendor, http(200, vendor.reply(ANSWER)), max_response_bytes=100)

    assert (type(error), error.detail) == (InvalidAnswerError, "larger than 100000 bytes")
    assert type(short) is InvalidAnswerError
    assert "larger than 100 bytes" in short.detail


async def test_a_packed_reply_is_not_unpacked(vendor: Vendor) -> None:
    packed = gzip.compress(b" " * 1_000_000)
    error, _ = await failure(vendor, http(200, packed, Content_Encoding="gzip"))

    assert (type(error), error.detail) == (InvalidAnswerError, "packed in an encoding that was not asked for")


async def test_a_call_that_takes_too_long_ends_in_time_and_lets_go(vendor: Vendor) -> None:
    async with serving(hang) as server:
        with pytest.raises(EngineTimeoutError):
            await LLMEngine(vendor.at(server), decision_timeout=0.2).score(asking(NOUL))
        with anyio.fail_after(5):
            await server.left.wait()


async def test_a_cancelled_call_lets_go(vendor: Vendor) -> None:
    log = AttemptLog()
    async with serving(hang) as server:
        with anyio.move_on_after(0.2):
            await LLMEngine(vendor.at(server)).score_traced(asking(NOUL), log)
        with anyio.fail_after(5):
            await server.left.wait()

    assert [attempt.outcome for attempt in log.attempts()] == ["cancelled"]


async def test_nothing_that_was_asked_or_said_is_told_to_anyone(
    vendor: Vendor, caplog: pytest.LogCaptureFixture, blocking_calls: list[str]
) -> None:
    answers: list[Answer] = [
        http(200, vendor.reply(ANSWER.replace("0.9", f'"{SAID}"'))),
        http(200, vendor.reply(f"{SAID} {{")),
        http(400, {"error": {"message": SAID}}),
        http(401, {"error": {"message": KEY}}),
        b"",
    ]
    caplog.set_level(logging.DEBUG)
    for answer in answers:
        async with serving(answer) as server:
            log, engine = AttemptLog(), LLMEngine(vendor.at(server, api_key=KEY))
            with pytest.raises(DecideError) as failed:
                await engine.score_traced(asking(NOUL, text=STATE), log)
        told = f"{failed.value!r}{failed.value}{failed.value.detail}{log.report()!r}{engine!r}"
        assert failed.value.__cause__ is failed.value.__context__ is None
        assert "sentinel" not in told
    assert caplog.records
    assert "sentinel" not in caplog.text
    blocking_calls.clear()  # what pytest writes of a log


async def test_the_log_of_an_sdk_is_its_own_outside_of_our_calls(
    vendor: Vendor, caplog: pytest.LogCaptureFixture, blocking_calls: list[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving(http(200, vendor.reply(ANSWER))) as server:
        await LLMEngine(vendor.at(server)).score(asking(NOUL))
    logging.getLogger("openai._base_client").debug("theirs")
    logging.getLogger("anthropic._base_client").debug("theirs")

    assert [record.message for record in caplog.records if "_base_client" in record.name] == ["theirs", "theirs"]
    blocking_calls.clear()  # what pytest writes of a log


async def test_a_chain_records_what_the_engine_wrote(vendor: Vendor) -> None:
    async with serving(http(200, vendor.reply(DECIDED)), http(503)) as server:
        chain = Chain([LLMEngine(vendor.at(server))])
        verdict, failed = await chain.decide(request()), await chain.decide(request())

    assert verdict.trace.attempts[0].usage == Usage(input_tokens=12, output_tokens=5)
    assert (failed.trace.attempts[0].outcome, failed.trace.attempts[0].detail) == ("error", "http 503")


@pytest.mark.parametrize("make", [OpenAIChat, OpenAIResponses, AnthropicMessages])
@pytest.mark.parametrize(
    "options",
    [
        {"base_url": "not a url"},
        {"base_url": "ftp://127.0.0.1"},
        {"base_url": "http://user:secret@127.0.0.1/v1"},
        {"base_url": "http://example.com/v1", "api_key": "key"},
        {"api_key": ""},
        {"api_key": "two\nlines"},
        {"api_key": "ключ"},
        {"max_response_bytes": 0},
        {"base_url": "http://127.0.0.1/v1", "client": object()},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_at_construction(make: Any, options: dict[str, Any]) -> None:
    with pytest.raises(SetupError) as failed:
        make("m-1", **options)

    assert "secret" not in str(failed.value)


@pytest.mark.parametrize(
    ("make", "package"),
    [(OpenAIChat, "openai"), (OpenAIResponses, "openai"), (AnthropicMessages, "anthropic")],
    ids=["chat", "responses", "messages"],
)
def test_an_sdk_that_is_not_installed_is_named_with_its_extra(
    make: Any, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(SetupError, match=rf"pip install 'decide-engine\[{package}\]'") as failed:
        make("m-1")

    assert failed.value.__context__ is None


def test_a_model_tells_where_it_is_and_not_its_key(vendor: Vendor) -> None:
    model = vendor.make("m-1", base_url="http://127.0.0.1:8000/v1", api_key=KEY)

    assert repr(model) == f"{vendor.make.__name__}('m-1', server='http://127.0.0.1:8000/v1')"
    assert model.model == "m-1"
