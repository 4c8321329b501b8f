"""The ways to a server: straight, encrypted, through a proxy, or not at all."""

import base64
import socket
from collections.abc import Iterator

import httpx2
import pytest

from decide.attempt_log import AttemptLog
from decide.engines import _sockets
from decide.engines._proxies import ENVIRONMENT, proxy_for
from decide.engines._setup import SetupError
from decide.engines.systemone import SystemOneEngine
from decide.errors import EngineError, MisconfiguredError
from tests.engines.pooling import Kept, keeping
from tests.engines.wire import asking
from tests.faults.connections import GOOD, resets_after_reading, resets_in_the_body
from tests.faults.encrypted import over_tls, trusting
from tests.faults.server import Behaviour, Peer, misbehaving, reply, says

pytestmark = pytest.mark.real_time

_sockets.trusted()  # loaded here, because in a loop it blocks

SECRET = base64.b64encode(b"me:pass word").decode()


@pytest.fixture
def kept() -> Iterator[Kept]:
    with keeping() as served:
        yield served


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("decide.engines._http.trusted", trusting)


def resolving(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Let every host have these addresses."""

    async def found(host: str, port: int, **_: object) -> list[object]:
        families = [socket.AF_INET6 if ":" in address else socket.AF_INET for address in addresses]
        return [(family, 0, 0, "", (address, port)) for family, address in zip(families, addresses, strict=True)]

    monkeypatch.setattr("decide.engines._sockets.anyio.getaddrinfo", found)


async def answer_of(engine: SystemOneEngine) -> float | None:
    return (await engine.score(asking())).noul("n").noul


async def test_localhost_is_this_machine_and_never_looked_up(monkeypatch: pytest.MonkeyPatch, kept: Kept) -> None:
    resolving(monkeypatch)

    assert await answer_of(SystemOneEngine(f"http://localhost:{kept.port}")) == 0.9


async def test_the_next_address_of_a_host_is_tried_when_one_refuses(
    monkeypatch: pytest.MonkeyPatch, kept: Kept
) -> None:
    resolving(monkeypatch, "127.0.0.2", "127.0.0.3", "127.0.0.1")

    assert await answer_of(SystemOneEngine(f"http://example.test:{kept.port}", proxy=None)) == 0.9


async def test_an_address_that_says_nothing_costs_a_head_start(monkeypatch: pytest.MonkeyPatch, kept: Kept) -> None:
    monkeypatch.setattr(_sockets, "HEAD_START", 0.05)
    with socket.create_server(("127.0.0.2", kept.port), backlog=0) as full, socket.socket() as first:
        first.connect(full.getsockname())
        second = socket.socket()
        second.setblocking(False)
        second.connect_ex(full.getsockname())
        resolving(monkeypatch, "127.0.0.2", "127.0.0.1")

        found = await answer_of(SystemOneEngine(f"http://example.test:{kept.port}", proxy=None))
        second.close()

    assert found == 0.9


def test_the_families_of_addresses_take_turns() -> None:
    addresses = [
        (socket.AF_INET6, ("a",)),
        (socket.AF_INET6, ("b",)),
        (socket.AF_INET, ("c",)),
        (socket.AF_INET, ("d",)),
    ]

    assert [address for _, (address,) in _sockets._by_turns(addresses)] == ["a", "c", "b", "d"]


@pytest.mark.parametrize("addresses", [(), ("127.0.0.2",)])
async def test_a_host_that_leads_nowhere_is_a_failed_connection_that_may_pass(
    monkeypatch: pytest.MonkeyPatch, kept: Kept, addresses: tuple[str, ...]
) -> None:
    resolving(monkeypatch, *addresses)
    log = AttemptLog()

    with pytest.raises(EngineError) as caught:
        await SystemOneEngine(f"http://example.test:{kept.port}", proxy=None).score_traced(asking(), log)

    assert caught.value.transient
    assert [(attempt.outcome, attempt.detail) for attempt in log.report().attempts] == [("error", "ConnectError")]


@pytest.mark.usefixtures("trusted")
async def test_an_encrypted_connection_is_kept_as_well() -> None:
    async def behave(peer: Peer) -> None:
        while True:
            await peer.request()
            await peer.send(reply(GOOD))

    async with misbehaving(over_tls(behave)) as served:
        async with SystemOneEngine(served.url.replace("http://127.0.0.1", "https://localhost")) as engine:
            found = [await answer_of(engine) for _ in range(3)]
        await served.all_closed()

    assert found == [0.9] * 3
    assert served.connections == 1


async def speaks_no_tls(peer: Peer) -> None:
    await peer.send(reply(GOOD))


@pytest.mark.parametrize("behave", [over_tls(says(reply(GOOD))), speaks_no_tls])
async def test_a_server_that_cannot_prove_who_it_is_is_sent_nothing(behave: Behaviour) -> None:
    async with misbehaving(behave) as served:
        with pytest.raises(EngineError) as caught:
            await SystemOneEngine(served.url.replace("http://127.0.0.1", "https://localhost")).score(asking())

    assert caught.value.detail == "ConnectError"
    assert caught.value.http_status is None
    assert served.requests == []


async def test_the_proxy_of_the_environment_is_used_for_another_host_and_shown_without_its_secret(
    monkeypatch: pytest.MonkeyPatch, kept: Kept
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://me:pass%20word@127.0.0.1:{kept.port}")
    engine = SystemOneEngine("http://example.test/base")

    for _ in range(2):
        assert await answer_of(engine) == 0.9

    assert engine.effective["proxy"] == f"http://127.0.0.1:{kept.port}"
    assert "pass" not in f"{engine!r}{engine.effective}"
    assert kept.opened == 1
    assert kept.heads[0].startswith(b"POST http://example.test/base/v1/systemone HTTP/1.1")
    assert f"Proxy-Authorization: Basic {SECRET}".encode() in kept.heads[0]
    assert b"Host: example.test" in kept.heads[0]


@pytest.mark.usefixtures("trusted")
async def test_a_proxy_carries_what_is_encrypted_without_seeing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def behave(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 Connected\r\n\r\n")
        await over_tls(says(reply(GOOD)))(peer)

    async with misbehaving(behave) as served:
        monkeypatch.setenv("ALL_PROXY", served.url.replace("//", "//me:pass%20word@"))
        monkeypatch.setattr("decide.engines._endpoints.is_loopback", lambda host: False)
        found = await answer_of(SystemOneEngine("https://localhost:8443", api_key="sk-sentinel"))

    connect, request = served.requests
    assert found == 0.9
    assert connect.head.startswith(b"CONNECT localhost:8443 HTTP/1.1")
    assert connect.header("proxy-authorization") == f"Basic {SECRET}"
    assert connect.header("authorization") == ""
    assert request.header("authorization") == "Bearer sk-sentinel"
    assert request.header("proxy-authorization") == ""


@pytest.mark.parametrize("status", ["407 Who are you", "502 No", "301 Elsewhere"])
async def test_a_proxy_that_does_not_connect_is_somebodys_to_mend(status: str) -> None:
    async with misbehaving(says(reply(b"{}", status=status))) as served:
        engine = SystemOneEngine("https://example.test", proxy=served.url, api_key="sk-sentinel")
        with pytest.raises(MisconfiguredError) as caught:
            await engine.score(asking())

    assert caught.value.detail == f"proxy {status[:3]}"
    assert b"sk-sentinel" not in b"".join(request.head for request in served.requests)


async def test_a_proxy_that_is_none_is_a_failed_connection() -> None:
    async with misbehaving(says(b"220 mail.example ESMTP\r\n\r\n")) as served:
        with pytest.raises(EngineError) as caught:
            await SystemOneEngine("https://example.test", proxy=served.url).score(asking())

    assert caught.value.detail == "ConnectError"


@pytest.mark.parametrize(
    ("environment", "url", "proxy", "expected"),
    [
        ({"HTTP_PROXY": "http://p:1"}, "http://example.test", ENVIRONMENT, "http://p:1"),
        ({"http_proxy": "p:1"}, "http://example.test", ENVIRONMENT, "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1"}, "http://example.test", ENVIRONMENT, "None"),
        ({"HTTPS_PROXY": "https://p"}, "https://example.test", ENVIRONMENT, "https://p:443"),
        ({"ALL_PROXY": "http://p"}, "https://example.test", ENVIRONMENT, "http://p:80"),
        ({"ALL_PROXY": "http://p"}, "https://example.test", None, "None"),
        ({"ALL_PROXY": "http://p"}, "https://example.test", "http://q:2", "http://q:2"),
        ({"ALL_PROXY": "http://p", "NO_PROXY": "*"}, "https://example.test", ENVIRONMENT, "None"),
        ({"ALL_PROXY": "http://p", "NO_PROXY": "example.test"}, "https://a.example.test", ENVIRONMENT, "None"),
        ({"ALL_PROXY": "http://p", "NO_PROXY": "10.0.0.0/8,::1"}, "https://example.test", ENVIRONMENT, "http://p:80"),
    ],
)
def test_which_proxy_is_used_is_known_when_an_engine_is_built(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], url: str, proxy: str | None, expected: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert str(proxy_for(httpx2.URL(url), proxy, loopback=False)) == expected


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
@pytest.mark.parametrize("no_proxy", ["", "localhost", "10.0.0.0/8,::1"])
def test_this_machine_is_never_behind_the_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, host: str, no_proxy: str
) -> None:
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "socks5://nowhere.test:1")
    monkeypatch.setenv("NO_PROXY", no_proxy)

    assert SystemOneEngine(f"http://{host}:1").effective["proxy"] == "none"


@pytest.mark.parametrize("proxy", ["socks5://p:1", "ftp://p", "http://", "not a url", "http://\\p"])
def test_a_proxy_that_cannot_be_used_is_refused_when_the_engine_is_built(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    with pytest.raises(SetupError, match="proxy"):
        SystemOneEngine("https://example.test", proxy=proxy)

    monkeypatch.setenv("ALL_PROXY", "socks5://p:1")
    with pytest.raises(SetupError, match="client="):
        SystemOneEngine("https://example.test")


@pytest.mark.parametrize(("behave", "transient"), [(resets_after_reading, True), (resets_in_the_body, False)])
async def test_a_connection_that_breaks_may_be_tried_again_until_a_reply_has_begun(
    behave: Behaviour, transient: bool
) -> None:
    async with misbehaving(behave) as served:
        with pytest.raises(EngineError) as caught:
            await SystemOneEngine(served.url).score(asking())

    assert (caught.value.transient, caught.value.http_status) == (transient, None)
