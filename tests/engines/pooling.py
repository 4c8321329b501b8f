"""A server in a thread that answers on connections it keeps open, and knows how many there are."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import attrs

from tests.engines.wire import ANSWERED

BODY = json.dumps(ANSWERED).encode()
REPLY = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY)


@attrs.define
class Kept:
    """
    A server that keeps its connections.

    Attributes:
        port: Where it is.
        heads: The head of every request, in the order of their arrival.
        opened: Connections that were ever made.
        closed: Connections that the client closed.
    """

    port: int
    heads: list[bytes] = attrs.field(factory=list)
    opened: int = 0
    closed: int = 0
    changed: threading.Condition = attrs.field(factory=threading.Condition)
    sockets: list[socket.socket] = attrs.field(factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def open(self) -> int:
        return self.opened - self.closed

    def all_closed(self) -> bool:
        """Wait until the client has closed every connection; False if it does not."""
        with self.changed:
            return self.changed.wait_for(lambda: self.open == 0, timeout=5)

    def serve(self, connection: socket.socket) -> None:
        buffer = b""
        with connection, suppress(OSError):
            while data := connection.recv(65536):
                buffer += data
                head, found, rest = buffer.partition(b"\r\n\r\n")
                if not found or len(rest) < _length(head):
                    continue
                buffer = rest[_length(head) :]
                self.heads.append(head)
                connection.sendall(self.reply(head))
        with self.changed:
            self.closed += 1
            self.changed.notify_all()

    def reply(self, head: bytes) -> bytes:
        return b"HTTP/1.1 200 Connected\r\n\r\n" if head.startswith(b"CONNECT") else REPLY


def _length(head: bytes) -> int:
    lengths = [line.partition(b":")[2] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    return int(lengths[0]) if lengths else 0


@contextmanager
def keeping() -> Iterator[Kept]:
    """Run such a server."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        served = Kept(listener.getsockname()[1])

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    served.sockets.append(connection)
                    served.opened += 1
                    threading.Thread(target=served.serve, args=(connection,), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield served
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in served.sockets:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
