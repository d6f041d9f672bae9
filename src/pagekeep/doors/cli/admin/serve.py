"""`pagekeep serve`: serve the library over HTTP."""

from __future__ import annotations

import os
from threading import Thread

import click

from pagekeep import extras
from pagekeep.doors.cli.options import examples, json_option, library_option
from pagekeep.doors.cli.output import report_errors, write, write_json


@click.command(
    epilog=examples(
        "serve",
        "serve --open",
        "serve --port 9000",
        "serve --shared --host 0.0.0.0 --library postgresql://localhost/pagekeep --workers 4",
    )
)
@click.option("--host", metavar="ADDRESS", help="Address to listen on. Default: only this machine can connect.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 for any free one.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Number of processes.")
@click.option(
    "--shared", is_flag=True, default=None, help="Several users, who sign in. Add them with `pagekeep user add`."
)
@click.option(
    "--open", "open_browser", is_flag=True, help="Open the reader in the browser when the server has started."
)
@library_option
@click.option(
    "--log-level",
    type=click.Choice(("debug", "info", "warning", "error")),
    help="Lowest level to log. Default: info.",
)
@json_option
def serve(
    host: str | None,
    port: int | None,
    workers: int,
    open_browser: bool,
    as_json: bool,
    **flags: str | bool | None,
) -> None:
    """Start the server: the reader for your browser, and an API for programs. Stop it with Ctrl-C."""
    with report_errors(as_json=as_json):
        from pagekeep import config
        from pagekeep.library.open import require_writable

        settings = config.load({**flags, "listen": _listen(config.load(flags).listen, host, port)})
        extras.require("server", "`pagekeep serve`", also=("mcp", "documents"))
        from pagekeep.doors import logs
        from pagekeep.doors.http import serve as serving

        require_writable(settings)
        _export_to_workers({**flags, "listen": settings.listen})
        logs.configure(settings.log_level)
        serving.serve(settings, workers=workers, ready=lambda address: _show_address(address, open_browser, as_json))


def _show_address(address: str, open_browser: bool, as_json: bool) -> None:
    if as_json:
        write_json({"address": address})
    else:
        write(f"Pagekeep is at {address}")
    if open_browser:
        import webbrowser

        # In a thread: some browsers return only when they are closed, and the server must answer meanwhile.
        Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _listen(setting: str, host: str | None, port: int | None) -> str:
    """Return the setting `listen` with the host and port of the flags put in."""
    old_host, _, old_port = setting.rpartition(":")
    new_host = old_host if host is None else f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"{new_host}:{old_port if port is None else port}"


def _export_to_workers(flags: dict[str, str | bool | None]) -> None:
    """Put the flags into the environment, where the server's processes read their settings."""
    from pagekeep.config import PREFIX

    for name, value in flags.items():
        if value is not None:
            os.environ[PREFIX + name.upper()] = "true" if value is True else str(value)
