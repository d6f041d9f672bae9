"""A name server that lies, as the system's own resolver meets it: no connection to a private address, by any way.

`python -m tests.hostile.dns_rebinding [--full]`. In its own network (user, network and mount namespaces, so nothing
leaves this machine and nothing of it is changed) a name server on 127.0.0.1 answers UDP and TCP, differently each time:
rebinding with TTL 0, mixed A and AAAA, chains of CNAMEs, mapped and translated addresses, truncated, spoofed, huge and
missing answers. Public addresses are those of a site there, private ones those of a canary. The control checks a name
and then connects to it, as careless clients do, and must be hit.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import date
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory

from pagekeep import BlockedAddress, FetchError, PagekeepError
from pagekeep.config import Settings
from pagekeep.fetch import Client
from pagekeep.fetch.browser import Browser
from pagekeep.fetch.guard import Guard
from pagekeep.fetch.imap import Limits, read_new
from pagekeep.model import MailFolder, MailPosition
from tests.site.sandbox import SANDBOX

PUBLIC = ("93.184.216.34", "2606:2800:220:1::1")
"""Addresses of our site, in a network where there is nothing else."""
PRIVATE = ("127.0.0.1", "10.0.0.5", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "::1", "fd00::5")
FOUR = ("127.0.0.1", "10.0.0.5", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "127.3.2.1")
SIX = (
    *("::1", "fd00::5", "::ffff:127.0.0.1", "::ffff:10.0.0.5", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"),
    *("fe80::1", "fec0::1", "::", "64:ff9b:1::a00:5"),
)
PORT = 80
A, AAAA, CNAME = 1, 28, 5
SILENT = "silent"
"""Names that begin with it are never answered."""


class NameServer:
    """Answers by the first label of a name: the number of a manner, and a seed."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, int]] = Counter()
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 53))
        self._tcp = socket.create_server(("127.0.0.1", 53))
        threading.Thread(target=self._serve_udp, daemon=True).start()
        threading.Thread(target=self._serve_tcp, daemon=True).start()

    def _serve_udp(self) -> None:
        while True:
            query, client = self._udp.recvfrom(2_000)
            for answer in self._answer(query, tcp=False):
                self._udp.sendto(answer, client)

    def _serve_tcp(self) -> None:
        while True:
            client, _ = self._tcp.accept()
            with client, suppress(OSError):
                client.settimeout(5)
                length = struct.unpack("!H", client.recv(2))[0]
                for answer in self._answer(client.recv(length), tcp=True):
                    client.sendall(struct.pack("!H", len(answer)) + answer)

    def _answer(self, query: bytes, *, tcp: bool) -> list[bytes]:
        name, end = _read_name(query)
        kind = struct.unpack("!H", query[end : end + 2])[0]
        question = query[12 : end + 4]
        self.asked[name, kind] += 1
        label = name.split(".")[0]
        if label.startswith(SILENT):
            return []
        if label == "public":
            return [_message(query, question, _addresses(kind, PUBLIC))]
        if label.startswith("inside"):
            return [_message(query, question, _addresses(kind, (*FOUR[:1], *SIX[:1])))]
        manner, seed = (int(part) for part in label.removeprefix("m").split("-")[:2])
        return self._lie(manner, random.Random(seed * 31 + self.asked[name, kind]), query, question, name, kind, tcp)

    def _lie(
        self, manner: int, chance: random.Random, query: bytes, question: bytes, name: str, kind: int, tcp: bool
    ) -> list[bytes]:
        public = [one for one in PUBLIC if (":" in one) == (kind == AAAA)]
        inside = [chance.choice(SIX if kind == AAAA else FOUR)]
        first = self.asked[name, kind] == 1
        answers = {
            0: public if first else inside,
            1: [*public, *inside],
            2: [*inside, *public],
            3: inside if first else public,
            4: public if kind == A else inside,
            5: inside if kind == A else public,
            6: chance.choice([public, inside, [*public, *inside], []]),
            7: public * 40 + inside,
        }
        if manner in answers:
            return [_message(query, question, _addresses(kind, answers[manner]))]
        if manner == 8:  # a chain of names, which ends inside the second time
            chain = [f"c{number}.{name}" for number in range(8)]
            records = [_record(owner, CNAME, _name(to)) for owner, to in zip([name, *chain], chain, strict=False)]
            return [_message(query, question, records + _addresses(kind, public if first else inside, chain[-1]))]
        if manner == 9:  # another name, which is inside
            target = chance.choice(["localhost", "inside.test", "inside-9.test"])
            return [_message(query, question, [_record(name, CNAME, _name(target)), *_addresses(kind, inside, target)])]
        if manner == 10:  # cut off by UDP, inside by TCP
            return [_message(query, question, _addresses(kind, inside if tcp else []), 0x8780 | (0 if tcp else 0x0200))]
        if manner == 11:  # answers to other questions first
            wrong = bytes([query[0] ^ 1]) + query[1:]
            other = _name("other.test") + question[-4:]
            lies = [
                _message(wrong, question, _addresses(kind, inside)),
                _message(query, other, _addresses(kind, inside)),
            ]
            return [*lies, _message(query, question, _addresses(kind, public if first else inside))]
        if manner == 12:  # a failure first, then inside
            return [_message(query, question, [] if first else _addresses(kind, inside), 0x8582 if first else 0x8580)]
        if manner == 13:  # names that lead to each other
            return [
                _message(
                    query,
                    question,
                    [_record(name, CNAME, _name(f"x.{name}")), _record(f"x.{name}", CNAME, _name(name))],
                )
            ]
        if manner == 14:  # an address of the wrong length, and noise
            return [
                _message(query, question, [_record(name, kind, b"\x7f\x00"), *_addresses(kind, public)]),
                os.urandom(100),
            ]
        return [
            _message(query, question, _addresses(kind, public)),
            _message(query, question, _addresses(kind, inside)),
        ]


MANNERS = 16


def _read_name(query: bytes) -> tuple[str, int]:
    labels, place = list[str](), 12
    while length := query[place]:
        labels.append(query[place + 1 : place + 1 + length].decode("ascii", "replace").lower())
        place += 1 + length
    return ".".join(labels), place + 1


def _name(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def _record(owner: str | None, kind: int, data: bytes) -> bytes:
    return (_name(owner) if owner else b"\xc0\x0c") + struct.pack("!HHIH", kind, 1, 0, len(data)) + data


def _addresses(kind: int, found: list[str] | tuple[str, ...], owner: str | None = None) -> list[bytes]:
    wanted = [ip_address(one) for one in found]
    return [_record(owner, kind, one.packed) for one in wanted if (one.version == 6) == (kind == AAAA)]


def _message(query: bytes, question: bytes, records: list[bytes], flags: int = 0x8580) -> bytes:
    return query[:2] + struct.pack("!HHHHH", flags, 1, len(records), 0, 0) + question + b"".join(records)


PAGE = """<title>A page</title><p>Some words.</p><script>
for (let manner = 0; manner < 16; manner++) for (const kind of ["i", "f", "w", "s"]) {
  const host = `m${manner}-SEED-${kind}.rebind.test`;
  if (kind === "i") new Image().src = `http://${host}/`;
  if (kind === "f") fetch(`http://${host}/`, {mode: "no-cors"}).catch(() => 0);
  if (kind === "w") try { new WebSocket(`ws://${host}/`) } catch (error) {}
  if (kind === "s") document.body.appendChild(document.createElement("iframe")).src = `http://${host}/`;
}
</script>"""
"""A page that asks for 64 lying names, each way a page can."""


class Listener:
    """Counts connections to addresses, and answers with a redirect to what the path says, or a page."""

    def __init__(self, addresses: tuple[str, ...]) -> None:
        self.connections = 0
        for address in addresses:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            listener = socket.create_server((address, PORT), family=family)
            threading.Thread(target=self._serve, args=(listener,), daemon=True).start()

    def _serve(self, listener: socket.socket) -> None:
        while True:
            client, _ = listener.accept()
            self.connections += 1
            with client, suppress(OSError, IndexError, UnicodeDecodeError):
                client.settimeout(5)
                path = client.recv(4_096).split(b" ")[1].decode()
                target = path.removeprefix("/to/")
                head = f"HTTP/1.1 302 X\r\nLocation: http://{target}/\r\n" if target != path else "HTTP/1.1 200 OK\r\n"
                body = PAGE.replace("SEED", path.removeprefix("/page/")) if path.startswith("/page/") else "abcd"
                head += f"Content-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
                client.sendall((head + body).encode())


Way = Callable[[Client, Guard, str], Awaitable[object]]


async def _by_mail(client: Client, guard: Guard, name: str) -> object:
    folder = MailFolder(name, PORT, "ann", security="tls")
    limits = Limits(seconds=1.0)
    return await read_new(
        folder, "secret", guard, after=MailPosition(), since=date(2026, 1, 1), wants=lambda _: True, limits=limits
    )


async def _by_proxy(client: Client, guard: Guard, name: str) -> object:
    _, writer = await guard.open_connection(name, PORT, 1)
    writer.close()
    return None


WAYS: dict[str, Way] = {
    "a page": lambda client, _, name: client.fetch(f"http://{name}/"),
    "a redirect": lambda client, _, name: client.fetch(f"http://public.test/to/{name}"),
    "a picture, feed, sitemap": lambda client, _, name: client.download(f"http://{name}/a.png"),
    "a redirect of a picture": lambda client, _, name: client.download(f"http://public.test/to/{name}"),
    "a sink, a provider": lambda client, _, name: client.send("POST", f"http://{name}/", b"{}", max_bytes=999, deadline=1),
    "a webhook of watched pages": lambda client, _, name: client.post_json(f"http://{name}/", b"{}"),
    "a remote reader": lambda client, _, name: client.post_form(f"http://{name}/", {"url": "x"}),
    "a mail server": _by_mail,
    "the browser's proxy": _by_proxy,
}  # fmt: skip


async def _attack(seeds: int) -> tuple[int, int]:
    """Fetch by every way from every lying name, twice each; return how many fetches there were, and how many succeeded."""
    attacks = done = 0
    settings = Settings(timeout=3, retries=1, per_host_delay=0)
    guard = Guard()
    async with Client(settings, guard=guard) as client:
        for (number, (_, go)), manner in ((way, m) for way in enumerate(WAYS.items()) for m in range(MANNERS)):
            for seed in range(seeds):
                for _ in range(2):
                    attacks += 1
                    with suppress(PagekeepError):
                        await go(client, guard, f"m{manner}-{seed}-{number}.rebind.test")
                        done += 1
    return attacks, done


async def _render(pages: int) -> int:
    """Render pages that ask for lying names, and lying names themselves; return how many names were looked up."""
    settings = Settings(browser_sandbox=SANDBOX, render_timeout=10)
    async with Browser(settings, Guard(), visual=True) as browser:
        for number in range(pages):
            for address in (f"public.test/page/{number}", f"m{number % MANNERS}-{number}-r.rebind.test/"):
                with suppress(FetchError, BlockedAddress):
                    await browser.render(f"http://{address}")
    return pages * (4 * MANNERS + 1)


async def _careless(seeds: int) -> None:
    guard = Guard()
    for seed in range(seeds):
        name = f"m0-{seed}-c.rebind.test"
        with suppress(PagekeepError):
            await guard.resolve(name, PORT)
            with suppress(OSError, TimeoutError):
                _, writer = await asyncio.wait_for(asyncio.open_connection(name, PORT), 2)
                writer.close()


async def _silent(count: int) -> bool:
    """Return whether other work goes on while lookups wait for a name server that does not answer."""
    async with Client(Settings(timeout=3, retries=0, per_host_delay=0)) as client:
        waiting = [asyncio.create_task(client.fetch(f"http://{SILENT}-{n}.test/")) for n in range(count)]
        await asyncio.sleep(0.2)
        beside = await asyncio.wait_for(asyncio.to_thread(lambda: not any(one.done() for one in waiting)), 60)
        await asyncio.gather(*waiting, return_exceptions=True)
    return beside


def _inside(*, full: bool) -> tuple[int, list[str]]:
    """Attack, in a network where there is nothing else."""
    for address in (*PUBLIC, *PRIVATE):
        if not ip_address(address).is_loopback:
            rest = ("/128", "nodad") if ":" in address else ("/32",)
            command = ["ip", "addr", "add", address + rest[0], "dev", "lo", *rest[1:]]
            subprocess.run(command, check=True, capture_output=True)
    server, site, canary, faults = NameServer(), Listener(PUBLIC), Listener(PRIVATE), list[str]()
    attacks, done = asyncio.run(_attack(12 if full else 1))
    if canary.connections:
        faults.append(f"{canary.connections} connections to private addresses")
    if not site.connections or not done:
        faults.append("the site was never reached: this shows nothing")
    if len(server.asked) < MANNERS:
        faults.append("the name server was hardly asked: this shows nothing")
    if not asyncio.run(_silent(60)):
        faults.append("work waited for a name server that does not answer")
    if full:
        asked = sum(server.asked.values())
        attacks += asyncio.run(_render(10))
        if sum(server.asked.values()) < asked + 100:
            faults.append("the browser asked for few names: this shows nothing")
        if canary.connections:
            faults.append(f"{canary.connections} connections of the browser to private addresses")
    asyncio.run(_careless(12))
    if not canary.connections:
        faults.append("the careless control was not hit: this shows nothing")
    return attacks, faults


def is_possible() -> bool:
    """Return whether this machine lets us make our own network."""
    if not shutil.which("unshare") or not shutil.which("ip"):
        return False
    tried = subprocess.run(["unshare", "-Urnm", "ip", "link", "set", "lo", "up"], capture_output=True, check=False)
    return tried.returncode == 0


def run(*, full: bool) -> str:
    """Attack in our own namespaces; return what was found, beginning with the counts."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:2\n")
        (place / "nsswitch.conf").write_text("hosts: files dns\n")
        script = (
            f"ip link set lo up && mount --bind {place}/resolv.conf /etc/resolv.conf && "
            f"mount --bind {place}/nsswitch.conf /etc/nsswitch.conf && exec {sys.executable} -m tests.hostile.dns_rebinding --inside"
        )
        done = subprocess.run(
            ["unshare", "-Urnm", "sh", "-c", script + (" --full" if full else "")],
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parents[2],
        )
    return done.stdout + done.stderr


if __name__ == "__main__":
    if "--inside" in sys.argv:
        made, found = _inside(full="--full" in sys.argv)
        print(f"rebinding with a resolver: {made} fetches, {len(found)} faults", *found, sep="\n  ")
        sys.exit(bool(found))
    if not is_possible():
        sys.exit("Namespaces of our own are not allowed here: nothing was tried.")
    report = run(full="--full" in sys.argv)
    print(report)
    sys.exit(", 0 faults" not in report)
