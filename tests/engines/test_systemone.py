"""The System One client as a client: what it sends, what it keeps to itself, and how its calls end."""

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx2
import pytest

from decide.attempt_log import AttemptLog
from decide.engines._setup import SetupError
from decide.engines.systemone import SystemOneEngine, key_from
from decide.errors import (
    BusyError,
    DecideError,
    EngineError,
    EngineTimeoutError,
    InvalidAnswerError,
    InvalidRequestError,
    MisconfiguredError,
)
from decide.providers import adapt
from decide.questions import ChoiceQuestion, NoulQuestion, RelevanceQuestion, ScoreQuestion, ScoreRequest
from tests.engines.wire import ANSWERED, Handler, asking, engine_over, replying

KEY, STATE, INSTRUCTIONS = "sk-sentinel-key", "sentinel state", "sentinel instructions"
SECRET = asking({"n": NoulQuestion(INSTRUCTIONS)}, text=STATE)


def recording(sent: list[httpx2.Request], body: object = ANSWERED) -> Handler:
    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(200, json=body)

    return answer


async def body_sent(request: ScoreRequest, **options: Any) -> dict[str, Any]:
    sent: list[httpx2.Request] = []
    engine = engine_over(recording(sent), **options)
    with contextlib.suppress(InvalidAnswerError):
        await engine.score(request)
    body: dict[str, Any] = json.loads(sent[0].content)
    return body


async def test_the_model_is_left_out_when_it_is_not_set() -> None:
    assert "model" not in await body_sent(asking())
    assert (await body_sent(asking(), model="jev-latest"))["model"] == "jev-latest"


async def test_every_kind_of_question_is_sent_in_the_order_of_the_caller() -> None:
    body = await body_sent(
        asking(
            {
                "z": NoulQuestion("Angry?", true="yes", false=""),
                "one": NoulQuestion("Sad?", true="yes"),
                "r": RelevanceQuestion("Touched?", {"bills": "money", "bugs": None}),
                "a": ChoiceQuestion("Team?", {"y": "why", "x": None}),
                "s": ScoreQuestion("Urgent?", ["low", "high"]),
            }
        )
    )

    assert list(body["questions"]) == ["z", "one", "r_1", "r_2", "a", "s"]
    assert body["questions"]["z"] == {
        "type": "noul",
        "instructions": "Angry?",
        "criteria": {"true": "yes", "false": ""},
    }
    assert body["questions"]["one"]["criteria"] == {"true": "yes"}
    assert list(body["questions"]["a"]["criteria"].items()) == [("y", "why"), ("x", None)]
    assert body["questions"]["s"]["criteria"] == ["low", "high"]
    assert body["questions"]["r_1"]["instructions"] == "Touched?\nCandidate: bills: money"
    assert body["questions"]["r_2"]["instructions"] == "Touched?\nCandidate: bugs"


async def test_the_names_of_relevance_candidates_collide_with_nobody() -> None:
    keys = ["r", "r_1", "r_1_", "r_2_", "r_2"]

    body = await body_sent(
        asking({"r": RelevanceQuestion("?", ["a", "b"]), **{key: NoulQuestion("?") for key in keys[1:]}})
    )

    assert len(body["questions"]) == 6
    assert set(keys[1:]) < set(body["questions"])


@pytest.mark.parametrize("state", ["text", {"a": [1, None, "ü"]}, ["x"], ""])
async def test_the_state_goes_as_it_is(state: object) -> None:
    assert (await body_sent(asking(text=state)))["state"] == state


async def test_further_facts_stand_beside_the_state() -> None:
    request = ScoreRequest(text="t", questions={"n": NoulQuestion("?")}, context={"plan": "pro"}, product="p")

    assert (await body_sent(request))["state"] == {"text": "t", "context": {"plan": "pro"}}


def _deep() -> list[object]:
    deep: list[object] = []
    for _ in range(200):
        deep = [deep]
    return deep


@pytest.mark.parametrize("state", ["\ud800", {"when": object()}, {"n": float("nan")}, _deep()])
async def test_a_state_that_is_no_json_is_refused_before_anything_is_sent(state: Any) -> None:
    sent: list[httpx2.Request] = []
    log = AttemptLog()

    with pytest.raises(InvalidRequestError) as caught:
        await engine_over(recording(sent)).score_traced(asking(text=state), log)

    assert sent == []
    assert caught.value.__context__ is None
    assert [attempt.outcome for attempt in log.report().attempts] == ["rejected"]


async def test_a_request_without_questions_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(InvalidRequestError, match="no questions"):
        await engine_over(replying(200, ANSWERED)).score(asking({}))


async def test_redirects_are_not_followed() -> None:
    sent: list[httpx2.Request] = []

    def redirect(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(307, headers={"location": "http://127.0.0.1:8000/elsewhere"})

    with pytest.raises(MisconfiguredError):
        await engine_over(redirect, api_key=KEY).score(SECRET)

    assert len(sent) == 1


@pytest.mark.parametrize(
    ("fault", "kind", "outcome"),
    [
        (httpx2.ConnectError, EngineError, "error"),
        (httpx2.ReadError, EngineError, "error"),
        (httpx2.RemoteProtocolError, EngineError, "error"),
        (httpx2.ProxyError, EngineError, "error"),
        (httpx2.ReadTimeout, EngineTimeoutError, "timeout"),
        (httpx2.PoolTimeout, BusyError, "busy"),
        (httpx2.LocalProtocolError, MisconfiguredError, "misconfigured"),
        (httpx2.UnsupportedProtocol, MisconfiguredError, "misconfigured"),
        (ConnectionResetError, EngineError, "error"),
    ],
)
async def test_a_broken_connection_has_its_kind_and_tells_nothing(
    fault: type[Exception], kind: type[DecideError], outcome: str
) -> None:
    def fail(request: httpx2.Request) -> httpx2.Response:
        raise fault(f"{KEY} {STATE} {INSTRUCTIONS}")

    log = AttemptLog()
    with pytest.raises(DecideError) as caught:
        await engine_over(fail, api_key=KEY).score_traced(SECRET, log)

    assert type(caught.value) is kind
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "sentinel" not in f"{caught.value!r}{caught.value.server_text}{log.report()}"
    assert [(attempt.outcome, attempt.detail) for attempt in log.report().attempts] == [(outcome, fault.__name__)]


@pytest.mark.parametrize("status", [200, 400, 401, 404, 422, 429, 500])
async def test_neither_key_nor_state_nor_question_comes_back_in_an_error(status: int) -> None:
    def echo(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(status, json={"model": KEY, "seen": request.content.decode(), "detail": "no"})

    log, engine = AttemptLog(), engine_over(echo, api_key=KEY, model="jev")
    with pytest.raises(DecideError) as caught:
        await engine.score_traced(SECRET, log)

    assert "sentinel" not in f"{caught.value!r}{vars(caught.value)}{log.report()}{engine!r}"


async def test_a_server_that_quotes_the_key_is_redacted() -> None:
    with pytest.raises(EngineError) as caught:
        await engine_over(replying(500, {"error": f"upstream said {KEY}"}), api_key=KEY).score(SECRET)

    assert caught.value.server_text == "upstream said «redacted»"


async def test_a_reply_over_the_limit_is_not_read_to_its_end() -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 1000
            yield b" " * 1000

    engine = engine_over(lambda _: httpx2.Response(200, content=endless()), max_response_bytes=10_000)
    with pytest.raises(InvalidAnswerError, match="larger than 10000 bytes"):
        await engine.score(asking())

    assert read < 200_000


async def test_a_large_error_page_still_has_its_status() -> None:
    with pytest.raises(EngineError) as caught:
        await engine_over(replying(502, b"<" * 50_000), max_response_bytes=1000).score(asking())

    assert caught.value.http_status == 502
    assert len(caught.value.server_text) == 200


async def test_a_compressed_reply_that_nobody_asked_for_is_not_unpacked() -> None:
    with pytest.raises(InvalidAnswerError, match="encoding"):
        await engine_over(lambda _: httpx2.Response(200, headers={"content-encoding": "x-bomb"}, content=b"{}")).score(
            asking()
        )


async def _stalled(_: httpx2.Request) -> httpx2.Response:
    await anyio.sleep_forever()
    raise AssertionError


async def test_a_call_of_its_own_ends_at_the_engines_timeout() -> None:
    started = anyio.current_time()

    with pytest.raises(EngineTimeoutError, match=r"2\.0 s"):
        await engine_over(_stalled).score(asking())  # type: ignore[arg-type]  # an async handler is fine for an async client

    assert anyio.current_time() - started == pytest.approx(2.0)


async def test_a_call_that_is_cut_off_is_recorded_as_cancelled() -> None:
    log = AttemptLog()

    with anyio.move_on_after(0.5):
        await engine_over(_stalled).score_traced(asking(), log)  # type: ignore[arg-type]

    assert [attempt.outcome for attempt in log.report().attempts] == ["cancelled"]
    assert log.report().attempts[0].usage is None


async def test_the_report_of_a_call_names_engine_and_model() -> None:
    log = AttemptLog()

    await engine_over(replying(200, ANSWERED), name="mine").score_traced(asking(), log)

    assert (log.report().engine, log.report().model) == ("mine", "m-1")


async def test_a_key_from_the_environment_is_read_at_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[httpx2.Request] = []
    engine = engine_over(recording(sent), api_key=key_from("SOME_SERVICE_KEY"))

    with pytest.raises(MisconfiguredError, match="SOME_SERVICE_KEY is not set"):
        await engine.score(asking())
    monkeypatch.setenv("SOME_SERVICE_KEY", KEY)
    await engine.score(asking())

    assert [request.headers["authorization"] for request in sent] == [f"Bearer {KEY}"]


@pytest.mark.parametrize("key", ["", "two\nlines", "kéy"])
async def test_a_key_that_cannot_be_a_header_is_our_own_fault(key: str) -> None:
    with pytest.raises(SetupError, match="api_key"):
        SystemOneEngine("https://example.test", api_key=key)
    with pytest.raises(MisconfiguredError, match="api_key") as caught:
        await engine_over(replying(200, ANSWERED), api_key=lambda: key).score(asking())

    assert not key or key not in str(caught.value)


async def test_a_key_function_that_fails_is_our_own_fault_and_is_not_quoted() -> None:
    def fail() -> str:
        raise KeyError(KEY)

    with pytest.raises(MisconfiguredError, match="KeyError") as caught:
        await engine_over(replying(200, ANSWERED), api_key=fail).score(asking())

    assert KEY not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "options",
    [{"decision_timeout": 0}, {"decision_timeout": float("nan")}, {"max_response_bytes": 0}, {"model": "a\nb"}],
)
def test_arguments_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SetupError, match=next(iter(options))):
        SystemOneEngine("http://127.0.0.1:8000", **options)


def test_combinators_see_its_timeout_and_that_it_writes_its_own_attempts() -> None:
    ready = adapt(SystemOneEngine("http://127.0.0.1:8000", name="jev", decision_timeout=0.8))

    assert (ready.name, ready.timeout, ready.traced, ready.deterministic) == ("jev", 0.8, True, False)
