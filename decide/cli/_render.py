"""Answers as a person reads them: the pick, the verdict with its reason, and every probability as a small bar."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

import attrs
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from decide._timeline import columns, fitted, printable, shortened
from decide.answers import Answer, ChoiceAnswer, NoulAnswer, RelevanceAnswer, ScoreAnswer
from decide.cli._consoles import wrapped
from decide.cli._exits import Exit
from decide.cli._verdicts import Judged, Verdict
from decide.errors import DecideError
from decide.traces import Trace

_STYLES: Final = {
    Verdict.ACTIONABLE: "bold green",
    Verdict.PROPOSAL: "bold yellow",
    Verdict.ACCEPTED_PROPOSAL: "bold green",
    Verdict.NOT_ACTIONABLE: "bold red",
}
HOW_TO_ACCEPT: Final = "A proposal is not acted on unless you say so: add --accept-proposals to let it count (exit 0)."

_BAR_WIDTH: Final = 24
_LEAST_BAR: Final = 8
_LEAST_LABEL: Final = 12
_BESIDES: Final = len("    " + "  " + "  0.00")
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_MOST_ROWS: Final = 8


@attrs.frozen
class Row:
    """
    What an answer says of one option or level.
    """

    id: str
    label: str
    probability: float


class AnswerBlock:
    """
    One question for `rich` to print: what was answered, whether it may be acted on, and why.
    """

    def __init__(self, judged: Judged) -> None:
        self._judged = judged

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        one = self._judged
        asked = Text.assemble((printable(one.key), "bold"), ": ", printable(one.question.instructions))
        yield from wrapped(asked, console, options.max_width)
        rows = rows_of(one.answer)
        verdict = Text.assemble(
            "  ",
            (_picked(rows, one.picks), "bold"),
            "  ",
            (one.verdict.value, _STYLES[one.verdict]),
            (f"  {printable(one.selection.detail)}", "dim"),
            (f" ({one.why})" if one.why else "", "dim"),
        )
        yield from wrapped(verdict, console, options.max_width)
        yield from _bars(rows, one.picks, width=options.max_width, smooth=options.encoding.startswith("utf"))


def rows_of(answer: Answer) -> Sequence[Row]:
    """
    Return what *answer* says of each option, the most probable first; of each level in order.
    """
    match answer:
        case NoulAnswer(noul=yes):
            return () if yes is None else (Row("true", "true", yes), Row("false", "false", 1.0 - yes))
        case ScoreAnswer():
            levels = sorted(answer.probabilities.items())
            return [Row(str(level), f"{level} {_level(answer, level)}", value) for level, value in levels]
        case ChoiceAnswer() | RelevanceAnswer():
            return [Row(option, option, value) for option, value in answer.probabilities.ranked()]


def _level(answer: ScoreAnswer, level: int) -> str:
    return answer.levels[level] if 0 <= level < len(answer.levels) else ""


def _picked(rows: Sequence[Row], picks: Sequence[str]) -> str:
    labels = {row.id: row.label for row in rows}
    return ", ".join(printable(labels.get(pick, pick)) for pick in picks) or "no pick"


def _bars(rows: Sequence[Row], picks: Collection[str], *, width: int, smooth: bool) -> RenderResult:
    shown = rows[:_MOST_ROWS]
    longest = max((columns(shortened(printable(row.label))) for row in shown), default=0)
    # Where space is short, labels give way first.
    label_width = min(longest, max(width - _BESIDES - _BAR_WIDTH, _LEAST_LABEL))
    bar_width = min(max(width - _BESIDES - label_width, _LEAST_BAR), _BAR_WIDTH)
    for row in shown:
        picked = row.id in picks
        label = fitted(shortened(printable(row.label)), label_width, "…" if smooth else "...")
        bar = bar_text(row.probability, bar_width, smooth=smooth)
        line = Text("    ", no_wrap=True)
        line.append(label + " " * (label_width - columns(label) + 2), style="bold" if picked else "")
        line.append(bar.ljust(bar_width), style="cyan" if picked else "bright_black")
        line.append(f"  {row.probability:.2f}")
        yield line
    if len(rows) > len(shown):
        yield Text(f"    and {len(rows) - len(shown)} more", style="dim")


def bar_text(probability: float, width: int, *, smooth: bool) -> str:
    """
    Return a bar of up to *width* columns for a number from 0 to 1; what lies outside is drawn as the nearest.
    """
    share = min(max(probability, 0.0), 1.0)
    if not smooth:
        return "#" * round(share * width)
    full, rest = divmod(round(share * width * 8), 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def failure_text(ended: Exit, trace: Trace, error: DecideError | None) -> str:
    """
    Say in one line why there is no answer.
    """
    if error is not None:
        return f"{'stopped' if ended is Exit.STOPPED else 'failed'}: {printable(str(error))}"
    return f"failed: {no_answer_text(trace)}"


def no_answer_text(trace: Trace) -> str:
    """
    Tell engines that could not answer from engines that would not.
    """
    return "no engine answered" if trace.outage else "no engine would answer"


def why_not_all(judged: Sequence[Judged], asked: Collection[str]) -> Iterator[str]:
    """
    Say what keeps the command from ending with 0, a line each.
    """
    proposed = {one.key for one in judged if one.verdict is Verdict.PROPOSAL}
    counted = {one.key for one in judged if one.counts}
    held = [printable(key) for key in asked if key not in proposed | counted]
    if held:
        yield f"Exit 3: nothing to act on for {len(held)} of {len(asked)} questions: {', '.join(held)}."
    if proposed:
        yield HOW_TO_ACCEPT
