"""The guide to remote deciders and embeddings, run as a reader would run it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from decide.engines.embeddings import Embedder
from tests.faults.server import Peer, misbehaving, reply

GUIDE = Path(__file__).parents[3] / "docs" / "remote.md"


@pytest.fixture
def guide() -> dict[str, Any]:
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, GUIDE.name, "exec"), names)
    return names


def test_the_decider_of_the_example_is_built_without_its_key_in_sight(guide: dict[str, Any]) -> None:
    assert guide["cloud"].effective["url"] == "https://decider.example.com/v1/decide"
    assert guide["cloud"].effective["key"] == "environment variable DECIDER_API_KEY"


@pytest.mark.real_time
async def test_texts_that_are_alike_are_alike(guide: dict[str, Any]) -> None:
    async def serve(peer: Peer) -> None:
        texts = json.loads((await peer.request()).body)["input"]
        data = [
            {"index": at, "embedding": [1.0, 0.0] if "refund" in text else [0.0, 1.0]} for at, text in enumerate(texts)
        ]
        await peer.send(reply(json.dumps({"data": data}).encode()))

    async with misbehaving(serve) as served:
        guide["embedder"] = Embedder(served.url, model="m")
        assert await guide["similarity"]("a refund", "refunds") == 1.0
        assert await guide["similarity"]("a refund", "a crash") == 0.0
        guide["embedder"].close()
