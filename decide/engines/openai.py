"""OpenAI's own SDK as a chat model: chat completions and responses, of OpenAI and of whoever speaks the same."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import httpx2

from decide.engines._late import Late
from decide.engines._llm_vendors import MAX_RESPONSE_BYTES, Vendor, VendorServer
from decide.engines._openai_bodies import chat_body, read_chat, read_responses, responses_body
from decide.engines.chat import ChatReply, Inference

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"


def _built(module: ModuleType, http: httpx2.AsyncClient, base_url: str, key: str) -> Any:
    # Ids and keys of the environment are for OpenAI, not for another server that speaks its format.
    foreign = ("OpenAI-Organization", "OpenAI-Project") if base_url != OPENAI_URL else ()
    return module.AsyncOpenAI(
        api_key=key or "none",
        admin_api_key="",
        base_url=base_url,
        http_client=http,
        max_retries=0,
        timeout=None,
        default_headers={header: module.Omit() for header in foreign},
    )


_VENDOR = Vendor(package="openai", url=OPENAI_URL, variable="OPENAI_API_KEY", build=_built)


class _OpenAI:
    """
    What both classes share.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: Late | None = None,
        client: openai.AsyncOpenAI | None = None,
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
        return f"{type(self).__name__}({self._model!r}, server={str(self._server)!r})"

    @property
    def model(self) -> str:
        """
        The model that is asked for.
        """
        return self._model


class OpenAIChat(_OpenAI):
    """
    A chat model behind `POST /chat/completions`: OpenAI, Azure, OpenRouter, vLLM, Ollama, llama.cpp and many more.

    One inference is one request: the SDK's retries are off, redirects are not followed, and a connection serves one
    call, so that one model works on any event loop and leaves nothing open behind a loop that has ended. Neither the
    SDK's log nor an error quotes what was asked or said.

    Args:
        model: The model to ask for; empty leaves it to the server.
        base_url: Another server than OpenAI's, with its `/v1`. The environment's is not read.
        api_key: The key, or a function that is asked for it at every call and must not block. By default the variable
            OPENAI_API_KEY for OpenAI itself, and no key for another server.
        client: A client of the SDK, of the caller's own making, for Azure or a proxy; the caller closes it and keeps it
            to one event loop. Its length limit for replies, if any, is its own.
        allow_insecure: Send a key over plain http to another machine.
        max_response_bytes: The longest reply that is read.

    Raises:
        SetupError: If the SDK is not installed, or an argument makes no sense.
    """

    async def infer(self, asked: Inference, /) -> ChatReply:
        """
        Ask once.

        Raises:
            DecideError: Of the kind that the failure stands for.
        """
        body = chat_body(asked, self._model)
        return read_chat(await self._server.post("/chat/completions", body, holding="choices", name="openai"))


class OpenAIResponses(_OpenAI):
    """
    A chat model behind `POST /responses`, where the server is asked to store nothing.

    Arguments and promises are those of `OpenAIChat`.
    """

    async def infer(self, asked: Inference, /) -> ChatReply:
        """
        Ask once.

        Raises:
            DecideError: Of the kind that the failure stands for.
        """
        body = responses_body(asked, self._model)
        return read_responses(await self._server.post("/responses", body, holding="output", name="openai"))
