"""Secrets kept out of what is written, however they are spelled there."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from decide.engines._http_errors import REDACTED

LEAST_LENGTH: Final = 6
"""Characters that a secret has at least: a shorter one would be found in ordinary words."""

_NAMED_LIKE_SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_LEAST_IN_ENVIRONMENT = 12


def secrets_of_environment() -> frozenset[str]:
    """
    Return the values of the variables that are named like a secret and long enough to be one.
    """
    return frozenset(
        value
        for name, value in os.environ.items()
        if name.upper().endswith(_NAMED_LIKE_SECRETS) and len(value) >= _LEAST_IN_ENVIRONMENT
    )


def scrubbed(document: Mapping[str, object], secrets: Iterable[str]) -> dict[str, object]:
    """
    Return JSON without *secrets*: as they are, percent-encoded, in base64 or in hexadecimal digits.
    """
    spellings = {spelling for secret in secrets for spelling in _spellings(secret)}
    longest_first = sorted(spellings, key=lambda spelling: (-len(spelling), spelling))
    return {key: _clean(member, longest_first) for key, member in document.items()}


def _spellings(secret: str) -> Iterator[str]:
    data = secret.encode()
    yield secret
    yield quote(secret, safe="")
    yield base64.b64encode(data).decode().rstrip("=")
    yield base64.urlsafe_b64encode(data).decode().rstrip("=")
    yield data.hex()
    yield data.hex().upper()


def _clean(value: object, spellings: Sequence[str]) -> object:
    match value:
        case str():
            for spelling in spellings:
                value = value.replace(spelling, REDACTED)
            return value
        case Mapping():
            return {_clean(key, spellings): _clean(member, spellings) for key, member in value.items()}
        case list():
            return [_clean(member, spellings) for member in value]
        case _:
            return value
