"""A server that repeats all it was told, and every way in which a call to it can end."""

import json
from collections.abc import Callable, Coroutine

import anyio
import attrs

from decide import (
    DURABLE,
    Breaker,
    Budget,
    Chain,
    ChoiceQuestion,
    Hedged,
    ModuleSpec,
    NoulQuestion,
    PolicyRefusalError,
    Request,
    ScoreQuestion,
    ScoreRequest,
    Taxonomy,
    Turns,
)
from decide.engines.systemone import SystemOneEngine
from decide.outcomes import AttemptOutcome
from decide.traces import Observer
from tests.fakes import DecidingOnly, Engine, fails
from tests.faults.server import Peer, reply

KEY = "sk-sentinel-key"
STATE = "sentinel-state"
QUESTION = "sentinel-question"
OPTION = "sentinel-option"
INSTRUCTIONS = "sentinel-instructions"
DESCRIPTION = "sentinel-description"
SERVER = "sentinel-server"
MODEL = "sentinel model <b>"
SENTINELS = (KEY, STATE, QUESTION, OPTION, INSTRUCTIONS, DESCRIPTION, SERVER, MODEL)

ASKED = ScoreRequest(
    text={STATE: STATE},
    questions={
        QUESTION: ChoiceQuestion(INSTRUCTIONS, {OPTION: DESCRIPTION, "b": None}),
        "n": NoulQuestion(INSTRUCTIONS, true=DESCRIPTION),
        "s": ScoreQuestion(INSTRUCTIONS, [DESCRIPTION, "high"]),
    },
    context={STATE: STATE},
)
TO_DECIDE = Request(
    text=STATE,
    taxonomy=Taxonomy(
        modules=(ModuleSpec(name="choose:table", intents=(OPTION, "b")),),
        descriptions={f"choose:table/{OPTION}": DESCRIPTION},
    ),
    context={STATE: STATE},
)


def sure(probability: float) -> dict[str, object]:
    rest = round(1 - probability, 3)
    return {"type": "choice", "choice": OPTION, "probabilities": {OPTION: probability, "b": rest}, SERVER: SERVER}


def answered(entry: object) -> bytes:
    names = (QUESTION, "intent")
    return json.dumps({"model": MODEL, "answers": dict.fromkeys(names, entry), SERVER: SERVER}).encode()


GOOD = answered(sure(0.9))
REPLIES: dict[str, tuple[str, bytes]] = {
    "good": ("200 OK", GOOD),
    "unsure": ("200 OK", answered(sure(0.7))),
    "declined": ("200 OK", answered({"type": "refusal", "reason": SERVER})),
    "malformed": ("200 OK", answered({"type": "choice", "choice": SERVER})),
    "no-json": ("200 OK", GOOD[:-4] + SERVER.encode()),
    "duplicate": ("200 OK", GOOD[:-1] + b"," + GOOD[1:]),
    "page": ("200 OK", f"<html>{SERVER}".encode()),
    "protocol": ("200 OK", b'{"protocol": "' + SERVER.encode() + b'"}'),
    "error-200": ("200 OK", json.dumps({"error": {"code": SERVER, "message": SERVER}}).encode()),
}
"""By path; any other path is a status whose body repeats the whole request."""


async def tells(peer: Peer) -> None:
    """Answer as the path says, and say everything again in the reason phrase, in headers and in a cookie."""
    request = await peer.request()
    path = request.head.split(b" ")[1].decode().split("/")[1]
    line = " ".join((request.head + request.body).decode("latin-1").split()) + SERVER
    if path == "hang":
        await peer.gone()
    elif path == "reset":
        peer.reset()
    elif path == "garbage":
        await peer.send(line.encode("latin-1") * 3)
    else:
        echo = {"detail": [{"loc": ["body", line], "msg": line, "input": line, "type": line}], "model": MODEL}
        status, body = REPLIES.get(path, (f"{path} {line}", json.dumps(echo).encode()))
        named = (f"{name}: {line}" for name in ("Location", "X-Echo", "Set-Cookie", "WWW-Authenticate", "Retry-After"))
        await peer.send(reply(body, *named, status=status))


FAILING = ["malformed", "no-json", "duplicate", "page", "protocol", "error-200", "reset", "garbage", "hang"] + [
    str(status) for status in (204, 302, 308, 400, 401, 402, 403, 404, 405, 408, 413, 422, 425, 429, 500, 503, 529)
]


@attrs.frozen
class Maker:
    """Makes engines and chains that ask one server."""

    url: str
    watch: tuple[Observer, ...] = ()

    def engine(self, path: str, *, name: str = "engine", **options: float) -> SystemOneEngine:
        return SystemOneEngine(f"{self.url}/{path}", api_key=KEY, model="jev-latest", name=name, **options)  # type: ignore[arg-type]  # only numbers come here

    def hanging(self) -> SystemOneEngine:
        return self.engine("hang", decision_timeout=0.1)

    def chains(self) -> dict[AttemptOutcome, Chain]:
        """Return, for every outcome, a chain whose first attempt ends so."""
        opened = Breaker(self.engine("good"))
        opened.force_open()
        outcome = AttemptOutcome
        plain: dict[AttemptOutcome, Chain] = {
            outcome.DECIDED: self.chain(self.engine("good")),
            outcome.ABSTAINED: self.chain(self.engine("declined")),
            outcome.INVALID: self.chain(self.engine("malformed")),
            outcome.ERROR: self.chain(self.engine("500")),
            outcome.TIMEOUT: self.chain(self.hanging()),
            outcome.UNAVAILABLE: self.chain(opened),
            outcome.UNSUPPORTED: self.chain(DecidingOnly("no questions")),
            outcome.REJECTED: self.chain(self.engine("422")),
            outcome.AUTH: self.chain(self.engine("401")),
            outcome.QUOTA: self.chain(self.engine("402")),
            outcome.BUDGET: self.chain(Budget(self.engine("good"), max_calls=0)),
            outcome.MISCONFIGURED: self.chain(self.engine("404")),
            outcome.POLICY_REFUSAL: self.chain(Engine("refuses", fails(PolicyRefusalError("not for you")))),
            outcome.CANCELLED: self.chain(Hedged(self.engine("hang"), self.engine("good", name="backup"), delay=0.05)),
        }
        return plain

    def deciding(self) -> dict[AttemptOutcome, Chain]:
        """Return the same for the outcomes that only a decision can have."""
        return {
            AttemptOutcome.UNCERTAIN: Chain([self.engine("unsure")], policy=DURABLE, observers=self.watch),
            AttemptOutcome.LOW_CONFIDENCE: Chain([self.engine("unsure")], min_confidence=0.99, observers=self.watch),
        }

    def chain(self, engine: object) -> Chain:
        return Chain([engine], observers=self.watch)  # type: ignore[list-item]  # engines of every kind


async def busy(make: Maker, ask: Callable[[Chain], Coroutine[object, object, None]]) -> None:
    """Keep the only turn of an engine taken while another caller asks for it."""
    turns = Turns(make.engine("hang", decision_timeout=0.3), wait=0.0)
    async with anyio.create_task_group() as group:
        group.start_soon(ask, make.chain(turns))
        await anyio.sleep(0.05)
        await ask(make.chain(turns))
