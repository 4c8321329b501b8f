"""A trace as a timeline, for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

import attrs
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

from decide import _svg
from decide._timeline import Bar, Look, Timeline, columns, fitted, lay_out, seconds_text
from decide.traces import Trace

_STYLES: Final = {
    Look.ANSWERED: "green",
    Look.HELD_BACK: "yellow",
    Look.CANCELLED: "bright_black",
    Look.FAILED: "red",
    Look.NOT_CALLED: "red",
}
_NARROW_PLOT = 12
_NARROWEST_PLOT = 6
_WIDEST_PLOT = 48
_SHORTEST_LABEL = 10
_GAP = "  "


@attrs.frozen(kw_only=True)
class _Glyphs:
    bars: dict[Look, str]
    cross: str
    answer: str
    answered: str
    dots: str
    overflow: Literal["crop", "ellipsis"]


_UNICODE = _Glyphs(
    bars={
        Look.ANSWERED: "█",
        Look.HELD_BACK: "▓",
        Look.CANCELLED: "░",
        Look.FAILED: "▒",
        Look.NOT_CALLED: "┃",
    },
    cross="✗",
    answer="┊",
    answered="▲",
    dots="…",
    overflow="ellipsis",
)
_ASCII = _Glyphs(
    bars={
        Look.ANSWERED: "#",
        Look.HELD_BACK: "=",
        Look.CANCELLED: "-",
        Look.FAILED: "/",
        Look.NOT_CALLED: "|",
    },
    cross="x",
    answer=":",
    answered="^",
    dots="...",
    overflow="crop",
)


def svg(trace: Trace) -> str:
    """
    Return *trace* as one `<svg>` element: no scripts, all text escaped, readable on light and on dark.
    """
    return _svg.draw(lay_out(trace))


class TerminalTimeline:
    """
    A trace for `rich` to print: who was asked when, in which role, how it ended, how long it took and what it cost.

    Takes the width it is given; without colours the patterns still tell the outcomes apart.

    Args:
        trace: What to show.
        indent: Blank columns on the left.
    """

    def __init__(self, trace: Trace, *, indent: int = 0) -> None:
        self._timeline = lay_out(trace)
        self._indent = indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        glyphs = _UNICODE if options.encoding.startswith("utf") else _ASCII
        for line in _Drawing(self._timeline, glyphs, options.max_width - self._indent).lines():
            line.pad_left(self._indent)
            yield line

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(min(options.max_width, 40), options.max_width)


class _Drawing:
    """
    One timeline at one width.
    """

    def __init__(self, timeline: Timeline, glyphs: _Glyphs, width: int) -> None:
        self.timeline = timeline
        self.glyphs = glyphs
        labels = max((columns(bar.label) for bar in timeline.bars), default=0)
        notes = max((columns(_note(bar)) for bar in timeline.bars), default=0)
        self.latencies = max((columns(bar.latency) for bar in timeline.bars), default=0)
        free = width - self.latencies - notes - 3 * len(_GAP)
        # Where space is short, names give way first, then the plot; what is left over is cut from the notes.
        self.labels = min(labels, max(free - _NARROW_PLOT, _SHORTEST_LABEL))
        self.plot = min(max(free - self.labels, _NARROWEST_PLOT), _WIDEST_PLOT)

    def lines(self) -> Iterator[Text]:
        yield Text(self.timeline.headline, style="bold", no_wrap=True, overflow=self.glyphs.overflow)
        for bar in self.timeline.bars:
            yield self._lane(bar)
        if self.timeline.bars:
            yield self._scale()

    def _lane(self, bar: Bar) -> Text:
        line = Text(no_wrap=True, overflow=self.glyphs.overflow)
        label = fitted(bar.label, self.labels, self.glyphs.dots)
        line.append(_padded(label, self.labels) + _GAP)
        line.append_text(self._bar(bar))
        line.append(_GAP + " " * (self.latencies - columns(bar.latency)) + bar.latency + _GAP)
        line.append(_note(bar), style=_STYLES[bar.look])
        return line

    def _bar(self, bar: Bar) -> Text:
        start, end = self._cells(bar)
        cells = [" "] * self.plot
        cells[start:end] = self.glyphs.bars[bar.look] * (end - start)
        if bar.look is Look.FAILED:
            cells[end - 1] = self.glyphs.cross
        answer = self._answer_cell()
        if answer is not None and cells[answer] == " ":
            cells[answer] = self.glyphs.answer
        drawn = Text("".join(cells), style="green")
        drawn.stylize(_STYLES[bar.look], start, end)
        return drawn

    def _cells(self, bar: Bar) -> tuple[int, int]:
        start = min(self.timeline.place(bar.start, self.plot), self.plot - 1)
        if bar.look is Look.NOT_CALLED:
            return start, start + 1
        return start, max(self.timeline.place(bar.end, self.plot), start + 1)

    def _answer_cell(self) -> int | None:
        if self.timeline.answered_at is None:
            return None
        return max(self.timeline.place(self.timeline.answered_at, self.plot) - 1, 0)

    def _scale(self) -> Text:
        row = [" "] * (self.plot + 12)
        answer = self._answer_cell()
        if answer is not None:
            self._write(row, answer, f"{self.glyphs.answered} answer")
        for tick in self.timeline.ticks:
            self._write(row, self.timeline.place(tick, self.plot), seconds_text(tick))
        return Text(" " * self.labels + _GAP + "".join(row).rstrip(), style="dim", no_wrap=True, overflow="crop")

    @staticmethod
    def _write(row: list[str], at: int, text: str) -> None:
        before, after = max(at - 1, 0), at + len(text) + 1
        if after <= len(row) + 1 and all(cell == " " for cell in row[before:after]):
            row[at : at + len(text)] = text


def _note(bar: Bar) -> str:
    return f"{bar.outcome}{_GAP}{bar.more}" if bar.more else bar.outcome


def _padded(text: str, width: int) -> str:
    return text + " " * (width - columns(text))
