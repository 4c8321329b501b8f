"""The server's end of a connection over TLS, with a certificate of its own making."""

import ssl
from pathlib import Path

from tests.faults.server import Behaviour, Peer

CERTIFICATE = Path(__file__).parent / "localhost.pem"
"""A certificate for `localhost` and its key, for tests alone: nobody else trusts it, so that the key is no secret."""


class EncryptedPeer(Peer):
    """A peer whose bytes are encrypted; what is sent in one call leaves in one piece."""

    def __init__(self, plain: Peer) -> None:
        self._plain = plain
        self._requests = plain._requests
        self._buffer = b""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)

    async def handshake(self) -> None:
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await self._flush()
                self._incoming.write(await self._plain.read())
            else:
                await self._flush()
                return

    async def read(self) -> bytes:
        while True:
            try:
                return self._tls.read(65536)
            except ssl.SSLWantReadError:
                self._incoming.write(await self._plain.read())

    async def send(self, *data: bytes) -> None:
        for record in data:
            self._tls.write(record)
        await self._flush()

    async def _flush(self) -> None:
        await self._plain.send(self._outgoing.read())


def over_tls(behave: Behaviour) -> Behaviour:
    """Do over TLS what *behave* does."""

    async def encrypted(plain: Peer) -> None:
        peer = EncryptedPeer(plain)
        await peer.handshake()
        await behave(peer)

    return encrypted


def trusting() -> ssl.SSLContext:
    """Return a client's context that trusts the certificate."""
    return ssl.create_default_context(cafile=str(CERTIFICATE))
