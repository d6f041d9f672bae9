"""Read new messages of an IMAP folder: through the address guard, with bounds on time and bytes, and without changing anything.

The folder is opened read-only (EXAMINE) and messages are fetched with BODY.PEEK, so that none is marked as read.
"""

from __future__ import annotations

import asyncio
import base64
import imaplib
import re
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from ipaddress import ip_address
from time import monotonic
from typing import Any, Final, Literal

from pagekeep.errors import BlockedAddress, FetchNetworkError, FetchTimeout, NotFound, TooLarge
from pagekeep.fetch.client import tls_context
from pagekeep.fetch.guard import Guard
from pagekeep.model import MailFolder, MailPosition

POLL_SECONDS: Final = 120.0
"""For one visit to a folder."""
_SILENCE_SECONDS: Final = 30.0
"""A server that sends nothing for this long is given up."""
MAX_POLL_BYTES: Final = 100_000_000
"""Of one visit; what is left comes with the next."""
_HEAD_BATCH: Final = 50
_MAX_LINE: Final = 1_000_000
_MAX_LINES: Final = 20_000
"""Lines of a visit; a hundred messages take about 500."""
_MAX_HEAD: Final = 100_000
"""Bytes of a message's headers, or of another literal that is not a message."""
_CHUNK: Final = 65_536
_UID: Final = re.compile(rb"\bUID (\d{1,10})")
_SIZE: Final = re.compile(rb"\bRFC822\.SIZE (\d{1,12})")
_FIELDS: Final = "FROM SENDER LIST-ID SUBJECT DATE MESSAGE-ID"
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class MailMessage:
    """A new message, or why it was not fetched."""

    uid: int
    size: int
    head: bytes
    """A few of its headers."""
    body: bytes | None = None
    skipped: Literal["", "unwanted", "too_large", "gone"] = ""


@dataclass(frozen=True, slots=True)
class FolderNews:
    """What a visit to a folder found, in the order of arrival."""

    validity: int
    messages: tuple[MailMessage, ...]
    has_more: bool


@dataclass(frozen=True, slots=True)
class Limits:
    """What one visit takes at most."""

    messages: int = 100
    message_bytes: int = 10_000_000
    seconds: float = POLL_SECONDS


async def read_new(
    folder: MailFolder,
    password: str,
    guard: Guard,
    *,
    after: MailPosition,
    since: date,
    wants: Callable[[bytes], bool],
    limits: Limits,
    tls: ssl.SSLContext | None = None,
) -> FolderNews:
    """Return the messages after a position; without one, or when it is not valid any more, those since a day.

    `wants` decides by the headers of a message whether it is fetched. The connection is blocking and has its thread; when
    the caller is cancelled, it is closed.
    """
    connected = await guard.connect(folder.host, folder.port, min(limits.seconds, _SILENCE_SECONDS))
    visit = _Visit(folder, password, connected, after, since, wants, limits, tls)
    try:
        return await asyncio.to_thread(visit.run)
    finally:
        with suppress(OSError):
            visit.connected.shutdown(socket.SHUT_RDWR)
        visit.connected.close()


@dataclass(slots=True)
class _Visit:
    folder: MailFolder
    password: str
    connected: socket.socket
    """The plain one, or the encrypted one that takes its place."""
    after: MailPosition
    since: date
    wants: Callable[[bytes], bool]
    limits: Limits
    tls: ssl.SSLContext | None

    def run(self) -> FolderNews:
        """Visit the folder; raise `FetchError`, `BlockedAddress`, `NotFound` or `TooLarge`."""
        host = self.folder.host
        try:
            self.connected = self._secure()
            session = _Session(self.connected, self.limits)
            news = self._read(session)
            with suppress(OSError, imaplib.IMAP4.error):
                session.logout()
            return news
        except TimeoutError:
            raise FetchTimeout(f"The mail server `{host}` did not respond in time.") from None
        except ssl.SSLCertVerificationError:
            raise FetchNetworkError(
                f"The certificate of the mail server `{host}` is not valid.",
                suggestions=("Check the host's name and port.",),
            ) from None
        except ssl.SSLError:
            hint = ("Check the port: 993 is the usual one for TLS.",)
            raise FetchNetworkError(f"The secure connection (TLS) to `{host}` failed.", suggestions=hint) from None
        except (OSError, imaplib.IMAP4.error, ValueError, IndexError, KeyError):
            raise FetchNetworkError(f"The mail server `{host}` closed the connection or answered wrongly.") from None

    def _secure(self) -> socket.socket:
        self.connected.settimeout(_SILENCE_SECONDS)
        if self.folder.security == "plain":
            if not ip_address(self.connected.getpeername()[0]).is_loopback:
                raise BlockedAddress(
                    "A mailbox is read without encryption only on this machine.", suggestions=("Use TLS, on port 993.",)
                )
            return self.connected
        context = self.tls or tls_context()
        return context.wrap_socket(self.connected, server_hostname=self.folder.host)

    def _read(self, session: _Session) -> FolderNews:
        session.sign_in(self.folder.user, self.password)
        validity = session.examine(self.folder.folder)
        is_known = self.after.uid > 0 and validity == self.after.validity
        uids = session.search_after(self.after.uid) if is_known else session.search_since(self.since)
        taken, messages = uids[: self.limits.messages], list[MailMessage]()
        for start in range(0, len(taken), _HEAD_BATCH):
            for head in session.fetch_heads(taken[start : start + _HEAD_BATCH]):
                if session.received + min(head.size, self.limits.message_bytes) > MAX_POLL_BYTES and messages:
                    return FolderNews(validity, tuple(messages), has_more=True)
                messages.append(self._complete(session, head))
        return FolderNews(validity, tuple(messages), has_more=len(uids) > len(taken))

    def _complete(self, session: _Session, head: MailMessage) -> MailMessage:
        if head.skipped:
            return head
        if not self.wants(head.head):
            return MailMessage(head.uid, head.size, head.head, skipped="unwanted")
        if head.size > self.limits.message_bytes:
            return MailMessage(head.uid, head.size, head.head, skipped="too_large")
        body = session.fetch_body(head.uid)
        return MailMessage(head.uid, head.size, head.head, body, "" if body else "gone")


class _Session(imaplib.IMAP4):
    """The standard library's client on a socket that the guard connected, with a reader that bounds what it takes."""

    def __init__(self, connected: socket.socket, limits: Limits) -> None:
        self._connected = connected
        self._until = monotonic() + limits.seconds
        self._message_bytes = limits.message_bytes
        self._max_literal = _MAX_HEAD
        self._lines = 0
        self._buffer = bytearray()
        self.received = 0
        super().__init__()

    def open(self, host: str = "", port: int = 0, timeout: float | None = None) -> None:
        """Use the socket that is connected already."""
        self.host, self.port, self.sock = host, port, self._connected

    def shutdown(self) -> None:
        """Close the socket, without waiting for the server."""
        self._connected.close()

    def read(self, size: int) -> bytes:
        """Return this many bytes, if they are within the limits."""
        if size > self._max_literal:
            raise TooLarge("The mail server sent a message that is larger than it said.")
        while len(self._buffer) < size:
            self._receive()
        return self._take(size)

    def readline(self) -> bytes:
        """Return the next line."""
        self._lines += 1
        if self._lines > _MAX_LINES:
            raise TooLarge("The mail server sent too many lines.")
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > _MAX_LINE:
                raise TooLarge("The mail server sent a line that is too long.")
            self._receive()
        return self._take(end + 1)

    def _take(self, size: int) -> bytes:
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    def _receive(self) -> None:
        left = self._until - monotonic()
        if left <= 0:
            raise TimeoutError
        self._connected.settimeout(min(left, _SILENCE_SECONDS))
        chunk = self._connected.recv(_CHUNK)
        if not chunk:
            raise ConnectionResetError
        self.received += len(chunk)
        if self.received > 2 * MAX_POLL_BYTES:
            raise TooLarge("The mail server sent more than was requested.")
        self._buffer += chunk

    def sign_in(self, user: str, password: str) -> None:
        """Sign in, in the way that takes every character if the server offers it."""
        try:
            if "AUTH=PLAIN" in self.capabilities:
                self.authenticate("PLAIN", lambda _: f"\0{user}\0{password}".encode())
            else:
                self.login(user, password)
        except UnicodeEncodeError:
            raise FetchNetworkError("The mail server takes only ASCII in passwords.", suggestions=()) from None
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error:  # its text may repeat what was sent
            hint = "Check them. Many providers want a password for apps, and IMAP switched on in their settings."
            raise FetchNetworkError("The mail server refused the user name or password.", suggestions=(hint,)) from None

    def examine(self, folder: str) -> int:
        """Open a folder for reading, and return its validity."""
        status, _ = self.select(f'"{encode_folder(folder)}"', readonly=True)
        if status != "OK":
            raise NotFound(f"The mailbox has no folder {folder!r:.100}.", suggestions=("Check its name.",))
        _, values = self.response("UIDVALIDITY")
        return int(values[0]) if values and values[0] else 0

    def search_after(self, uid: int) -> list[int]:
        """Return the messages after one; `*` is the last message, whatever its number."""
        return [found for found in self._search("UID", f"{uid + 1}:*") if found > uid]

    def search_since(self, day: date) -> list[int]:
        """Return the messages that arrived since a day."""
        return self._search("SINCE", f"{day.day}-{_MONTHS[day.month - 1]}-{day.year}")

    def _search(self, *criteria: str) -> list[int]:
        status, data = self.uid("SEARCH", *criteria)
        if status != "OK":
            raise self.error("the search failed")
        return sorted({int(word) for line in data if line for word in line.split()})

    def fetch_heads(self, uids: list[int]) -> list[MailMessage]:
        """Return the sizes and some headers of messages, in their order; one that has gone meanwhile says so."""
        wanted = ",".join(map(str, uids))
        status, data = self.uid(
            "FETCH", wanted, f"(UID RFC822.SIZE BODY.PEEK[HEADER.FIELDS ({_FIELDS})]<0.{_MAX_HEAD // 2}>)"
        )
        if status != "OK":
            raise self.error("the headers could not be fetched")
        found: dict[int, MailMessage] = {}
        for about, head in _literals(data):
            uid, size = _UID.search(about), _SIZE.search(about)
            if uid and size:
                found[int(uid[1])] = MailMessage(int(uid[1]), int(size[1]), head)
        return [found.get(uid) or MailMessage(uid, 0, b"", skipped="gone") for uid in uids]

    def fetch_body(self, uid: int) -> bytes | None:
        """Return a whole message; `None` when it has gone."""
        self._max_literal = self._message_bytes + _CHUNK
        status, data = self.uid("FETCH", str(uid), "(BODY.PEEK[])")
        self._max_literal = _MAX_HEAD
        if status != "OK":
            raise self.error("the message could not be fetched")
        return next((body for _, body in _literals(data)), None)


def _literals(data: list[Any]) -> list[tuple[bytes, bytes]]:
    """Return each literal of a response with the text before and after it: servers may put the number at either place."""
    found = []
    for place, part in enumerate(data):
        if isinstance(part, tuple) and len(part) == 2:
            after = data[place + 1] if place + 1 < len(data) and isinstance(data[place + 1], bytes) else b""
            found.append((part[0] + b" " + after, part[1]))
    return found


def encode_folder(name: str) -> str:
    """Return the name of a folder in the encoding of the protocol (modified UTF-7), for use within quotes."""
    parts: list[str] = []
    other = ""
    for char in [*name, ""]:
        if char and not " " <= char <= "~":
            other += char
            continue
        if other:
            encoded = base64.b64encode(other.encode("utf-16-be")).decode().rstrip("=").replace("/", ",")
            parts.append(f"&{encoded}-")
            other = ""
        parts.append({"&": "&-", '"': '\\"', "\\": "\\\\"}.get(char, char))
    return "".join(parts)
