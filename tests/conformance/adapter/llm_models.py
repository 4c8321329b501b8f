"""A chat model that says what a vector has it say."""

from __future__ import annotations

from collections.abc import Callable

from decide.engines.chat import ChatReply, Inference


class SayingModel:
    """
    Says the same to every question, or fails.
    """

    def __init__(self, say: Callable[[Inference], ChatReply], model: str = "") -> None:
        self._say = say
        self._model = model
        self.calls = 0

    @property
    def model(self) -> str:
        return self._model

    async def infer(self, asked: Inference, /) -> ChatReply:
        self.calls += 1
        return self._say(asked)
