"""A run laid out in time, before anything is drawn."""

import itertools
import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide._timeline import LONGEST_NAME, MOST_TICKS, Look, fitted, lay_out, printable, seconds_text
from decide.answers import Usage
from decide.attempts import NOT_CALLED, Attempt
from decide.outcomes import AttemptOutcome
from decide.traces import Trace
from tests.observe.runs import FELL_BACK, HEDGED, NOTHING, OUTAGE, REFUSED_BY_A_BREAKER


def one(**fields: object) -> Trace:
    """A trace with one attempt."""
    return Trace(attempts=(Attempt(**{"provider": "local", "outcome": "decided", **fields}),))  # type: ignore[arg-type] # fields of an Attempt


def test_a_bar_runs_from_the_start_of_an_attempt_to_its_end() -> None:
    primary, backup = lay_out(HEDGED).bars

    assert (primary.start, primary.end) == pytest.approx((0.0, 0.083))
    assert (backup.start, backup.end) == pytest.approx((0.060, 0.083))


def test_a_bar_starts_after_the_wait_for_a_turn() -> None:
    (bar,) = lay_out(one(started=0.01, waited=0.02, latency=0.03)).bars

    assert (bar.start, bar.end) == pytest.approx((0.03, 0.06))
    assert bar.more == "waited 20 ms"


def test_a_lane_is_labelled_with_the_engine_and_its_role() -> None:
    assert [bar.label for bar in lay_out(HEDGED).bars] == ["remote (primary)", "local (backup)"]


def test_the_label_of_an_engine_without_a_role_is_its_name() -> None:
    assert lay_out(one(provider="rules")).bars[0].label == "rules"


def test_the_answer_arrives_when_the_attempt_that_decided_ends() -> None:
    assert lay_out(HEDGED).answered_at == pytest.approx(0.083)


def test_of_two_answers_the_one_of_the_engine_that_was_taken_counts() -> None:
    late = Attempt(provider="taken", outcome="decided", latency=0.2)
    early = Attempt(provider="other", outcome="decided", latency=0.1)

    assert lay_out(Trace(engine="taken", attempts=(late, early))).answered_at == pytest.approx(0.2)


def test_without_an_answer_there_is_no_moment_of_one() -> None:
    assert lay_out(OUTAGE).answered_at is None


@pytest.mark.parametrize(
    ("trace", "headline"),
    [
        (HEDGED, "hedged: local answered after 83 ms, the hedge fired"),
        (FELL_BACK, "fallback: local answered after 15 ms, the fallback fired"),
        (OUTAGE, "race: no answer: an outage"),
        (Trace(stopped_by="quota"), "stopped by quota"),
        (Trace(cancelled=True), "given up by the caller"),
        (NOTHING, "no answer"),
    ],
)
def test_the_headline_says_in_one_line_what_happened(trace: Trace, headline: str) -> None:
    assert lay_out(trace).headline == headline


@pytest.mark.parametrize("outcome", AttemptOutcome)
def test_an_engine_is_drawn_as_not_called_exactly_when_a_trace_counts_it_so(outcome: AttemptOutcome) -> None:
    (bar,) = lay_out(one(outcome=outcome.value)).bars

    assert (bar.look is Look.NOT_CALLED) == (outcome in NOT_CALLED)


def test_an_outcome_nobody_knows_is_drawn_as_a_failure() -> None:
    assert lay_out(one(outcome="exploded")).bars[0].look is Look.FAILED


def test_an_engine_that_was_not_called_has_no_latency() -> None:
    refused, answered = lay_out(REFUSED_BY_A_BREAKER).bars

    assert (refused.latency, answered.latency) == ("", "4 ms")
    assert refused.sentence == "remote (primary): unavailable, not called"


def test_cost_tries_and_the_rule_stand_beside_the_outcome() -> None:
    usage = Usage(input_tokens=12, output_tokens=3, cost=Decimal("0.00010"))

    (bar,) = lay_out(one(usage=usage, tries=2, rule="greeting")).bars

    assert bar.more == "rule greeting, 2 tries, 12+3 tokens, $0.0001"


def test_usage_of_zero_tokens_without_a_cost_is_not_worth_a_word() -> None:
    assert lay_out(one(usage=Usage())).bars[0].more == ""


def test_a_long_name_is_cut() -> None:
    (bar,) = lay_out(one(provider="n" * 500)).bars

    assert len(bar.label) == LONGEST_NAME
    assert bar.label.endswith("...")


def test_names_cannot_move_the_cursor_or_turn_the_reading_direction() -> None:
    assert printable("a\x1b[2J\u202eb\n") == "a\\x1b[2J\\u202eb\\n"
    assert printable("Grüße, 決定 ✓") == "Grüße, 決定 ✓"


def test_a_run_that_took_no_time_still_has_a_scale() -> None:
    timeline = lay_out(NOTHING)

    assert timeline.span > 0
    assert timeline.place(0.0, 40) == 0


@given(st.floats(min_value=1e-5, max_value=1e5))
def test_the_scale_has_few_even_ticks_that_lie_within_it(span: float) -> None:
    ticks = lay_out(one(latency=span)).ticks

    assert ticks[0] == 0.0
    assert ticks[-1] <= span * (1 + 1e-6)
    assert 2 <= len(ticks) <= MOST_TICKS + 1
    steps = {round(later - earlier, 12) for earlier, later in itertools.pairwise(ticks)}
    assert max(steps) == pytest.approx(min(steps))


@given(st.floats(min_value=0, max_value=10))
def test_no_two_ticks_of_a_scale_read_the_same(span: float) -> None:
    labels = [seconds_text(tick) for tick in lay_out(one(latency=span)).ticks]

    assert len(set(labels)) == len(labels)


def test_a_name_is_cut_by_columns_where_space_is_short() -> None:
    assert fitted("remote (primary)", 10) == "remote ..."
    assert fitted("決定決定決定", 7, "…") == "決定決…"
    assert fitted("決定", 4) == "決定"


@given(st.floats(min_value=-1, max_value=2, allow_nan=False), st.integers(min_value=1, max_value=500))
def test_every_moment_falls_on_the_scale(moment: float, width: int) -> None:
    assert 0 <= lay_out(HEDGED).place(moment, width) <= width


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 ms"),
        (0.000001, "0.001 ms"),
        (0.000066, "0.066 ms"),
        (0.00015, "0.15 ms"),
        (0.0004, "0.4 ms"),
        (0.0042, "4.2 ms"),
        (0.00994, "9.9 ms"),
        (0.00996, "10 ms"),
        (0.1234, "123 ms"),
        (0.9996, "1.00 s"),
        (9.994, "9.99 s"),
        (12.3, "12 s"),
    ],
)
def test_durations_are_written_with_three_digits_at_most(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text
    assert math.isfinite(seconds)
