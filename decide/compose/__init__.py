"""Combinators: several engines that act as one, and gates in front of an engine."""

from decide.compose._rates import FailureRate
from decide.compose.breaker import Breaker, BreakerStats
from decide.compose.budget import Budget, BudgetStats
from decide.compose.fallback import Fallback
from decide.compose.hedged import Hedged
from decide.compose.race import Race
from decide.compose.retry import Failure, Retry
from decide.compose.single import Single
from decide.compose.turns import Turns

__all__ = [
    "Breaker",
    "BreakerStats",
    "Budget",
    "BudgetStats",
    "Failure",
    "FailureRate",
    "Fallback",
    "Hedged",
    "Race",
    "Retry",
    "Single",
    "Turns",
]
