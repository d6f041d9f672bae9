"""`pagekeep completion`: complete commands and options with the Tab key."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import get_completion_class

from pagekeep.doors.cli.options import examples, json_option
from pagekeep.doors.cli.output import write, write_json

SHELLS: Final = ("bash", "zsh", "fish")
_VARIABLE: Final = "_PAGEKEEP_COMPLETE"
"""The variable in which the shell asks the program for completions, by click's convention."""


@click.command(
    epilog=examples(
        "completion bash >> ~/.bashrc",
        "completion zsh >> ~/.zshrc",
        "completion fish > ~/.config/fish/completions/pagekeep.fish",
    )
)
@click.argument("shell", type=click.Choice(SHELLS))
@json_option
def completion(shell: str, as_json: bool) -> None:
    """Print the script that lets a shell complete commands and options with the Tab key."""
    from pagekeep.doors.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None
    # Not `source()`, which starts the shell to check its version: the script may be for another machine.
    completer = kind(cli, {}, "pagekeep", _VARIABLE)
    script = completer.source_template % completer.source_vars()
    if as_json:
        write_json({"shell": shell, "script": script})
    else:
        write(script)
