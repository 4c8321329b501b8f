"""Every fault of `jevcompat mock` as a server of its own, with and without a key, all in one process."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from jevcompat import mock  # type: ignore[import-untyped]  # it comes without types

KEY = "sk-right"
FAULTS: dict[str, str] = {fault: does for fault, (_, does) in mock.FAULTS.items()}
"""What each fault does, by its name."""

CLEAN = ""
"""The name of the server without a fault."""

Urls = dict[tuple[str, str], str]
"""Base URLs by fault and by the key that the server requires, empty for none."""


@contextmanager
def every_fault() -> Iterator[Urls]:
    """Run the servers for as long as the block lasts."""
    with subprocess.Popen([sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        listed = json.loads(process.stdout.readline())
        try:
            yield {(fault, key): url for fault, key, url in listed}
        finally:
            process.terminate()


def main() -> None:
    listed: list[tuple[str, str, str]] = []
    for fault in (CLEAN, *FAULTS):
        for key in ("", KEY):
            server = mock.make_server(mock.MockConfig(key=key or None, faults=frozenset({fault} - {CLEAN})))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            listed.append((fault, key, f"http://127.0.0.1:{server.server_address[1]}"))
    sys.stdout.write(json.dumps(listed) + "\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
