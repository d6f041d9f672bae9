"""A command group that imports a command only when it is needed, so that the program starts fast."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import click

from pagekeep.doors.cli.output import write_json

JSON_FLAG: Final = "--json"

Commands = Mapping[str, tuple[str, str]]
"""Command name to `module:function`, the module as seen from this folder, and the first sentence of its help, so that the help
of the group imports no command. It lists them in this order."""


class LazyGroup(click.Group):
    """A command group whose commands are given as sections of names and places, not as objects."""

    def __init__(self, *arguments: Any, sections: Mapping[str, Commands], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.sections = sections
        self._places = {name: place for commands in sections.values() for name, (place, _) in commands.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._places:
            return None
        module, _, function = self._places[cmd_name].partition(":")
        command = getattr(import_module(f"pagekeep.doors.cli.{module}"), function)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; for an unknown one, name the most similar."""
        name = args[0]
        if name not in self._places and not name.startswith("-"):
            from difflib import get_close_matches

            if near := get_close_matches(name.lower(), self._places, 1):
                ctx.fail(f"No such command {name!r}: did you mean {near[0]}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a mistake in its arguments is reported as JSON where the user asked for JSON."""
        as_json = JSON_FLAG in (*ctx._protected_args, *ctx.args)
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if not as_json:
                raise
            usage = {"type": "UsageError", "message": error.format_message(), "suggestions": [_help_hint(error)]}
            write_json({"success": False, "error": usage})
            raise click.exceptions.Exit(error.exit_code) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per group of commands, each command with its whole first sentence."""
        width = max(map(len, self._places))
        for title, commands in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), summary) for name, (_, summary) in commands.items()])


def _help_hint(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx else "pagekeep"
    return f"For help: {path} --help"
