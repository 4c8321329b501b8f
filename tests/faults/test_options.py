"""Options are data: none is taken for a refusal, none is moved, and the bytes that are sent are always the same."""

import os
import subprocess
import sys

import pytest

from decide import ChoiceQuestion, NoulQuestion
from tests.engines.wire import asking, engine_over, replying
from tests.faults.rows import LENIENT

NAMES = ["unknown", "none", "n/a", "null", "cancel", "error", "refusal", "unsupported", "true", "0"]


@pytest.mark.parametrize("none_id", ["", "none"])
@pytest.mark.parametrize("option", NAMES)
async def test_an_option_that_sounds_like_a_refusal_is_an_option(option: str, none_id: str) -> None:
    question = ChoiceQuestion("?", NAMES, none_id=none_id)
    sure = {"type": "choice", "choice": option, "probabilities": {option: 0.9, NAMES[option == NAMES[0]]: 0.1}}

    answer = (await engine_over(replying(200, {"answers": {"k": sure}})).score(asking({"k": question}))).choice("k")

    assert answer.choice == option
    assert LENIENT.evaluate(answer).picks == (() if option == none_id else (option,))


@pytest.mark.parametrize(
    "said", ["Billing", " billing ", "billings", "BILLING", "b\u0456lling", "payments", "", None, 0]
)
async def test_a_label_that_is_nearly_one_is_mapped_to_none(said: object) -> None:
    question = ChoiceQuestion("?", {"billing": None, "shipping": None})
    entries = {"k": {"type": "choice", "choice": said, "confidence": 0.9}, "n": {"type": "noul", "noul": 0.9}}

    result = await engine_over(replying(200, {"answers": entries})).score(asking({"k": question, **asking().questions}))

    assert result.choice("k").unknown


def test_the_same_request_is_the_same_bytes_in_every_process() -> None:
    script = """
import sys
from decide import ChoiceQuestion, ScoreRequest
from decide.engines._systemone_encode import wire_request, written
from decide.engines.dialects import DIALECTS
options = ["z", "a", "m", "\\u00e9", "b"]
request = ScoreRequest(text={"b": 1, "a": 2}, questions={k: ChoiceQuestion("?", options) for k in ("y", "x")})
sys.stdout.buffer.write(written(DIALECTS["systemone"].write(wire_request(request), "m")))
"""
    bodies = {
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "1", "4242")
    }

    assert len(bodies) == 1
    assert bodies.pop().startswith(b'{"model":"m","state":{"b":1,"a":2},"questions":{"y":{"type":"choice"')


async def test_answers_in_a_list_that_name_each_others_questions_answer_nothing() -> None:
    swapped = [
        {"type": "predicate", "name": "b", "probability": 0.9},
        {"type": "predicate", "name": "a", "probability": 0.1},
        {"type": "predicate", "name": None, "probability": 0.8},
        {"type": "predicate", "name": {"d": []}, "probability": 0.7},
    ]
    questions = {name: NoulQuestion("?") for name in ("a", "b", "c", "d")}
    engine = engine_over(replying(200, {"answers": swapped}), dialect="openai")

    result = await engine.score(asking(questions))

    assert [result.noul(name).noul for name in questions] == [None, None, 0.8, None]
