"""One set of questions put to a service in its dialect, and the reply in System One's own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import attrs

from decide.answers import Usage, add_usage
from decide.attempt_log import AttemptLog
from decide.engines import limits as declared
from decide.engines._http import HttpService
from decide.engines._http_errors import answered
from decide.engines._replies import Reply
from decide.engines._systemone_encode import WireRequest, wire_request, written
from decide.engines._usage import read_cost, read_usage
from decide.engines.dialects import AnotherDialectError, Dialect, UnreadableError
from decide.engines.encoding import DegenerateCriteriaWarning, degenerate
from decide.engines.health import Health, check_health, has_models, model_names
from decide.engines.limits import NO_LIMITS, Limits
from decide.engines.prices import Price
from decide.errors import DecideError, InvalidAnswerError, MisconfiguredError
from decide.questions import NoulQuestion, ScoreRequest

_NOTHING_COUNTED: Final = Usage()
"""No tokens read and none written, at a cost that is not told: what servers say that do not count."""

_PROBE: Final = ScoreRequest(text="health", questions={"health": NoulQuestion("Is this text a single word?")})

Transform = Callable[[dict[str, Any]], Mapping[str, Any] | None]


@attrs.frozen(kw_only=True)
class Asking:
    """
    How questions are written. What each means, `SystemOneEngine` says.
    """

    dialect: Dialect
    model: str = ""
    limits: Limits = NO_LIMITS
    request_params: Mapping[str, object] = attrs.field(factory=dict, repr=False)
    body_transform: Transform | None = None
    split: bool = False
    price: Price | None = None


@attrs.frozen(kw_only=True)
class Answered:
    """
    What came back.

    Attributes:
        document: As a System One server would have sent it.
        usage: What it cost; None when the server does not say.
    """

    document: Mapping[str, object] = attrs.field(repr=False)
    usage: Usage | None


class Exchanges:
    """
    Puts questions to a service.

    Args:
        service: Where to.
        name: The engine's name, for errors.
        asking: How.
    """

    def __init__(self, service: HttpService, name: str, asking: Asking) -> None:
        self._service = service
        self._name = name
        self._asking = asking
        self._limits = asking.limits.within(asking.dialect.limits)
        self._warned: set[str] = set()

    async def ask(self, asked: WireRequest, log: AttemptLog) -> Answered:
        """
        Ask, in one request unless a limit on questions says otherwise and splitting is allowed.

        Raises:
            DecideError: Of the kind that the failure stands for. What was spent before it is its usage.
        """
        parts = list(self._parts(asked))
        if len(parts) == 1:
            return await self._ask(parts[0], log)
        spent: Usage | None = None
        answers: list[Answered] = []
        for part in parts:
            try:
                answers.append(await self._ask(part, log))
            except DecideError as error:
                error.usage = add_usage(spent, error.usage)
                raise
            spent = add_usage(spent, answers[-1].usage)
        return _together(answers, spent)

    async def health(self) -> Health:
        """
        Look at the server; see `check_health`.
        """
        dialect = self._asking.dialect
        probe = written(self._body(wire_request(_PROBE)))
        return await check_health(
            self._service, path=dialect.health, well=dialect.well, probe=probe, answers=dialect.has_form
        )

    async def models(self, log: AttemptLog) -> tuple[str, ...]:
        """
        Return the ids of the models that the server lists.

        Raises:
            DecideError: Of the kind that the failure stands for; one without such a route is misconfigured.
        """
        reply = await self._service.get(self._asking.dialect.models, log)
        return model_names(answered(reply, self._name, secret=reply.secret, holds=has_models))

    def effective(self) -> dict[str, object]:
        """
        Describe what is checked and added, by name.
        """
        limits = attrs.asdict(self._limits)
        return {
            "limits": {name: limit for name, limit in limits.items() if limit not in {None, False}},
            "split": self._asking.split,
            "request_params": sorted(self._asking.request_params),
            "body_transform": self._asking.body_transform is not None,
            "price": None if self._asking.price is None else str(self._asking.price.read),
        }

    def warn(self, request: ScoreRequest) -> None:
        """
        Warn of choices that give a model nothing to go by, once for each key.
        """
        for position, (key, question) in enumerate(request.questions.items(), start=1):
            reason = degenerate(question)
            if reason is not None and key not in self._warned:
                self._warned.add(key)
                warnings.warn(DegenerateCriteriaWarning(position, key, reason), stacklevel=2)

    def _parts(self, asked: WireRequest) -> Iterator[WireRequest]:
        most = self._limits.questions
        if not self._asking.split or most is None or len(asked.questions) <= most:
            declared.check(asked, self._limits)
            yield asked
            return
        declared.check(asked, attrs.evolve(self._limits, questions=None, all_options=None))
        names = list(asked.questions)
        for start in range(0, len(names), most):
            part = {name: asked.questions[name] for name in names[start : start + most]}
            yield attrs.evolve(asked, questions=part)

    async def _ask(self, asked: WireRequest, log: AttemptLog) -> Answered:
        return self._read(asked, await self._service.post(self._written(asked), log))

    def _written(self, asked: WireRequest) -> bytes:
        body = written(self._body(asked))
        declared.check_size(body, self._limits)
        return body

    def _body(self, asked: WireRequest) -> Mapping[str, object]:
        asking = self._asking
        body = {**asking.dialect.write(asked, asking.model), **asking.request_params}
        if asking.body_transform is None:
            return body
        try:
            changed = asking.body_transform(body)
        except Exception as error:  # noqa: BLE001 - a caller's function, whose message may quote the body
            failed = type(error).__name__
        else:
            return body if changed is None else changed
        raise MisconfiguredError(f"{self._name}: body_transform failed ({failed})", detail="body_transform")

    def _read(self, asked: WireRequest, reply: Reply) -> Answered:
        dialect = self._asking.dialect
        document = answered(reply, self._name, secret=reply.secret, holds=dialect.holds, codes=dialect.codes)
        read = self._in_system_one(asked, document)
        if isinstance(read, DecideError):
            read.http_status = reply.status
            read.usage = read_usage(document.get("usage"))
            raise read
        usage = read_usage(read.get("usage"))
        if usage == _NOTHING_COUNTED:
            usage = None
        if usage is not None and usage.cost is None and dialect.cost_header:
            usage = attrs.evolve(usage, cost=read_cost(reply.headers.get(dialect.cost_header, "")))
        if usage is not None and self._asking.price is not None:
            usage = self._asking.price.charge(usage)
        return Answered(document=read, usage=usage)

    def _in_system_one(self, asked: WireRequest, document: Mapping[str, object]) -> Mapping[str, object] | DecideError:
        dialect = self._asking.dialect
        foreign = dialect.is_foreign(document)
        try:
            if not foreign:
                return dialect.read(asked, document)
        except AnotherDialectError:
            foreign = True
        except UnreadableError as error:
            problem = error.problem
            return InvalidAnswerError(f"{self._name}: the reply cannot be used: {problem}", detail=problem)
        return MisconfiguredError(
            f"{self._name}: the reply is in another dialect than {dialect.name!r}; check dialect",
            detail="another dialect",
        )


def _together(answers: list[Answered], spent: Usage | None) -> Answered:
    entries: dict[str, object] = {}
    for one in answers:
        found = one.document.get("answers")
        entries |= found if isinstance(found, dict) else {}
    calibrated = all(one.document.get("calibrated") is not False for one in answers)
    usage = spent if all(one.usage is not None for one in answers) else None
    return Answered(document={**answers[0].document, "answers": entries, "calibrated": calibrated}, usage=usage)
