"""Rules: phrases that are answered without any model, first in a chain."""

from decide.rules.normalizing import normalize
from decide.rules.phrases import Phrase, contains, exact, starts_with
from decide.rules.rule import Match, Rule
from decide.rules.table import RuleTable

__all__ = ["Match", "Phrase", "Rule", "RuleTable", "contains", "exact", "normalize", "starts_with"]
