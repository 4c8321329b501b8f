"""What each fault of `jevcompat mock` breaks, and what has to come of it."""

import attrs

from decide import (
    ChoiceQuestion,
    ModuleSpec,
    NoulQuestion,
    Question,
    RelevanceQuestion,
    Request,
    ScoreQuestion,
    ScoreRequest,
    Taxonomy,
)
from tests.faults.jevcompat_servers import KEY
from tests.faults.rows import markdown, verdict

MODEL = "jev-latest"
UNHEARD_OF = "unheard-of"
NOT_SENT = "nothing of the kind is ever sent"

QUESTIONS: dict[str, Question] = {
    "team": ChoiceQuestion("Which team?", {"Billing": "charges", "Größe": None, "Rückgabe": "returns"}),
    "wütend": NoulQuestion("Is the writer angry?", true="angry"),
    "urgency": ScoreQuestion("How urgent?", ["can wait", "this month", "this week", "tomorrow", "today", "now"]),
    "topics": RelevanceQuestion("What is it about?", {"money": "charges", "größe": None}),
    "many": ChoiceQuestion("Which of many?", {f"Option {number}": f"number {number}" for number in range(65)}),
}
ASKED = ScoreRequest(text=["My card was charged twice", {"since": "Monday"}], questions=QUESTIONS)
"""A request that is legal to the last corner: a list as the state, ids that are not ASCII, 65 options, 6 levels."""

PLAIN = ScoreRequest(text="My card was charged twice", questions={"n": NoulQuestion("Is it about money?")})

TO_DECIDE = Request(
    text="show my invoice",
    taxonomy=Taxonomy(
        modules=(
            ModuleSpec(name="Billing", intents=("show", "refund"), scopes=("invoices", "payments")),
            ModuleSpec(name="Größe"),
        ),
        data_kinds=("ledger",),
    ),
)

CHOICES = frozenset({"team", "many"})
NOULS = frozenset({"wütend", "topics"})
SCORES = frozenset({"urgency"})
KINDS = {"team": "choice", "many": "choice", "wütend": "noul", "topics": "relevance", "urgency": "score"}


@attrs.frozen
class MockRow:
    """
    One fault.

    Attributes:
        fault: Its name.
        outcome: How the attempt has to end, whether asked to answer or to decide.
        unknown: The questions that may not have an answer.
        why: What makes an attempt that is decided harmless, for the questions that are answered.
        model: What to ask for, where the fault is in the refusal of a model.
        key: The key that the server requires, where the fault is about keys.
        sent: The key that is sent.
        further: Members of the body beyond ours, where the fault is about those.
        alike: What is answered is what the server answers without the fault.
    """

    fault: str
    outcome: str = "decided"
    unknown: frozenset[str] = frozenset()
    why: str = ""
    model: str = MODEL
    key: str | None = None
    sent: str | None = None
    further: dict[str, object] = attrs.field(factory=dict)
    alike: bool = True


def spoils(fault: str, questions: frozenset[str]) -> MockRow:
    return MockRow(fault, unknown=questions, why="the rest of the reply stands")


def harmless(fault: str, why: str) -> MockRow:
    return MockRow(fault, why=why)


MOCK_ROWS = [
    MockRow("wrong-route", "misconfigured"),
    MockRow("xssi-200", "invalid"),
    harmless("plain-content-type", "JSON, whatever it is called"),
    MockRow("text-errors", "rejected", model=UNHEARD_OF),
    harmless("models-404", "deciding needs no list of models"),
    MockRow("auth-rejects-header", "auth", key="", sent=KEY),
    MockRow("auth-x-api-key", "auth", key=KEY, sent=KEY),
    MockRow("auth-plain", "auth", key=KEY, sent=""),
    MockRow("auth-invalid-403-text", "auth", key=KEY, sent="sk-wrong"),
    MockRow("reject-array-state", "rejected"),
    MockRow("reject-jev-latest", "misconfigured"),
    MockRow("first-question-only", unknown=frozenset(QUESTIONS) - {"team"}, why="what is left out is unknown"),
    MockRow("strict-ids", "rejected"),
    spoils("nfd-keys", frozenset({"team"})),
    MockRow("forbid-extra", "rejected", further={"x_team": "a"}),
    harmless("string-only-text", "every text is sent as a string"),
    MockRow("noul-two-sided", "rejected"),
    harmless("noul-needs-instructions", "instructions are always sent"),
    MockRow("no-null-description", "rejected"),
    MockRow("cap-64", "rejected"),
    MockRow("cap-5-levels", "rejected"),
    harmless("accept-map-score", NOT_SENT),
    harmless("no-usage", "the cost is unknown, not zero"),
    harmless("float-usage", "12.0 is a count"),
    harmless("extra-answer", "answers to other questions are not read"),
    spoils("boolean-type", NOULS),
    MockRow("nan", "invalid"),
    harmless("unprefixed-extra", "other members are not read"),
    spoils("noul-range", NOULS),
    harmless("choice-no-confidence", "confidence is computed here"),
    spoils("choice-key-case", CHOICES),
    spoils("choice-sum", CHOICES),
    spoils("choice-second", CHOICES),
    harmless("score-no-legend", "the levels are those that were asked"),
    spoils("legend-1-based", SCORES),
    spoils("score-keys-1-based", SCORES),
    spoils("score-sum", SCORES),
    spoils("score-argmax", SCORES),
    spoils("confidence-over", CHOICES | SCORES),
    harmless("confidence-margin", "confidence is computed here, theirs stands beside it"),
    harmless("500-on-unknown-type", NOT_SENT),
    harmless("accept-boolean", NOT_SENT),
    MockRow("validation-400", "rejected", model=""),
    MockRow("error-flat", "rejected", model=UNHEARD_OF),
    MockRow("id-leaks", why="valid; keys are sent as the caller wrote them", alike=False),
    MockRow("batch-leaks", why="valid; all questions go in one request", alike=False),
    MockRow("order-leaks", why="valid; questions are sent in the order of the caller", alike=False),
]


def kinds(questions: frozenset[str]) -> str:
    return ", ".join(dict.fromkeys(KINDS[key] for key in QUESTIONS if key in questions))


def rendered_mock(does: dict[str, str]) -> str:
    return markdown(
        ("fault", "what it does", "the attempt", "unknown", "why the rest is harmless", "a breaker"),
        (
            (
                row.fault,
                does[row.fault],
                f"`{row.outcome}`",
                kinds(row.unknown),
                row.why,
                verdict(row.outcome),
            )
            for row in MOCK_ROWS
        ),
    )
