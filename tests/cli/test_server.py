"""The server process of the demo, for real."""

import anyio
import pytest

from decide.cli import _server
from decide.cli._proxy import LOOPBACK
from decide.cli._server import ServerError, SparrowServer, sparrow_server

pytestmark = pytest.mark.real_time


async def answers(server: SparrowServer) -> bool:
    """Tell whether somebody listens where *server* was."""
    try:
        async with await anyio.connect_tcp(LOOPBACK, server.port):
            return True
    except OSError:
        return False


async def test_it_serves_until_it_is_left() -> None:
    async with sparrow_server() as server:
        assert await answers(server)

    assert not await answers(server)


async def test_it_can_be_killed_while_it_serves() -> None:
    async with sparrow_server() as server:
        await server.kill()

        assert not await answers(server)


async def test_it_is_gone_after_the_caller_was_cancelled() -> None:
    servers: list[SparrowServer] = []
    with anyio.CancelScope() as scope:
        async with sparrow_server() as server:
            servers.append(server)
            scope.cancel()
            await anyio.sleep_forever()

    assert not await answers(servers[0])


async def test_a_process_that_ends_at_once_is_reported_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_server, "_MODULE", "this_module_does_not_exist")

    with pytest.raises(ServerError, match=r"decide-engine\[local\]"):
        async with sparrow_server():
            pytest.fail("nothing was started")
