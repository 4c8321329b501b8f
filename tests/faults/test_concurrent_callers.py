"""Many callers at one server that others wrote: each gets the answers to its own questions."""

from collections.abc import Iterator

import anyio
import pytest

from decide import Answer, ChoiceQuestion, NoulQuestion, RelevanceQuestion, ScoreQuestion, ScoreRequest
from decide.engines.systemone import SystemOneEngine
from tests.engines.servers import serving

pytestmark = pytest.mark.real_time

CALLERS = 16
MESSAGES = [
    "My card was charged twice",
    "The app crashes when I open a report",
    "Do you offer a discount for schools?",
    "I want my money back, now",
    "Where is my parcel?",
    "How do I reset my password?",
]


@pytest.fixture(scope="module")
def sparrow() -> Iterator[str]:
    with serving("sparrow_decider.cli", "serve") as url:
        yield url


def request(number: int) -> ScoreRequest:
    """Return the request of one caller: no two are alike, not even in the keys of their questions."""
    text = f"{MESSAGES[number % len(MESSAGES)]} (case {number})"
    return ScoreRequest(
        text=text,
        questions={
            f"team {number}": ChoiceQuestion(
                "Which team?",
                {"billing": "charges and refunds", "technical": "bugs", f"team {number}": "anything else"},
            ),
            "angry": NoulQuestion(f"Is the writer of case {number} angry?", true="angry", false="calm"),
            "urgency": ScoreQuestion("How urgent?", ["can wait", "this week", f"today, case {number}"]),
            "topics": RelevanceQuestion("What is it about?", {"money": "charges", "goods": "parcels"}),
        },
    )


async def test_callers_at_once_get_the_answers_that_callers_in_turn_get(sparrow: str) -> None:
    engine = SystemOneEngine(sparrow, decision_timeout=30.0)
    in_turn = [(await engine.score(request(number))).answers for number in range(4 * CALLERS)]
    at_once: dict[int, dict[str, Answer]] = {}

    async def caller(first: int) -> None:
        for number in range(first, 4 * CALLERS, CALLERS):
            at_once[number] = (await engine.score(request(number))).answers

    async with anyio.create_task_group() as group:
        for first in range(CALLERS):
            group.start_soon(caller, first)

    assert [at_once[number] for number in range(4 * CALLERS)] == in_turn
    assert len({str(answers) for answers in in_turn}) == 4 * CALLERS
