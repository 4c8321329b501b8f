"""What `--json` prints."""

from __future__ import annotations

from decide.answers import ScoreResult
from decide.cli._exits import Exit
from decide.cli._render import no_answer_text
from decide.cli._runs import Finished
from decide.errors import detail_of, kind_of
from decide.wire import to_json


def document(finished: Finished, strategy: str) -> dict[str, object]:
    """
    Return everything that is known about a run as one JSON document.

    Answers, selections and the trace have their wire form. A verdict does not travel in a selection, so `verdicts` says
    for each question whether it may be acted on. What kept the engines from answering stands in `error`.

    Args:
        finished: The run.
        strategy: How the engines were composed; a trace names it only when one of them answered.
    """
    judged = finished.judged
    result = to_json(ScoreResult(answers={one.key: one.answer for one in judged}))
    return {
        "exit": int(finished.exit),
        "strategy": strategy,
        "model": finished.model,
        "verdicts": {one.key: one.verdict.value for one in judged},
        "answers": result["answers"] or {},
        "selections": {one.key: to_json(one.selection) for one in judged},
        "trace": to_json(finished.trace),
        **({"error": _error(finished)} if finished.exit in (Exit.FAILED, Exit.STOPPED) else {}),
    }


def _error(finished: Finished) -> dict[str, object]:
    error = finished.error
    if error is None:
        kind = "outage" if finished.trace.outage else "no_answer"
        return {"kind": kind, "message": no_answer_text(finished.trace), "detail": ""}
    return {"kind": kind_of(error).value, "message": str(error), "detail": detail_of(error)}
