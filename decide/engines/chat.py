"""A chat model as this library sees it: what it is asked in one inference, and what it says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Protocol, TypeVar

import attrs

from decide._checks import whole
from decide._json import DocumentError, plain
from decide.answers import Usage
from decide.engines._setup import SetupError


class ResponseFormat(StrEnum):
    """How a model is held to JSON."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    NONE = "none"


class Probability(StrEnum):
    """Where the probability of a yes comes from."""

    SELF = "self"
    LOGPROBS = "logprobs"


class FinishReason(StrEnum):
    """Why a model stopped writing. What a vendor says is put into these words; anything else is `other`."""

    STOP = "stop"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    TOOL_CALLS = "tool_calls"
    REFUSAL = "refusal"
    OTHER = "other"


W = TypeVar("W", bound=StrEnum)


def _word(kind: type[W], value: str, setting: str) -> W:
    if value not in {member.value for member in kind}:
        raise SetupError(f"{setting}: must be one of {', '.join(kind)}")
    return kind(value)


def _response_format(value: str) -> ResponseFormat:
    return _word(ResponseFormat, value, "response_format")


def _probability(value: str) -> Probability:
    return _word(Probability, value, "probability")


def _parameters(values: Mapping[str, object]) -> dict[str, object]:
    problem = ""
    try:
        copied = plain(values)
    except DocumentError as error:
        copied, problem = None, str(error)
    if not isinstance(copied, dict):
        raise SetupError(f"request_params: must be an object of JSON{f' ({problem})' if problem else ''}")
    return copied


@attrs.frozen(kw_only=True)
class Profile:
    """
    What makes one chat model answer reliably, as data: keep one for each model, beside its name.

    Attributes:
        response_format: `json_schema` constrains what the model can write to the answer's own shape, `json_object` to
            any JSON object, `none` only asks for it in words.
        probability: `self`, the number a model states; or `logprobs`: yes/no questions are answered with a bare true or
            false, and the probability is that of the token. A model that gives no log-probabilities then answers with 0
            or 1, self-reported.
        max_tokens: The most tokens a reply may have; None leaves it to the provider. A reply that is cut is no answer.
        temperature: 0 by default, so that equal questions get equal answers as far as the model allows; None is not
            sent, for models that refuse it.
        top_logprobs: Alternatives asked for at each token, for `logprobs`.
        request_params: Merged last into the body of every request, such as `{"reasoning_effort": "none"}`.

    Raises:
        SetupError: A ValueError: a word is unknown or a number out of range.
    """

    response_format: ResponseFormat = attrs.field(default=ResponseFormat.JSON_SCHEMA, converter=_response_format)
    probability: Probability = attrs.field(default=Probability.SELF, converter=_probability)
    max_tokens: int | None = None
    temperature: float | None = 0.0
    top_logprobs: int = 5
    request_params: dict[str, object] = attrs.field(factory=dict, converter=_parameters)

    def __attrs_post_init__(self) -> None:
        try:
            if self.max_tokens is not None:
                whole("max_tokens", self.max_tokens, least=1)
            whole("top_logprobs", self.top_logprobs, least=1)
        except ValueError as error:
            raise SetupError(str(error)) from None
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise SetupError("temperature: must be a number from 0 to 2, or None")


@attrs.frozen(kw_only=True)
class Inference:
    """
    One question to a chat model.

    Attributes:
        system: The rules and what may be answered: the same from call to call, so that a provider can cache it.
        context: Where the caller is; empty when there is nothing to say.
        user: What it is about. Data, quoted as JSON.
        schema: The JSON schema of the answer. It allows no further members and requires every one.
        profile: How to ask; None for a plain request of nothing but messages.
    """

    system: str = attrs.field(repr=False)
    context: str = attrs.field(default="", repr=False)
    user: str = attrs.field(repr=False)
    schema: dict[str, object] = attrs.field(repr=False)
    profile: Profile | None = None

    @property
    def message(self) -> str:
        """
        The context and what it is about in one, for models whose messages must alternate.
        """
        return f"{self.context}\n\n{self.user}" if self.context else self.user


def _bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8", "replace") if isinstance(text, str) else bytes(text)


def _alternatives(pairs: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    return tuple(pairs)


@attrs.frozen
class Token:
    """
    One token of a reply.

    Attributes:
        text: Its bytes, which may be a part of a character; a string is encoded.
        logprob: The natural logarithm of its probability.
        top: The likeliest tokens at its place with their log-probabilities, itself most often among them.
    """

    text: bytes = attrs.field(converter=_bytes, repr=False)
    logprob: float
    top: tuple[tuple[str, float], ...] = attrs.field(default=(), converter=_alternatives, repr=False)


def _tokens(tokens: Iterable[Token]) -> tuple[Token, ...]:
    return tuple(tokens)


def _optional(kind: type | tuple[type, ...]) -> Any:
    return attrs.validators.optional(attrs.validators.instance_of(kind))


@attrs.frozen(kw_only=True)
class ChatReply:
    """
    What a chat model said.

    Attributes:
        text: What it wrote; None when it wrote nothing. Reasoning that a provider returns apart does not belong here.
        structured: The answer as the provider delimited it, as JSON text or as an object; it is read instead of *text*.
        model: What really answered; empty when the provider does not say.
        usage: What it cost; None when unknown.
        finish_reason: Why it stopped, see `FinishReason`; empty when the provider does not say.
        tokens: The tokens of *text*, when log-probabilities were asked for and given.

    Raises:
        TypeError: If a text is none, which would be found out only where nobody knows whose fault it is.
    """

    text: str | None = attrs.field(default=None, repr=False, validator=_optional(str))
    structured: str | Mapping[str, object] | None = attrs.field(
        default=None, repr=False, validator=_optional((str, Mapping))
    )
    model: str = attrs.field(default="", validator=attrs.validators.instance_of(str))
    usage: Usage | None = None
    finish_reason: str = attrs.field(default="", validator=attrs.validators.instance_of(str))
    tokens: tuple[Token, ...] = attrs.field(default=(), converter=_tokens, repr=False)


class ChatModel(Protocol):
    """
    Anything that can carry out one inference. `decide.engines.openai` and `decide.engines.anthropic` have some.
    """

    @property
    def model(self) -> str:
        """
        The model that is asked for; empty leaves it to the provider.
        """
        ...

    async def infer(self, asked: Inference, /) -> ChatReply:
        """
        Ask once: no retries, no limit of its own. Raise to fail, with a DecideError where its kind is known.
        """
        ...
