"""What is sent and what a server says stay where they belong, however a call ends."""

import copy
import logging
import pickle
import pprint
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

import anyio
import attrs
import pytest
import structlog
from rich.console import Console

from decide import (
    Breaker,
    Budget,
    Chain,
    DecideError,
    Fallback,
    Hedged,
    NoAnswerError,
    Race,
    Retry,
    Single,
    Stopped,
    Trace,
    Turns,
)
from decide.chain import Ended
from decide.engines.systemone import SystemOneEngine
from decide.observe.logs import LogObserver
from decide.observe.timelines import TerminalTimeline, svg
from decide.outcomes import AttemptOutcome
from decide.wire import canonical, to_json
from tests.faults.server import misbehaving
from tests.faults.telling import ASKED, FAILING, KEY, SENTINELS, SERVER, TO_DECIDE, Maker, busy, tells

pytestmark = pytest.mark.real_time


class Records(logging.Handler):
    """Every record of every logger, formatted, with the text of its exception."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []
        self.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{self.format(record)} {record.args!r} {record.__dict__.get('event', '')!r}")


@contextmanager
def everything_logged() -> Iterator[Records]:
    root, records = logging.getLogger(), Records()
    before = root.level
    root.addHandler(records)
    root.setLevel(logging.DEBUG)
    try:
        yield records
    finally:
        root.removeHandler(records)
        root.setLevel(before)


def told(where: str, *texts: str) -> None:
    """Fail if a sentinel stands in one of *texts*."""
    for text in texts:
        found = [sentinel for sentinel in (*SENTINELS, "sentinel") if sentinel.lower() in text.lower()]
        at = text.lower().find("sentinel")
        assert not found, f"{where}: {found} in …{text[max(0, at - 60) : at + 60]}…"


def check_trace(trace: Trace) -> None:
    screen = StringIO()
    Console(file=screen, width=200, force_terminal=True).print(TerminalTimeline(trace))
    told("repr of a trace", repr(trace), str(attrs.asdict(trace)))
    told("a trace as JSON", canonical(to_json(trace)))
    told("a notebook", trace._repr_html_(), svg(trace))
    told("a terminal", screen.getvalue())
    told("a pickle", repr(pickle.dumps(trace)))


def check_error(error: BaseException, seen: set[int] | None = None) -> None:
    """Walk an error with all that hangs on it; what a server said may stand in one place only, and no key there."""
    seen = set() if seen is None else seen
    if id(error) in seen:
        return
    seen.add(id(error))
    told("an error", str(error), repr(error), repr(error.args))
    told("a traceback", "".join(traceback.format_exception(error)))
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_globals["__name__"].startswith("decide."):
            assert KEY not in repr(frame.f_locals), f"the key is at hand in {frame.f_code.co_qualname}"
    if isinstance(error, DecideError):
        # The question that an error is about stands in `key`, and nowhere else.
        elsewhere = {"server_text", "key", "errors", "trace"}
        own = {name: value for name, value in vars(error).items() if name not in elsewhere}
        told("what an error holds", repr(own))
        assert KEY not in error.server_text
        assert len(error.server_text) <= 200
    nested = error.errors if isinstance(error, NoAnswerError) else ()
    for other in (error.__cause__, error.__context__, *nested):
        if other is not None:
            check_error(other, seen)


def check(ended: Ended) -> AttemptOutcome:
    check_trace(ended.trace)
    if isinstance(ended, Stopped):
        check_error(ended.error)
    if ended.trace.error is not None:
        check_error(ended.trace.error)
    return AttemptOutcome(ended.trace.attempts[0].outcome)


async def test_no_outcome_of_a_call_tells_what_was_sent_or_said(capfd: pytest.CaptureFixture[str]) -> None:
    traces: list[Trace] = []
    events = structlog.testing.LogCapture()
    observe = LogObserver(structlog.wrap_logger(None, processors=[events]))
    seen: set[AttemptOutcome] = set()

    async def ask(chain: Chain) -> None:
        seen.add(check(await chain.score(ASKED)))

    with everything_logged() as records:
        async with misbehaving(tells) as served:
            make = Maker(served.url, (traces.append, observe))
            for expected, chain in make.chains().items():
                await ask(chain)
                assert expected in seen
            for expected, chain in make.deciding().items():
                assert check(await chain.decide(TO_DECIDE)) == expected
                seen.add(expected)
            await busy(make, ask)
            with anyio.move_on_after(0.1):
                await make.chain(make.engine("hang")).score(ASKED)

    assert seen == set(AttemptOutcome)
    assert traces[-1].cancelled
    for trace in traces:
        check_trace(trace)
    told("a log", *records.lines)
    told("an event", repr(events.entries))
    streams = capfd.readouterr()
    told("a stream", streams.out, streams.err)


async def test_no_failure_of_an_engine_tells_what_was_sent_or_said() -> None:
    with everything_logged() as records:
        async with misbehaving(tells) as served:
            make = Maker(served.url)
            for path in FAILING:
                engine = make.engine(path, decision_timeout=0.3)
                for failing in (engine, Single(engine), Race(engine)):
                    with pytest.raises(DecideError) as caught:
                        await failing.score(ASKED)
                    check_error(caught.value)
                told("an engine", repr(engine), str(engine), repr(engine.effective))
                if path != "hang":
                    health = await engine.health()
                    told("health", repr(health), str(attrs.asdict(attrs.evolve(health, error=None))))
                    if health.error is not None:
                        check_error(health.error)

    assert SERVER not in "".join(records.lines)
    told("a log", *records.lines)


def test_importing_the_engines_leaves_logging_alone() -> None:
    script = """
import logging, sys
before = [(name, logging.getLogger(name).level) for name in logging.root.manager.loggerDict]
import decide, decide.engines.function, decide.engines.local, decide.engines.systemone, decide.observe.logs
import structlog
known = [logging.root, *(logging.getLogger(name) for name in list(logging.root.manager.loggerDict))]
changed = [
    one.name for one in known
    if one.filters or one.disabled or [h for h in one.handlers if type(h) is not logging.NullHandler]
]
levels = {one.name: one.level for one in known if one.level not in (logging.NOTSET, logging.WARNING)}
assert not changed, changed
assert not levels, levels
assert logging.root.level == logging.WARNING
assert not structlog.is_configured()
assert logging.raiseExceptions
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_form_of_an_engine_shows_its_key() -> None:
    engine = SystemOneEngine("http://127.0.0.1:8000", api_key=KEY)
    around = [
        engine,
        Single(engine),
        Race(engine),
        Fallback(engine),
        Hedged(engine, SystemOneEngine("http://127.0.0.1:8000", name="backup", api_key=KEY), delay=1.0),
        Breaker(engine),
        Budget(engine, max_calls=1),
        Retry(engine, retries=1),
        Turns(engine),
        Chain([engine]),
    ]
    for one in around:
        told("an engine", repr(one), str(one), f"{one}", repr(vars(one)), repr([one]), pprint.pformat(vars(one)))
        with pytest.raises(TypeError) as caught:
            pickle.dumps(one)
        told("a pickle that failed", str(caught.value))


async def test_a_copy_of_an_engine_sends_the_key_all_the_same() -> None:
    async with misbehaving(tells) as served:
        await copy.copy(Maker(served.url).engine("good")).score(ASKED)

    assert served.requests[0].header("authorization") == f"Bearer {KEY}"
