"""The command run in this process, and a decision server that says what it is told to."""

import io
import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

import attrs
import pytest

from decide.cli import main


@attrs.frozen
class Ended:
    """How one run of the command ended."""

    exit: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one document on stdout."""
        document: dict[str, Any] = json.loads(self.out)
        return document


Decide = Callable[..., Ended]


@pytest.fixture
def decide(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Decide:
    """Run the command with arguments, and something on stdin."""

    def run(*args: str, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main(args)
        captured = capsys.readouterr()
        return Ended(status, captured.out, captured.err)

    return run


class _Scripted(BaseHTTPRequestHandler):
    status = 200
    reply: ClassVar[dict[str, Any]] = {}

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps(self.reply).encode()
        self.send_response(self.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


@contextmanager
def reacting_to(interrupt: signal.Signals, handler: signal.Handlers) -> Iterator[None]:
    """Start processes that get *handler* for *interrupt*, whatever the shell said that started the tests."""
    before = signal.signal(interrupt, handler)
    try:
        yield
    finally:
        signal.signal(interrupt, before)


@contextmanager
def replying(status: int, reply: dict[str, Any]) -> Iterator[str]:
    """Run a server on loopback that answers everything with *reply*; yield its URL."""
    handler = type("Handler", (_Scripted,), {"status": status, "reply": reply})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def choosing(**probabilities: float) -> dict[str, Any]:
    """A reply to one choice called `team`."""
    answer = {
        "type": "choice",
        "choice": max(probabilities, key=probabilities.__getitem__),
        "probabilities": probabilities,
        "confidence": 0.5,
    }
    return {"model": "scripted-1", "answers": {"team": answer}, "usage": {"input_tokens": 12, "output_tokens": 3}}
