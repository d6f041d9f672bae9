"""Running the server: where it listens, who may reach it, how many processes, and how it ends."""

from __future__ import annotations

import errno
import ipaddress
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from typing import Final

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from pagekeep import config
from pagekeep.accounts import get_users, open_accounts
from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app
from pagekeep.doors.http.observability import logs
from pagekeep.doors.http.observability.metrics import SHARED_FOLDER
from pagekeep.errors import Conflict, InvalidUrl, NotAllowed

GRACE: Final = 3
"""Seconds that requests under way have when the server ends; jobs then have a few more (`app/background.py`)."""
_BACKLOG: Final = 2048
_TURN: Final = 0.001
"""Seconds that a thread has before another gets its turn: at the usual 5 ms a short answer waits for every search."""


def where(listen: str) -> tuple[str, int]:
    """Host and port of the setting `listen`."""
    host, _, port = listen.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise InvalidUrl(
            "The server cannot listen there.", suggestions=("Write an address and a port: 127.0.0.1:8470",)
        )
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refuse_unsafe(settings: Settings) -> None:
    """Nobody listens to other machines without knowing whom it lets in."""
    if is_loopback(where(settings.listen)[0]) and not settings.shared:
        return
    with closing(open_accounts(settings)) as accounts:
        users = get_users(accounts)
    if not users:
        raise NotAllowed(
            "Other people can be let in only where users are known.",
            suggestions=("Add one first: pagekeep user add NAME", "Or listen on this machine alone, without --shared."),
        )


def bind(listen: str) -> socket.socket:
    """A socket that listens there; `Conflict` when somebody else does."""
    host, port = where(listen)
    # Its kind said in full: only then does the event loop send answers at once. Without, each body waited 40 ms behind its
    # head, for the client to confirm that.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(_BACKLOG)
    except OSError as error:
        sock.close()
        raise _refused(error, host, port) from None
    sock.set_inheritable(True)
    return sock


def _refused(error: OSError, host: str, port: int) -> Conflict:
    if error.errno == errno.EADDRINUSE:
        return Conflict(
            f"Port {port} is taken.", suggestions=("Is Pagekeep running already?", f"Take another: --port {port + 1}")
        )
    if error.errno == errno.EACCES:
        return Conflict(f"Port {port} is not for everyone.", suggestions=("Take one above 1023.",))
    return Conflict(f"The server cannot listen at {host}.", suggestions=("Give an address of this machine.",))


def address_of(sock: socket.socket) -> str:
    """What people type into a browser."""
    host, port = sock.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}/"


class _Server(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, configured: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(configured)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Ready once it answers."""
        await super().startup(sockets)
        self._ready()


def serve(settings: Settings, *, workers: int, ready: Callable[[str], None]) -> None:
    """Answer requests until told to stop. `ready` is told the address.

    With several workers each is a process that reads its settings itself, so these must be the ones in force there.
    """
    refuse_unsafe(settings)
    sys.setswitchinterval(_TURN)
    with closing(bind(settings.listen)) as sock:
        if workers == 1:
            _Server(_configured(create_app(settings), 1), lambda: ready(address_of(sock))).run([sock])
        else:
            _serve_by_several(workers, sock, lambda: ready(address_of(sock)))


def _serve_by_several(workers: int, sock: socket.socket, ready: Callable[[], None]) -> None:
    folder = tempfile.mkdtemp(prefix="pagekeep-metrics-")
    os.environ[SHARED_FOLDER] = folder  # where the processes add up their numbers
    try:
        ready()
        Multiprocess(_configured("pagekeep.doors.http.serve:one_of_several", workers), sockets=[sock]).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def one_of_several() -> FastAPI:
    """The server of one process, by the settings in force."""
    sys.setswitchinterval(_TURN)
    settings = config.load()
    logs.configure(settings.log_level)
    return create_app(settings, processes=max(1, (os.cpu_count() or 2) // 4))


def _configured(app: FastAPI | str, workers: int) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=isinstance(app, str),
        workers=workers,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        ws="none",
    )
