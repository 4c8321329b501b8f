"""A timeline as a plain SVG picture: no script, no style sheet, no font of its own, readable on light and on dark."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from decide._timeline import Bar, Look, Timeline, columns, seconds_text

# Colours of middle lightness, so that each stands out on white and on black; stripes, so that none is needed.
_COLOURS: Final = {
    Look.ANSWERED: "#2da44e",
    Look.HELD_BACK: "#bf8700",
    Look.CANCELLED: "#8b949e",
    Look.FAILED: "#e5534b",
    Look.NOT_CALLED: "#e5534b",
}
_STRIPES: Final = {Look.HELD_BACK: "9 3", Look.CANCELLED: "2 3", Look.FAILED: "5 2"}

_PLOT_WIDTH = 420
_LANE = 26
_THICKNESS = 12
_TOP = 38
_EDGE = 10
_GAP = 14
_LETTER = 7.2
_NARROWEST = 2


def draw(timeline: Timeline) -> str:
    """
    Return *timeline* as one `<svg>` element; all text is escaped.
    """
    plot = _EDGE + _GAP + _text_width([bar.label for bar in timeline.bars])
    notes = plot + _PLOT_WIDTH + _GAP
    right = notes + _text_width([_note(bar) for bar in timeline.bars]) + _EDGE
    width = max(right, 2 * _EDGE + _text_width([timeline.headline]))
    bottom = _TOP + _LANE * len(timeline.bars)
    height = bottom + 28 if timeline.bars else _TOP
    return "".join(
        (
            _opening(width, height),
            f"<title>{escape(timeline.headline)}</title>",
            _text(_EDGE, 20, timeline.headline, 'font-weight="bold"'),
            *(_scale(timeline, plot, bottom) if timeline.bars else ()),
            *(_lane(bar, timeline, plot, notes, number) for number, bar in enumerate(timeline.bars)),
            *_answer(timeline, plot, bottom),
            "</svg>",
        )
    )


def _opening(width: int, height: int) -> str:
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" style="max-width:100%;height:auto"'
    font = 'font-family="ui-monospace,Menlo,Consolas,monospace" font-size="12" fill="currentColor" stroke="none"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} {font}>'


def _lane(bar: Bar, timeline: Timeline, plot: int, notes: int, number: int) -> str:
    middle = _TOP + _LANE * number + _LANE // 2
    return "".join(
        (
            f"<g><title>{escape(bar.sentence)}</title>",
            _text(_EDGE, middle + 4, bar.label),
            _mark(bar, timeline, plot, middle),
            _text(notes, middle + 4, _note(bar), 'opacity="0.85"'),
            "</g>",
        )
    )


def _mark(bar: Bar, timeline: Timeline, plot: int, middle: int) -> str:
    start = plot + timeline.place(bar.start, _PLOT_WIDTH)
    if bar.look is Look.NOT_CALLED:
        return _line((start, middle - 8), (start, middle + 8), _COLOURS[bar.look], 3)
    end = max(plot + timeline.place(bar.end, _PLOT_WIDTH), start + _NARROWEST)
    stripes = f' stroke-dasharray="{_STRIPES[bar.look]}"' if bar.look in _STRIPES else ""
    drawn = _line((start, middle), (end, middle), _COLOURS[bar.look], _THICKNESS, stripes)
    if bar.look is Look.FAILED:
        drawn += _line((end - 5, middle - 9), (end + 5, middle + 9), _COLOURS[bar.look], 2)
        drawn += _line((end - 5, middle + 9), (end + 5, middle - 9), _COLOURS[bar.look], 2)
    return drawn


def _scale(timeline: Timeline, plot: int, bottom: int) -> Iterator[str]:
    for tick in timeline.ticks:
        at = plot + timeline.place(tick, _PLOT_WIDTH)
        yield _line((at, _TOP), (at, bottom + 4), "currentColor", 1, ' opacity="0.15"')
        yield _text(at, bottom + 18, seconds_text(tick), 'text-anchor="middle" font-size="10" opacity="0.7"')


def _answer(timeline: Timeline, plot: int, bottom: int) -> Iterator[str]:
    if timeline.answered_at is not None:
        at = plot + timeline.place(timeline.answered_at, _PLOT_WIDTH)
        yield f"<g><title>answered after {seconds_text(timeline.answered_at)}</title>"
        yield _line((at, _TOP - 4), (at, bottom + 4), _COLOURS[Look.ANSWERED], 1.5)
        yield "</g>"


def _note(bar: Bar) -> str:
    return "  ".join(part for part in (bar.latency, bar.outcome, bar.more) if part)


def _line(begin: tuple[int, int], end: tuple[int, int], colour: str, width: float, more: str = "") -> str:
    ends = f'x1="{begin[0]}" y1="{begin[1]}" x2="{end[0]}" y2="{end[1]}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"{more}/>'


def _text(x: int, y: int, text: str, more: str = "") -> str:
    return f'<text x="{x}" y="{y}" xml:space="preserve" {more}>{escape(text)}</text>'


def _text_width(texts: list[str]) -> int:
    return round(_LETTER * max(map(columns, texts), default=0))
