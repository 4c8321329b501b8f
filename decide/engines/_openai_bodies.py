"""An inference in OpenAI's two wire formats, and their replies read back: data in, data out, no network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from decide.answers import Usage
from decide.distributions import is_number
from decide.engines._usage import read_usage
from decide.engines.chat import ChatReply, FinishReason, Inference, Probability, Profile, ResponseFormat, Token

Body = dict[str, object]

SCHEMA_NAME = "decision"

_FINISHES = {
    "completed": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "function_call": FinishReason.TOOL_CALLS,
    "max_output_tokens": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "safety": FinishReason.CONTENT_FILTER,
}
"""What servers say beside our own words."""

_LEAST_LIKELY = 1e6


def chat_body(asked: Inference, model: str) -> Body:
    """
    Write an inference for `POST /chat/completions`.
    """
    messages = [{"role": "system", "content": asked.system}, {"role": "user", "content": asked.message}]
    body: Body = {**_named(model), "messages": messages}
    profile = asked.profile
    if profile is None:
        return body
    if profile.response_format is ResponseFormat.JSON_SCHEMA:
        schema = {"name": SCHEMA_NAME, "strict": True, "schema": asked.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif profile.response_format is ResponseFormat.JSON_OBJECT:
        body["response_format"] = {"type": "json_object"}
    if profile.max_tokens is not None:
        body["max_tokens"] = profile.max_tokens
    if profile.probability is Probability.LOGPROBS:
        body |= {"logprobs": True, "top_logprobs": profile.top_logprobs}
    return {**body, **_temperature(profile), **profile.request_params}


def responses_body(asked: Inference, model: str) -> Body:
    """
    Write an inference for `POST /responses`. The server is asked to keep nothing.
    """
    messages = [{"role": "user", "content": asked.message}]
    body: Body = {**_named(model), "instructions": asked.system, "input": messages, "store": False}
    profile = asked.profile
    if profile is None:
        return body
    if profile.response_format is ResponseFormat.JSON_SCHEMA:
        body["text"] = {"format": {"type": "json_schema", "name": SCHEMA_NAME, "strict": True, "schema": asked.schema}}
    elif profile.response_format is ResponseFormat.JSON_OBJECT:
        body["text"] = {"format": {"type": "json_object"}}
    if profile.max_tokens is not None:
        body["max_output_tokens"] = profile.max_tokens
    if profile.probability is Probability.LOGPROBS:
        body |= {"include": ["message.output_text.logprobs"], "top_logprobs": profile.top_logprobs}
    return {**body, **_temperature(profile), **profile.request_params}


def read_chat(document: Mapping[str, object]) -> ChatReply:
    """
    Read the reply to a chat completion: its only choice. Reasoning beside the content is not looked at.
    """
    choices = document.get("choices")
    choice = choices[0] if isinstance(choices, list) and len(choices) == 1 else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return ChatReply(model=_text(document.get("model")), usage=chat_usage(document))
    logprobs = choice.get("logprobs")
    return ChatReply(
        text=_content(message.get("content")),
        model=_text(document.get("model")),
        usage=chat_usage(document),
        finish_reason=FinishReason.REFUSAL if message.get("refusal") else _finish(choice.get("finish_reason")),
        tokens=_tokens(logprobs.get("content") if isinstance(logprobs, dict) else None),
    )


def read_responses(document: Mapping[str, object]) -> ChatReply:
    """
    Read the reply of the responses API: the text of its messages, in order.
    """
    parts = list(_output(document))
    texts = [_text(part.get("text")) for part in parts if part.get("type") == "output_text"]
    details = document.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else document.get("status")
    refused = any(part.get("type") == "refusal" for part in parts)
    return ChatReply(
        text="".join(texts) if texts else None,
        model=_text(document.get("model")),
        usage=read_usage(document.get("usage")),
        finish_reason=FinishReason.REFUSAL if refused else _finish(reason),
        tokens=[token for part in parts for token in _tokens(part.get("logprobs"))],
    )


def chat_usage(document: Mapping[str, object]) -> Usage | None:
    """
    Read the usage of a chat completion, whose names are older than those of everything else.
    """
    usage = document.get("usage")
    if not isinstance(usage, dict):
        return None
    return read_usage(
        {
            "input_tokens": usage.get("prompt_tokens"),
            "output_tokens": usage.get("completion_tokens"),
            "cost": usage.get("cost"),
        }
    )


def _named(model: str) -> Body:
    return {"model": model} if model else {}


def _temperature(profile: Profile) -> Body:
    return {} if profile.temperature is None else {"temperature": profile.temperature}


def _finish(reason: object) -> str:
    word = _text(reason)
    return _FINISHES.get(word, word)


def _content(content: object) -> str | None:
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str)) if texts else None


def _output(document: Mapping[str, object]) -> Iterator[dict[str, object]]:
    output = document.get("output")
    for item in output if isinstance(output, list) else ():
        if isinstance(item, dict) and item.get("type") == "message" and isinstance(item.get("content"), list):
            yield from (part for part in item["content"] if isinstance(part, dict))


def _tokens(entries: object) -> list[Token]:
    """
    Read log-probabilities; none at all when one of them cannot be read, because then they spell nothing.
    """
    tokens = [_token(entry) for entry in entries] if isinstance(entries, list) else []
    return [token for token in tokens if token is not None] if None not in tokens else []


def _token(entry: object) -> Token | None:
    if not isinstance(entry, dict):
        return None
    text, logprob, data = entry.get("token"), _logprob(entry.get("logprob")), entry.get("bytes")
    if not isinstance(text, str) or logprob is None:
        return None
    top = entry.get("top_logprobs")
    return Token(_spelled(data, text), logprob, _alternatives(top if isinstance(top, list) else ()))


def _spelled(data: object, text: str) -> str | bytes:
    if not isinstance(data, list) or not all(type(byte) is int and 0 <= byte < 256 for byte in data):
        return text
    return bytes(data)


def _alternatives(entries: Iterable[object]) -> Iterator[tuple[str, float]]:
    for entry in entries:
        if isinstance(entry, dict):
            text, logprob = entry.get("token"), _logprob(entry.get("logprob"))
            if isinstance(text, str) and logprob is not None:
                yield text, logprob


def _logprob(value: object) -> float | None:
    if not isinstance(value, int | float) or not is_number(value) or not -_LEAST_LIKELY <= value <= _LEAST_LIKELY:
        return None
    return float(value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
