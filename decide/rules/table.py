"""A table of rules as an engine: the first rule that matches decides, and the trace says which one it was."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from anyio.lowlevel import checkpoint_if_cancelled

from decide.attempt_log import AttemptLog, OpenAttempt
from decide.decisions import Decision
from decide.outcomes import AttemptOutcome
from decide.requests import Request
from decide.rules.matching import PhraseIndex, Utterance
from decide.rules.phrases import Wording
from decide.rules.rule import Match, Rule, answer


class RuleTable:
    """
    Decide by rules: an engine without a model, whose answers are actionable under every policy.

    It abstains from a text that no rule matches. When several match, the one that stands first in the table decides.

    Each phrase belongs to one rule: said by itself it must not match another rule too, or the table is refused. Whether
    two phrases meet in some longer text ("refund" and "invoice"), and what a match function does, cannot be told in
    advance; there the order decides.

    Args:
        rules: The rules, in order.
        name: What traces call the table.
        on_conflict: `refuse`, or `first` to let the order decide where a phrase matches two rules, too.

    Raises:
        ValueError: If two rules have one name, or match one phrase.
    """

    decision_timeout: float | None = 0.3
    """Seconds. Phrases take microseconds, but match functions are the caller's."""

    deterministic = True

    def __init__(
        self, rules: Iterable[Rule], *, name: str = "rules", on_conflict: Literal["refuse", "first"] = "refuse"
    ) -> None:
        if on_conflict not in {"refuse", "first"}:
            raise ValueError(f"on_conflict is {on_conflict!r}: use 'refuse' or 'first'")
        self._name = name
        self._answers: dict[int, tuple[str, Decision]] = {}
        self._functions: list[tuple[int, str, Match]] = []
        wordings: dict[int, Wording] = {}
        positions = itertools.count()
        for rule in _distinct(rules):
            if rule.match is not None:
                self._functions.append((next(positions), rule.name, rule.match))
            elif rule.decision is not None:
                for wording, position in zip(rule.wordings, positions, strict=False):
                    wordings[position] = wording
                    self._answers[position] = rule.name, rule.decision
        self._index = PhraseIndex(wordings)
        if on_conflict == "refuse":
            self._refuse_conflicts(wordings)

    @property
    def name(self) -> str:
        """
        What traces call the table.
        """
        return self._name

    async def decide(self, request: Request, /) -> Decision | None:
        return await self.decide_traced(request, AttemptLog())

    async def decide_traced(self, request: Request, log: AttemptLog, /) -> Decision | None:
        with log.attempt(self._name) as attempt:
            await checkpoint_if_cancelled()
            decision = await self._first(request, attempt)
            if decision is None:
                attempt.outcome = AttemptOutcome.ABSTAINED
            else:
                log.engine = self._name
            return decision

    async def _first(self, request: Request, attempt: OpenAttempt) -> Decision | None:
        heard = Utterance(request.text)
        found = self._index.first(heard)
        for position, name, match in self._functions:
            if found is not None and found < position:
                break
            attempt.rule = name
            decision = match(heard.text, request.state)
            if decision is not None:
                return answer(_checked(decision, name))
            attempt.rule = ""
            await checkpoint_if_cancelled()
        if found is None:
            return None
        attempt.rule, decision = self._answers[found]
        return answer(decision, self._index.slots(found, heard))

    def _refuse_conflicts(self, wordings: Mapping[int, Wording]) -> None:
        for position, wording in wordings.items():
            own, _ = self._answers[position]
            matching = sorted(self._index.every(Utterance(wording.text)))
            other = next((at for at in matching if self._answers[at][0] != own), None)
            if other is not None:
                name, phrase = self._answers[other][0], wordings[other].phrase
                raise ValueError(
                    f"rules {name!r} and {own!r} conflict: the phrase {wording.phrase.text!r} of {own!r} also matches "
                    f"{phrase.text!r} ({phrase.how}) of {name!r}. Reword one of them, or pass on_conflict='first' to "
                    "let the rule that stands first decide"
                )


def _checked(decision: object, rule: str) -> Decision:
    if not isinstance(decision, Decision):
        raise TypeError(f"rule {rule!r}: match returned a {type(decision).__name__}, not a Decision or None")
    return decision


def _distinct(rules: Iterable[Rule]) -> Iterator[Rule]:
    names: set[str] = set()
    for rule in rules:
        if rule.name in names:
            raise ValueError(f"two rules are called {rule.name!r}: a trace could not tell them apart")
        names.add(rule.name)
        yield rule
