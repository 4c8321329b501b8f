"""Anthropic's own SDK as a chat model: the messages API, with the answer as structured output or as a tool's input."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import httpx2

from decide.engines._late import Late
from decide.engines._llm_schema import NUMBER
from decide.engines._llm_vendors import MAX_RESPONSE_BYTES, Vendor, VendorServer
from decide.engines._usage import read_usage
from decide.engines.chat import ChatReply, FinishReason, Inference, ResponseFormat

if TYPE_CHECKING:
    import anthropic

ANTHROPIC_URL: Final = "https://api.anthropic.com"
MAX_TOKENS: Final = 1024
"""The API wants a limit; this is several times the longest usual answer."""

_TOOL = "decision"
_FINISHES = {
    "end_turn": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.REFUSAL,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
}


def _built(module: ModuleType, http: httpx2.AsyncClient, base_url: str, key: str) -> Any:
    return module.AsyncAnthropic(
        api_key=key or "none", base_url=base_url, http_client=http, max_retries=0, timeout=None
    )


_VENDOR = Vendor(package="anthropic", url=ANTHROPIC_URL, variable="ANTHROPIC_API_KEY", build=_built)


class AnthropicMessages:
    """
    A Claude model behind `POST /v1/messages`.

    Of a `Profile` it takes `max_tokens`, `request_params` and the response format: `json_schema` is structured output,
    for models that have it; `json_object` has the model call a tool, which every model can; `none` only asks in words.
    The API has no log-probabilities, and newer models take no temperature, so that neither is sent.

    Connections, redirects, retries and logs are as with `decide.engines.openai.OpenAIChat`.

    Args:
        model: The model to ask for.
        base_url: Another server than Anthropic's, without `/v1`. The environment's is not read.
        api_key: The key, or a function that is asked for it at every call and must not block. By default the variable
            ANTHROPIC_API_KEY for Anthropic itself, and no key for another server.
        client: A client of the SDK, of the caller's own making, for Bedrock, Vertex or a proxy; the caller closes it
            and keeps it to one event loop.
        allow_insecure: Send a key over plain http to another machine.
        max_response_bytes: The longest reply that is read.

    Raises:
        SetupError: If the SDK is not installed, or an argument makes no sense.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: Late | None = None,
        client: anthropic.AsyncAnthropic | None = None,
        allow_insecure: bool = False,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
    ) -> None:
        self._model = model
        self._server = VendorServer(
            _VENDOR,
            client=client,
            base_url=base_url,
            api_key=api_key,
            allow_insecure=allow_insecure,
            max_response_bytes=max_response_bytes,
        )

    def __repr__(self) -> str:
        return f"AnthropicMessages({self._model!r}, server={str(self._server)!r})"

    @property
    def model(self) -> str:
        """
        The model that is asked for.
        """
        return self._model

    async def infer(self, asked: Inference, /) -> ChatReply:
        """
        Ask once.

        Raises:
            DecideError: Of the kind that the failure stands for.
        """
        body = messages_body(asked, self._model)
        return read_messages(await self._server.post("/v1/messages", body, holding="content", name="anthropic"))


def messages_body(asked: Inference, model: str) -> dict[str, object]:
    """
    Write an inference for the messages API.
    """
    body: dict[str, object] = {
        "model": model,
        "max_tokens": MAX_TOKENS,
        "system": asked.system,
        "messages": [{"role": "user", "content": asked.message}],
    }
    profile = asked.profile
    if profile is None:
        return body
    if profile.max_tokens is not None:
        body["max_tokens"] = profile.max_tokens
    schema = _plainer(asked.schema)
    if profile.response_format is ResponseFormat.JSON_SCHEMA:
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    elif profile.response_format is ResponseFormat.JSON_OBJECT:
        body["tools"] = [{"name": _TOOL, "description": "Give the answer.", "input_schema": schema}]
        body["tool_choice"] = {"type": "tool", "name": _TOOL}
    return {**body, **profile.request_params}


def read_messages(document: Mapping[str, object]) -> ChatReply:
    """
    Read the reply of the messages API: what it called the tool with, or else its text. Thinking is not looked at.
    """
    content = document.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    texts = [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]
    calls = [block.get("input") for block in blocks if block.get("type") == "tool_use"]
    reason, model = document.get("stop_reason"), document.get("model")
    reason = reason if isinstance(reason, str) else ""
    return ChatReply(
        text="".join(texts) if texts and not calls else None,
        structured=calls[0] if len(calls) == 1 and isinstance(calls[0], dict) else None,
        model=model if isinstance(model, str) else "",
        usage=read_usage(document.get("usage")),
        finish_reason=_FINISHES.get(reason, reason),
    )


def _plainer(schema: object) -> object:
    """
    Leave out what the API's schemas do not have: the bounds of numbers.
    """
    match schema:
        case dict():
            return {"type": "number"} if schema == NUMBER else {key: _plainer(part) for key, part in schema.items()}
        case list():
            return [_plainer(part) for part in schema]
        case _:
            return schema
