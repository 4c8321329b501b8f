"""The options that spell questions, kept in the order in which they were written."""

from __future__ import annotations

from collections.abc import Iterator

import click

from decide.cli._questions import read_question
from decide.questions import Question

KINDS = ("choice", "noul", "score", "relevant")


class AskingCommand(click.Command):
    """
    A command that remembers the order of its options across their names, which click does not.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """
        Parse as ever, and note which option came when.
        """
        if not ctx.resilient_parsing:
            ctx.meta[__name__] = [given.name for given in self.make_parser(ctx).parse_args(list(args))[2]]
        return super().parse_args(ctx, args)


def questions_in_order(ctx: click.Context) -> Iterator[tuple[str, Question]]:
    """
    Yield the questions of the options named in `KINDS`, in the order of the command line.

    Raises:
        click.UsageError: If one does not follow the grammar.
    """
    spelled = {kind: iter(ctx.params[kind]) for kind in KINDS}
    for name in ctx.meta[__name__]:
        if name in spelled:
            yield read_question(name, next(spelled[name]))
