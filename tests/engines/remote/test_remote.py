"""A remote decider: what it is sent, what of its reply is taken, and what of it is never believed."""

import datetime as dt
import json
from typing import Any

import anyio
import attrs
import httpx2
import pytest

from decide import (
    DURABLE,
    AttemptLog,
    AuthError,
    BusyError,
    Chain,
    Decided,
    DecideError,
    EngineError,
    EngineTimeoutError,
    EntityRef,
    Fallback,
    Hedged,
    InvalidAnswerError,
    InvalidRequestError,
    MisconfiguredError,
    ModuleSpec,
    Provenance,
    QuotaError,
    Race,
    RateLimitedError,
    Request,
    SessionState,
    Taxonomy,
    Undecided,
    deterministic,
)
from decide.engines._setup import SetupError
from decide.engines.remote import RemoteEngine
from decide.errors import kind_of
from decide.wire import to_json
from tests.engines.remote.servers import DECISION, deciding, over, saying, told
from tests.fakes import REQUEST, Engine, Says, TracedEngine, answers, decision, fails
from tests.faults.server import Peer, misbehaving, reply

KEY = "sk-sentinel-key"


@pytest.mark.real_time
async def test_a_decision_comes_over_the_wire_as_it_was_made_and_without_its_verdict() -> None:
    judged, _ = DURABLE.judge(decision())
    async with deciding(TracedEngine("a", answers(judged))) as served, RemoteEngine(served.url) as engine:
        found = await engine.decide(REQUEST)

    assert found is not None
    assert found == attrs.evolve(judged, judged_by="")
    assert (judged.actionable, found.actionable) == (True, False)


@pytest.mark.real_time
async def test_a_decision_is_judged_here_and_its_attempts_there_are_told() -> None:
    inner = Fallback(
        TracedEngine("first", fails(EngineError("x", http_status=503))), TracedEngine("second"), name="there"
    )
    async with deciding(inner) as served, RemoteEngine(served.url, name="cloud") as engine:
        ended = await Chain([engine], policy=DURABLE).decide(REQUEST)

    assert isinstance(ended, Decided)
    trace = ended.trace
    assert [(one.provider, one.outcome, one.role) for one in trace.attempts] == [
        ("cloud", "decided", ""),
        ("cloud/first", "error", "primary"),
        ("cloud/second", "decided", "backup"),
    ]
    assert (trace.decided_by, trace.engine, trace.strategy, trace.outcome, trace.policy) == (
        "cloud",
        "cloud",
        "",
        "selected",
        "durable",
    )
    assert trace.usage.input_tokens == TracedEngine.usage.input_tokens
    assert all(one.started + one.latency <= trace.attempts[0].latency + 0.001 for one in trace.attempts)


@pytest.mark.real_time
async def test_an_abstention_comes_over_the_wire() -> None:
    async with deciding(TracedEngine("a", answers(Says.NOTHING))) as served, RemoteEngine(served.url) as engine:
        ended = await Chain([engine]).decide(REQUEST)

    assert isinstance(ended, Undecided)
    assert (ended.trace.attempts[0].provider, ended.trace.attempts[0].outcome) == ("remote", "abstained")


@pytest.mark.real_time
async def test_the_deterministic_class_of_a_rule_does_not_travel() -> None:
    async with deciding(TracedEngine("a", answers(deterministic(decision())))) as served:
        found = await RemoteEngine(served.url).decide(REQUEST)

    assert found is not None
    assert found.provenance is Provenance.SELF_REPORTED


@pytest.mark.real_time
async def test_it_can_be_hedged_and_raced_and_leaves_no_connection_behind() -> None:
    async def hang(peer: Peer) -> None:
        await peer.request()
        await peer.gone()

    async with misbehaving(hang) as served:
        engine = RemoteEngine(served.url, name="cloud")
        hedged = await Chain([Hedged(engine, Engine("backup"), delay=0.05)], min_confidence=None).decide(REQUEST)
        raced = await Chain([Race(engine, Engine("racer"))], min_confidence=None).decide(REQUEST)
        with anyio.fail_after(5):
            await served.all_closed()

    assert [(one.provider, one.outcome) for one in hedged.trace.attempts] == [
        ("cloud", "cancelled"),
        ("backup", "decided"),
    ]
    assert isinstance(raced, Decided)


@pytest.mark.real_time
async def test_a_call_of_its_own_ends_at_the_engines_timeout() -> None:
    async def drip(peer: Peer) -> None:
        await peer.request()
        await peer.send(reply(b"", length=10_000))
        await peer.drip(b" " * 10_000, every=0.01)

    async with misbehaving(drip) as served:
        with anyio.fail_after(5), pytest.raises(EngineTimeoutError, match=r"0\.2 s"):
            await RemoteEngine(served.url, decision_timeout=0.2).decide(REQUEST)


@pytest.mark.real_time
async def test_redirects_are_not_followed() -> None:
    async def redirect(peer: Peer) -> None:
        await peer.request()
        await peer.send(reply(b"", "Location: /elsewhere", status="307 Temporary Redirect"))

    async with misbehaving(redirect) as served:
        with pytest.raises(MisconfiguredError):
            await RemoteEngine(served.url).decide(REQUEST)
    assert len(served.requests) == 1


@pytest.mark.real_time
@pytest.mark.parametrize("base", ["", "/", "/v1", "/v1/decide", "/api/alpha/v1/"])
async def test_every_form_of_the_address_gives_one_route(base: str) -> None:
    async with deciding(TracedEngine("a")) as served:
        await RemoteEngine(f"{served.url}{base}").decide(REQUEST)

    prefix = "/api/alpha" if "alpha" in base else ""
    assert served.requests[0].head.startswith(f"POST {prefix}/v1/decide HTTP/1.1".encode())


async def sent(request: Request) -> tuple[dict[str, Any], str]:
    bodies: list[httpx2.Request] = []

    def answer(got: httpx2.Request) -> httpx2.Response:
        bodies.append(got)
        return httpx2.Response(200, json={"decision": None})

    await over(answer, api_key=KEY).decide(request)
    document: dict[str, Any] = json.loads(bodies[0].content)
    return document, bodies[0].headers["authorization"]


async def test_the_request_goes_in_the_wire_form_with_the_version_of_the_protocol() -> None:
    document, key = await sent(REQUEST)

    assert document == {"protocol": 1, **to_json(REQUEST)}
    assert key == f"Bearer {KEY}"


async def test_what_no_engine_is_sent_stays_here() -> None:
    entity = EntityRef(type="invoice", title="No. 7", keys={"id": "sentinel"})
    request = attrs.evolve(
        REQUEST,
        client_context={"session": "sentinel"},
        state=SessionState(
            focused=entity, selection=[entity], sidebar=[entity], pending="sentinel", last_shown="sentinel"
        ),
    )

    document, _ = await sent(request)

    assert "sentinel" not in json.dumps(document)
    assert document["state"]["focused"] == {"type": "invoice", "title": "No. 7"}


async def test_modules_and_context_keep_the_order_of_the_caller() -> None:
    taxonomy = Taxonomy(modules=[ModuleSpec(name="z", intents=["y", "x"]), ModuleSpec(name="a")])

    document, _ = await sent(Request(text="t", taxonomy=taxonomy, context={"z": 1, "a": 2}))

    assert [module["name"] for module in document["taxonomy"]["modules"]] == ["z", "a"]
    assert list(document["context"]) == ["z", "a"]


@pytest.mark.parametrize(
    "changed",
    [{"context": {"n": float("nan")}}, {"text": "\ud800"}, {"now": dt.datetime(2026, 11, 1)}],  # noqa: DTZ001
)
async def test_a_request_that_is_no_json_is_refused_before_anything_is_sent(changed: dict[str, Any]) -> None:
    def refuse(_: httpx2.Request) -> httpx2.Response:
        raise AssertionError

    with pytest.raises(InvalidRequestError, match="cannot be sent as JSON") as caught:
        await over(refuse).decide(attrs.evolve(REQUEST, **changed))

    assert caught.value.__context__ is None


@pytest.mark.parametrize("body", [DECISION, {"decision": DECISION}, {"protocol": 1, **DECISION}])
async def test_a_decision_may_stand_alone_or_under_its_name(body: dict[str, Any]) -> None:
    assert await saying(body).decide(REQUEST) == decision()


async def test_a_claimed_verdict_is_information_and_nothing_else() -> None:
    claims = {
        **DECISION,
        "outcome": "selected",
        "judgedBy": "sentinel",
        "actionable": True,
        "provenance": "deterministic",
    }
    found = await saying(claims).decide(REQUEST)

    assert found is not None
    assert (found.outcome, found.judged_by, found.actionable) == ("selected", "", False)
    assert found.provenance is Provenance.CALIBRATED


async def test_words_that_are_none_of_ours_are_dropped() -> None:
    found, log = await told(saying({**DECISION, "outcome": "sentinel", "model": "<b>sentinel</b>"}))

    assert (found.outcome, found.model) == ("", "?")
    assert [one.malformed for one in log.report().attempts] == [1]


@pytest.mark.parametrize(("believed", "provenance"), [(True, "calibrated"), (False, "self_reported")])
async def test_whether_its_numbers_are_measured_is_for_the_caller_to_say(believed: bool, provenance: str) -> None:
    found = await saying(DECISION, calibrated=believed).decide(REQUEST)

    assert found is not None
    assert found.provenance == provenance


async def test_an_invalid_decision_is_found_by_the_judge_here() -> None:
    other = {**DECISION, "intent": {"value": "sentinel", "confidence": 0.99}}

    ended = await Chain([saying(other)]).decide(REQUEST)

    assert [(one.outcome, "sentinel" in one.detail) for one in ended.trace.attempts] == [("invalid", False)]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"decision": {"module": {"value": 1}}}, "$.module.value: expected a string, got a number"),
        ({"decision": {**DECISION, "scores": {"sentinel": "0.9"}}}, "$.scores[0]: expected a number, got a string"),
        ({"decision": "sentinel"}, "$: expected an object, got a string"),
        ({"decision": []}, "$: expected an object, got a list"),
        ({**DECISION, "calibrated": 1}, "$.calibrated: expected true or false, got a number"),
    ],
)
async def test_a_reply_that_is_no_decision_is_invalid_and_not_quoted(body: object, said: str) -> None:
    log = AttemptLog()
    with pytest.raises(InvalidAnswerError) as caught:
        await saying(body).decide_traced(REQUEST, log)

    assert said in str(caught.value)
    assert caught.value.__context__ is None
    assert [one.outcome for one in log.report().attempts] == ["invalid"]
    assert "sentinel" not in f"{caught.value}{log.report()}"


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, b"", InvalidAnswerError),
        (204, b"", InvalidAnswerError),
        (200, {}, InvalidAnswerError),
        (200, {"answers": {"n": {}}}, InvalidAnswerError),
        (200, b'{"decision": null, "decision": null}', InvalidAnswerError),
        (200, b'{"decision": {"interactionConfidence": NaN}}', InvalidAnswerError),
        (200, [DECISION], InvalidAnswerError),
        (200, b"<html>", MisconfiguredError),
        (200, {"protocol": 2, "decision": None}, MisconfiguredError),
        (200, {"protocol": "1", "decision": None}, MisconfiguredError),
        (200, {"decision": None, "error": {"code": "insufficient_quota"}}, QuotaError),
        (200, {"decision": None, "error": "sentinel"}, EngineError),
        (200, {"decision": None, "success": False}, EngineError),
        (401, {}, AuthError),
        (402, {}, QuotaError),
        (404, {}, MisconfiguredError),
        (422, {"detail": "sentinel"}, InvalidRequestError),
        (429, {}, RateLimitedError),
        (503, {}, EngineError),
    ],
)
async def test_what_is_no_answer_has_the_kind_of_every_http_engine(
    status: int, body: object, kind: type[DecideError]
) -> None:
    with pytest.raises(DecideError) as caught:
        await saying(body, status).decide(REQUEST)

    assert type(caught.value) is kind
    assert kind_of(caught.value) is kind.kind
    assert "sentinel" not in str(caught.value)


async def test_neither_key_nor_request_comes_back_in_an_error_or_a_trace() -> None:
    def echo(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(500, json={"error": f"{request.headers['authorization']} {request.content.decode()}"})

    engine = over(echo, api_key=KEY)
    log = AttemptLog()
    with pytest.raises(EngineError) as caught:
        await engine.decide_traced(attrs.evolve(REQUEST, text="sentinel text"), log)

    assert KEY not in f"{caught.value}{caught.value.server_text}{log.report()}{engine!r}{engine.effective}"
    assert "sentinel" not in f"{caught.value}{log.report()}"


async def test_a_broken_connection_is_the_engines_failure_and_may_be_tried_again() -> None:
    def fail(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("sentinel")

    with pytest.raises(EngineError) as caught:
        await over(fail).decide(REQUEST)

    assert caught.value.transient


async def test_no_free_connection_is_busy() -> None:
    async def stall(_: httpx2.Request) -> httpx2.Response:
        await anyio.sleep_forever()
        raise AssertionError

    engine = over(stall, concurrency=1, wait=0.1)  # type: ignore[arg-type]  # an async handler is fine for an async client
    async with anyio.create_task_group() as group:
        group.start_soon(engine.decide_traced, REQUEST, AttemptLog())
        await anyio.sleep(0.01)
        with pytest.raises(BusyError):
            await engine.decide(REQUEST)
        group.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"base_url": "ftp://127.0.0.1"}, "base_url"),
        ({"base_url": "http://user:pw@127.0.0.1"}, "credentials"),
        ({"base_url": "http://example.com", "api_key": KEY}, "clear text"),
        ({"base_url": "http://127.0.0.1", "api_key": "a\nb"}, "api_key"),
        ({"base_url": "http://127.0.0.1", "decision_timeout": 0}, "decision_timeout"),
        ({"base_url": "http://127.0.0.1", "max_response_bytes": 0}, "max_response_bytes"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_built(options: dict[str, Any], said: str) -> None:
    with pytest.raises(SetupError, match=said) as caught:
        RemoteEngine(**options)

    assert KEY not in str(caught.value)


def test_what_it_really_uses_is_shown_without_the_key() -> None:
    engine = RemoteEngine("http://127.0.0.1:8000", api_key=KEY, calibrated=False)

    assert engine.effective["url"] == "http://127.0.0.1:8000/v1/decide"
    assert engine.effective["calibrated"] is False
    assert repr(engine) == "RemoteEngine('http://127.0.0.1:8000/v1/decide', name='remote')"
    assert KEY not in str(engine.effective)
