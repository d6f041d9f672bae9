"""A small IMAP4rev1 server: enough for the standard library's client, on real sockets, with ways to misbehave."""

from __future__ import annotations

import asyncio
import base64
import re
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal

Fault = Literal["", "huge_literal", "endless_lines", "endless_line", "silent", "drops", "wrong_size"]


@dataclass
class ImapServer:
    """One mailbox with folders of messages, numbered as they are added. Use it with `with`."""

    user: str = "ann@mail.example"
    password: str = "a secret, ñ"
    tls: ssl.SSLContext | None = None
    plain_auth: bool = True
    """Whether it offers `AUTH=PLAIN`."""
    fault: Fault = ""
    validity: int = 7
    folders: dict[str, dict[int, bytes]] = field(default_factory=lambda: {"INBOX": {}})
    commands: list[str] = field(default_factory=list)
    """What clients sent, without passwords."""
    port: int = 0
    on_body: Callable[[int], None] | None = None
    """Called with the number of each message whose body is requested."""

    _writers: list[asyncio.StreamWriter] = field(default_factory=list)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def add(self, message: bytes, folder: str = "INBOX") -> int:
        """Add a message and return its number."""
        messages = self.folders.setdefault(folder, {})
        uid = max(messages, default=0) + 1
        messages[uid] = message.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        return uid

    def __enter__(self) -> ImapServer:
        ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self.tls))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self._loop.run_forever()
        self._turn()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        for writer in self._writers:
            writer.transport.abort()  # closing waits for a client that reads
        self._turn()
        self._loop.close()

    def _turn(self) -> None:
        """Let the loop turn some times: what was accepted gets its transport, and what was closed its end."""
        for _ in range(5):
            self._loop.run_until_complete(asyncio.sleep(0))

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)  # its task may be cancelled before it runs
        self._tasks.append(self._loop.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _Client(self, reader, writer).talk()
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            writer.close()


@dataclass
class _Client:
    server: ImapServer
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    folder: dict[int, bytes] = field(default_factory=dict)

    async def send(self, *lines: bytes) -> None:
        self.writer.write(b"".join(line + b"\r\n" for line in lines))
        await self.writer.drain()

    async def talk(self) -> None:
        if self.server.fault == "silent":
            await asyncio.sleep(3600)
        await self.send(b"* OK ready")
        while line := (await self.reader.readline()).decode():
            tag, _, rest = line.strip().partition(" ")
            name = rest.split(" ")[0].upper()
            self.server.commands.append("LOGIN" if name == "LOGIN" else rest)
            if self.server.fault == "drops" and name == "UID":
                return
            if not await self._answer(tag, name, rest):
                return

    async def _answer(self, tag: str, name: str, rest: str) -> bool:
        done = f"{tag} OK {name} done".encode()
        if name == "CAPABILITY":
            extra = " AUTH=PLAIN" if self.server.plain_auth else ""
            await self.send(f"* CAPABILITY IMAP4rev1{extra}".encode(), done)
        elif name == "LOGIN":
            found = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', rest.partition(" ")[2])
            words = [re.sub(r"\\(.)", r"\1", quoted or bare) for quoted, bare in found]
            await self._sign_in(tag, words == [self.server.user, self.server.password])
        elif name == "AUTHENTICATE":
            await self.send(b"+ ")
            given = base64.b64decode((await self.reader.readline()).strip()).decode()
            await self._sign_in(tag, given == f"\0{self.server.user}\0{self.server.password}")
        elif name in ("EXAMINE", "SELECT"):
            await self._open(tag, rest)
        elif name == "UID":
            await self._uid(tag, rest)
        elif name == "LOGOUT":
            await self.send(b"* BYE", done)
            return False
        else:
            await self.send(done if name == "NOOP" else f"{tag} BAD unknown".encode())
        return True

    async def _sign_in(self, tag: str, is_right: bool) -> None:
        await self.send(f"{tag} OK in".encode() if is_right else f"{tag} NO [AUTHENTICATIONFAILED] no".encode())

    async def _open(self, tag: str, rest: str) -> None:
        name = rest.partition(" ")[2].strip('"')
        if name not in self.server.folders:
            await self.send(f"{tag} NO no such folder".encode())
            return
        self.folder = self.server.folders[name]
        await self.send(
            f"* {len(self.folder)} EXISTS".encode(),
            f"* OK [UIDVALIDITY {self.server.validity}] valid".encode(),
            f"{tag} OK [READ-ONLY] open".encode(),
        )

    async def _uid(self, tag: str, rest: str) -> None:
        if self.server.fault == "endless_lines":
            while True:
                await self.send(*[b"* OK still here"] * 1000)
        if self.server.fault == "endless_line":
            while True:
                self.writer.write(b"x" * 65536)
                await self.writer.drain()
        if " SEARCH " in rest:
            found = re.search(r"UID (\d+):\*", rest)
            uids = sorted(self.folder)
            if found:  # the last message is always in the range
                uids = [uid for uid in uids if uid >= int(found[1])] or uids[-1:]
            await self.send(f"* SEARCH {' '.join(map(str, uids))}".encode())
        else:
            await self._fetch(rest)
        await self.send(f"{tag} OK done".encode())

    async def _fetch(self, rest: str) -> None:
        wanted = [int(uid) for uid in rest.split(" ")[2].split(",")]
        for uid in wanted:
            message = self.folder.get(uid)
            if message is None:
                continue
            number = sorted(self.folder).index(uid) + 1
            size = 10 if self.server.fault == "wrong_size" else len(message)
            if "HEADER.FIELDS" in rest:
                head = message.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
                await self.send(
                    f"* {number} FETCH (UID {uid} RFC822.SIZE {size} BODY[HEADER.FIELDS (FROM)]<0> {{{len(head)}}}".encode()
                )
                await self.send(head + b")")
                continue
            if self.server.on_body:
                self.server.on_body(uid)
            part = re.search(r"<0\.(\d+)>", rest)
            if part and self.server.fault != "wrong_size":
                message = message[: int(part[1])]
            length = 900_000_000 if self.server.fault == "huge_literal" else len(message)
            await self.send(f"* {number} FETCH (BODY[]<0> {{{length}}}".encode())
            await self.send(message + f" UID {uid})".encode())
