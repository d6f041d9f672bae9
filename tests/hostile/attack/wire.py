"""HTTP by hand: attackers send what no library would, and do not wait for what they need not know."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

ATTACKER: Final = "127.0.0.2"
"""The address attackers come from: all of them one client, as far as the server can tell."""
SECONDS: Final = 70.0
_BOUNDARY: Final = "attack-boundary"


@dataclass(frozen=True)
class Wire:
    """Where the server is, and as whom to speak to it."""

    address: str
    token: str = ""

    def connect(self) -> socket.socket:
        """Open a connection from the attackers' address."""
        where = urlsplit(self.address)
        return socket.create_connection((str(where.hostname), where.port or 80), SECONDS, (ATTACKER, 0))

    def head(self, method: str, path: str, length: int, **headers: str) -> bytes:
        """Return the head of a request."""
        named = {"host": urlsplit(self.address).netloc, "content-length": str(length), "connection": "close"}
        named |= {"authorization": f"Bearer {self.token}"} if self.token else {}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        return "\r\n".join([f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in named.items()), "", ""]).encode()

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> str:
        """Send a request and return the status of its response, or what happened instead."""
        try:
            with self.connect() as line:
                with suppress(ConnectionError):  # the server may answer before it has everything, and close
                    line.sendall(self.head(method, path, len(body), **headers))
                    line.sendall(body)
                return _status(line)
        except TimeoutError:
            return "no answer"
        except OSError:
            return "closed"

    def post(self, path: str, value: Any) -> str:
        """Send JSON."""
        return self.send("POST", path, json.dumps(value).encode(), content_type="application/json")

    def upload(self, path: str, field: str, name: str, body: bytes, **fields: str) -> str:
        """Send a form with a file."""
        parts = [
            f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in fields.items()
        ]
        disposition = (
            f'Content-Disposition: form-data; name="{field}"; filename="{name}"\r\nContent-Type: text/html\r\n'
        )
        head = "".join(parts) + f"--{_BOUNDARY}\r\n{disposition}\r\n"
        data = head.encode() + body + f"\r\n--{_BOUNDARY}--\r\n".encode()
        return self.send("POST", path, data, content_type=f"multipart/form-data; boundary={_BOUNDARY}", x_part="1")

    def call_tool(self, tool: str, **arguments: Any) -> str:
        """Call a tool over MCP."""
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        return self.send(
            "POST",
            "/mcp/",
            json.dumps(call).encode(),
            content_type="application/json",
            accept="application/json, text/event-stream",
        )


def _status(line: socket.socket) -> str:
    """Read a response to its end; return its status."""
    with suppress(ConnectionError):
        first = line.recv(65_536)
        if first:
            with suppress(ConnectionError):
                while line.recv(1 << 20):
                    pass
            return first.split(b" ", 2)[1].decode("latin-1")
    return "closed"
