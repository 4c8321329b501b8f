"""Where in a model's reply its answer is, and when it cannot be told: cases B048 to B050."""

import time

import pytest

from decide.engines._llm_objects import MAX_TEXT
from decide.engines.chat import ChatReply, FinishReason
from decide.engines.llm import LLMEngine
from decide.errors import InvalidAnswerError
from tests.engines.llm.models import DECIDED, NOUL, SAID, Saying, answers, attempt_of, decided

FENCE = "```"
KEPT = DECIDED.replace("cancel", "keep")
BLOCK = DECIDED.replace('"command"', '"command", "reason": "as in ```json {} ``` above"')


async def refusal(text: str) -> str:
    """
    Return why a reply that is no answer is none.
    """
    with pytest.raises(InvalidAnswerError) as failed:
        await decided(text)
    return failed.value.detail


@pytest.mark.parametrize(
    "text",
    [
        DECIDED,
        f"{FENCE}json\n{DECIDED}\n{FENCE}",
        f"{FENCE}\n{DECIDED}\n{FENCE}",
        f"{FENCE}json   \r\n{DECIDED}\r\n{FENCE}  \r\n",
        f"{FENCE}json\n{BLOCK}\n{FENCE}",
        f"{FENCE}json\n{DECIDED}",
        f"\ufeff{DECIDED}",
    ],
    ids=["bare", "fence", "plain fence", "blanks and CRLF", "backticks as data", "unclosed fence", "byte order mark"],
)
async def test_b048_fences_do_not_change_the_decision(text: str) -> None:
    assert (await decided(text)).intent.value == "cancel"


async def test_b048_an_empty_fence_is_invalid() -> None:
    assert await refusal(f"{FENCE}json\n{FENCE}") == "$: no answer in it"


async def test_b049_a_shell_block_in_front_is_not_the_answer() -> None:
    shell = f"{FENCE}bash\nfor f in *; do echo ${{f%%.*}} {{a,b}} | awk '{{print $1}}'; done\n{FENCE}"

    assert (await decided(f"{shell}\nSo:\n{FENCE}json\n{DECIDED}\n{FENCE}")).intent.value == "cancel"


async def test_b049_two_answers_that_differ_are_ambiguous() -> None:
    blocks = f"{FENCE}json\n{DECIDED}\n{FENCE}\nor\n{FENCE}json\n{KEPT}\n{FENCE}"

    assert await refusal(blocks) == "$: two answers that differ"


async def test_the_same_answer_twice_is_one() -> None:
    spaced = DECIDED.replace(":", ": \n")

    assert (await decided(f"{DECIDED} that is {spaced}")).intent.value == "cancel"


@pytest.mark.parametrize(
    "text",
    [
        f"Result: {DECIDED}. See note [1].",
        f"{DECIDED}\n\nRefs: [docs] }}",
        f"For {{x}}, {{a, b}} and {{}} it is {DECIDED} and not {{y}} or {{z",
        f'Here is {{"note": 1}} and {DECIDED}, then {{"module": }}',
        f"{{\n- not JSON\n}} {DECIDED}",
        f"set {{ then {DECIDED}",
    ],
)
async def test_b050_brackets_in_the_small_talk_are_small_talk(text: str) -> None:
    assert (await decided(text)).intent.value == "cancel"


@pytest.mark.parametrize(
    "text", [f"[{DECIDED}]", f"[1, {DECIDED}]", f"[{DECIDED}, 1]", f'["a", {DECIDED}, "b"]', f"[{DECIDED}, {DECIDED}]"]
)
async def test_b050_an_answer_in_a_list_is_invalid(text: str) -> None:
    assert await refusal(text) == "$: an answer inside a list"


@pytest.mark.parametrize(
    "text",
    [
        DECIDED[:-1],
        DECIDED[: len(DECIDED) // 2],
        f'{{"result": {DECIDED}',
        f'{{"steps": [1, {{"a": "b"}}], "answer": {DECIDED}',
        f"{{result: {DECIDED}",
        f"{DECIDED} or rather {DECIDED[:30]}",
    ],
)
async def test_half_an_object_is_no_answer_and_neither_is_what_stands_in_it(text: str) -> None:
    assert await refusal(text) == "$: JSON that does not end"


@pytest.mark.parametrize("text", [f'{{"result": {DECIDED}}}', f"{{result: {DECIDED}}}", DECIDED.replace('"', "'")])
async def test_what_is_wrapped_or_nearly_json_is_not_repaired(text: str) -> None:
    assert await refusal(text) == "$: no answer in it"


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{KEPT} or {{not</think>{DECIDED}",
        f"\n<thinking>\n{KEPT}\n</thinking>\n\n{FENCE}json\n{DECIDED}\n{FENCE}",
        f'{KEPT} or {{"half</think>\n{DECIDED}',
        f"<think>a</think><reasoning>{KEPT}</reasoning>{DECIDED}",
    ],
    ids=["with a draft", "in a fence", "opened before the reply", "two blocks"],
)
async def test_reasoning_is_cut_before_anyone_looks_for_an_answer(text: str) -> None:
    assert (await decided(text)).intent.value == "cancel"


async def test_an_answer_inside_reasoning_is_none() -> None:
    assert await refusal(f"<think>{DECIDED}") == "$: reasoning that does not end"
    assert await refusal(f"<think>{DECIDED}</think> I cannot tell.") == "$: no answer in it"
    assert await refusal(f"Well, {DECIDED}</think> I cannot tell {{}}.") == "$: no answer in it"


async def test_the_end_of_reasoning_as_data_hides_nothing() -> None:
    slots = '"slots": [{"name": "tag", "value": "</think>"}, {"name": "when", "value": "Friday"}]'
    decision = await decided(DECIDED.replace('"interaction":', f'{slots}, "interaction":'))

    assert decision.slots == {"tag": "</think>", "when": "Friday"}


@pytest.mark.parametrize("text", ["", " ", "I think they want to cancel.", '"orders"', "[]", "null", "7"])
async def test_prose_is_invalid(text: str) -> None:
    assert await refusal(text) == "$: no answer in it"


async def test_nothing_written_is_invalid() -> None:
    attempt, failed = await attempt_of(LLMEngine(Saying(ChatReply())))

    assert isinstance(failed, InvalidAnswerError)
    assert (attempt.outcome, attempt.detail) == ("invalid", "$: nothing was written")


@pytest.mark.parametrize(
    ("reason", "detail"),
    [
        (FinishReason.LENGTH, "$: cut off, finish_reason=length"),
        (FinishReason.CONTENT_FILTER, "$: withheld, finish_reason=content_filter"),
        (FinishReason.REFUSAL, "$: refused, finish_reason=refusal"),
    ],
)
async def test_a_reply_that_was_cut_is_invalid_even_where_it_can_be_read(reason: FinishReason, detail: str) -> None:
    attempt, failed = await attempt_of(LLMEngine(Saying(ChatReply(text=DECIDED, finish_reason=reason))))

    assert isinstance(failed, InvalidAnswerError)
    assert attempt.detail == failed.detail == detail


async def test_what_a_provider_delimited_is_read_instead_of_the_text() -> None:
    for structured in (DECIDED, SAID):
        assert (await decided(ChatReply(text=KEPT, structured=structured))).intent.value == "cancel"


@pytest.mark.parametrize("structured", ["", "[]", "{}", f"{DECIDED} x", f"[{DECIDED}]", '"x"', f'{{"a": {DECIDED}}}'])
async def test_what_a_provider_delimited_is_one_object_and_nothing_more(structured: str) -> None:
    with pytest.raises(InvalidAnswerError):
        await decided(ChatReply(text=DECIDED, structured=structured))


async def test_answers_without_their_envelope_are_answers() -> None:
    assert (await answers('{"n": {"noul": 0.4}}', NOUL))["n"].noul == 0.4


@pytest.mark.parametrize(
    "text",
    [
        "{" * MAX_TEXT,
        "[" * MAX_TEXT,
        '{"a":' * (MAX_TEXT // 5),
        '{"' + '\\"' * (MAX_TEXT // 2 - 2),
        '"{' * (MAX_TEXT // 2),
        "{a" * (MAX_TEXT // 2),
        "</think>" * (MAX_TEXT // 8),
        "<think></think>" * (MAX_TEXT // 15),
        (DECIDED + " ") * (MAX_TEXT // (len(DECIDED) + 1)),
        '{"module":' + "[" * (MAX_TEXT - 10),
        "{}" * (MAX_TEXT // 2),
        "{ " + " " * (MAX_TEXT - 2),
        "x" * (MAX_TEXT + 1),
    ],
    ids=[
        "braces",
        "brackets",
        "nested objects",
        "an endless string",
        "quoted braces",
        "stray braces",
        "ends of reasoning",
        "blocks of reasoning",
        "one answer over and over",
        "a deep answer",
        "empty objects",
        "blanks",
        "too long",
    ],
)
async def test_hostile_text_costs_little_time(text: str) -> None:
    begun = time.process_time()

    with pytest.raises(InvalidAnswerError):
        await decided(text)

    assert time.process_time() - begun < 2
