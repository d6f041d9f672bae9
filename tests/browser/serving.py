"""A server of ours in a thread, on its own port."""

from __future__ import annotations

import socket
import threading

import uvicorn

from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app


class Server:
    """A server of ours in a thread."""

    def __init__(self, settings: Settings, port: int = 0) -> None:
        self.app = create_app(settings, processes=1)
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._server = uvicorn.Server(
            uvicorn.Config(self.app, log_level="error", ws="none", timeout_graceful_shutdown=2)
        )
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    def __enter__(self) -> Server:
        self._thread.start()
        while not self._server.started:
            if not self._thread.is_alive():
                raise RuntimeError("The server did not start.")
            threading.Event().wait(0.02)
        return self

    def __exit__(self, *_exception: object) -> None:
        self._server.should_exit = True
        self._thread.join(15)
        self._socket.close()
