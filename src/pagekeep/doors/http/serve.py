"""Run the server: address, processes and shutdown."""

from __future__ import annotations

import errno
import ipaddress
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from multiprocessing import parent_process
from multiprocessing.process import BaseProcess
from threading import Thread
from time import sleep
from typing import Final

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from pagekeep import config
from pagekeep.config import Settings
from pagekeep.doors import logs
from pagekeep.doors.http.application import create_app
from pagekeep.doors.http.middleware.connections import Connection
from pagekeep.doors.http.observability import SHARED_FOLDER
from pagekeep.errors import Conflict, InvalidUrl, NotAllowed
from pagekeep.identity.accounts import open_accounts
from pagekeep.model.on_demand import refuse_to_make

SHUTDOWN_SECONDS: Final = 3
"""Time for running requests at shutdown; jobs then have a few more seconds (`library/run_jobs.py`)."""
ORPHAN_SECONDS: Final = 15
"""Time for a process without its parent to stop in order; then it ends at once."""
_BACKLOG: Final = 2048
_MAX_FILES: Final = 8_192
_SWITCH_SECONDS: Final = 0.001
"""The interpreter's thread switch interval: with the default of 5 ms, short requests wait for every search."""


def parse_listen(listen: str) -> tuple[str, int]:
    """Return host and port of the setting `listen`."""
    host, _, port = listen.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise InvalidUrl(
            f"Invalid listen address: {listen!r}.", suggestions=("Give an address and a port: 127.0.0.1:8470",)
        )
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_exposure(settings: Settings) -> None:
    """Refuse to listen to other machines, or to be shared, without user accounts."""
    if is_loopback(parse_listen(settings.listen)[0]) and not settings.shared:
        return
    with closing(open_accounts(settings)) as accounts:
        users = accounts.users()
    if not users:
        raise NotAllowed(
            "A server that other people can reach needs user accounts.",
            suggestions=("Add a user first: pagekeep user add NAME", "Or listen on 127.0.0.1 only, without --shared."),
        )


def bind(listen: str) -> socket.socket:
    """Return a listening socket; raise `Conflict` if the address is not available."""
    host, port = parse_listen(listen)
    # With an explicit protocol the event loop disables Nagle's algorithm. Without it, each response body waited 40 ms after its
    # headers for the client's acknowledgement.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(_BACKLOG)
    except OSError as error:
        sock.close()
        raise _bind_error(error, host, port) from None
    sock.set_inheritable(True)
    return sock


def _bind_error(error: OSError, host: str, port: int) -> Conflict:
    if error.errno == errno.EADDRINUSE:
        return Conflict(
            f"Port {port} is already in use.",
            suggestions=("Is Pagekeep already running?", f"Use another port: --port {port + 1}"),
        )
    if error.errno == errno.EACCES:
        return Conflict(f"No permission to use port {port}.", suggestions=("Use a port above 1023.",))
    return Conflict(f"Cannot listen on {host}.", suggestions=("Use an address of this machine.",))


def browser_url(sock: socket.socket) -> str:
    """Return the URL to open in a browser."""
    host, port = sock.getsockname()[:2]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"


class _Server(uvicorn.Server):
    """Calls `ready` when it accepts requests."""

    def __init__(self, server_config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(server_config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call `ready`."""
        await super().startup(sockets)
        self._ready()


def serve(settings: Settings, *, workers: int, ready: Callable[[str], None]) -> None:
    """Serve until stopped; call `ready` with the URL.

    With several workers, each process loads the settings itself, so `settings` must be the same ones.
    """
    check_exposure(settings)
    refuse_to_make()
    _allow_many_files()
    sys.setswitchinterval(_SWITCH_SECONDS)
    with closing(bind(settings.listen)) as sock:
        if workers == 1:
            _Server(_make_config(settings, create_app(settings), 1), lambda: ready(browser_url(sock))).run([sock])
        else:
            _serve_with_workers(settings, workers, sock, lambda: ready(browser_url(sock)))


def _allow_many_files() -> None:
    """Use as many files as the system allows: each connection takes one, and the usual limit is 1,024."""
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limit
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _serve_with_workers(settings: Settings, workers: int, sock: socket.socket, ready: Callable[[], None]) -> None:
    folder = tempfile.mkdtemp(prefix="pagekeep-metrics-")
    os.environ[SHARED_FOLDER] = folder  # where the processes combine their metrics
    try:
        ready()
        Multiprocess(
            _make_config(settings, "pagekeep.doors.http.serve:create_worker_app", workers), sockets=[sock]
        ).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def create_worker_app() -> FastAPI:
    """Return the application of one worker process, with the configured settings."""
    end_with_parent()
    refuse_to_make()
    sys.setswitchinterval(_SWITCH_SECONDS)
    settings = config.load()
    logs.configure(settings.log_level)
    # Two at least, so that one is left to others while a user has a slow page.
    return create_app(settings, processes=max(2, (os.cpu_count() or 2) // 4))


def end_with_parent() -> None:
    """Stop this process when its parent is gone, however that ended: otherwise it would keep the port."""
    parent = parent_process()
    if parent is not None:
        Thread(target=_stop_after, args=(parent,), name="pagekeep-parent", daemon=True).start()


def _stop_after(parent: BaseProcess) -> None:
    parent.join()  # returns when the kernel closes the parent's end of a pipe
    os.kill(os.getpid(), signal.SIGTERM)
    sleep(ORPHAN_SECONDS)
    os._exit(1)


def _make_config(settings: Settings, app: FastAPI | str, workers: int) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=isinstance(app, str),
        workers=workers,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        ws="none",
        http=Connection,
        # Without the setting: the variable FORWARDED_ALLOW_IPS, or this machine.
        forwarded_allow_ips=list(settings.trusted_proxies) or None,
    )
