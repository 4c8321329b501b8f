"""The same questions about many states at once: all of them are answered, or none is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping

import anyio
import anyio.lowlevel

from decide._askings import refuse_invalid
from decide._checks import whole
from decide.asking import Answers, ask
from decide.chain import Chain
from decide.errors import DecideError, InvalidRequestError, detail_of
from decide.policies import SelectionPolicy
from decide.providers import ScoredProvider
from decide.questions import Question, ScoreRequest

OnProgress = Callable[[int, int], object]


class StateFailedError(DecideError):
    """
    One of many states could not be answered, so that none is. What it failed with is the cause.

    Attributes:
        index: The lowest index of a state that failed.
    """

    index: int = 0


async def ask_many(
    engine: ScoredProvider | Chain,
    states: Iterable[object],
    questions: Mapping[str, Question],
    *,
    policy: SelectionPolicy | None = None,
    concurrency: int = 16,
    on_progress: OnProgress | None = None,
) -> list[Answers]:
    """
    Ask *engine* the same questions about every state; each state is a call of its own.

    The first failure ends it: calls about later states are cancelled, those about earlier ones go on, so that the error
    always names the lowest index that fails, whatever the timing. Cancelled, it cancels all calls.

    Args:
        engine: An engine, a combinator, or a chain.
        states: The states, at least one: texts, or any JSON objects or lists.
        questions: Questions by key.
        policy: As in `ask`.
        concurrency: Most calls under way at a time.
        on_progress: Called after each answer with how many states are answered, and of how many. What it raises ends
            the call.

    Returns:
        The answers, in the order of the states.

    Raises:
        StateFailedError: Naming the state as `state N`, counted from 0, with what it failed with as its cause.
        InvalidRequestError: If there are no states, or no questions.
        ValueError: If *concurrency* is below 1, or the questions cannot be told apart.
        TypeError: If *states* is one text, or *engine* is no engine.
    """
    if isinstance(states, str | bytes | Mapping):
        raise TypeError(f"states are several, got one {type(states).__name__}: put it in a list")
    listed = list(states)
    if not listed:
        raise InvalidRequestError("no states to evaluate", detail="no states")
    refuse_invalid(ScoreRequest(text="", questions=questions))
    workers = min(whole("concurrency", concurrency, least=1), len(listed))
    chain = engine if isinstance(engine, Chain) else Chain([engine])

    async def ask_one(state: object) -> Answers:
        return await ask(chain, state, questions, policy=policy)

    await anyio.lowlevel.checkpoint_if_cancelled()
    batch = _Batch(listed, ask_one, on_progress)
    async with anyio.create_task_group() as group:
        for _ in range(workers):
            group.start_soon(batch.work, group.cancel_scope)
    return batch.answers()


class _Batch:
    """
    The states of one call, and what became of each.
    """

    def __init__(
        self, states: list[object], ask_one: Callable[[object], Awaitable[Answers]], on_progress: OnProgress | None
    ) -> None:
        self._count = len(states)
        self._todo = enumerate(states)
        self._ask_one = ask_one
        self._on_progress = on_progress
        self._found: dict[int, Answers] = {}
        self._under_way: dict[int, anyio.CancelScope] = {}
        self._failed: tuple[int, Exception] | None = None
        self._raised: BaseException | None = None

    async def work(self, group: anyio.CancelScope) -> None:
        """
        Ask about one state after the other, beside other workers, until none is left. Never raises but to be cancelled.
        """
        try:
            for index, state in self._todo:
                if self._failed is not None:
                    return
                with anyio.CancelScope() as scope:
                    self._under_way[index] = scope
                    await self._ask(index, state)
                del self._under_way[index]
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 - raised here, the task group would wrap it; `answers` raises it
            self._raised = error
            group.cancel()

    def answers(self) -> list[Answers]:
        """
        Return all answers, in order.

        Raises:
            StateFailedError: If one is missing.
            BaseException: What ended the call and is no failure of an engine, bare.
        """
        if self._raised is not None:
            raise self._raised
        if self._failed is not None:
            index, error = self._failed
            said = str(error) if isinstance(error, DecideError) else type(error).__name__
            failure = StateFailedError(f"state {index}: {said}", detail=f"state {index}: {detail_of(error)}")
            failure.index = index
            raise failure from error
        return [self._found[index] for index in range(self._count)]

    async def _ask(self, index: int, state: object) -> None:
        try:
            found = await self._ask_one(state)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the failure of this state
            self._fail(index, error)
            return
        self._found[index] = found
        if self._on_progress is not None:
            self._on_progress(len(self._found), self._count)

    def _fail(self, index: int, error: Exception) -> None:
        if self._failed is None or index < self._failed[0]:
            self._failed = index, error
            for later, scope in self._under_way.items():
                if later > index:
                    scope.cancel()
