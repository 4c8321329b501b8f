"""The four kinds of answer, the result that carries them, and what an answer cost."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, TypeVar

import attrs

from decide import distributions
from decide._converters import str_tuple
from decide.distributions import Distribution

if TYPE_CHECKING:
    from decide.attempts import Report


@attrs.frozen(kw_only=True)
class Usage:
    """
    What one call cost. A call of unknown cost has no Usage at all.

    Attributes:
        input_tokens: Tokens read.
        output_tokens: Tokens written.
        cost: US dollars; None when it was not reported, which is never the same as 0.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None


def add_usage(one: Usage | None, other: Usage | None) -> Usage | None:
    """
    Return what two calls cost together, as far as that is known.
    """
    if one is None or other is None:
        return other if one is None else one
    costs = [usage.cost for usage in (one, other) if usage.cost is not None]
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cost=sum(costs, Decimal(0)) if costs else None,
    )


def _levels(probabilities: Mapping[int, float]) -> dict[int, float]:
    return dict(probabilities)


def _no_number(answer: NoulAnswer) -> bool:
    return answer.noul is None


def _most_probable(answer: ChoiceAnswer) -> str:
    return answer.probabilities.ranked()[0][0] if answer.probabilities else ""


@attrs.frozen(kw_only=True)
class NoulAnswer:
    """
    The probability of yes.

    Attributes:
        noul: 0 to 1; None when the engine declined.
        unknown: The engine did not answer this question. Never read as a no.
        calibrated: The engine claims that the number is a measured probability.
    """

    noul: float | None = None
    unknown: bool = attrs.field(default=attrs.Factory(_no_number, takes_self=True))
    calibrated: bool = False

    @property
    def certainty(self) -> float:
        """
        How sure the answer is of itself, either way: `max(p, 1 - p)`, and 0 when unknown.
        """
        return 0.0 if self.noul is None else max(self.noul, 1.0 - self.noul)


@attrs.frozen(kw_only=True)
class ChoiceAnswer:
    """
    One option out of those that were offered.

    Attributes:
        probabilities: By option, as sent; empty when the engine gives only its pick.
        choice: The pick; the most probable option when an engine does not name it.
        confidence: Computed from the probabilities by the client that decoded them; None when there is none.
        reported_confidence: The server's own number.
        none_id: The option that means none of these, copied from the question.
        unknown: The engine did not answer this question.
        calibrated: The engine claims that the numbers are measured probabilities.
    """

    probabilities: Distribution = attrs.field(factory=Distribution, converter=Distribution)
    choice: str = attrs.field(default=attrs.Factory(_most_probable, takes_self=True))
    confidence: float | None = None
    reported_confidence: float | None = None
    none_id: str = ""
    unknown: bool = False
    calibrated: bool = False

    @property
    def near_uniform(self) -> bool:
        """
        Whether the distribution says nothing, which is a flag for its health and never a verdict.
        """
        return distributions.near_uniform(self.probabilities)

    @property
    def has_distribution(self) -> bool:
        """
        Whether the engine gave probabilities, and not only a pick.
        """
        return bool(self.probabilities)


@attrs.frozen(kw_only=True)
class ScoreAnswer:
    """
    A place on an ordered scale.

    Attributes:
        score: The mean level, from 0 to n-1, fractions included.
        levels: What each level means, in order, copied from the question.
        probabilities: By level number, as sent; empty when the engine gives only its score.
        confidence: Computed from the probabilities by the client that decoded them; None when there is none.
        reported_confidence: The server's own number.
        unknown: The engine did not answer this question.
        calibrated: The engine claims that the numbers are measured probabilities.
    """

    score: float = 0.0
    levels: tuple[str, ...] = attrs.field(default=(), converter=str_tuple)
    probabilities: dict[int, float] = attrs.field(factory=dict, converter=_levels)
    confidence: float | None = None
    reported_confidence: float | None = None
    unknown: bool = False
    calibrated: bool = False

    @property
    def has_distribution(self) -> bool:
        """
        Whether the engine gave probabilities, and not only a score.
        """
        return bool(self.probabilities)


@attrs.frozen(kw_only=True)
class RelevanceAnswer:
    """
    Every candidate's own probability of holding.

    Attributes:
        probabilities: By candidate, as sent; they need not sum to one.
        confidence: What the engine says of the whole, if anything. No bar looks at it, but one out of range spoils the
            answer.
        unknown: The engine did not answer this question.
        calibrated: The engine claims that the numbers are measured probabilities.
    """

    probabilities: Distribution = attrs.field(factory=Distribution, converter=Distribution)
    confidence: float | None = None
    unknown: bool = False
    calibrated: bool = False


Answer = NoulAnswer | ChoiceAnswer | ScoreAnswer | RelevanceAnswer

A = TypeVar("A", NoulAnswer, ChoiceAnswer, ScoreAnswer, RelevanceAnswer)

_KINDS: dict[type[Answer], str] = {
    NoulAnswer: "noul",
    ChoiceAnswer: "choice",
    ScoreAnswer: "score",
    RelevanceAnswer: "relevance",
}


def confidence_in_range(answer: Answer) -> bool:
    """
    Say whether the confidence that *answer* reports, if it reports one, is a number from 0 to 1.
    """
    reported = getattr(answer, "confidence", None)
    return reported is None or distributions.is_probability(reported)


class AbsentAnswerError(KeyError):
    """
    There is no answer under that key.
    """

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class WrongKindError(TypeError):
    """
    The answer under that key is of another kind.
    """


def pick_any(answers: Mapping[str, Answer], key: str) -> Answer:
    """
    Return the answer called *key*, of any kind.

    Raises:
        AbsentAnswerError: A KeyError: there is no such answer.
    """
    if key not in answers:
        raise AbsentAnswerError(f'no answer "{key}"')
    return answers[key]


def pick_answer(answers: Mapping[str, Answer], key: str, kind: type[A]) -> A:
    """
    Return the answer called *key*, which must be of *kind*.

    Raises:
        AbsentAnswerError: A KeyError: there is no such answer.
        WrongKindError: A TypeError: it is of another kind.
    """
    answer = pick_any(answers, key)
    if not isinstance(answer, kind):
        raise WrongKindError(f'answer "{key}" is a {kind_name(type(answer))} answer, not {kind_name(kind)}')
    return answer


def _answer_dict(answers: Mapping[str, Answer]) -> dict[str, Answer]:
    return dict(answers)


@attrs.frozen(kw_only=True)
class ScoreResult:
    """
    What an engine answered to a `ScoreRequest`.

    Attributes:
        engine: The engine that answered.
        model: What really answered, most often more exact than what was asked for.
        usage: What the call cost; None when unknown.
        answers: By question key.
        report: How a combinator came by it; None from an engine alone.
    """

    engine: str = ""
    model: str = ""
    usage: Usage | None = None
    answers: dict[str, Answer] = attrs.field(factory=dict, converter=_answer_dict)
    report: Report | None = None

    def noul(self, key: str) -> NoulAnswer:
        """
        Return the yes/no answer called *key*.

        Raises:
            AbsentAnswerError: A KeyError: there is no such answer.
            WrongKindError: A TypeError: it is of another kind.
        """
        return pick_answer(self.answers, key, NoulAnswer)

    def choice(self, key: str) -> ChoiceAnswer:
        """
        Return the choice called *key*; errors as in `noul`.
        """
        return pick_answer(self.answers, key, ChoiceAnswer)

    def score(self, key: str) -> ScoreAnswer:
        """
        Return the score called *key*; errors as in `noul`.
        """
        return pick_answer(self.answers, key, ScoreAnswer)

    def relevance(self, key: str) -> RelevanceAnswer:
        """
        Return the relevance answer called *key*; errors as in `noul`.
        """
        return pick_answer(self.answers, key, RelevanceAnswer)


def kind_name(kind: type[Answer]) -> str:
    """
    Return the word for a kind of answer, as it stands on the wire.
    """
    return _KINDS[kind]
