"""What keeps the program's start fast: commands, and what they call, are imported when they are first used."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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


@contextmanager
def lazily() -> Iterator[None]:
    """Import what the calling module imports in this context when it is first called, or an attribute of it is used.

    The help of a command needs none of it, and a command only a part. For type checkers and import contracts, these are
    ordinary imports. What is not called, such as a constant, is used as an attribute of its module.
    """
    importer = sys._getframe(2).f_globals
    import_now = builtins.__import__

    def import_later(name: str, globals: Any = None, locals: Any = None, names: Any = (), level: int = 0) -> Any:
        return _Module(name) if globals is importer else import_now(name, globals, locals, names, level)

    builtins.__import__ = import_later  # type: ignore[assignment]
    try:
        yield
    finally:
        builtins.__import__ = import_now


class _Module:
    """A module from which names are imported."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> _Later:
        return _Later(self._name, name)


class _Later:
    """A function, class or module that is imported when it is first used."""

    def __init__(self, module: str, name: str) -> None:
        self._place = module, name

    def _load(self) -> Any:
        module, name = self._place
        loaded = import_module(module)
        return getattr(loaded, name) if hasattr(loaded, name) else import_module(f"{module}.{name}")

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._load()(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._load(), name)
