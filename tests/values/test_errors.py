"""Errors: what each means, which kinds one carries, and that they travel between processes."""

import inspect
import pickle
from collections.abc import Iterator

import pytest

from decide import (
    AuthError,
    BudgetError,
    BusyError,
    DecideError,
    EngineError,
    EngineTimeoutError,
    InvalidAnswerError,
    InvalidPolicyError,
    InvalidRequestError,
    MisconfiguredError,
    NoAnswerError,
    PolicyRefusalError,
    QuotaError,
    RateLimitedError,
    ReplayMissError,
    TimeBudgetError,
    Trace,
    UnavailableError,
    UndecidedError,
    UnsupportedError,
    Usage,
    errors,
)
from decide.errors import MEANINGS, Kind, detail_of, is_neutral, kind_of, kinds_of, walk
from decide.problems import Problem


def _classes() -> Iterator[type[DecideError]]:
    for _, found in inspect.getmembers(errors, inspect.isclass):
        if issubclass(found, DecideError) and found.__module__ == errors.__name__:
            yield found


CLASSES = list(_classes())


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_survives_a_pickle_with_all_it_holds(kind: type[DecideError], protocol: int) -> None:
    error = kind("a message")
    error.detail, error.key, error.http_status, error.retry_after = "detail", "key", 429, 2.5
    error.server_text, error.usage = "said", Usage(input_tokens=3)
    copied = pickle.loads(pickle.dumps(error, protocol))
    assert type(copied) is kind
    assert (str(copied), vars(copied)) == (str(error), vars(error))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_can_be_made_of_nothing_and_of_a_message_alone(kind: type[DecideError]) -> None:
    assert str(kind("a message")) == "a message"
    assert kind().detail == ""


def test_what_a_combinator_collected_survives_a_pickle() -> None:
    error = NoAnswerError("none", errors=[QuotaError("q", detail="d"), _from(EngineError("e"), AuthError("a"))])
    copied = pickle.loads(pickle.dumps(error))
    assert [type(one) for one in copied.errors] == [QuotaError, EngineError]
    assert copied.kinds == error.kinds == {Kind.QUOTA, Kind.ERROR, Kind.AUTH}
    assert kinds_of(copied) == kinds_of(error)


def test_an_undecided_error_keeps_its_trace_in_a_pickle() -> None:
    trace = Trace(outage=True)
    assert pickle.loads(pickle.dumps(UndecidedError("u", trace=trace))).trace == trace


def test_a_policys_problems_survive_a_pickle() -> None:
    error = InvalidPolicyError([Problem("a"), Problem("b")])
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.problems, str(copied)) == (error.problems, "a; b")


def test_every_kind_has_a_meaning_and_every_class_a_kind() -> None:
    assert set(MEANINGS) == set(Kind)
    assert {kind.kind for kind in CLASSES} == set(Kind) - {Kind.CANCELLED}


def _from(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kinds", "named"),
    [
        (EngineError(), {Kind.ERROR}, Kind.ERROR),
        (ValueError(), {Kind.ERROR}, Kind.ERROR),
        (TimeoutError(), {Kind.ERROR}, Kind.ERROR),
        (EngineTimeoutError(), {Kind.TIMEOUT}, Kind.TIMEOUT),
        (ReplayMissError(), {Kind.MISCONFIGURED}, Kind.MISCONFIGURED),
        (_from(EngineError(), QuotaError()), {Kind.ERROR, Kind.QUOTA}, Kind.QUOTA),
        (_from(RuntimeError(), _from(OSError(), AuthError())), {Kind.ERROR, Kind.AUTH}, Kind.AUTH),
        (NoAnswerError(), {Kind.ERROR}, Kind.ERROR),
        (NoAnswerError(errors=[BusyError(), TimeBudgetError()]), {Kind.BUSY, Kind.TIME}, Kind.BUSY),
        (NoAnswerError(errors=[NoAnswerError(errors=[BudgetError()])]), {Kind.BUDGET}, Kind.BUDGET),
        (
            ExceptionGroup("", [UnavailableError(), UnsupportedError()]),
            {Kind.UNAVAILABLE, Kind.UNSUPPORTED},
            Kind.UNAVAILABLE,
        ),
        (ExceptionGroup("", [ValueError(), ExceptionGroup("", [AuthError()])]), {Kind.ERROR, Kind.AUTH}, Kind.AUTH),
        (_from(ExceptionGroup("", [AuthError()]), QuotaError()), {Kind.AUTH, Kind.QUOTA}, Kind.QUOTA),
        (BaseExceptionGroup("", [KeyboardInterrupt()]), {Kind.ERROR}, Kind.ERROR),
    ],
)
def test_an_error_carries_its_own_kind_those_of_its_members_and_of_its_causes(
    error: BaseException, kinds: set[Kind], named: Kind
) -> None:
    assert kinds_of(error) == kinds
    assert kind_of(error) is named


def test_an_implicit_context_is_no_cause() -> None:
    error = EngineError()
    error.__context__ = QuotaError()
    assert kinds_of(error) == {Kind.ERROR}


def test_a_suppressed_explicit_cause_is_one_still() -> None:
    error = _from(EngineError(), QuotaError())
    error.__suppress_context__ = True
    assert Kind.QUOTA in kinds_of(error)


def test_errors_that_cause_each_other_are_walked_once() -> None:
    one, other = EngineError("one"), QuotaError("other")
    one.__cause__, other.__cause__ = other, one
    group = ExceptionGroup("", [one, other])
    one.__cause__.__cause__ = group
    assert kinds_of(one) == {Kind.ERROR, Kind.QUOTA}
    assert len(list(walk(group))) == 3


def test_a_chain_of_a_thousand_causes_is_walked_without_recursion() -> None:
    first = EngineError()
    last: BaseException = first
    for _ in range(5000):
        last.__cause__ = RuntimeError()
        last = last.__cause__
    last.__cause__ = PolicyRefusalError()
    assert kind_of(first) is Kind.POLICY_REFUSAL


def test_the_nearest_is_walked_first() -> None:
    cause = QuotaError("cause")
    members = [EngineError("a"), EngineError("b")]
    error = _from(NoAnswerError("none", errors=members), cause)
    assert list(walk(error)) == [error, *members, cause]


def test_the_order_of_kinds_is_the_one_that_names_an_attempt() -> None:
    assert list(Kind) == [
        "policy_refusal",
        "quota",
        "budget",
        "misconfigured",
        "unavailable",
        "busy",
        "unsupported",
        "auth",
        "rejected",
        "time",
        "timeout",
        "cancelled",
        "invalid",
        "error",
    ]


@pytest.mark.parametrize(
    ("error", "neutral"),
    [
        (EngineError(), False),
        (EngineTimeoutError(), False),
        (InvalidAnswerError(), False),
        (UnavailableError(), False),
        (ValueError(), False),
        (BusyError(), True),
        (UnsupportedError(), True),
        (InvalidRequestError(), True),
        (AuthError(), True),
        (QuotaError(), True),
        (BudgetError(), True),
        (TimeBudgetError(), True),
        (PolicyRefusalError(), True),
        (MisconfiguredError(), True),
        (_from(EngineError(), AuthError()), True),
        (NoAnswerError(errors=[EngineTimeoutError(), QuotaError()]), True),
    ],
)
def test_any_neutral_kind_makes_a_breaker_look_away(error: BaseException, neutral: bool) -> None:
    assert is_neutral(error) is neutral


def test_halting_kinds_are_those_that_a_person_has_to_see() -> None:
    halting = {kind for kind, meaning in MEANINGS.items() if meaning.halts}
    assert halting == {Kind.POLICY_REFUSAL, Kind.QUOTA, Kind.BUDGET, Kind.MISCONFIGURED}


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (EngineError("my secret"), "EngineError"),
        (RateLimitedError("my secret"), "RateLimitedError"),
        (EngineError("my secret", detail="3 of 4 answers"), "3 of 4 answers"),
        (EngineError("my secret", http_status=503, server_text="secret"), "http 503"),
        (InvalidRequestError("my secret", key="secret"), ""),
        (ValueError("my secret"), "ValueError"),
        (type("X" * 500, (Exception,), {})("my secret"), "X" * 200),
    ],
)
def test_a_detail_is_in_our_own_words(error: BaseException, detail: str) -> None:
    assert detail_of(error) == detail


def test_errors_of_a_request_are_value_errors_and_timeouts_are_timeout_errors() -> None:
    assert issubclass(InvalidRequestError, ValueError)
    assert issubclass(EngineTimeoutError, TimeoutError)
