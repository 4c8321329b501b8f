"""The rig: both backends on virtual time, an environment of our own, and a loop that nobody blocks."""

import os
from collections.abc import Iterator
from typing import Any

import blockbuster.blockbuster
import pytest
from blockbuster import BlockingError, blockbuster_ctx
from trio.testing import MockClock

from tests.virtual_time import AutojumpLoop

_FOREIGN_NAMES = {
    "all_proxy",
    "ftp_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "ssl_cert_dir",
    "ssl_cert_file",
    "columns",
    "force_color",
    "lines",
    "no_color",
}


def is_foreign(variable: str) -> bool:
    """
    Tell whether *variable* of the environment could change what a test sees.
    """
    name = variable.lower()
    return name in _FOREIGN_NAMES or name.startswith("decide_") or name.endswith(("_api_key", "_token"))


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """
    Run every async test on both backends, in virtual time unless it is marked `real_time`.
    """
    real = request.node.get_closest_marker("real_time") is not None
    if request.param == "asyncio":
        return "asyncio", {} if real else {"loop_factory": AutojumpLoop}
    return "trio", {} if real else {"clock": MockClock(autojump_threshold=0)}


@pytest.fixture(autouse=True, scope="session")
def own_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """
    Hide proxies, keys and terminal settings of the machine, and keep what we store out of its home.
    """
    with pytest.MonkeyPatch.context() as patch:
        for variable in filter(is_foreign, list(os.environ)):
            patch.delenv(variable)
        for base in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            patch.setenv(base, str(tmp_path_factory.mktemp(base.lower())))
        yield


@pytest.fixture(autouse=True, scope="session")
def _guarded_loop() -> Iterator[list[str]]:
    """
    Refuse calls that block an asyncio loop from anywhere below `decide`.

    They are noted as well, because a chain may take the error for its engine's and go on.
    """
    noted: list[str] = []

    class NotedBlockingError(BlockingError):
        def __init__(self, func: str) -> None:
            super().__init__(func)
            noted.append(func)

    with pytest.MonkeyPatch.context() as patch, blockbuster_ctx("decide"):
        patch.setattr(blockbuster.blockbuster, "BlockingError", NotedBlockingError)
        yield noted


@pytest.fixture(autouse=True)
def blocking_calls(_guarded_loop: list[str]) -> Iterator[list[str]]:
    """
    Fail a test during which the loop was blocked; a test about blocking clears the list.
    """
    _guarded_loop.clear()
    yield _guarded_loop
    assert not _guarded_loop, f"the event loop was blocked by {', '.join(_guarded_loop)}"
