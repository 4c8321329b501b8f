"""A taxonomy asked as questions, and the answers folded into one decision that nobody has judged yet."""

import json
from typing import Any

import anyio
import httpx2
import pytest

from decide.attempt_log import AttemptLog
from decide.attempts import Attempt
from decide.decisions import Decision, validate
from decide.errors import InvalidAnswerError, InvalidRequestError
from decide.policies import DURABLE, NARROWING
from decide.requests import EntityRef, Previous, Request, SessionState
from decide.taxonomy import ModuleSpec, Taxonomy
from tests.engines.wire import engine_over

TAXONOMY = Taxonomy(
    modules=(
        ModuleSpec(name="billing", intents=("show", "refund"), scopes=("invoices", "payments")),
        ModuleSpec(name="support"),
    ),
    data_kinds=("ledger", "tickets"),
    entity_types=("invoice", "ticket"),
    presentations=("list", "none"),
    descriptions={"billing/show": "show an invoice", "support": "bugs", "invoices": "all invoices"},
)
TABLE = Taxonomy(modules=(ModuleSpec(name="choose:table", intents=("a", "b")),), data_kinds=("d",))


def chosen(option: str, probability: float = 0.9, rest: str = "other", **more: Any) -> dict[str, Any]:
    left = round(1 - probability, 6)
    return {"type": "choice", "choice": option, "probabilities": {option: probability, rest: left}, **more}


def noul(probability: float) -> dict[str, Any]:
    return {"type": "noul", "noul": probability}


ANSWERS: dict[str, Any] = {
    "intent": chosen("billing/show"),
    "interaction": chosen("question", rest="chat"),
    "scope0": noul(0.9),
    "scope1": noul(0.2),
    "scope2": noul(0.9),
    "data0": noul(0.61),
    "data1": {"type": "refusal"},
    "entity": chosen("invoice", rest="ticket"),
    "presentation": chosen("list", rest="none_"),
}


async def decide(
    answers: dict[str, Any], taxonomy: Taxonomy = TAXONOMY, **options: Any
) -> tuple[Decision | None, Attempt, dict[str, Any]]:
    sent: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        usage = {"input_tokens": 120, "output_tokens": 17}
        return httpx2.Response(200, json={"model": "jev-1.13.0", "answers": answers, "usage": usage})

    log = AttemptLog()
    request = Request(text="show my invoice", taxonomy=taxonomy, recent=("hello",), context={"plan": "pro"})
    decision = await engine_over(answer, **options).decide_traced(request, log)
    (attempt,) = log.report().attempts
    return decision, attempt, json.loads(sent[0].content)


async def abstains(reason: str, answers: dict[str, Any], **options: Any) -> None:
    decision, attempt, _ = await decide({**ANSWERS, **answers}, **options)
    assert decision is None
    assert (attempt.outcome, attempt.detail) == ("abstained", reason)
    assert attempt.usage is not None
    assert attempt.usage.input_tokens == 120


async def test_the_answers_make_one_calibrated_decision_that_nobody_has_judged() -> None:
    decision, attempt, _ = await decide(ANSWERS)

    assert decision is not None
    assert validate(decision, TAXONOMY) == ()
    assert (decision.module.value, decision.intent.value) == ("billing", "show")
    assert decision.intent.confidence == decision.module.confidence == pytest.approx((4 * 0.9 - 1) / 3)
    assert decision.scores == {"billing/show": 0.9, "other": 0.1}
    assert decision.interaction == "question"
    assert decision.interaction_scores == {"question": 0.9, "chat": 0.1}
    assert decision.required_scopes == ("invoices",)
    assert decision.required_data == ("ledger",)
    assert decision.reference is not None
    assert decision.reference.kind == "invoice"
    assert (decision.presentation, decision.model) == ("list", "jev-1.13.0")
    assert decision.calibrated
    assert decision.needs_llm
    assert not decision.actionable
    assert NARROWING.judge(decision)[0].actionable
    assert attempt.outcome == "decided"


async def test_all_questions_about_a_taxonomy_go_in_one_request() -> None:
    _, _, body = await decide(ANSWERS)

    assert list(body["questions"]) == [
        "intent",
        "interaction",
        "scope0",
        "scope1",
        "scope2",
        "data0",
        "data1",
        "entity",
        "presentation",
    ]
    options = body["questions"]["intent"]["criteria"]
    assert list(options) == ["billing/show", "billing/refund", "support", "other"]
    assert options["billing/show"] == "show an invoice"
    assert options["billing/refund"] is None
    assert len(body["questions"]["interaction"]["criteria"]) == 9
    assert list(body["questions"]["presentation"]["criteria"]) == ["list", "none", "none_"]
    assert "all invoices" in body["questions"]["scope0"]["instructions"]
    assert body["state"] == {"message": "show my invoice", "recent": ["hello"], "context": {"plan": "pro"}}


async def test_what_the_user_sees_is_sent_and_the_keys_of_the_product_are_not() -> None:
    sent: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(200, json={"answers": ANSWERS})

    state = SessionState(
        focused=EntityRef(type="invoice", keys={"id": "secret"}, title="March"),
        selection=(EntityRef(type="ticket", keys="secret"),),
        previous=Previous(kind="list"),
        pending={"secret": 1},
        last_shown=["secret"],
    )
    await engine_over(answer).decide(
        Request(
            text="this",
            taxonomy=TAXONOMY,
            state=state,
            interaction_id="secret",
            client_context={"secret": 1},
            product="secret",
        )
    )

    assert b"secret" not in sent[0].content
    assert json.loads(sent[0].content)["state"] == {
        "message": "this",
        "focused": {"type": "invoice", "title": "March"},
        "selection": [{"type": "ticket"}],
        "previous": {"kind": "list"},
    }


async def test_a_module_without_intents_is_an_option_of_its_own() -> None:
    decision, _, _ = await decide({**ANSWERS, "intent": chosen("support")})

    assert decision is not None
    assert (decision.module.value, decision.intent.value) == ("support", "")
    assert decision.required_scopes == ("support",)


async def test_a_single_choose_module_is_a_plain_choice() -> None:
    decision, _, body = await decide({"intent": chosen("a", 0.8, "b")}, TABLE)

    assert list(body["questions"]) == ["intent"]
    assert list(body["questions"]["intent"]["criteria"]) == ["a", "b"]
    assert decision is not None
    assert (decision.module.value, decision.intent.value, decision.interaction) == ("choose:table", "a", "question")
    assert decision.scores == {"a": 0.8, "b": 0.2}


async def test_none_of_the_intents_is_an_abstention() -> None:
    await abstains("intent_other", {"intent": chosen("other", rest="support")})


@pytest.mark.parametrize("question", ["intent", "interaction"])
async def test_a_declined_intent_or_interaction_abstains(question: str) -> None:
    await abstains("no_answer", {question: {"type": "refusal"}})


@pytest.mark.parametrize("question", ["intent", "interaction"])
@pytest.mark.parametrize("entry", ["x", {"type": "noul", "noul": 0.9}, chosen("zzz")])
async def test_a_malformed_intent_or_interaction_is_a_bad_reply(question: str, entry: object) -> None:
    with pytest.raises(InvalidAnswerError) as caught:
        await decide({**ANSWERS, question: entry})

    assert caught.value.usage is not None


@pytest.mark.parametrize(
    ("reason", "entry"),
    [
        ("interaction_low_confidence", chosen("question", 0.5, "chat")),
        (
            "interaction_gap",
            {"type": "choice", "choice": "question", "probabilities": {"question": 0.58, "chat": 0.42}},
        ),
        ("interaction_no_scores", {"type": "choice", "choice": "question", "confidence": 0.9}),
        ("interaction_below_durable", chosen("undo", 0.9, "chat")),
    ],
)
async def test_an_interaction_below_the_bars_abstains(reason: str, entry: dict[str, Any]) -> None:
    await abstains(reason, {"interaction": entry})


async def test_an_interaction_below_the_engines_own_policy_abstains() -> None:
    await abstains("interaction_low_confidence", {}, policy=DURABLE)


async def test_a_side_effect_above_the_durable_bars_is_decided() -> None:
    decision, _, _ = await decide({**ANSWERS, "interaction": chosen("undo", 0.95, "chat")})

    assert decision is not None
    assert decision.interaction == "undo"


async def test_what_is_missing_about_details_is_left_out() -> None:
    decision, _, _ = await decide({"intent": ANSWERS["intent"], "interaction": ANSWERS["interaction"], "entity": 7})

    assert decision is not None
    assert decision.required_scopes == decision.required_data == ()
    assert decision.reference is None
    assert decision.presentation == ""


async def test_an_intent_without_probabilities_is_not_calibrated() -> None:
    decision, _, _ = await decide(
        {**ANSWERS, "intent": {"type": "choice", "choice": "billing/show", "confidence": 0.95}}
    )

    assert decision is not None
    assert not decision.calibrated
    assert decision.scores == {}
    assert decision.intent.confidence == 0.95
    assert not DURABLE.judge(decision)[0].actionable


async def test_self_reported_answers_make_an_uncalibrated_decision_for_a_judge_that_opts_in() -> None:
    decision, _, _ = await decide({**ANSWERS, "interaction": chosen("question", 0.51, "chat")}, calibrated=False)
    assert decision is not None
    assert not decision.calibrated
    assert NARROWING.judge(decision)[1].detail == "accepted: accepted_uncalibrated"
    assert not DURABLE.judge(decision)[0].actionable


@pytest.mark.parametrize(
    ("taxonomy", "detail"),
    [
        (Taxonomy(), "no modules"),
        (Taxonomy(modules=(ModuleSpec(name="m", intents=tuple(f"i{n}" for n in range(255))),)), "255 intents"),
        (Taxonomy(modules=(ModuleSpec(name="\u00e9"), ModuleSpec(name="e\u0301"))), "ids in the taxonomy"),
        (Taxonomy(modules=(ModuleSpec(name="m"),), entity_types=("",)), "ids in the taxonomy"),
    ],
)
async def test_a_taxonomy_that_cannot_be_asked_is_refused(taxonomy: Taxonomy, detail: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        await decide({}, taxonomy)

    assert caught.value.detail == detail
    assert caught.value.__context__ is None


async def test_of_two_modules_with_one_name_the_first_counts() -> None:
    twice = Taxonomy(modules=(ModuleSpec(name="m", intents=("a",)), ModuleSpec(name="m", intents=("b",))))

    _, _, body = await decide({"intent": chosen("m/a"), "interaction": ANSWERS["interaction"]}, twice)

    assert list(body["questions"]["intent"]["criteria"]) == ["m/a", "other"]


async def test_a_module_called_other_keeps_its_name() -> None:
    taxonomy = Taxonomy(modules=(ModuleSpec(name="other"), ModuleSpec(name="m")))

    decision, _, _ = await decide(
        {"intent": chosen("other", rest="other_"), "interaction": ANSWERS["interaction"]}, taxonomy
    )

    assert decision is not None
    assert decision.module.value == "other"


async def test_deciding_on_its_own_ends_at_the_engines_timeout() -> None:
    async def stalled(_: httpx2.Request) -> httpx2.Response:
        await anyio.sleep_forever()
        raise AssertionError

    with pytest.raises(TimeoutError, match=r"0\.5 s"):
        await engine_over(stalled, decision_timeout=0.5).decide(Request(text="t", taxonomy=TAXONOMY))  # type: ignore[arg-type]
