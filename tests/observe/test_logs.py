"""Runs as log events."""

import pytest
import structlog
from structlog.testing import LogCapture

from decide.attempts import Attempt
from decide.observe.logs import LogObserver
from decide.traces import Trace
from tests.observe.runs import HEDGED, OUTAGE

REFUSED = Trace(warnings=("auth:remote",), attempts=(Attempt(provider="remote", outcome="auth"),))


@pytest.fixture
def captured() -> LogCapture:
    """Every event that is logged."""
    return LogCapture()


@pytest.fixture
def observer(captured: LogCapture) -> LogObserver:
    """An observer whose events are captured."""
    return LogObserver(structlog.wrap_logger(None, processors=[captured]))


def test_a_run_is_one_event_with_who_decided_and_how(observer: LogObserver, captured: LogCapture) -> None:
    observer(HEDGED)

    (event,) = captured.entries
    assert event["log_level"] == "info"
    assert event["engine"] == "local"
    assert event["hedge_fired"] is True
    assert event["attempts"] == ["remote: cancelled", "local: decided"]


@pytest.mark.parametrize(
    ("trace", "event"),
    [
        (Trace(decided_by="local"), "decided"),
        (Trace(), "undecided"),
        (OUTAGE, "outage"),
        (Trace(stopped_by="quota"), "stopped by quota"),
        (Trace(cancelled=True), "cancelled"),
    ],
)
def test_the_event_names_the_ending(observer: LogObserver, captured: LogCapture, trace: Trace, event: str) -> None:
    observer(trace)

    assert [entry["event"] for entry in captured.entries] == [event]


def test_a_warning_is_said_once(observer: LogObserver, captured: LogCapture) -> None:
    for _ in range(3):
        observer(REFUSED)

    warnings = [entry for entry in captured.entries if entry["log_level"] == "warning"]
    assert warnings == [{"event": "auth", "engine": "remote", "log_level": "warning"}]


def test_names_cannot_forge_a_line_of_the_log(observer: LogObserver, captured: LogCapture) -> None:
    observer(Trace(engine="a\nb", warnings=("auth:c\x1b[2J",)))

    assert [entry["engine"] for entry in captured.entries] == ["c\\x1b[2J", "a\\nb"]


def test_structlog_stays_as_the_application_configured_it() -> None:
    before = structlog.get_config()

    LogObserver()

    assert structlog.get_config() == before
    assert not structlog.is_configured()
