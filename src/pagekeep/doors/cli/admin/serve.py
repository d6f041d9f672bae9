"""`pagekeep serve`: the library over HTTP, for a browser and for programs."""

from __future__ import annotations

import os

import click

from pagekeep.doors.cli.open_library import examples
from pagekeep.doors.cli.output import errors_shown, write
from pagekeep.errors import NotFound


@click.command(
    epilog=examples(
        "serve",
        "serve --port 9000",
        "serve --shared --host 0.0.0.0 --library postgresql://localhost/pagekeep --workers 4",
    )
)
@click.option("--host", metavar="ADDRESS", help="Where to listen; this machine alone without it.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; 0 takes any that is free.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes.")
@click.option("--shared", is_flag=True, default=None, help="For several people, who sign in (`pagekeep user add`).")
@click.option("--library", metavar="PATH|URL", help="A library file or postgresql:// address; the setting without it.")
@click.option(
    "--log-level", type=click.Choice(("debug", "info", "warning", "error")), help="From which level on to log; info."
)
def serve(host: str | None, port: int | None, workers: int, **flags: str | bool | None) -> None:
    """Serve the library: a reader for the browser, an API for programs. Ends with Ctrl-C."""
    with errors_shown():
        from pagekeep import config

        settings = config.load({**flags, "listen": _listen(config.load(flags).listen, host, port)})
        try:
            from pagekeep.doors.http import serve as serving
            from pagekeep.doors.http.observability import logs
        except ImportError as missing:
            raise NotFound(
                f"The server needs a package that is not installed: {missing.name}.",
                suggestions=("Install it: pip install 'pagekeep[server]'",),
            ) from missing
        _hand_down({**flags, "listen": settings.listen})
        logs.configure(settings.log_level)
        serving.serve(settings, workers=workers, ready=lambda address: write(f"Pagekeep is at {address}"))


def _listen(setting: str, host: str | None, port: int | None) -> str:
    """The setting with the parts that were given in place of its own."""
    old_host, _, old_port = setting.rpartition(":")
    new_host = old_host if host is None else f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"{new_host}:{old_port if port is None else port}"


def _hand_down(flags: dict[str, str | bool | None]) -> None:
    """What was given by flag, put where the processes of the server look for settings."""
    from pagekeep.config import PREFIX

    given = {name: value for name, value in flags.items() if value is not None}
    os.environ.update(
        {PREFIX + name.upper(): str(value).lower() if value is True else str(value) for name, value in given.items()}
    )
