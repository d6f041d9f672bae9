"""A group of commands of which each is imported when it is asked for: help and completion must not wait for all."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import click

_WHOLE: Final = 1_000
"""Characters, of which no sentence has so many."""


class LazyGroup(click.Group):
    """Commands by name: module of this folder and function, in the order of the help."""

    def __init__(self, *arguments: Any, table: Mapping[str, str], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.table:
            return None
        module, _, function = self.table[cmd_name].partition(":")
        command = getattr(import_module(f"pagekeep.doors.cli.{module}"), function)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each command with its whole first sentence: click would cut it off at the end of the line."""
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None:
                rows.append((name, command.get_short_help_str(_WHOLE)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)
