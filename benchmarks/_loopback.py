"""The server of the client benchmark: answers any request it has read with the same reply, as fast as asyncio can."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast


class _Answering(asyncio.Protocol):
    reply = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while True:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            length = _length(head)
            if not found or len(rest) < length:
                return
            self._buffer = rest[length:]
            self._transport.write(self.reply)


def _length(head: bytes) -> int:
    _, found, after = head.lower().partition(b"content-length:")
    return int(after.partition(b"\r\n")[0]) if found else 0


async def _serve(body: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    _Answering.reply = head.encode() + body
    server = await asyncio.get_running_loop().create_server(_Answering, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def serving(body: bytes) -> Iterator[int]:
    """
    Run the server in a process of its own and yield its port.
    """
    command = [sys.executable, __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 - this file
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - both are pipes
        process.stdin.write(body)
        process.stdin.close()
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


if __name__ == "__main__":
    asyncio.run(_serve(sys.stdin.buffer.read()))
