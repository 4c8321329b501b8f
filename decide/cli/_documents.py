"""What `--json` prints."""

from __future__ import annotations

from decide.answers import ScoreResult
from decide.cli._runs import Finished
from decide.errors import DecideError, detail_of, kind_of
from decide.wire import to_json


def document(finished: Finished) -> dict[str, object]:
    """
    Return everything that is known about a run as one JSON document.

    Answers, selections and the trace have their wire form. A verdict does not travel in a selection, so `verdicts` says
    for each question whether it may be acted on.
    """
    judged = finished.judged
    result = to_json(ScoreResult(answers={one.key: one.answer for one in judged}))
    return {
        "exit": int(finished.exit),
        "model": finished.model,
        "verdicts": {one.key: one.verdict.value for one in judged},
        "answers": result["answers"] or {},
        "selections": {one.key: to_json(one.selection) for one in judged},
        "trace": to_json(finished.trace),
        **({} if finished.error is None else {"error": _error(finished.error)}),
    }


def _error(error: DecideError) -> dict[str, object]:
    return {"kind": kind_of(error).value, "message": str(error), "detail": detail_of(error)}
