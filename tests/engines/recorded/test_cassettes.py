"""Cassettes as files: fit to be committed, whole or not there, and refused with a place when they are broken."""

import base64
import errno
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import anyio.to_thread
import httpx2
import pytest

from decide import (
    AttemptLog,
    AuthError,
    Chain,
    ChoiceQuestion,
    DecideError,
    EngineError,
    MisconfiguredError,
    NoulQuestion,
    RateLimitedError,
    ScoreRequest,
    ScoreResult,
    Stopped,
    Usage,
)
from decide.engines._setup import SetupError
from decide.engines.tape import record, replay
from tests.engines.recorded.tapes import Live, asking, noul_of, played, text_of
from tests.engines.wire import ANSWERED, engine_over
from tests.fakes import Engine, answers, fails

KEY = "sk-sentinel/key+1=="
SPELLINGS = [
    KEY,
    quote(KEY, safe=""),
    base64.b64encode(KEY.encode()).decode(),
    base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("="),
    KEY.encode().hex(),
    "sentinel",
]


async def taped(path: Path, *states: object, engine: Any = None, **options: Any) -> None:
    async with record(engine or Live(), path, **options) as tape:
        for state in states:
            await Chain([tape], min_confidence=None).score(asking(state))


async def test_b111_no_key_is_in_the_file_in_any_spelling_and_a_replay_needs_none(tmp_path: Path) -> None:
    seen: list[str] = []

    def server(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers["authorization"])
        if len(seen) == 1:
            said = f"no such key: {KEY} ({base64.b64encode(KEY.encode()).decode()})"
            return httpx2.Response(401, json={"error": {"message": said, "code": KEY}}, headers={"x-key": KEY})
        return httpx2.Response(200, json={**ANSWERED, "model": "m-1", "echo": KEY})

    def request(token: str | None) -> ScoreRequest:
        members = {} if token is None else {"token": token, "deep": [{"token": token}]}
        return ScoreRequest(
            text={"q": "hello", **members}, context={"token": token}, questions={"n": NoulQuestion("?")}
        )

    path = tmp_path / "a.json"
    async with record(engine_over(server, api_key=KEY), path, ignore=["token"]) as tape:
        with pytest.raises(AuthError):
            await tape.score(request(KEY))
        await tape.score(request(KEY))

    written = await text_of(path)
    assert seen == [f"Bearer {KEY}"] * 2
    assert [spelling for spelling in SPELLINGS if spelling in written] == []
    for token in ("sk-another", KEY):
        again = await played(path)
        with pytest.raises(AuthError) as caught:
            await again.score(request(token))
        assert caught.value.http_status == 401
        assert (await again.score(request(token))).noul("n").noul == 0.9
    with pytest.raises(AuthError):
        await (await played(path)).score(
            ScoreRequest(text={"q": "hello", "deep": [{}]}, questions={"n": NoulQuestion("?")})
        )


async def test_b111_a_secret_that_a_server_repeats_in_its_answer_is_blotted_out(tmp_path: Path) -> None:
    def server(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json={**ANSWERED, "model": "sk-sentinel-9"})

    async with record(engine_over(server), tmp_path / "a.json", secrets=["sk-sentinel-9"]) as tape:
        await tape.score(asking(f"my key is sk-sentinel-9, {quote('sk-sentinel-9', safe='')}"))

    assert "sentinel" not in await text_of(tmp_path / "a.json")
    again = await played(tmp_path / "a.json")
    assert await noul_of(again, "my key is sk-sentinel-9, sk-sentinel-9") == 0.9


async def test_b111_secrets_of_the_environment_are_blotted_out_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_SERVICE_KEY", "sentinel-of-the-environment")
    monkeypatch.setenv("SHORT_TOKEN", "plain")

    await taped(tmp_path / "a.json", "plain", {"sentinel-of-the-environment": 1})

    written = await text_of(tmp_path / "a.json")
    assert "sentinel" not in written
    assert '"plain"' in written
    monkeypatch.delenv("SOME_SERVICE_KEY")
    assert await noul_of(await played(tmp_path / "a.json"), {"sentinel-of-the-environment": 1}) == 0.5


async def test_b111_the_message_of_an_error_is_not_kept(tmp_path: Path) -> None:
    error = EngineError("sentinel", server_text="sentinel", key="sentinel", detail="http 500")
    error.__cause__ = ValueError("sentinel")

    await taped(tmp_path / "a.json", "s", engine=Engine("a", fails(error)))

    assert "sentinel" not in await text_of(tmp_path / "a.json")


async def test_b111_the_file_is_utf_8_sorted_and_the_same_whatever_the_order_of_the_calls(tmp_path: Path) -> None:
    states = ["ü", "b", {"z": 1, "a": [2]}, "a"]
    await taped(tmp_path / "one.json", *states, "a")
    await taped(tmp_path / "other.json", "a", *reversed(states))

    written = await text_of(tmp_path / "one.json")
    document = json.loads(written)

    assert await text_of(tmp_path / "other.json") == written
    assert written == json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert [one["request"]["text"] for one in document["recordings"]] == ["a", "a", "b", "ü", {"a": [2], "z": 1}]


async def test_the_questions_in_the_file_keep_the_order_of_the_caller(tmp_path: Path) -> None:
    question = ChoiceQuestion("?", {"z": "last", "a": None})
    async with record(Engine("a"), tmp_path / "a.json") as tape:
        await tape.score(ScoreRequest(text="s", questions={"z": question, "b": NoulQuestion("?")}))

    (one,) = json.loads(await text_of(tmp_path / "a.json"))["recordings"]

    assert [question["id"] for question in one["request"]["questions"]] == ["z", "b"]
    assert [candidate["id"] for candidate in one["request"]["questions"][0]["candidates"]] == ["z", "a"]


async def test_only_its_owner_may_read_it_also_where_everybody_could(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.json"
    await taped(path, "s")
    await anyio.Path(path).chmod(0o666)

    await taped(path, "t")

    assert stat.S_IMODE((await anyio.Path(path).stat()).st_mode) == 0o600


@pytest.mark.parametrize("place", ["fsync", "write", "replace"])
async def test_a_disk_that_is_full_leaves_the_old_file_and_nothing_else(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    await taped(path, "old")
    before = await text_of(path)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    match place:
        case "fsync":
            monkeypatch.setattr(os, "fsync", full)
        case "write":
            monkeypatch.setattr(os, "fdopen", full)
        case _:
            monkeypatch.setattr(Path, "replace", full)

    with pytest.raises(MisconfiguredError, match=r"a\.json: cannot be written: No space left"):
        await taped(path, "new")

    monkeypatch.undo()
    assert await text_of(path) == before
    assert [found.name async for found in anyio.Path(tmp_path).iterdir()] == ["a.json"]


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    await anyio.Path(tmp_path / "file").touch()

    with pytest.raises(MisconfiguredError, match="cannot be written"):
        await taped(tmp_path / "file" / "a.json", "s")


@pytest.mark.real_time
async def test_a_cassette_that_cannot_be_written_hides_nothing_that_went_wrong_before(tmp_path: Path) -> None:
    await anyio.Path(tmp_path / "file").touch()

    async def run() -> None:
        async with record(Live(), tmp_path / "file" / "a.json") as tape:
            await tape.score(asking("s"))
            raise LookupError("the caller's own")

    with pytest.raises(LookupError, match="the caller's own"):
        await run()


def test_nor_does_one_around_a_whole_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    tape = record(Engine("a", fails(LookupError("the engine's own"))), tmp_path / "file" / "a.json")

    with pytest.raises(LookupError, match="the engine's own"), tape:
        anyio.run(noul_of, tape, "s")


@pytest.mark.real_time
async def test_a_run_that_is_cancelled_still_has_its_cassette(tmp_path: Path) -> None:
    with anyio.move_on_after(0.2) as scope:
        async with record(Live(takes=0.001), tmp_path / "a.json") as tape:
            await tape.score(asking("s"))
            await anyio.sleep_forever()

    assert scope.cancelled_caught
    assert await noul_of(await played(tmp_path / "a.json"), "s") == 0.5


@pytest.mark.real_time
async def test_writing_for_a_cancelled_run_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = threading.Event()
    tape = record(Live(takes=0.001), tmp_path / "a.json")
    monkeypatch.setattr(tape, "save", lambda: let_go.wait(30))
    started = anyio.current_time()

    with pytest.raises(LookupError):
        async with tape:
            raise LookupError
    took = anyio.current_time() - started
    let_go.set()

    assert took == pytest.approx(1.0, abs=0.5)


def test_a_process_killed_while_it_writes_leaves_the_old_file(tmp_path: Path) -> None:
    script = """
import os, signal, sys
import anyio
from pathlib import Path
from decide.engines.tape import record
from tests.engines.recorded.tapes import Live, asking

async def main():
    async with record(Live(takes=0), sys.argv[1]) as tape:
        await tape.score(asking(sys.argv[2]))

if sys.argv[2] == "new":
    os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
anyio.run(main)
"""
    path = tmp_path / "a.json"
    root = Path(__file__).parents[3]
    codes = [
        subprocess.run([sys.executable, "-c", script, path, state], cwd=root, check=False).returncode
        for state in ("old", "new")
    ]

    assert codes == [0, -signal.SIGKILL]
    assert anyio.run(noul_of, replay(path), "old") == 0.5


def test_a_recorder_around_whole_runs_works_on_one_loop_after_another(tmp_path: Path) -> None:
    with record(Live({"s": [0.1, 0.2, 0.3]}, takes=0), tmp_path / "a.json") as tape:
        for backend in ("asyncio", "trio", "asyncio"):
            anyio.run(noul_of, tape, "s", backend=backend)
    again = replay(tmp_path / "a.json")

    assert [anyio.run(noul_of, again, "s", backend=backend) for backend in ("trio", "asyncio", "trio")] == [
        0.1,
        0.2,
        0.3,
    ]


async def test_a_run_without_calls_leaves_the_old_cassette(tmp_path: Path) -> None:
    await taped(tmp_path / "a.json", "s")

    await taped(tmp_path / "a.json")
    await taped(tmp_path / "b.json")

    assert await noul_of(await played(tmp_path / "a.json"), "s") == 0.5
    assert not await anyio.Path(tmp_path / "b.json").exists()


async def test_calls_that_are_under_way_are_not_on_the_cassette_yet(tmp_path: Path) -> None:
    let_go = anyio.Event()

    class Waiting(Live):
        async def score(self, request: ScoreRequest) -> ScoreResult:
            await let_go.wait()
            return await super().score(request)

    tape = record(Waiting(takes=0), tmp_path / "a.json")
    found = []
    async with anyio.create_task_group() as group:
        group.start_soon(tape.score, asking("slow"))
        with anyio.move_on_after(0.1):
            await tape.score(asking("cut off"))
        await anyio.to_thread.run_sync(tape.save)
        found.append(json.loads(await text_of(tmp_path / "a.json")))
        let_go.set()
    await anyio.to_thread.run_sync(tape.save)
    found.append(json.loads(await text_of(tmp_path / "a.json")))

    ended = [[one["ended"] for one in document["recordings"]] for document in found]
    assert ended == [["cut off"], ["cut off", "answered"]]


async def test_an_answer_that_is_none_is_recorded_as_invalid_and_breaks_no_call(tmp_path: Path) -> None:
    async with record(Engine("a", answers("nonsense")), tmp_path / "a.json") as tape:
        said: object = await tape.score(asking("s"))

    with pytest.raises(DecideError) as caught:
        await (await played(tmp_path / "a.json")).score(asking("s"))
    assert said == "nonsense"
    assert caught.value.detail == "not an answer that can be read"


async def test_what_an_engine_writes_of_itself_and_is_no_json_breaks_no_call(tmp_path: Path) -> None:
    class Boastful:
        name = "boastful"

        async def score_traced(self, request: ScoreRequest, log: AttemptLog) -> ScoreResult:
            with log.attempt(self.name) as attempt:
                attempt.usage = Usage(input_tokens=1, cost=Decimal("NaN"))
                raise RateLimitedError("x", retry_after="soon", usage=attempt.usage)  # type: ignore[arg-type]

        score = score_traced

    async with record(Boastful(), tmp_path / "a.json") as tape:  # type: ignore[arg-type]
        with pytest.raises(RateLimitedError):
            await tape.score(asking("s"))

    with pytest.raises(RateLimitedError) as caught:
        await (await played(tmp_path / "a.json")).score(asking("s"))
    assert caught.value.retry_after is None


@pytest.mark.parametrize("secret", ["", "short"])
def test_a_secret_that_ordinary_words_may_hold_is_refused(secret: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="at least 6 characters"):
        record(Live(), tmp_path / "a.json", secrets=[secret])


async def test_a_chain_over_a_cassette_that_lacks_the_request_stops_and_says_so(tmp_path: Path) -> None:
    await taped(tmp_path / "a.json", "s")

    ended = await Chain([await played(tmp_path / "a.json")]).score(asking("else"))

    assert isinstance(ended, Stopped)
    assert str(ended.error) == "live: no recorded decision for this request and state"
