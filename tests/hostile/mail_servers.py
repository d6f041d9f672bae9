"""An IMAP server as the attacker, on real sockets: a poll ends in bounded time and memory, with an error that is reported.

`python -m tests.hostile.mail_servers [--full]`. Every hostile answer below is sent at every step of a poll, by a server
with and without TLS; an honest conversation is cut at its bytes; servers strip TLS or speak before it. After each attack
the position is where the saved messages end, and an honest server gives the rest. Beside hostile servers other sources
and saves go on. `--full` takes every answer at every step and a cut at every byte.
"""

from __future__ import annotations

import asyncio
import base64
import re
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic
from unittest.mock import patch

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.fetch.imap import Limits
from pagekeep.library.feeds import mail_poll as polling
from pagekeep.library.feeds.mail_sources import add_source, get_source
from pagekeep.model import EntryQuery
from pagekeep.store import Store, open_store
from pagekeep.workers import Room
from tests.hostile.store_places import run_script
from tests.library.mail.test_poll import letter
from tests.site.secure import Authority

SECONDS = 0.3
"""Of a visit to a hostile server; the attacks that never end are ended by it."""
PATIENCE = 60.0
"""Seconds after which a poll counts as endless, on a busy machine."""
MAX_GROWTH_MB = 60
"""Of this process, server and client together; one message of 10 MB is among the attacks."""
USER, PASSWORD = "ann", "the-one-secret"
LETTERS = {uid: letter(uid).replace(b"\n", b"\r\n") for uid in (1, 2, 3)}
STEPS = ("greeting", "CAPABILITY", "AUTHENTICATE", "EXAMINE", "SEARCH", "HEADS", "BODY", "LOGOUT")
Chunks = AsyncIterator[bytes]


async def _once(*data: bytes) -> Chunks:
    for part in data:
        yield part


async def _for_ever(part: bytes, first: bytes = b"", pause: float = 0.0) -> Chunks:
    yield first
    while True:
        yield part
        if pause:
            await asyncio.sleep(pause)


async def _numbered(form: bytes, count: int) -> Chunks:
    for start in range(0, count, 1000):
        yield b"".join(form % number for number in range(start, start + 1000))


async def _silence() -> Chunks:
    await asyncio.sleep(3600)
    yield b""


async def _numbers() -> Chunks:
    yield b"* SEARCH"
    for start in range(1, 4_000_000_000, 1000):
        yield b"".join(b" %d" % number for number in range(start, start + 1000))
        if start % 100_000 == 1:
            yield b"\r\n* SEARCH"


ANSWERS: dict[str, Callable[[bytes], Chunks]] = {
    "endless literal": lambda tag: _for_ever(b"x" * 65_536, b"* 1 FETCH (UID 1 BODY[] {999999999}\r\n"),
    "literal of a terabyte": lambda tag: _for_ever(b"x" * 65_536, b"* 1 FETCH (UID 1 BODY[] {1000000000000}\r\n"),
    "literal of 5,000 digits": lambda tag: _once(b"* 1 FETCH (UID 1 BODY[] {" + b"9" * 5000 + b"}\r\n"),
    "negative literal": lambda tag: _once(b"* 1 FETCH (UID 1 BODY[] {-5}\r\nabc)\r\n", tag + b" OK done\r\n"),
    "literal that is no number": lambda tag: _once(
        b"* SEARCH {1e9}\r\n* SEARCH {0x10}\r\n* SEARCH {}\r\n", tag + b" OK done\r\n"
    ),
    "literal longer than what comes": lambda tag: _once(
        b"* 1 FETCH (UID 1 BODY[] {90000}\r\nabc)\r\n", tag + b" OK done\r\n"
    ),
    "literal shorter than what comes": lambda tag: _once(
        b"* 1 FETCH (UID 1 BODY[] {2}\r\nabcdef)\r\n", tag + b" OK done\r\n"
    ),
    "many literals": lambda tag: _for_ever(b"* 1 FETCH (UID 1 BODY[] {60000}\r\n" + b"x" * 60_000 + b")\r\n"),
    "literals in one answer": lambda tag: _for_ever(b"{50000}\r\n" + b"x" * 50_000 + b" ", b"* 1 FETCH (UID 1 BODY[] "),
    "empty literals": lambda tag: _for_ever(b" {0}\r\n" * 1000, b"* SEARCH"),
    "literal in SEARCH": lambda tag: _once(b"* SEARCH {3}\r\n1 2 3\r\n", tag + b" OK done\r\n"),
    "literal in BYE": lambda tag: _once(b"* BYE {3}\r\nabc\r\n", tag + b" OK done\r\n"),
    "literal in CAPABILITY": lambda tag: _once(b"* CAPABILITY {3}\r\nabc\r\n", tag + b" OK done\r\n"),
    "literal in UIDVALIDITY": lambda tag: _once(b"* UIDVALIDITY {3}\r\nabc\r\n", tag + b" OK done\r\n"),
    "literal in OK": lambda tag: _once(b"* OK {3}\r\nabc [UIDVALIDITY 9]\r\n", tag + b" OK done\r\n"),
    "endless line": lambda tag: _for_ever(b"* " * 30_000),
    "endless line of braces": lambda tag: _for_ever(b"{1" * 30_000),
    "lines without carriage returns": lambda tag: _for_ever(b"* OK still here\n" * 1000),
    "empty lines": lambda tag: _for_ever(b"\r\n" * 30_000),
    "10 million folders": lambda tag: _numbered(b'* LIST (\\HasNoChildren) "/" "folder %d"\r\n', 10_000_000),
    "10 million sizes": lambda tag: _numbered(b"* %d EXISTS\r\n", 10_000_000),
    "10 million flags": lambda tag: _numbered(b"* 1 FETCH (UID %d RFC822.SIZE 9 FLAGS (\\Seen))\r\n", 10_000_000),
    "endless numbers": lambda tag: _numbers(),
    "long lines": lambda tag: _for_ever(b"* SEARCH " + b"7 " * 400_000 + b"\r\n"),
    "drip": lambda tag: _for_ever(b"*", pause=0.02),
    "drip of lines": lambda tag: _for_ever(b"* OK\r\n", pause=0.02),
    "silence": lambda tag: _silence(),
    "binary": lambda tag: _for_ever(bytes(range(256)) * 200),
    "no such encoding": lambda tag: _once(b"* OK \xff\xfe\r\n", tag + b" OK \xff\xfe\r\n"),
    "continuations": lambda tag: _for_ever(b"+ go on\r\n" * 100),
    "continuation that is not base64": lambda tag: _once(b"+ \xff\xff\r\n"),
    "another tag": lambda tag: _once(b"zz9 OK done\r\n"),
    "the tag of a later command": lambda tag: _once(b"".join(b"a%d OK done\r\n" % n for n in range(100))),
    "NO": lambda tag: _once(tag + b" NO no\r\n"),
    "BAD": lambda tag: _once(tag + b" BAD bad\r\n"),
    "NO with the password": lambda tag: _once(tag + b" NO " + PASSWORD.encode() + b"\r\n"),
    "OK without data": lambda tag: _once(tag + b" OK done\r\n"),
    "no status": lambda tag: _once(tag + b"\r\n"),
    "goodbye": lambda tag: _once(b"* BYE\r\n"),
    "signed in already": lambda tag: _once(b"* PREAUTH welcome\r\n", tag + b" OK done\r\n"),
    "end": lambda tag: _once(),
    "numbers below 1": lambda tag: _once(b"* SEARCH -5 0 1_0\r\n", tag + b" OK done\r\n"),
    "numbers of 4,000 digits": lambda tag: _once(b"* SEARCH " + b"9" * 4000 + b" 5\r\n", tag + b" OK done\r\n"),
    "numbers over 32 bits": lambda tag: _once(b"* SEARCH 4294967296 99999999999\r\n", tag + b" OK done\r\n"),
    "numbers that are words": lambda tag: _once(b"* SEARCH one \xd9\xa1 1.5 NaN\r\n", tag + b" OK done\r\n"),
    "validity of 4,000 digits": lambda tag: _once(
        b"* OK [UIDVALIDITY " + b"9" * 4000 + b"]\r\n", tag + b" OK done\r\n"
    ),
    "negative validity": lambda tag: _once(b"* OK [UIDVALIDITY -1]\r\n", tag + b" OK done\r\n"),
    "validity that is a word": lambda tag: _once(b"* OK [UIDVALIDITY x]\r\n", tag + b" OK done\r\n"),
    "message that was not requested": lambda tag: _once(
        b"* 9 FETCH (UID 99 RFC822.SIZE 5 BODY[] {5}\r\nFrom:)\r\n", tag + b" OK done\r\n"
    ),
    "size of a gigabyte": lambda tag: _once(
        b"* 1 FETCH (UID 1 RFC822.SIZE 1000000000 BODY[] {6}\r\nFrom:\n)\r\n", tag + b" OK done\r\n"
    ),
    "negative size": lambda tag: _once(
        b"* 1 FETCH (UID 1 RFC822.SIZE -9 BODY[] {6}\r\nFrom:\n)\r\n", tag + b" OK done\r\n"
    ),
    "headers that are slow to read": lambda tag: _once(
        b"* 1 FETCH (UID 1 RFC822.SIZE 9 BODY[] {50005}\r\nFrom:" + b"<@(" * 16_667 + b")\r\n", tag + b" OK done\r\n"
    ),
}
"""What is sent instead of the right answer, by what it is; the argument is the tag of the command."""
LIES = {"literal shorter than what comes", "size of a gigabyte", "negative size", "headers that are slow to read"}
"""Answers with another message than the requested one, which is then what is saved."""


@dataclass
class Hostile:
    """An IMAP server with three messages that sends one hostile answer, at one step, or stops after some bytes."""

    step: str = "none"
    answer: str = ""
    cut: int | None = None
    tls: ssl.SSLContext | None = None
    bare: bytes | None = None
    """What is sent before any TLS; with it no TLS is spoken at all."""
    port: int = 0
    heard: bytearray = field(default_factory=bytearray)
    """Everything that clients sent."""
    sent: int = 0

    async def start(self) -> asyncio.Server:
        server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self.tls)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, ssl.SSLError, TimeoutError, asyncio.CancelledError):
            if self.bare is not None:
                writer.write(self.bare)
            await self._talk(reader, writer)
        writer.transport.abort()

    async def _send(self, writer: asyncio.StreamWriter, data: bytes) -> bool:
        if self.cut is not None:
            data = data[: max(0, self.cut - self.sent)]
        self.sent += len(data)
        writer.write(data)
        await writer.drain()
        if self.cut is not None and self.sent >= self.cut:
            writer.close()
            await writer.wait_closed()
            return False
        return True

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        step, tag, line = "greeting", b"*", b""
        while True:
            if step == self.step:
                async for part in ANSWERS[self.answer](tag):
                    writer.write(part)
                    await writer.drain()
                    await asyncio.sleep(
                        0
                    )  # else a lost TLS connection is never noticed: nothing fills up, and nothing waits
                if self.answer == "end":
                    return
            elif not await self._send(writer, await self._honest(step, tag, line, reader, writer)):
                return
            line = await reader.readline()
            self.heard += line
            if not line:
                return
            tag, _, rest = line.rstrip().partition(b" ")
            step = rest.split(b" ")[0].decode("ascii", "replace").upper()
            if step == "UID":
                step = "SEARCH" if b"SEARCH" in rest else "HEADS" if b"HEADER" in rest else "BODY"

    async def _honest(
        self, step: str, tag: bytes, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bytes:
        done = tag + b" OK done\r\n"
        if step == "AUTHENTICATE":
            if not await self._send(writer, b"+ \r\n"):
                return b""
            self.heard += await reader.readline()
            return done
        if step == "SEARCH":
            found = re.search(rb"UID (\d+):", line)
            uids = [uid for uid in LETTERS if not found or uid >= int(found[1])]
            return b"* SEARCH" + b"".join(b" %d" % uid for uid in uids) + b"\r\n" + done
        if step in ("HEADS", "BODY"):
            asked = [int(uid) for uid in line.split()[3].split(b",")]
            return b"".join(map(self._message, (uid for uid in asked if uid in LETTERS))) + done
        said = {
            "greeting": b"* OK ready\r\n",
            "CAPABILITY": b"* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n",
            "EXAMINE": b"* 3 EXISTS\r\n* OK [UIDVALIDITY 7] valid\r\n",
            "LOGOUT": b"* BYE\r\n",
        }
        return said.get(step, b"") + (b"" if step == "greeting" else done)

    def _message(self, uid: int) -> bytes:
        head = b"* %d FETCH (UID %d RFC822.SIZE %d BODY[] {%d}\r\n"
        return head % (uid, uid, len(LETTERS[uid]), len(LETTERS[uid])) + LETTERS[uid] + b")\r\n"


@dataclass
class Bench:
    """A library with a mail source for each attack, and what went wrong so far."""

    store: Store
    room: Room
    authority: Authority
    attacks: int = 0
    faults: list[str] = field(default_factory=list)

    async def attack(self, name: str, server: Hostile, *, secure: bool, seconds: float = SECONDS) -> None:
        """Poll a hostile server, then an honest one of the same name, and note what is wrong."""
        self.attacks += 1
        fault = partial(self._fault, name)
        tls = self.authority.client
        if secure and server.bare is None:
            server.tls = self.authority.server("127.0.0.1", protocols=())
        running = await server.start()
        settings = Settings(allow_hosts=("127.0.0.1",), mail_account=f"{USER}@127.0.0.1", mail_password=PASSWORD)
        source, _ = add_source(
            self.store,
            settings,
            "127.0.0.1",
            USER,
            senders=["*"],
            port=server.port,
            folder=f"attack {self.attacks}",
            security="tls" if secure else "plain",
        )
        before, begun = _memory(reset=True), monotonic()
        async with Retrieval(settings, room=self.room) as retrieval:
            try:
                with patch.object(polling, "Limits", partial(Limits, seconds=seconds)):
                    report = await asyncio.wait_for(polling.poll(source, self.store, retrieval, tls=tls), PATIENCE)
            except TimeoutError:
                fault("the poll did not end")
                report = {"error": "endless"}
            except Exception as error:
                fault(f"{type(error).__name__}: {error}")
                report = {"error": "raised"}
            running.close()
            grown, took = _memory() - before, monotonic() - begun
            if grown > MAX_GROWTH_MB:
                fault(f"{grown} MB more")
            if took > PATIENCE:
                fault(f"{took:.1f} s")
            self._check(fault, server, report, source.id, secure)
            await self._afterwards(fault, server, settings, source.id, retrieval)
        self.store.schedules.remove("mail", source.id)

    def _fault(self, name: str, text: str) -> None:
        self.faults.append(f"{name}: {text}")

    def _check(self, fault: Callable[[str], None], server: Hostile, report: object, key: str, secure: bool) -> None:
        state = get_source(self.store, key)
        secret = base64.b64encode(f"\0{USER}\0{PASSWORD}".encode()).rstrip(b"=")
        if PASSWORD in str(report) or PASSWORD in str(state):
            fault("the report has the password")
        if secure and server.bare is not None and (secret in server.heard or PASSWORD.encode() in server.heard):
            fault("the password went out in clear")
        saved = {number for number in LETTERS if f"Letter {number}" in self._titles()}
        skipped = sum(state.counts.get(name, 0) for name in ("unwanted", "too_large"))
        if server.answer not in LIES and not skipped and state.position.uid > max(saved, default=0):
            fault(f"the position is {state.position.uid}, saved are {sorted(saved)}")
        if not 0 <= state.position.uid < 2**32 or not 0 <= state.position.validity < 2**32:
            fault(f"the position is {state.position}")

    def _titles(self) -> set[str]:
        return {entry.title for entry in self.store.entries.find(EntryQuery(limit=200)).entries}

    async def _afterwards(
        self, fault: Callable[[str], None], server: Hostile, settings: Settings, key: str, retrieval: Retrieval
    ) -> None:
        """An honest server at the same place is read as if nothing had been."""
        honest = Hostile(tls=server.tls or (self.authority.server("127.0.0.1", protocols=()) if server.bare else None))
        honest.port = server.port
        running = await honest.start()
        report = await polling.poll(get_source(self.store, key), self.store, retrieval, tls=self.authority.client)
        running.close()
        if report["error"]:
            fault(f"afterwards: {report['error']}")
        missing = {f"Letter {number}" for number in LETTERS} - self._titles()
        if missing and server.answer not in LIES and not get_source(self.store, key).counts["too_large"]:
            fault(f"never saved: {sorted(missing)}")
        for feed in self.store.feeds.list():
            self.store.feeds.remove(feed.id)


def _memory(*, reset: bool = False) -> int:
    """Return the peak of this process's memory in megabytes since the last reset."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) // 1024 if found else 0


async def beside(bench: Bench, count: int) -> None:
    """Poll hostile servers at once; an honest source and the library's own work go on beside them."""
    servers = [Hostile("HEADS", ("silence", "drip")[number % 2]) for number in range(count)]
    honest = Hostile()
    running = [await one.start() for one in [*servers, honest]]
    settings = Settings(allow_hosts=("127.0.0.1",), mail_account=f"{USER}@127.0.0.1", mail_password=PASSWORD)
    add = partial(add_source, bench.store, settings, "127.0.0.1", USER, senders=["*"], security="plain")
    async with Retrieval(settings, room=bench.room) as retrieval:
        sources = [add(port=one.port)[0] for one in [*servers, honest]]
        polls = [asyncio.create_task(polling.poll(one, bench.store, retrieval)) for one in sources]
        report = await asyncio.wait_for(polls[-1], PATIENCE)
        bench.attacks += len(servers)
        if report["error"] or report.get("added") != len(LETTERS):
            bench.faults.append(f"beside hostile servers: {report}")
        if any(one.done() for one in polls[:-1]):
            bench.faults.append("beside hostile servers: an honest one had to wait for them")
        for one in polls:
            one.cancel()
        await asyncio.gather(*polls, return_exceptions=True)
    for one in running:
        one.close()
    for source in sources:
        bench.store.schedules.remove("mail", source.id)


async def _attack_all(bench: Bench, *, full: bool) -> None:
    steps = STEPS if full else ("CAPABILITY", "SEARCH", "BODY")
    for number, answer in enumerate(ANSWERS):
        for step in steps if full else (steps[number % len(steps)],):
            for secure in (False, True) if full else (False,):
                name = f"{answer} at {step}{' in TLS' if secure else ''}"
                await bench.attack(name, Hostile(step, answer), secure=secure)
    whole = Hostile()
    await bench.attack("an honest server", whole, secure=False, seconds=PATIENCE)
    for cut in range(0, whole.sent, 1 if full else 120):
        await bench.attack(f"cut after {cut} bytes", Hostile(cut=cut), secure=False)
    for bare in BARE:
        await bench.attack(f"without TLS: {bare[:30]!r}", Hostile(bare=bare), secure=True)
    await beside(bench, 40 if full else 8)


BARE = (
    b"* OK [CAPABILITY IMAP4rev1 STARTTLS LOGINDISABLED] ready\r\n",
    b"* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] ready\r\n",
    b"* PREAUTH welcome\r\n",
    b"* OK ready\r\na1 OK [CAPABILITY IMAP4rev1 AUTH=PLAIN]\r\n+ \r\n+ \r\n",
    b"* BYE TLS is not available, use plain\r\n",
    b"\x15\x03\x01\x00\x02\x02\x28",
    b"\x16\x03\x01" + b"\xff\xff" + b"x" * 65_535,
    b"HTTP/1.1 400 Bad Request\r\n\r\n",
    b"x" * 1_000_000,
)
"""What servers send that strip TLS, or put something before it."""


def attack(where: str, steps: int) -> list[str]:
    """Attack a library at this many steps of a poll, 8 being all; return what went wrong."""
    room = Room(1)
    try:
        with closing(open_store(where, "local")) as store:
            bench = Bench(store, room, Authority())
            asyncio.run(_attack_all(bench, full=steps == len(STEPS)))
    finally:
        room.close()
    print(f"mail servers: {bench.attacks} attacks, {len(bench.faults)} faults")
    return bench.faults


if __name__ == "__main__":
    run_script(attack, 1, len(STEPS))
