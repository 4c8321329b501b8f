"""The report of a remote decider: told in the trace, and trusted in nothing."""

from typing import Any

import attrs
import pytest

from decide import Chain, Taxonomy, Usage
from decide.engines.remote import RemoteEngine
from tests.engines.remote.servers import DECISION, saying, told
from tests.fakes import REQUEST, decision


def reporting(**report: Any) -> RemoteEngine:
    return saying({"decision": DECISION, "report": report}, name="cloud")


def attempt(**members: Any) -> dict[str, Any]:
    return {"provider": "a", "outcome": "decided", **members}


async def test_text_of_a_server_in_its_report_reaches_no_trace() -> None:
    lies = attempt(
        provider="<i>sentinel</i>", detail="sentinel", role="sentinel", dimension="sentinel", rule="sentinel"
    )
    _, log = await told(
        reporting(
            strategy="sentinel", engine="sentinel", model="sentinel", attempts=[lies, attempt(outcome="sentinel")]
        )
    )

    report = log.report()
    assert "sentinel" not in str(report)
    assert [(one.provider, one.outcome) for one in report.attempts] == [("cloud", "decided"), ("cloud/?", "decided")]


async def test_a_reason_of_our_vocabulary_is_kept() -> None:
    _, log = await told(reporting(attempts=[attempt(outcome="uncertain", detail="narrow_gap", role="backup")]))

    assert [(one.detail, one.role) for one in log.report().attempts][1:] == [("narrow_gap", "backup")]


async def test_nothing_in_a_report_can_pass_for_an_attempt_of_ours() -> None:
    ended = await Chain([reporting(engine="cloud", attempts=[attempt(provider="cloud", outcome="decided")])]).decide(
        attrs.evolve(REQUEST, taxonomy=Taxonomy())
    )

    assert [(one.provider, one.outcome) for one in ended.trace.attempts] == [
        ("cloud", "invalid"),
        ("cloud/cloud", "decided"),
    ]


@pytest.mark.parametrize(
    "times",
    [
        {"latencySeconds": 1e9, "latencyMs": 10**12},
        {"startedSeconds": 1e9},
        {"startedSeconds": -1e9, "latencyMs": -5},
        {"startedSeconds": 1e308, "latencyMs": 5},
    ],
)
async def test_times_of_a_report_stay_within_the_call(times: dict[str, Any]) -> None:
    _, log = await told(reporting(attempts=[attempt(**times)]))

    own, theirs = log.report().attempts
    assert own.started <= theirs.started
    assert 0 <= theirs.latency <= own.latency + 0.001
    assert theirs.started + theirs.latency <= own.started + own.latency + 0.001


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"inputTokens": 3, "outputTokens": 1, "cost": "0.5"}, True),
        ({"inputTokens": -3, "outputTokens": 1}, False),
        ({"inputTokens": 10**15, "outputTokens": 1}, False),
        ({"inputTokens": 3, "outputTokens": 1, "cost": "-1"}, False),
        ({"inputTokens": 3, "outputTokens": 1, "cost": "1e4000"}, False),
        (None, False),
    ],
)
async def test_what_a_call_cost_is_counted_once_and_only_if_it_is_a_count(usage: object, read: bool) -> None:
    _, log = await told(reporting(attempts=[attempt(usage=usage)]))

    own, theirs = log.report().attempts
    assert own.usage == Usage()
    assert (theirs.usage is not None) is read


async def test_what_a_call_cost_is_unknown_without_a_report() -> None:
    _, log = await told(saying(DECISION))

    assert [one.usage for one in log.report().attempts] == [None]


@pytest.mark.parametrize("report", ["sentinel", [], {"attempts": [{"provider": 1}]}, {"attempts": [attempt()] * 101}])
async def test_a_report_that_cannot_be_used_is_no_part_of_the_answer(report: object) -> None:
    found, log = await told(saying({"decision": DECISION, "report": report}))

    assert found == decision()
    assert [one.provider for one in log.report().attempts] == ["remote"]
