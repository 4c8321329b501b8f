"""A client of the caller's own, of either library: used as it is, left open, and its faults told apart."""

from typing import Any

import anyio.lowlevel
import httpx
import httpx2
import pytest

from decide.attempt_log import AttemptLog
from decide.engines._clients import Client
from decide.engines.systemone import SystemOneEngine
from decide.errors import BusyError, DecideError, EngineError, EngineTimeoutError, MisconfiguredError
from tests.engines.pooling import keeping
from tests.engines.wire import ANSWERED, asking

LIBRARIES = [httpx, httpx2]


def name_of(value: object) -> str:
    return getattr(value, "__name__", str(value))


def over(library: Any, handler: Any, **options: Any) -> SystemOneEngine:
    client = library.AsyncClient(transport=library.MockTransport(handler))
    return SystemOneEngine("http://127.0.0.1:8000", client=client, **options)


@pytest.mark.parametrize("library", LIBRARIES, ids=name_of)
@pytest.mark.real_time
async def test_a_client_is_used_and_left_open(library: Any) -> None:
    with keeping() as served:
        async with library.AsyncClient(trust_env=False, headers={"x-theirs": "1"}) as client:
            async with SystemOneEngine(served.url, client=client, api_key="k") as engine:
                for _ in range(3):
                    assert (await engine.score(asking())).noul("n").noul == 0.9
            assert not client.is_closed
            assert engine.effective["client"] == "AsyncClient"
            assert engine.effective["proxy"] == "the client's"

    assert served.opened == 1
    assert all(b"x-theirs: 1" in head.lower() and b"authorization: bearer k" in head.lower() for head in served.heads)


@pytest.mark.parametrize("library", LIBRARIES, ids=name_of)
async def test_its_redirects_and_timeouts_are_not_used(library: Any) -> None:
    sent: list[Any] = []

    def answer(request: Any) -> Any:
        sent.append(request)
        return library.Response(307, headers={"location": "http://127.0.0.1:8000/v1/systemone"})

    client = library.AsyncClient(transport=library.MockTransport(answer), follow_redirects=True, timeout=0.001)
    with pytest.raises(MisconfiguredError):
        await SystemOneEngine("http://127.0.0.1:8000", client=client).score(asking())

    assert len(sent) == 1
    assert set(sent[0].extensions["timeout"].values()) == {None}


@pytest.mark.parametrize("library", LIBRARIES, ids=name_of)
@pytest.mark.parametrize(
    ("fault", "kind", "transient"),
    [
        ("ConnectError", EngineError, True),
        ("ReadError", EngineError, True),
        ("RemoteProtocolError", EngineError, True),
        ("ReadTimeout", EngineTimeoutError, False),
        ("PoolTimeout", BusyError, None),
        ("LocalProtocolError", MisconfiguredError, None),
        ("UnsupportedProtocol", MisconfiguredError, None),
    ],
)
async def test_its_faults_are_told_apart_whichever_library_it_is_of(
    library: Any, fault: str, kind: type[DecideError], transient: bool | None
) -> None:
    def fail(request: Any) -> Any:
        raise getattr(library, fault)("sentinel")

    log = AttemptLog()
    with pytest.raises(DecideError) as caught:
        await over(library, fail).score_traced(asking(), log)

    assert type(caught.value) is kind
    assert getattr(caught.value, "transient", None) is transient
    assert caught.value.__context__ is None
    assert [attempt.detail for attempt in log.report().attempts] == [fault]


@pytest.mark.parametrize("library", LIBRARIES, ids=name_of)
async def test_what_a_hook_raises_is_a_failure_and_is_not_quoted(library: Any) -> None:
    async def hook(request: Any) -> None:
        raise KeyError("sentinel")

    client = library.AsyncClient(
        transport=library.MockTransport(lambda request: library.Response(200, json=ANSWERED)),
        event_hooks={"request": [hook]},
    )
    with pytest.raises(EngineError) as caught:
        await SystemOneEngine("http://127.0.0.1:8000", client=client).score(asking())

    assert caught.value.detail == "KeyError"
    assert "sentinel" not in str(caught.value)


@pytest.mark.parametrize("library", LIBRARIES, ids=name_of)
async def test_its_replies_are_bounded_too_and_never_unpacked(library: Any) -> None:
    packed = library.Response(200, headers={"content-encoding": "gzip"}, stream=_Endless(library))
    endless = library.Response(200, stream=_Endless(library))

    for reply, detail in (
        (packed, "http 200, packed in an encoding that was not asked for"),
        (endless, "http 200, larger than 1000 bytes"),
    ):
        with pytest.raises(EngineError) as caught:
            await over(library, lambda request, reply=reply: reply, max_response_bytes=1000).score(asking())
        assert caught.value.detail == detail


def _Endless(library: Any) -> Any:  # noqa: N802 - it stands for a class
    class Endless(library.AsyncByteStream):  # type: ignore[misc]  # the library is only known when the test runs
        async def __aiter__(self) -> Any:
            for _ in range(1000):
                await anyio.lowlevel.checkpoint()
                yield b" " * 1000

    return Endless()


def test_both_libraries_have_what_is_used_of_a_client() -> None:
    clients: list[Client] = [httpx.AsyncClient(), httpx2.AsyncClient()]

    assert [type(client).__module__.partition(".")[0] for client in clients] == ["httpx", "httpx2"]
