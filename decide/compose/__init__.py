"""Combinators: several engines that act as one, and gates in front of an engine."""

from decide.compose.breaker import Breaker, BreakerStats
from decide.compose.budget import Budget, BudgetStats
from decide.compose.fallback import Fallback
from decide.compose.hedged import Hedged
from decide.compose.race import Race
from decide.compose.single import Single

__all__ = ["Breaker", "BreakerStats", "Budget", "BudgetStats", "Fallback", "Hedged", "Race", "Single"]
