"""Read new messages of an IMAP folder: through the address guard, with bounds on time and bytes, and without changing anything.

The folder is opened read-only (EXAMINE) and messages are fetched with BODY.PEEK, so that none is marked as read. Of the
protocol only what these few commands need is spoken, by a small reader: each command says how much may come back,
and whatever a server puts elsewhere is text that no one looks at.
"""

from __future__ import annotations

import asyncio
import base64
import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from ipaddress import ip_address
from typing import Final, Literal

from pagekeep.errors import BlockedAddress, FetchError, FetchNetworkError, FetchTimeout, NotFound, TooLarge
from pagekeep.fetch.client import tls_context
from pagekeep.fetch.guard import Guard
from pagekeep.model import MailFolder, MailPosition

POLL_SECONDS: Final = 120.0
"""For one visit to a folder."""
_SILENCE_SECONDS: Final = 30.0
"""A server that sends nothing for this long is given up."""
MAX_POLL_BYTES: Final = 20_000_000
"""Of the messages of one visit, which are in memory together; what is left comes with the next."""
_HEAD_BATCH: Final = 50
_MAX_HEAD: Final = 50_000
"""Bytes of a message's headers that are requested."""
_MAX_ANSWER: Final = 1_000_000
"""Bytes that come back for a command that fetches nothing: the numbers of 100,000 messages, for example."""
_MAX_LINES: Final = 5_000
"""Lines that come back for one command; 50 headers take 100, and servers add news of other messages."""
_CHUNK: Final = 65_536
_MAX_NUMBER: Final = 2**32 - 1
"""Of a message, and of a folder's validity."""
_UID: Final = re.compile(rb"\bUID (\d{1,10})\b")
_SIZE: Final = re.compile(rb"\bRFC822\.SIZE (\d{1,12})\b")
_VALIDITY: Final = re.compile(rb"\[UIDVALIDITY (\d{1,10})\]")
_WITH_LITERALS: Final = re.compile(rb"\* \d{1,10} FETCH ")
"""Answers that may have literals: nothing else that was requested has long texts."""
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
    skipped: Literal["", "unwanted", "too_large"] = ""


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

    `wants` decides by the headers of a message whether it is fetched. A visit that fails after some messages returns
    these: the next one begins behind them, and fails if nothing more can be had. Raises `FetchError`, `BlockedAddress`,
    `NotFound` or `TooLarge`.
    """
    visit = _Visit(folder, after, since, wants, limits)
    host = folder.host
    try:
        async with asyncio.timeout(limits.seconds):
            return await visit.run(await _open(folder, guard, tls), password)
    except (FetchError, TooLarge) as failure:
        return visit.news_before(failure)
    except TimeoutError:
        return visit.news_before(FetchTimeout(f"The mail server `{host}` did not respond in time."))
    except ssl.SSLCertVerificationError:
        raise FetchNetworkError(
            f"The certificate of the mail server `{host}` is not valid.",
            suggestions=("Check the host's name and port.",),
        ) from None
    except ssl.SSLError:
        hint = ("Check the port: 993 is the usual one for TLS.",)
        failed = FetchNetworkError(f"The secure connection (TLS) to `{host}` failed.", suggestions=hint)
        return visit.news_before(failed)
    except (OSError, _WrongAnswer):
        failed = FetchNetworkError(f"The mail server `{host}` closed the connection or answered wrongly.")
        return visit.news_before(failed)


async def _open(folder: MailFolder, guard: Guard, tls: ssl.SSLContext | None) -> _Session:
    """Connect, and return a session; TLS is spoken from the first byte on, so that there is nothing to strip."""
    connected = await guard.connect(folder.host, folder.port, _SILENCE_SECONDS)
    try:
        if folder.security == "plain":
            if not ip_address(connected.getpeername()[0]).is_loopback:
                raise BlockedAddress(
                    "A mailbox is read without encryption only on this machine.", suggestions=("Use TLS, on port 993.",)
                )
            return _Session(*await asyncio.open_connection(sock=connected))
        async with asyncio.timeout(_SILENCE_SECONDS):
            secured = asyncio.open_connection(sock=connected, ssl=tls or tls_context(), server_hostname=folder.host)
            return _Session(*await secured)
    except BaseException:
        connected.close()
        raise


class _WrongAnswer(Exception):
    """The server sent what the protocol does not allow."""


class _Visit:
    def __init__(
        self, folder: MailFolder, after: MailPosition, since: date, wants: Callable[[bytes], bool], limits: Limits
    ) -> None:
        self._folder, self._after, self._since, self._wants, self._limits = folder, after, since, wants, limits
        self._validity = 0
        self._messages: list[MailMessage] = []

    def news_before(self, failure: FetchError | TooLarge) -> FolderNews:
        """Return the messages that came before a failure; raise it when there are none."""
        if not self._messages:
            raise failure from None
        return FolderNews(self._validity, tuple(self._messages), has_more=True)

    async def run(self, session: _Session, password: str) -> FolderNews:
        """Visit the folder."""
        try:
            has_more = await self._read(session, password)
            session.say_goodbye()
        finally:
            session.close()
        return FolderNews(self._validity, tuple(self._messages), has_more)

    async def _read(self, session: _Session, password: str) -> bool:
        await session.sign_in(self._folder.user, password)
        self._validity = await session.examine(self._folder.folder)
        is_known = self._after.uid > 0 and self._validity == self._after.validity
        uids = await (session.search_after(self._after.uid) if is_known else session.search_since(self._since))
        taken, received = uids[: self._limits.messages], 0
        for start in range(0, len(taken), _HEAD_BATCH):
            batch = taken[start : start + _HEAD_BATCH]
            heads = await session.fetch_heads(batch)
            for uid in batch:
                head = heads.get(uid)
                if head and self._messages and received + min(head.size, self._limits.message_bytes) > MAX_POLL_BYTES:
                    return True
                message = await self._complete(session, head) if head else None
                if message is None:
                    # Removed since the search, which the next visit will find, or never sent: the position stays before it.
                    raise _not_sent(uid)
                received += len(message.body or b"")
                self._messages.append(message)
        return len(uids) > len(taken)

    async def _complete(self, session: _Session, head: MailMessage) -> MailMessage | None:
        """Return a message with its body if that is wanted; `None` when the server does not send it."""
        if not await asyncio.to_thread(self._wants, head.head):
            return replace(head, skipped="unwanted")
        most = self._limits.message_bytes
        if head.size > most:
            return replace(head, skipped="too_large")
        body = await session.fetch_body(head.uid, most)
        if not body:
            return None
        return replace(head, body=body) if len(body) <= most else replace(head, skipped="too_large")


def _not_sent(uid: int) -> FetchNetworkError:
    hint = "If this comes again, move that message to another folder."
    return FetchNetworkError(f"The mail server lists the message {uid} but does not send it.", suggestions=(hint,))


@dataclass(frozen=True, slots=True)
class _Answer:
    """A line of the server, without the literals in it, and these."""

    text: bytes
    literals: tuple[bytes, ...]


class _Session:
    """A connection to a server, and the few commands that it is sent."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._buffer = bytearray()
        self._commands = 0
        self._bytes_left = _MAX_ANSWER
        """Of the answers to the current command."""

    def close(self) -> None:
        """Close the connection, without waiting for the server."""
        self._writer.transport.abort()

    def say_goodbye(self) -> None:
        """Send the command that ends a session; no one waits for what the server says to it."""
        self._writer.write(b"z LOGOUT\r\n")

    async def sign_in(self, user: str, password: str) -> None:
        """Sign in, in the way that takes every character if the server offers it."""
        greeting = await self._read_answer()
        if not greeting.text.upper().startswith(b"* OK"):
            raise _WrongAnswer
        _, offered = await self._run("CAPABILITY")
        if any(b"AUTH=PLAIN" in answer.text.upper().split() for answer in offered):
            secret = base64.b64encode(f"\0{user}\0{password}".encode("utf-8", "surrogateescape"))
            status, _ = await self._run("AUTHENTICATE PLAIN", reply=secret)
        else:
            if not (user + password).isascii():
                raise FetchNetworkError("The mail server takes only ASCII in passwords.", suggestions=())
            status, _ = await self._run(f"LOGIN {_quote(user)} {_quote(password)}")
        if status != b"OK":  # the rest of the answer may repeat what was sent
            hint = "Check them. Many providers want a password for apps, and IMAP switched on in their settings."
            raise FetchNetworkError("The mail server refused the user name or password.", suggestions=(hint,))

    async def examine(self, folder: str) -> int:
        """Open a folder for reading, and return its validity."""
        status, answers = await self._run(f"EXAMINE {_quote(encode_folder(folder))}")
        if status != b"OK":
            raise NotFound(f"The mailbox has no folder {folder!r:.100}.", suggestions=("Check its name.",))
        for answer in answers:
            if found := _VALIDITY.search(answer.text):
                return _check_number(found[1])
        return 0

    async def search_after(self, uid: int) -> list[int]:
        """Return the messages after one; `*` is the last message, whatever its number."""
        return [found for found in await self._search(f"UID {uid + 1}:*") if found > uid]

    async def search_since(self, day: date) -> list[int]:
        """Return the messages that arrived since a day."""
        return await self._search(f"SINCE {day.day}-{_MONTHS[day.month - 1]}-{day.year}")

    async def _search(self, criteria: str) -> list[int]:
        status, answers = await self._run(f"UID SEARCH {criteria}")
        if status != b"OK":
            raise _WrongAnswer
        found = (answer.text.split()[2:] for answer in answers if answer.text.startswith(b"* SEARCH"))
        return sorted({_check_number(word) for words in found for word in words})

    async def fetch_heads(self, uids: list[int]) -> dict[int, MailMessage]:
        """Return the sizes and some headers of messages, by their numbers."""
        wanted = ",".join(map(str, uids))
        fields = f"BODY.PEEK[HEADER.FIELDS ({_FIELDS})]<0.{_MAX_HEAD}>"
        found: dict[int, MailMessage] = {}
        for uid, answer in await self._fetch(wanted, f"UID RFC822.SIZE {fields}", _MAX_ANSWER + len(uids) * _MAX_HEAD):
            if size := _SIZE.search(answer.text):
                found[uid] = MailMessage(uid, int(size[1]), answer.literals[0])
        return found

    async def fetch_body(self, uid: int, most: int) -> bytes | None:
        """Return a whole message, or its beginning with one byte more than wanted; `None` when it has gone."""
        found = await self._fetch(str(uid), f"BODY.PEEK[]<0.{most + 1}>", _MAX_ANSWER + most)
        return next((answer.literals[0] for number, answer in found if number == uid), None)

    async def _fetch(self, uids: str, parts: str, max_bytes: int) -> list[tuple[int, _Answer]]:
        """Return the answers that have the number of a message and a literal."""
        status, answers = await self._run(f"UID FETCH {uids} ({parts})", max_bytes=max_bytes)
        if status != b"OK":
            raise _WrongAnswer
        numbered = ((_UID.search(answer.text), answer) for answer in answers if answer.literals)
        return [(_check_number(uid[1]), answer) for uid, answer in numbered if uid]

    async def _run(
        self, command: str, *, reply: bytes | None = None, max_bytes: int = _MAX_ANSWER
    ) -> tuple[bytes, list[_Answer]]:
        """Send a command and return its status and the answers before it; `reply` is sent once, when it is requested."""
        self._commands += 1
        self._bytes_left = max_bytes
        tag = f"a{self._commands}".encode()
        await self._send(tag + b" " + command.encode())
        answers: list[_Answer] = []
        for _ in range(_MAX_LINES):
            answer = await self._read_answer()
            first, _, rest = answer.text.partition(b" ")
            if first == tag:
                status = rest.partition(b" ")[0].upper()
                if status not in (b"OK", b"NO"):
                    raise _WrongAnswer
                return status, [*answers, answer]
            if first == b"+" and reply is not None:
                await self._send(reply)
                reply = None
            elif first == b"*" and not rest.upper().startswith(b"BYE"):
                answers.append(answer)
            else:
                raise _WrongAnswer
        raise TooLarge("The mail server sent too many lines.")

    async def _send(self, line: bytes) -> None:
        self._writer.write(line + b"\r\n")
        async with asyncio.timeout(_SILENCE_SECONDS):
            await self._writer.drain()

    async def _read_answer(self) -> _Answer:
        """Return the next line, with the literals that it announces and the lines that go on behind them."""
        texts, literals = list[bytes](), list[bytes]()
        while True:
            line = await self._read_line()
            texts.append(line)
            before, brace, size = line[:-1].rpartition(b"{")
            if not (line.endswith(b"}") and brace and size.isdigit()):
                return _Answer(b" ".join(texts), tuple(literals))
            if not _WITH_LITERALS.match(texts[0]):
                raise _WrongAnswer
            if len(literals) >= _MAX_LINES:
                raise TooLarge("The mail server sent too many lines.")
            texts[-1] = before
            literals.append(await self._read_literal(size))

    async def _read_literal(self, size: bytes) -> bytes:
        if len(size) > 10 or int(size) > self._bytes_left:
            raise TooLarge("The mail server sent a message that is larger than it said.")
        length = int(size)
        while len(self._buffer) < length:
            await self._receive()
        return self._take(length)

    async def _read_line(self) -> bytes:
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > min(_MAX_ANSWER, self._bytes_left):
                raise TooLarge("The mail server sent a line that is too long.")
            await self._receive()
        return self._take(end + 1).rstrip(b"\r\n")

    def _take(self, size: int) -> bytes:
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise TooLarge("The mail server sent more than was requested.")
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    async def _receive(self) -> None:
        async with asyncio.timeout(_SILENCE_SECONDS):
            chunk = await self._reader.read(_CHUNK)
        if not chunk:
            raise ConnectionResetError
        self._buffer += chunk


def _check_number(digits: bytes) -> int:
    """Return a number of the protocol, from 1 to 32 bits."""
    if not digits.isdigit() or len(digits) > 10 or not 0 < int(digits) <= _MAX_NUMBER:
        raise _WrongAnswer
    return int(digits)


def _quote(text: str) -> str:
    """Return a string of the protocol, in quotes."""
    if not text.isprintable():
        raise FetchNetworkError("The mail server takes no control characters in names and passwords.", suggestions=())
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def encode_folder(name: str) -> str:
    """Return the name of a folder in the encoding of the protocol (modified UTF-7)."""
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
        parts.append("&-" if char == "&" else char)
    return "".join(parts)
