"""A table of rules as an engine."""

import anyio
import pytest
from hypothesis import given

from decide.attempt_log import AttemptLog
from decide.attempts import Attempt
from decide.chain import Chain, Decided, Undecided
from decide.compose import Fallback, Race, Single
from decide.decisions import Decision, Scored
from decide.outcomes import Provenance
from decide.policies import DURABLE, SelectionPolicy
from decide.providers import adapt
from decide.requests import EntityRef, Request, SessionState
from decide.rules import Match, Rule, RuleTable, contains, starts_with
from decide.rules.normalizing import lower
from decide.taxonomy import ModuleSpec, Taxonomy
from tests.rules.naive import naive_answer
from tests.rules.strategies import tables, texts

BOOK = Decision(interaction="command", module=Scored("tables"), intent=Scored("book"), slots={"meal": "dinner"})
YES = Decision(interaction="confirmation")
TAXONOMY = Taxonomy(modules=[ModuleSpec(name="tables", intents=["book"])])


def said(text: str) -> Request:
    return Request(text=text, taxonomy=TAXONOMY)


async def attempts(table: RuleTable, text: str) -> list[tuple[str, str, str]]:
    log = AttemptLog()
    await table.decide_traced(said(text), log)
    return [summary(attempt) for attempt in log.report().attempts]


def summary(attempt: Attempt) -> tuple[str, str, str]:
    return attempt.provider, attempt.outcome, attempt.rule


async def test_a_phrase_decides_for_certain_and_without_a_policy() -> None:
    table = RuleTable([Rule("book", ["book a table"], BOOK)])

    decision = await table.decide(said("Book a table!"))

    assert decision is not None
    assert decision.actionable
    assert decision.provenance is Provenance.DETERMINISTIC
    assert (decision.module, decision.intent) == (Scored("tables", 1.0), Scored("book", 1.0))


async def test_a_text_that_no_rule_matches_is_abstained_from() -> None:
    table = RuleTable([Rule("book", ["book a table"], BOOK)], name="phrases")

    assert await table.decide(said("book a chair")) is None
    assert await attempts(table, "book a chair") == [("phrases", "abstained", "")]


async def test_an_empty_table_abstains() -> None:
    assert await RuleTable([]).decide(said("yes")) is None


async def test_confidences_that_a_rule_states_are_kept() -> None:
    modest = Decision(module=Scored("tables", 0.4), intent=Scored("book", 0.0), interaction="command")
    silent = Decision(interaction="chat")
    table = RuleTable([Rule("modest", ["maybe"], modest), Rule("silent", ["hm"], silent)])

    kept, empty = await table.decide(said("maybe")), await table.decide(said("hm"))

    assert kept is not None
    assert empty is not None
    assert (kept.module.confidence, kept.intent.confidence, kept.interaction_confidence) == (0.4, 1.0, 0.0)
    assert (empty.module.confidence, empty.intent.confidence) == (0.0, 0.0)


async def test_a_rule_has_no_model_and_no_numbers_of_one() -> None:
    lie = Decision(interaction="chat", calibrated=True, model="gpt", scores={"m/i": 0.1})

    decision = await RuleTable([Rule("lie", ["lie"], lie)]).decide(said("lie"))

    assert decision is not None
    assert (decision.calibrated, decision.model, decision.scores) == (False, "", {})


async def test_slots_of_the_text_join_those_of_the_rule_and_win() -> None:
    table = RuleTable([Rule("book", ["book {count} for {meal}", "book for {count}"], BOOK)])

    both, one = await table.decide(said("Book Two for LUNCH")), await table.decide(said("book for 4"))

    assert both is not None
    assert both.slots == {"meal": "LUNCH", "count": "Two"}
    assert both.actionable
    assert one is not None
    assert one.slots == {"meal": "dinner", "count": "4"}


async def test_answers_do_not_share_what_a_caller_could_change() -> None:
    table = RuleTable([Rule("book", ["book"], BOOK)])
    first = await table.decide(said("book"))
    assert first is not None
    first.slots["meal"] = "breakfast"

    second = await table.decide(said("book"))

    assert second is not None
    assert second.slots == {"meal": "dinner"}
    assert second.actionable
    assert not first.actionable


async def test_the_rule_that_stands_first_decides_when_two_match() -> None:
    rules = [Rule("refund", [contains("refund")], YES), Rule("late", [starts_with("you are late")], YES)]

    text = "you are late, so I want a refund"
    assert await attempts(RuleTable(rules), text) == [("rules", "decided", "refund")]
    assert await attempts(RuleTable(reversed(rules)), text) == [("rules", "decided", "late")]


@given(tables, texts)
def test_any_table_decides_as_one_that_tries_rule_by_rule(rules: list[Rule], text: str) -> None:
    async def decide() -> tuple[str, dict[str, str]] | None:
        log = AttemptLog()
        decision = await RuleTable(rules, on_conflict="first").decide_traced(Request(text=text), log)
        [attempt] = log.report().attempts
        slots = {name: lower(value) for name, value in decision.slots.items()} if decision else {}
        return (attempt.rule, slots) if attempt.rule else None

    assert anyio.run(decide) == naive_answer(rules, text)


async def test_a_function_gets_the_normalised_text_and_the_state() -> None:
    seen: list[tuple[str, SessionState]] = []

    def match(text: str, state: SessionState) -> Decision | None:
        seen.append((text, state))
        return BOOK if state.focused else None

    table = RuleTable([Rule("focused", match=match)])
    state = SessionState(focused=EntityRef(type="table"))

    decision = await table.decide(Request(text="  That ONE! ", state=state))

    assert seen == [("that one", state)]
    assert decision is not None
    assert decision.actionable
    assert decision.module.confidence == 1.0
    assert await table.decide(said("that one")) is None


@pytest.mark.parametrize(("text", "called"), [("yes", ["before"]), ("no", ["before", "after"])])
async def test_functions_after_a_matching_phrase_are_not_called(text: str, called: list[str]) -> None:
    calls: list[str] = []

    def noting(name: str) -> Match:
        return lambda text, state: calls.append(name)

    table = RuleTable(
        [Rule("before", match=noting("before")), Rule("yes", ["yes"], YES), Rule("after", match=noting("after"))]
    )
    await table.decide(said(text))

    assert calls == called


async def test_a_function_before_a_matching_phrase_decides() -> None:
    table = RuleTable([Rule("all", match=lambda text, state: BOOK), Rule("yes", ["yes"], YES)])

    assert await attempts(table, "yes") == [("rules", "decided", "all")]


async def test_a_function_that_raises_is_named_in_the_trace_without_its_words() -> None:
    def fail(text: str, state: SessionState) -> Decision | None:
        raise LookupError(f"no such thing as {text}")

    chain = Chain([RuleTable([Rule("broken", match=fail), Rule("yes", ["yes"], YES)])])

    ended = await chain.decide(said("yes"))

    assert [summary(one) for one in ended.trace.attempts] == [("rules", "error", "broken")]
    assert "yes" not in repr(ended.trace)


async def test_a_function_that_returns_something_else_fails_instead_of_deciding() -> None:
    class Loose:
        def __call__(self, text: str, state: SessionState) -> Decision | None:
            return "yes"  # type: ignore[return-value]  # what a caller without a type checker may write

    table = RuleTable([Rule("loose", match=Loose())])

    with pytest.raises(TypeError, match="rule 'loose': match returned a str, not a Decision or None"):
        await table.decide(said("yes"))


async def test_a_cancelled_call_ends_before_the_next_function_and_is_recorded_as_cancelled() -> None:
    calls: list[str] = []

    def giving_up(text: str, state: SessionState) -> Decision | None:
        calls.append("first")
        scope.cancel()
        return None

    def second(text: str, state: SessionState) -> Decision | None:
        calls.append("second")
        return YES

    log = AttemptLog()
    table = RuleTable([Rule("giving up", match=giving_up), Rule("second", match=second)])
    with anyio.CancelScope() as scope:
        await table.decide_traced(said("hm"), log)

    assert scope.cancelled_caught
    assert calls == ["first"]
    assert [summary(one) for one in log.report().attempts] == [("rules", "cancelled", "")]


async def test_a_call_that_is_already_cancelled_matches_nothing() -> None:
    log = AttemptLog()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await RuleTable([Rule("yes", ["yes"], YES)]).decide_traced(said("yes"), log)

    assert scope.cancelled_caught
    assert [summary(one) for one in log.report().attempts] == [("rules", "cancelled", "")]


@pytest.mark.parametrize("policy", [None, DURABLE])
async def test_the_name_of_the_rule_is_still_in_the_trace_after_a_chain_judged(policy: SelectionPolicy | None) -> None:
    table = RuleTable([Rule("book a table", ["book {count}"], BOOK)])
    other = RuleTable([], name="other")

    for engine in (table, Single(table), Race(table, other), Single(Fallback(table, other), name="outer")):
        ended = await Chain([engine], policy=policy).decide(said("book 4"))

        assert isinstance(ended, Decided)
        assert ended.decision is not None
        assert ended.decision.slots["count"] == "4"
        assert ended.trace.engine == "rules"
        assert ("rules", "decided", "book a table") in map(summary, ended.trace.attempts)


async def test_the_name_of_a_rule_whose_decision_is_invalid_is_in_the_trace() -> None:
    table = RuleTable([Rule("typo", ["book"], Decision(interaction="command", module=Scored("tabels")))])

    ended = await Chain([table]).decide(said("book"))

    assert isinstance(ended, Undecided)
    assert [summary(one) for one in ended.trace.attempts] == [("rules", "invalid", "typo")]


def test_a_table_declares_that_it_is_quick_and_has_no_model() -> None:
    engine = adapt(RuleTable([], name="phrases"))

    assert (engine.name, engine.timeout, engine.deterministic) == ("phrases", 0.3, True)
