"""Questions and policies that stand in files."""

from __future__ import annotations

import tomllib
from pathlib import Path

import click

from decide.cli._members import check_policy, check_questions, in_their_spelling
from decide.errors import InvalidRequestError
from decide.policies import DURABLE, NARROWING, InvalidPolicyError, SelectionPolicy
from decide.questions import Question
from decide.wire import from_json, loads, questions_from

_NAMED = {policy.name: policy for policy in (NARROWING, DURABLE)}


def questions_in(path: Path) -> dict[str, Question]:
    """
    Return the questions in a JSON or TOML file, in its order.

    Raises:
        click.UsageError: If the file cannot be read or asks nothing that can be asked.
    """
    if str(path) == "-":
        raise click.UsageError("--questions -: stdin is read for --state only: name a file")
    try:
        document = _document(path)
        check_questions(document)
        return questions_from(document)
    except (InvalidRequestError, ValueError, OSError) as error:
        raise click.UsageError(f"--questions {path}: {_words(error)}") from None


def policy_called(name: str) -> SelectionPolicy:
    """
    Return the policy of that name, or the one in the JSON or TOML file at that path.

    Raises:
        click.UsageError: If there is neither, or the file holds no policy that can be built.
    """
    if name in _NAMED:
        return _NAMED[name]
    try:
        document = _document(Path(name))
        check_policy(document)
        return from_json(SelectionPolicy, document)
    except FileNotFoundError:
        known = " or ".join(_NAMED)
        raise click.UsageError(f"--policy {name}: no such file; name one, or write {known}") from None
    except (ValueError, OSError) as error:
        raise click.UsageError(f"--policy {name}: {_words(error)}") from None


def _document(path: Path) -> object:
    content = path.read_bytes()
    if path.suffix.lower() == ".toml":
        return tomllib.loads(content.decode())
    try:
        return loads(content)
    except ValueError as error:
        if path.suffix.lower() == ".json":
            raise
        raise ValueError(f"{error}; a file is read as JSON unless its name ends in .toml") from None


def _words(error: Exception) -> str:
    if isinstance(error, InvalidPolicyError):
        return in_their_spelling(str(error))
    if isinstance(error, UnicodeDecodeError):
        return "the file is not UTF-8"
    return error.strerror or "cannot be read" if isinstance(error, OSError) else str(error)
