"""
One trustworthy decision out of several engines.

Names are imported from their modules when they are first used, so that a program pays for what it uses.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decide.answers import (
        AbsentAnswerError,
        Answer,
        ChoiceAnswer,
        NoulAnswer,
        RelevanceAnswer,
        ScoreAnswer,
        ScoreResult,
        Usage,
        WrongKindError,
    )
    from decide.asking import Answers, ask
    from decide.asking_many import StateFailedError, ask_many
    from decide.attempt_log import AttemptLog
    from decide.attempts import Attempt, Report, merge_report
    from decide.chain import Chain, Decided, Stopped, StopPolicy, Undecided
    from decide.compose import (
        Breaker,
        BreakerStats,
        Budget,
        BudgetStats,
        Failure,
        FailureRate,
        Fallback,
        Hedged,
        Race,
        Retry,
        Single,
        Turns,
    )
    from decide.deadlines import time_budget
    from decide.decisions import Decision, Reference, Scored, validate
    from decide.distributions import NEAR_UNIFORM_TOLERANCE, near_uniform
    from decide.errors import (
        AuthError,
        BudgetError,
        BusyError,
        DecideError,
        EngineError,
        EngineTimeoutError,
        InvalidAnswerError,
        InvalidRequestError,
        Kind,
        MisconfiguredError,
        NoAnswerError,
        PolicyRefusalError,
        QuotaError,
        RateLimitedError,
        ReplayMissError,
        TimeBudgetError,
        UnavailableError,
        UndecidedError,
        UnsupportedError,
    )
    from decide.judging import deterministic
    from decide.outcomes import AttemptOutcome, Outcome, Provenance, Reason
    from decide.policies import DURABLE, NARROWING, InvalidPolicyError, SelectionPolicy
    from decide.problems import Problem, invalid_detail
    from decide.providers import Provider, ScoredProvider, TracedProvider, TracedScorer
    from decide.questions import (
        ChoiceQuestion,
        NoulQuestion,
        Question,
        RelevanceQuestion,
        ScoreQuestion,
        ScoreRequest,
        validate_score_request,
    )
    from decide.requests import EntityRef, Previous, Request, SessionState
    from decide.results import validate_score_result
    from decide.retry_after import MAX_RETRY_DELAY, parse_retry_after, retry_delay
    from decide.selecting import Selection
    from decide.states import MessageState, State, choice_over
    from decide.taxonomy import Interaction, ModuleSpec, Taxonomy, side_effectful
    from decide.threads import ThreadStats, in_thread
    from decide.traces import Observer, TotalUsage, Trace

__all__ = [
    "DURABLE",
    "MAX_RETRY_DELAY",
    "NARROWING",
    "NEAR_UNIFORM_TOLERANCE",
    "AbsentAnswerError",
    "Answer",
    "Answers",
    "Attempt",
    "AttemptLog",
    "AttemptOutcome",
    "AuthError",
    "Breaker",
    "BreakerStats",
    "Budget",
    "BudgetError",
    "BudgetStats",
    "BusyError",
    "Chain",
    "ChoiceAnswer",
    "ChoiceQuestion",
    "DecideError",
    "Decided",
    "Decision",
    "EngineError",
    "EngineTimeoutError",
    "EntityRef",
    "Failure",
    "FailureRate",
    "Fallback",
    "Hedged",
    "Interaction",
    "InvalidAnswerError",
    "InvalidPolicyError",
    "InvalidRequestError",
    "Kind",
    "MessageState",
    "MisconfiguredError",
    "ModuleSpec",
    "NoAnswerError",
    "NoulAnswer",
    "NoulQuestion",
    "Observer",
    "Outcome",
    "PolicyRefusalError",
    "Previous",
    "Problem",
    "Provenance",
    "Provider",
    "Question",
    "QuotaError",
    "Race",
    "RateLimitedError",
    "Reason",
    "Reference",
    "RelevanceAnswer",
    "RelevanceQuestion",
    "ReplayMissError",
    "Report",
    "Request",
    "Retry",
    "ScoreAnswer",
    "ScoreQuestion",
    "ScoreRequest",
    "ScoreResult",
    "Scored",
    "ScoredProvider",
    "Selection",
    "SelectionPolicy",
    "SessionState",
    "Single",
    "State",
    "StateFailedError",
    "StopPolicy",
    "Stopped",
    "Taxonomy",
    "ThreadStats",
    "TimeBudgetError",
    "TotalUsage",
    "Trace",
    "TracedProvider",
    "TracedScorer",
    "Turns",
    "UnavailableError",
    "Undecided",
    "UndecidedError",
    "UnsupportedError",
    "Usage",
    "WrongKindError",
    "ask",
    "ask_many",
    "choice_over",
    "deterministic",
    "in_thread",
    "invalid_detail",
    "merge_report",
    "near_uniform",
    "parse_retry_after",
    "retry_delay",
    "side_effectful",
    "time_budget",
    "validate",
    "validate_score_request",
    "validate_score_result",
]

_HOMES = {
    "answers": (
        "AbsentAnswerError Answer ChoiceAnswer NoulAnswer RelevanceAnswer ScoreAnswer ScoreResult Usage WrongKindError"
    ),
    "asking": "Answers ask",
    "asking_many": "StateFailedError ask_many",
    "attempt_log": "AttemptLog",
    "attempts": "Attempt Report merge_report",
    "chain": "Chain Decided StopPolicy Stopped Undecided",
    "compose": "Breaker BreakerStats Budget BudgetStats Failure FailureRate Fallback Hedged Race Retry Single Turns",
    "deadlines": "time_budget",
    "decisions": "Decision Reference Scored validate",
    "distributions": "NEAR_UNIFORM_TOLERANCE near_uniform",
    "errors": (
        "AuthError BudgetError BusyError DecideError EngineError EngineTimeoutError InvalidAnswerError "
        "InvalidRequestError Kind MisconfiguredError NoAnswerError PolicyRefusalError QuotaError RateLimitedError "
        "ReplayMissError TimeBudgetError UnavailableError UndecidedError UnsupportedError"
    ),
    "judging": "deterministic",
    "outcomes": "AttemptOutcome Outcome Provenance Reason",
    "policies": "DURABLE InvalidPolicyError NARROWING SelectionPolicy",
    "problems": "Problem invalid_detail",
    "providers": "Provider ScoredProvider TracedProvider TracedScorer",
    "questions": (
        "ChoiceQuestion NoulQuestion Question RelevanceQuestion ScoreQuestion ScoreRequest validate_score_request"
    ),
    "requests": "EntityRef Previous Request SessionState",
    "results": "validate_score_result",
    "retry_after": "MAX_RETRY_DELAY parse_retry_after retry_delay",
    "selecting": "Selection",
    "states": "MessageState State choice_over",
    "taxonomy": "Interaction ModuleSpec Taxonomy side_effectful",
    "threads": "ThreadStats in_thread",
    "traces": "Observer TotalUsage Trace",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
