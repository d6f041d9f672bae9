from __future__ import annotations

import asyncio
import re
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

import pagekeep
from pagekeep import BlockedAddress, FetchNetworkError, FetchTimeout, InvalidUrl, PagekeepError
from pagekeep.fetch.guard import Guard, SystemResolver
from tests.site.address_forms import ALL, LOOPBACK
from tests.site.server import Canary, Site


class FakeDns:
    """Answers from a table; a list of answers is given out one by one, as a rebinding server does."""

    def __init__(self, table: dict[str, list[str]]) -> None:
        self.table = table
        self.asked: list[str] = []

    async def addresses(self, name: str) -> list[str]:
        self.asked.append(name)
        if name not in self.table:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return self.table[name]


def test_there_are_at_least_sixty_forms() -> None:
    assert len(ALL) >= 60


@pytest.mark.parametrize("form", ALL.values(), ids=ALL.keys())
def test_every_form_of_a_forbidden_address_is_refused_before_connecting(form: str, canary: Canary, run: Any) -> None:
    async def reach() -> None:
        parts = Guard(resolver=FakeDns({})).check_url(form.format(port=canary.port))
        await Guard(resolver=FakeDns({})).open_connection(parts.host.name, parts.port, 1)

    with pytest.raises(PagekeepError) as caught:
        run(reach())
    assert caught.value.type in ("BlockedAddress", "InvalidUrl")
    assert canary.connections == 0


def test_without_the_guard_the_forms_do_reach_the_canary(canary: Canary, run: Any) -> None:
    everything = Guard(["0.0.0.0/0", "::/0", "localhost", "*.localhost"])

    async def reach(form: str) -> None:
        parts = everything.check_url(form.format(port=canary.port))
        _, writer = await everything.open_connection(parts.host.name, parts.port, 1)
        writer.close()

    for form in LOOPBACK.values():
        try:
            run(reach(form))
        except PagekeepError:
            continue
    run(asyncio.sleep(0.2))
    assert canary.connections >= 25


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "::1", "::ffff:127.0.0.1", "169.254.169.254", "64:ff9b::a00:1"]
)
def test_a_name_that_leads_inside_is_refused(address: str, run: Any) -> None:
    guard = Guard(resolver=FakeDns({"evil.example": [address]}))
    guard.check_url("http://evil.example/")
    with pytest.raises(BlockedAddress) as caught:
        run(guard.resolve("evil.example", 80))
    assert address not in str(caught.value.to_json())


def test_one_forbidden_address_among_good_ones_refuses_the_name(run: Any) -> None:
    guard = Guard(resolver=FakeDns({"evil.example": ["1.1.1.1", "127.0.0.1"]}))
    with pytest.raises(BlockedAddress):
        run(guard.resolve("evil.example", 80))


def test_good_addresses_are_given_in_order(run: Any) -> None:
    guard = Guard(resolver=FakeDns({"good.example": ["2606:4700::1", "1.1.1.1"]}))
    assert [each.ip for each in run(guard.resolve("GOOD.example.", 443))] == ["2606:4700::1", "1.1.1.1"]
    assert [each.port for each in run(guard.resolve("1.1.1.1", 443))] == [443]


def test_an_unknown_name_is_a_network_error(run: Any) -> None:
    with pytest.raises(FetchNetworkError):
        run(Guard(resolver=FakeDns({})).resolve("nowhere.example", 80))


def test_the_name_is_looked_up_once_and_that_answer_is_connected_to(site: Site, run: Any) -> None:
    dns = FakeDns({"intranet.example": ["127.0.0.1"]})

    async def ask() -> bytes:
        reader, writer = await Guard(["intranet.example"], resolver=dns).open_connection(
            "intranet.example", site.port, 2
        )
        writer.write(b"GET /article HTTP/1.1\r\n\r\n")
        line = await reader.readline()
        writer.close()
        return line

    assert run(ask()).startswith(b"HTTP/1.1 200")
    assert dns.asked == ["intranet.example"]


@pytest.mark.parametrize(
    ("allowed", "host", "address"),
    [
        ("127.0.0.1", "127.0.0.1", "127.0.0.1"),
        ("127.0.0.1", "2130706433", "127.0.0.1"),
        ("127.0.0.1", "any.example", "127.0.0.1"),
        ("10.0.0.0/8", "any.example", "10.9.8.7"),
        ("fd00::/8", "any.example", "fd12::1"),
        ("[::1]", "::1", "::1"),
        ("intranet.example", "intranet.example", "192.168.0.9"),
        ("Intranet.Example.", "INTRANET.example", "192.168.0.9"),
        ("*.corp.example", "wiki.corp.example", "10.0.0.1"),
        ("*.corp.example", "a.b.corp.example", "10.0.0.1"),
        ("bücher.example", "xn--bcher-kva.example", "10.0.0.1"),
    ],
)
def test_allowed_hosts_open_what_they_name(allowed: str, host: str, address: str) -> None:
    Guard([allowed]).check_address(address, host)
    with pytest.raises(BlockedAddress):
        Guard().check_address(address, host)


@pytest.mark.parametrize(
    ("allowed", "host", "address"),
    [
        ("127.0.0.1", "127.0.0.2", "127.0.0.2"),
        ("127.0.0.1", "::ffff:127.0.0.1", "::ffff:127.0.0.1"),
        ("intranet.example", "evil.example", "10.0.0.1"),
        ("intranet.example", "x.intranet.example", "10.0.0.1"),
        ("*.corp.example", "corp.example", "10.0.0.1"),
        ("*.corp.example", "evilcorp.example", "10.0.0.1"),
        ("10.0.0.0/8", "any.example", "192.168.0.1"),
    ],
)
def test_allowed_hosts_open_nothing_else(allowed: str, host: str, address: str) -> None:
    with pytest.raises(BlockedAddress):
        Guard([allowed]).check_address(address, host)


@pytest.mark.parametrize("entry", ["10.0.0.0/99", "http://a/", "a b", "[::1", "*.", ""])
def test_an_entry_that_names_nothing_is_refused(entry: str) -> None:
    with pytest.raises(InvalidUrl, match="in `allow_hosts`"):
        Guard([entry])


def test_a_refused_connection_is_a_network_error_without_the_address(run: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    guard = Guard(["closed.example"], resolver=FakeDns({"closed.example": ["127.0.0.1"]}))
    with pytest.raises(FetchNetworkError) as caught:
        run(guard.connect("closed.example", port, 2))
    assert "127.0.0.1" not in str(caught.value.to_json())
    assert caught.value.__cause__ is None


def test_the_next_address_is_tried_when_one_refuses(site: Site, run: Any) -> None:
    dns = FakeDns({"two.example": ["127.0.0.9", "127.0.0.1"]})

    async def peer() -> str:
        connected = await Guard(["two.example"], resolver=dns).connect("two.example", site.port, 5)
        with connected:
            return str(connected.getpeername()[0])

    assert run(peer()) == "127.0.0.1"


def test_a_name_server_that_never_answers_ends_with_the_timeout(run: Any) -> None:
    class Stuck:
        async def addresses(self, name: str) -> list[str]:
            await asyncio.sleep(3600)
            return []

    with pytest.raises(FetchTimeout):
        run(Guard(resolver=Stuck()).connect("slow.example", 80, 0.05))


def test_names_that_are_never_answered_hold_up_nothing_but_lookups(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answered.wait(30) and [])

    async def work_beside() -> bool:
        lookups = [asyncio.create_task(SystemResolver().addresses(f"{n}.silent.example")) for n in range(60)]
        await asyncio.sleep(0)
        try:
            return await asyncio.wait_for(asyncio.to_thread(lambda: not answered.is_set()), 20)
        finally:
            answered.set()
            await asyncio.gather(*lookups)

    assert asyncio.run(work_beside())


def test_only_the_guard_looks_names_up_and_connects() -> None:
    source = Path(pagekeep.__file__).parent
    ways = re.compile(
        r"urlopen|urllib\.request|import (?:requests|httpx|aiohttp|smtplib|ftplib|telnetlib)|create_connection|sock_connect|"
        r"getaddrinfo|gethostby|http\.client|open_connection\((?!\s*sock=)"
    )
    found = {
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if any(ways.search(line) and "guard.open_connection" not in line for line in path.read_text().splitlines())
    }
    # The last opens a page of our server in the user's browser, and asks first whether it is there.
    assert found == {"fetch/guard.py", "doors/cli/browse.py"}
