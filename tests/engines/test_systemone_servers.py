"""The System One client against servers that others wrote, over real sockets."""

import threading
from collections.abc import Iterator

import anyio
import anyio.abc
import httpx2
import pytest

from decide.attempt_log import AttemptLog
from decide.chain import Chain
from decide.compose import Fallback
from decide.engines.local import LocalEngine
from decide.engines.systemone import SystemOneEngine
from decide.errors import AuthError, DecideError, EngineError, InvalidRequestError, MisconfiguredError, kind_of
from decide.questions import ChoiceQuestion, NoulQuestion, RelevanceQuestion, ScoreQuestion, ScoreRequest
from decide.results import validate_score_result
from tests.engines.servers import serving
from tests.engines.wire import ANSWERED, asking

pytestmark = pytest.mark.real_time

REQUEST = ScoreRequest(
    text="My card was charged twice",
    questions={
        "team": ChoiceQuestion("Which team?", {"billing": "charges and refunds", "technical": "bugs and errors"}),
        "angry": NoulQuestion("Is the writer angry?", true="angry"),
        "urgency": ScoreQuestion("How urgent?", ["can wait", "this week", "today"]),
        "topics": RelevanceQuestion("What is it about?", {"money": "charges", "größe": None}),
    },
)


@pytest.fixture(scope="module")
def sparrow() -> Iterator[str]:
    with serving("sparrow_decider.cli", "serve") as url:
        yield url


@pytest.fixture(scope="module")
def local() -> LocalEngine:
    return LocalEngine()


@pytest.fixture(scope="module")
def mock() -> Iterator[str]:
    with serving("jevcompat.cli", "mock", "--key", "sk-right") as url:
        yield url


async def test_a_real_server_answers_as_its_model_does_in_this_process(sparrow: str, local: LocalEngine) -> None:
    log = AttemptLog()

    result = await SystemOneEngine(sparrow, name="served").score_traced(REQUEST, log)

    assert validate_score_result(REQUEST, result) == ()
    assert result.answers == (await local.score(REQUEST)).answers
    assert (result.engine, result.model) == ("served", "sparrow-nano-general-v1.1")
    assert [(attempt.outcome, attempt.malformed) for attempt in log.report().attempts] == [("decided", 0)]


async def test_a_real_refusal_is_a_rejected_request(sparrow: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        await SystemOneEngine(sparrow).score(asking({"k": ChoiceQuestion("?", ["only"])}))

    assert caught.value.http_status == 422


async def test_a_wrong_path_is_misconfigured(sparrow: str) -> None:
    with pytest.raises(MisconfiguredError) as caught:
        await SystemOneEngine(f"{sparrow}/elsewhere").score(REQUEST)

    assert caught.value.http_status == 404


def test_one_engine_works_on_one_event_loop_after_another(sparrow: str) -> None:
    engine = SystemOneEngine(sparrow)
    picks: list[str] = []

    def run(backend: str) -> None:
        picks.append(anyio.run(engine.score, REQUEST, backend=backend).choice("team").choice)

    for backend in ("asyncio", "asyncio", "asyncio", "trio"):
        run(backend)
    elsewhere = threading.Thread(target=run, args=("asyncio",))
    elsewhere.start()
    elsewhere.join()

    assert picks == ["billing"] * 5


async def test_a_conforming_server_with_a_key_is_read(mock: str) -> None:
    result = await SystemOneEngine(mock, model="jev-latest", api_key="sk-right").score(REQUEST)

    assert validate_score_result(REQUEST, result) == ()
    assert all(answer.calibrated and not answer.unknown for answer in result.answers.values())
    assert result.usage is not None


@pytest.mark.parametrize(("key", "status"), [(None, 403), ("sk-wrong", 401)])
async def test_a_missing_or_wrong_key_is_one_kind_of_error(mock: str, key: str | None, status: int) -> None:
    with pytest.raises(AuthError) as caught:
        await SystemOneEngine(mock, model="jev-latest", api_key=key).score(REQUEST)

    assert caught.value.http_status == status
    assert "sk-" not in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "kind", "unknown"),
    [
        ("wrong-route", "misconfigured", None),
        ("xssi-200", "invalid", None),
        ("nan", "invalid", None),
        ("first-question-only", "", {"angry", "urgency", "topics"}),
        ("float-usage", "", set()),
        ("no-usage", "", set()),
        ("extra-answer", "", set()),
        ("boolean-type", "", {"angry", "topics"}),
        ("noul-range", "", {"angry", "topics"}),
        ("choice-sum", "", {"team"}),
        ("choice-second", "", {"team"}),
        ("choice-no-confidence", "", set()),
        ("legend-1-based", "", {"urgency"}),
        ("score-keys-1-based", "", {"urgency"}),
        ("score-sum", "", {"urgency"}),
        ("score-argmax", "", {"urgency"}),
        ("score-no-legend", "", set()),
        ("confidence-over", "", {"team", "urgency"}),
    ],
)
async def test_a_faulty_server_spoils_what_it_breaks_and_nothing_else(
    fault: str, kind: str, unknown: set[str] | None, anyio_backend_name: str
) -> None:
    found, failed = None, ""
    with serving("jevcompat.cli", "mock", "--fault", fault) as url:
        try:
            result = await SystemOneEngine(url, model="jev-latest").score(REQUEST)
            found = {key for key, answer in result.answers.items() if answer.unknown}
        except DecideError as error:
            failed = kind_of(error)

    assert (failed, found) == (kind, unknown)


async def test_nobody_listening_is_an_error_of_the_connection_and_starts_the_backup(sparrow: str) -> None:
    with serving("jevcompat.cli", "mock") as url:
        pass  # the port was free a moment ago, and is again
    log = AttemptLog()

    with pytest.raises(EngineError):
        await SystemOneEngine(url).score_traced(REQUEST, log)
    ended = await Chain([Fallback(SystemOneEngine(url, name="gone"), SystemOneEngine(sparrow, name="here"))]).score(
        REQUEST
    )

    assert [(attempt.outcome, attempt.detail) for attempt in log.report().attempts] == [("error", "ConnectError")]
    assert [attempt.outcome for attempt in ended.trace.attempts] == ["error", "decided"]


async def test_a_server_that_trickles_is_cut_off_at_the_deadline_and_its_connection_closed() -> None:
    closed = anyio.Event()

    async def trickle(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            try:
                while True:
                    await stream.send(b" ")
                    await anyio.sleep(0.01)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                closed.set()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with anyio.create_task_group() as group:
        group.start_soon(listener.serve, trickle)
        engine = SystemOneEngine(f"http://127.0.0.1:{port}", decision_timeout=0.2)
        with pytest.raises(TimeoutError), anyio.fail_after(5):
            await engine.score(asking())
        with anyio.fail_after(5):
            await closed.wait()
        group.cancel_scope.cancel()
    await listener.aclose()


async def test_loopback_ignores_the_proxies_of_the_environment(sparrow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "10.0.0.0/8,::1")

    result = await SystemOneEngine(sparrow).score(REQUEST)

    assert result.choice("team").choice == "billing"


async def test_the_callers_own_client_is_used_and_left_open(sparrow: str) -> None:
    async with httpx2.AsyncClient(trust_env=False) as client:
        engine = SystemOneEngine(sparrow, client=client)
        first, second = await engine.score(REQUEST), await engine.score(REQUEST)
        assert not client.is_closed

    assert first.answers == second.answers
    assert ANSWERED["model"] not in (first.model, second.model)
