"""Chat models that say what a test has them say, and remember what they were asked."""

import json
from collections.abc import Callable
from typing import Any

from decide.attempt_log import AttemptLog
from decide.attempts import Attempt
from decide.decisions import Decision
from decide.engines.chat import ChatReply, Inference
from decide.engines.llm import LLMEngine
from decide.questions import ChoiceQuestion, NoulQuestion, Question, ScoreRequest
from decide.requests import Request
from decide.taxonomy import ModuleSpec, Taxonomy

TAXONOMY = Taxonomy(
    modules=[ModuleSpec(name="orders", intents=["cancel", "keep"]), ModuleSpec(name="billing", intents=["refund"])]
)
SAID = {
    "module": {"value": "orders", "confidence": 0.9},
    "intent": {"value": "cancel", "confidence": 0.8},
    "interaction": "command",
    "interactionConfidence": 0.7,
}
DECIDED = json.dumps(SAID)
NOUL: dict[str, Question] = {"n": NoulQuestion("Sad?")}
TEAM: dict[str, Question] = {"team": ChoiceQuestion("Which?", {"billing": "money", "refund": "money back"})}


class Saying:
    """
    Says the same to every question.
    """

    def __init__(self, reply: str | ChatReply | Callable[[Inference], ChatReply], model: str = "m-1") -> None:
        self._reply = ChatReply(text=reply) if isinstance(reply, str) else reply
        self._model = model
        self.asked: list[Inference] = []

    def __repr__(self) -> str:
        return "Saying()"

    @property
    def model(self) -> str:
        return self._model

    async def infer(self, asked: Inference, /) -> ChatReply:
        self.asked.append(asked)
        return self._reply if isinstance(self._reply, ChatReply) else self._reply(asked)


def request(text: str = "Cancel my order", **members: Any) -> Request:
    return Request(**{"taxonomy": TAXONOMY, "text": text, **members})


def asking(questions: dict[str, Question], text: Any = "state") -> ScoreRequest:
    return ScoreRequest(text=text, questions=questions)


async def decided(reply: str | ChatReply, **options: Any) -> Decision:
    """
    Have a model decide that says *reply*.
    """
    decision = await LLMEngine(Saying(reply), **options).decide(request())
    assert decision is not None
    return decision


async def answers(reply: Any, questions: dict[str, Question], **options: Any) -> dict[str, Any]:
    """
    Ask *questions* of a model that says *reply*: a text, a reply, or the answers by question.
    """
    said = reply if isinstance(reply, str | ChatReply) else json.dumps({"answers": reply})
    engine = LLMEngine(Saying(said), **{"opaque_keys": False, **options})
    return dict((await engine.score(asking(questions))).answers)


async def attempt_of(
    engine: LLMEngine, questions: dict[str, Question] | None = None
) -> tuple[Attempt, Exception | None]:
    """
    Call *engine* once and return the one attempt it wrote, and how it failed.
    """
    log, failed = AttemptLog(), None
    try:
        if questions is None:
            await engine.decide_traced(request(), log)
        else:
            await engine.score_traced(asking(questions), log)
    except Exception as error:  # noqa: BLE001 - it is what the test looks at
        failed = error
    (attempt,) = log.attempts()
    return attempt, failed
