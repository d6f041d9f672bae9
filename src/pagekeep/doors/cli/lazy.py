"""A command group that imports a command only when it is needed, so that the program starts fast."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import click

_NO_LIMIT: Final = 1_000
"""Characters of a command's summary: more than any has, so that click never cuts one short."""

Commands = Mapping[str, str]
"""Command name to `module:function`, the module as seen from this folder; help lists them in this order."""


class LazyGroup(click.Group):
    """A command group whose commands are given as sections of names and places, not as objects."""

    def __init__(self, *arguments: Any, sections: Mapping[str, Commands], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.sections = sections
        self._places = {name: place for commands in sections.values() for name, place in commands.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._places:
            return None
        module, _, function = self._places[cmd_name].partition(":")
        command = getattr(import_module(f"pagekeep.doors.cli.{module}"), function)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per group of commands, each command with its whole first sentence."""
        width = max(map(len, self._places))
        for title, commands in self.sections.items():
            rows = []
            for name in commands:
                command = self.get_command(ctx, name)
                assert command is not None
                rows.append((name.ljust(width), command.get_short_help_str(_NO_LIMIT)))
            with formatter.section(title):
                formatter.write_dl(rows)
