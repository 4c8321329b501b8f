"""A trace drawn for a terminal and for a page."""

import io
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from decide.attempts import Attempt
from decide.observe.timelines import TerminalTimeline, svg
from decide.traces import Trace
from tests.observe.runs import FELL_BACK, HEDGED, NOTHING, OUTAGE, REFUSED_BY_A_BREAKER

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = Trace(engine="<b>", attempts=(Attempt(provider='<script>"&\x1b[31m', outcome="decided", latency=0.01),))
ALL = [HEDGED, FELL_BACK, REFUSED_BY_A_BREAKER, OUTAGE, NOTHING, HOSTILE]


def printed(trace: Trace, *, width: int = 100, encoding: str = "utf-8", colours: bool = False) -> list[str]:
    """The lines that a terminal of that kind shows."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=file, width=width, force_terminal=colours, color_system="truecolor" if colours else None)
    console.print(TerminalTimeline(trace))
    file.seek(0)
    return file.read().splitlines()


def test_a_hedge_reads_from_left_to_right() -> None:
    headline, primary, backup, scale = printed(HEDGED)

    assert headline == "hedged: local answered after 83 ms, the hedge fired"
    assert primary.startswith("remote (primary)  ░░░")
    assert primary.endswith("  83 ms  cancelled: superseded by hedge")
    assert backup.endswith("  23 ms  decided  214+9 tokens")
    assert backup.index("█") > primary.index("░")
    assert scale.split()[0] == "0"


def test_the_mark_of_the_answer_stands_under_its_end() -> None:
    _, _, backup, scale = printed(HEDGED)

    assert scale.index("▲") == backup.rindex("█")


def test_the_moment_of_the_answer_is_marked_in_the_other_lanes() -> None:
    _, failed, answered, _ = printed(FELL_BACK)

    assert failed.index("┊") == answered.rindex("█")
    assert "▒✗ " in failed


def test_an_engine_that_was_not_called_is_a_tick() -> None:
    refused = printed(REFUSED_BY_A_BREAKER)[1]

    assert refused.count("┃") == 1
    assert "unavailable" in refused


@pytest.mark.parametrize("trace", ALL)
@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(trace: Trace, width: int) -> None:
    assert max(map(len, printed(trace, width=width))) <= width


def test_a_narrow_terminal_shortens_names_and_keeps_bars_latency_and_outcome() -> None:
    attempt = Attempt(
        provider="a-server-with-a-long-name", role="primary", outcome="decided", rule="status", latency=0.083
    )

    wide, narrow = (printed(Trace(attempts=(attempt,)), width=width)[1] for width in (80, 50))

    assert wide.endswith("  83 ms  decided  rule status")
    assert narrow.endswith("  83 ms  decided  rule status")
    assert narrow.startswith("a-serve")
    assert narrow.count("█") >= 6


@pytest.mark.parametrize("trace", ALL)
def test_a_terminal_without_unicode_gets_plain_letters(trace: Trace) -> None:
    assert all(line.isascii() for line in printed(trace, encoding="ascii"))


def test_without_colours_no_escape_sequence_is_written() -> None:
    assert "\x1b" not in "".join(printed(HOSTILE))


def test_with_colours_a_name_still_cannot_switch_them() -> None:
    assert "\\x1b[31m" in "".join(printed(HOSTILE, colours=True))


@pytest.mark.parametrize("trace", ALL)
def test_the_picture_is_well_formed_and_runs_nothing(trace: Trace) -> None:
    root = ET.fromstring(svg(trace))

    names = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert names <= {"svg", "title", "g", "text", "line"}
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on") or "href" in name]


def test_names_are_escaped_in_the_picture() -> None:
    assert "<script>" not in svg(HOSTILE)
    assert "&lt;script&gt;" in svg(HOSTILE)


def test_each_bar_of_the_picture_says_what_it_is_to_those_who_cannot_see_it() -> None:
    titles = [title.text for title in ET.fromstring(svg(HEDGED)).iter(f"{SVG}title")]

    assert titles == [
        "hedged: local answered after 83 ms, the hedge fired",
        "remote (primary): cancelled: superseded by hedge, from 0 ms to 83 ms",
        "local (backup): decided, from 60 ms to 83 ms, 214+9 tokens",
        "answered after 83 ms",
    ]


def test_the_picture_takes_its_text_colour_from_the_page() -> None:
    assert 'fill="currentColor"' in svg(HEDGED)


def test_a_notebook_shows_a_trace_as_its_picture() -> None:
    assert HEDGED._repr_html_() == svg(HEDGED)
