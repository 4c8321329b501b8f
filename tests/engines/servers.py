"""Third-party decision servers as processes of this machine, started on a free port and stopped at the end."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

READY_WITHIN = 30.0


@contextmanager
def serving(*command: str) -> Iterator[str]:
    """
    Run a module of this Python with `--port` and yield its base URL once it takes connections.
    """
    port = _free_port()
    with subprocess.Popen(
        [sys.executable, "-m", *command, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait_for(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + READY_WITHIN
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            _yield_to(process)
        else:
            return
    raise AssertionError(f"no server on port {port}")


def _yield_to(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(timeout=0.02)
    except subprocess.TimeoutExpired:
        return
