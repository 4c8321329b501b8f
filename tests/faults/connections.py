"""Servers that are at fault below HTTP, or in its framing: they hang, drip, reset, flood and lie about lengths."""

import zlib

import anyio

from tests.faults.rows import Row
from tests.faults.server import Behaviour, Peer, reply, says

GOOD = b'{"model": "m-1", "answers": {"n": {"type": "noul", "noul": 0.9}}}'
BLOCK = b"x" * 65536
UNREAD = "ReadError or RemoteProtocolError"
"""Which of the two depends on what arrives first, our bytes or the end."""


async def never_reads(peer: Peer) -> None:
    await anyio.sleep(0.6)
    await peer.gone()


async def never_answers(peer: Peer) -> None:
    await peer.request()
    await peer.gone()


def endlessly(head: bytes, block: bytes, *, pause: float = 0.0) -> Behaviour:
    """Begin a reply and never come to its end."""

    async def behave(peer: Peer) -> None:
        await peer.request()
        await peer.send(head)
        while True:
            await peer.send(block)
            await anyio.sleep(pause)

    return behave


async def stalls_in_the_body(peer: Peer) -> None:
    await peer.request()
    await peer.send(reply(GOOD[:20], length=len(GOOD)))
    await peer.gone()


def drips(data: bytes) -> Behaviour:
    async def behave(peer: Peer) -> None:
        await peer.request()
        await peer.drip(data)

    return behave


async def resets_at_once(peer: Peer) -> None:
    peer.reset()


async def closes_at_once(peer: Peer) -> None:
    return


async def resets_after_reading(peer: Peer) -> None:
    await peer.request()
    peer.reset()


async def closes_after_reading(peer: Peer) -> None:
    await peer.request()


async def resets_in_the_body(peer: Peer) -> None:
    await peer.request()
    await peer.send(reply(GOOD, length=5000))
    await anyio.sleep(0.01)
    peer.reset()


async def answers_before_reading(peer: Peer) -> None:
    await peer.send(reply(b'{"detail": "no"}', status="413 Content Too Large"))
    await peer.gone()


async def answers_late_but_in_time(peer: Peer) -> None:
    await peer.request()
    await anyio.sleep(0.1)
    await peer.send(reply(GOOD))


def chunks(*parts: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + end


def _bomb() -> bytes:
    """Ten megabytes of blanks as some ten kilobytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(b" " * 10_000_000) + packer.flush()


BOMB = _bomb()
CHUNKED = reply(b"", "Transfer-Encoding: chunked")
SPLIT = chunks(*(GOOD[at : at + 1] for at in range(len(GOOD))))
EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"

SILENT = [
    Row("hangs-before-reading", "takes the connection and never reads", never_reads, "timeout"),
    Row("hangs-before-the-head", "reads the request and never answers", never_answers, "timeout"),
    Row(
        "drips-the-head",
        "sends its head without end, a few bytes at a time",
        endlessly(b"HTTP/1.1 200 OK\r\nX-A: ", b"a", pause=0.005),
        "timeout",
    ),
    Row(
        "drips-the-body",
        "sends its body without end, a few bytes at a time",
        endlessly(reply(b"", length=100_000), b" ", pause=0.005),
        "timeout",
    ),
    Row(
        "stalls-in-the-body",
        "stops in the middle of the body and stays connected",
        stalls_in_the_body,
        "timeout",
    ),
    Row("storms-1xx", "sends interim replies (103) without end", endlessly(b"", EARLY * 50, pause=0.001), "timeout"),
    Row(
        "pads-chunks",
        "wraps every byte of the body in 60 KB of chunk extension, without end",
        endlessly(CHUNKED, b"1;" + b"x" * 60_000 + b"\r\n \r\n"),
        "timeout",
    ),
    Row("resets-at-once", "resets the connection before it has read anything", resets_at_once, "error", UNREAD),
    Row(
        "closes-at-once",
        "closes the connection before it has read anything",
        closes_at_once,
        "error",
        UNREAD,
    ),
    Row(
        "resets-after-reading",
        "reads the request and resets the connection",
        resets_after_reading,
        "error",
        "ReadError",
    ),
    Row(
        "closes-after-reading",
        "reads the request and closes the connection",
        closes_after_reading,
        "error",
        "RemoteProtocolError",
    ),
    Row(
        "resets-in-the-body",
        "resets the connection in the middle of the body",
        resets_in_the_body,
        "error",
        "ReadError",
    ),
    Row(
        "answers-before-reading",
        "refuses the request (413) before it has read it",
        answers_before_reading,
        "rejected",
        "http 413",
    ),
    Row(
        "answers-late",
        "takes its time, but less than the deadline",
        answers_late_but_in_time,
        "decided",
        why="a slow answer is an answer",
    ),
    Row(
        "drips-a-whole-reply",
        "sends a good reply byte after byte",
        drips(reply(GOOD)),
        "decided",
        why="a slow answer is an answer",
    ),
    Row(
        "some-1xx",
        "sends a hundred interim replies before the real one",
        says(EARLY * 100 + reply(GOOD)),
        "decided",
        why="interim replies say nothing",
    ),
]

FRAMING = [
    Row(
        "packed-bomb",
        "sends 10 MB of blanks packed with gzip",
        says(reply(BOMB, "Content-Encoding: gzip")),
        "invalid",
        "http 200, packed in an encoding that was not asked for",
    ),
    Row("packed-unsaid", "packs the reply and does not say so", says(reply(BOMB)), "invalid", "http 200, $: not UTF-8"),
    Row(
        "packed-twice",
        "names two encodings",
        says(reply(GOOD, "Content-Encoding: identity, br")),
        "invalid",
        "http 200, packed in an encoding that was not asked for",
    ),
    Row(
        "packed-transfer",
        "packs the transfer instead",
        says(reply(BOMB, "Transfer-Encoding: gzip, chunked")),
        "error",
        "RemoteProtocolError",
    ),
    Row(
        "huge-header",
        "sends one header of a megabyte",
        says(b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 1_000_000 + b"\r\n\r\n"),
        "error",
        "RemoteProtocolError",
    ),
    Row(
        "headers-without-end",
        "sends headers without end",
        endlessly(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 1000),
        "error",
        "RemoteProtocolError",
    ),
    Row(
        "trailers-without-end",
        "sends trailers without end",
        endlessly(CHUNKED + chunks(GOOD, end=b"0\r\n"), b"X-A: b\r\n" * 1000),
        "error",
        "RemoteProtocolError",
    ),
    Row(
        "large-header",
        "sends 60 KB of headers and a good reply",
        says(reply(GOOD, *(f"X-{number}: {'a' * 990}" for number in range(60)))),
        "decided",
        why="they are not read",
    ),
    Row(
        "many-headers",
        "sends 15,000 headers of one name and a good reply",
        says(reply(GOOD, *["A: b"] * 15_000)),
        "decided",
        why="they are not read",
    ),
    Row(
        "huge-body",
        "announces and sends ten gigabytes",
        endlessly(reply(b"", length=10**10), BLOCK),
        "invalid",
        "http 200, larger than 1048576 bytes",
    ),
    Row(
        "body-without-end",
        "sends a body without length or end",
        endlessly(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", BLOCK),
        "invalid",
        "http 200, larger than 1048576 bytes",
    ),
    Row(
        "chunks-without-end",
        "sends chunks without end",
        endlessly(CHUNKED, b"10000\r\n" + BLOCK + b"\r\n"),
        "invalid",
        "http 200, larger than 1048576 bytes",
    ),
    Row(
        "huge-error",
        "fails (500) with a body without end",
        endlessly(b"HTTP/1.1 500 No\r\nContent-Type: text/html\r\n\r\n", BLOCK),
        "error",
        "http 500",
    ),
    Row("chunk-cut", "breaks off inside a chunk", says(CHUNKED + b"ff\r\n" + GOOD), "error", "RemoteProtocolError"),
    Row(
        "chunks-cut", "leaves out the last chunk", says(CHUNKED + chunks(GOOD, end=b"")), "error", "RemoteProtocolError"
    ),
    Row(
        "chunk-size",
        "sends a chunk size that is no number",
        says(CHUNKED + b"zz\r\n" + GOOD),
        "error",
        "RemoteProtocolError",
    ),
    Row(
        "chunk-bytes",
        "sends a good reply in chunks of one byte",
        says(CHUNKED + SPLIT),
        "decided",
        why="a whole answer, however it was cut",
    ),
    Row(
        "chunk-bytes-without-end",
        "sends chunks of one byte without end",
        endlessly(CHUNKED, b"1\r\n \r\n" * 1000),
        "timeout",
    ),
    Row(
        "length-above",
        "announces more than it sends",
        says(reply(GOOD, length=len(GOOD) + 1)),
        "error",
        "RemoteProtocolError",
    ),
    Row(
        "length-below",
        "announces less than it sends",
        says(reply(GOOD, length=len(GOOD) - 1)),
        "invalid",
        "http 200, $: not JSON at line 1, column 65",
    ),
    Row(
        "length-negative",
        "announces a negative length",
        says(reply(GOOD, "Content-Length: -1")),
        "error",
        "RemoteProtocolError",
    ),
    Row(
        "length-twice",
        "announces two lengths",
        says(reply(GOOD, f"Content-Length: {len(GOOD)}", "Content-Length: 7")),
        "error",
        "RemoteProtocolError",
    ),
    Row(
        "http-1.0",
        "speaks HTTP/1.0 and ends the body by hanging up",
        says(b"HTTP/1.0 200 OK\r\n\r\n" + GOOD),
        "decided",
        why="plain HTTP",
    ),
    Row("http-0.9", "sends the answer without a head", says(GOOD), "error", "RemoteProtocolError"),
    Row(
        "http-2",
        "speaks HTTP/2 unasked",
        says(b"\0\0\x12\4\0\0\0\0\0\0\3\0\0\0\x80\0\4\0\1\0\0\0\5\0\xff\xff\xff"),
        "error",
        "RemoteProtocolError",
    ),
    Row("no-http", "is a mail server", says(b"220 mail.example ESMTP\r\n" * 3), "error", "RemoteProtocolError"),
    Row("tls", "wants TLS on a plain port", says(b"\x15\x03\x01\x00\x02\x02\x46"), "error", "RemoteProtocolError"),
    Row("no-reason", "leaves out the reason phrase", says(reply(GOOD, status="200")), "decided", why="it is not read"),
    Row(
        "upgrade",
        "switches to another protocol (101)",
        says(b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"),
        "error",
        "RemoteProtocolError",
    ),
    Row("status-zero", "answers with status 000", says(reply(GOOD, status="000 No")), "error", "RemoteProtocolError"),
    Row("status-unheard-of", "answers with status 799", says(reply(GOOD, status="799 No")), "error", "http 799"),
]
