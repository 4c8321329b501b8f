"""What a user may write, as both type checkers see it; type-checked, never run."""

import enum
from dataclasses import dataclass
from typing import ClassVar, Generic, NamedTuple, TypeVar, assert_never, assert_type

import attrs

from decide import (
    DURABLE,
    NARROWING,
    Answer,
    Answers,
    Attempt,
    AttemptLog,
    Breaker,
    Budget,
    Chain,
    ChoiceAnswer,
    ChoiceQuestion,
    Decided,
    DecideError,
    Decision,
    Fallback,
    Hedged,
    NoulAnswer,
    NoulQuestion,
    Provenance,
    Provider,
    Question,
    Race,
    RelevanceAnswer,
    RelevanceQuestion,
    Request,
    ScoreAnswer,
    ScoreQuestion,
    ScoreRequest,
    ScoreResult,
    Selection,
    SelectionPolicy,
    Single,
    Stopped,
    Trace,
    Undecided,
    ask,
    deterministic,
)

P = TypeVar("P", bound=Provider)


# Engines that a user writes, in every usual shape: B098
class PlainEngine:
    name = "plain"

    async def decide(self, request: Request, /) -> Decision | None:
        return None


class PatientEngine:
    name = "patient"
    decision_timeout = 30.0

    async def decide(self, request: Request, /, verbose: bool = False) -> Decision:
        raise NotImplementedError


class PropertyEngine:
    @property
    def name(self) -> str:
        return "property"

    async def decide(self, request: Request) -> Decision | None:
        return None


@attrs.frozen
class FrozenAttrsEngine:
    name: str

    async def decide(self, request: Request, /) -> Decision | None:
        return None


@dataclass(frozen=True)
class FrozenDataclassEngine:
    name: str

    async def decide(self, request: Request, /) -> Decision | None:
        return None


class TupleEngine(NamedTuple):
    name: str

    async def decide(self, request: Request, /) -> Decision | None:
        return None


class ConstantEngine:
    name: ClassVar[str] = "constant"

    async def decide(self, request: Request, /) -> Decision | None:
        return None


class Scorer:
    name = "scorer"

    async def score(self, request: ScoreRequest, /) -> ScoreResult:
        raise NotImplementedError


@attrs.frozen
class FrozenScorer:
    name: str

    async def score(self, request: ScoreRequest, /, *, verbose: bool = False) -> ScoreResult:
        raise NotImplementedError


@dataclass(frozen=True)
class Wrapping(Generic[P]):
    wrapped: P

    @property
    def name(self) -> str:
        return f"around {self.wrapped.name}"

    async def decide(self, request: Request) -> Decision | None:
        return await self.wrapped.decide(request)


class SyncScorer:
    name = "sync"

    def score(self, request: ScoreRequest, /) -> ScoreResult:
        raise NotImplementedError


class Traced(PlainEngine):
    async def decide_traced(self, request: Request, log: AttemptLog, /) -> Decision | None:
        with log.attempt(self.name):
            return await self.decide(request)


class SyncEngine:
    name = "sync"

    def decide(self, request: Request, /) -> Decision | None:
        return None


class Nameless:
    async def decide(self, request: Request, /) -> Decision | None:
        return None


chain = Chain(
    [
        PlainEngine(),
        PatientEngine(),
        PropertyEngine(),
        FrozenAttrsEngine("frozen"),
        FrozenDataclassEngine("dataclass"),
        TupleEngine("tuple"),
        Scorer(),
        FrozenScorer("frozen"),
        Wrapping(PlainEngine()),
        Wrapping(Wrapping(FrozenAttrsEngine("frozen"))),
        Traced(),
    ],
    min_confidence=None,
    policy=DURABLE,
)
# For pyright no ClassVar satisfies a property, and `name` is one for the sake of the frozen classes.
Chain([ConstantEngine()])  # pyright: ignore[reportArgumentType]
Chain([SyncEngine()])  # type: ignore[list-item] # its decide cannot be awaited
Chain([SyncScorer()])  # type: ignore[list-item] # its score cannot be awaited
Chain([Nameless()])  # type: ignore[list-item] # a trace could not say who it was

Hedged(
    Fallback(Breaker(PlainEngine(), threshold=3), Single(PropertyEngine())),
    Race(Budget(Traced(), max_calls=10, per=60.0), Scorer()),
    delay=0.05,
    policy=NARROWING,
)
Hedged(PlainEngine())  # type: ignore[call-arg] # a hedge needs a backup


async def a_run_ends_in_one_of_three(request: Request) -> str:
    ended = await chain.decide(request)
    assert_type(ended.trace, Trace)
    match ended:
        case Decided(decision=decision):
            return "" if decision is None else decision.module.value
        case Undecided(kept=kept):
            assert_type(kept, Decision | ScoreResult | None)
            return ""
        case Stopped(error=error):
            assert_type(error, DecideError)
            return ""
        case _:
            assert_never(ended)


async def a_forgotten_ending_is_a_type_error(request: Request) -> str:
    match await chain.decide(request):
        case Decided():
            return "decided"
        case Undecided():
            return "undecided"
        case _ as rest:
            assert_never(rest)  # type: ignore[arg-type] # a Stopped is left


class Team(enum.StrEnum):
    BILLING = "billing"
    TECHNICAL = "technical"


async def answers_come_by_the_kind_that_was_asked(engine: Scorer) -> None:
    questions: dict[str, Question] = {
        "angry": NoulQuestion("Is the writer angry?", true="shouts", false="is calm"),
        "team": ChoiceQuestion("Which team?", {Team.BILLING: "charges", Team.TECHNICAL: None}),
        "named": ChoiceQuestion("Which team?", ["billing", "technical"]),
        "paired": ChoiceQuestion("Which team?", [("billing", "charges"), ("technical", None)], none_id="none"),
        "urgency": ScoreQuestion("How urgent?", ["can wait", "today"]),
        "topics": RelevanceQuestion("What is it about?", {"refund": "money back"}),
    }
    answers = await ask(engine, "My card was charged twice", questions, policy=NARROWING)
    assert_type(answers, Answers)
    assert_type(answers.noul("angry"), NoulAnswer)
    assert_type(answers.choice("team"), ChoiceAnswer)
    assert_type(answers.score("urgency"), ScoreAnswer)
    assert_type(answers.relevance("topics"), RelevanceAnswer)
    assert_type(answers.selection("team"), Selection)


def an_answer_is_one_of_four(answer: Answer) -> float | None:
    match answer:
        case NoulAnswer(noul=noul):
            return noul
        case ChoiceAnswer(confidence=confidence) | ScoreAnswer(confidence=confidence):
            return confidence
        case RelevanceAnswer(probabilities=probabilities):
            return max(probabilities.values(), default=None)


def verdicts_and_traces_have_plain_types(policy: SelectionPolicy, decision: Decision, trace: Trace) -> None:
    assert_type(policy.judge(decision), tuple[Decision, Selection])
    assert_type(policy.at_least(DURABLE), SelectionPolicy)
    assert_type(deterministic(decision).actionable, bool)
    assert_type(decision.provenance, Provenance)
    assert_type(trace.attempts, tuple[Attempt, ...])
    assert_type(trace.error, DecideError | None)
    decision.model = "other"  # type: ignore[misc] # values are frozen
