"""The server as a process: where it listens, how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import psutil
import pytest

from pagekeep import config
from pagekeep.config import Settings
from pagekeep.doors.http import serve
from pagekeep.errors import Conflict, InvalidUrl, NotAllowed, ParseError
from pagekeep.identity import accounts
from pagekeep.store import open_accounts, open_store
from tests.site.server import Reply, Request, Site


@contextmanager
def served(folder: Path, *flags: str, **variables: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running `pagekeep serve`, and its address."""
    command = [
        sys.executable,
        "-m",
        "pagekeep",
        "serve",
        "--port",
        "0",
        "--library",
        str(folder / "library.db"),
        *flags,
    ]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PAGEKEEP_CONFIG": "", **variables}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.fullmatch(r"Pagekeep is at (http://127\.0\.0\.1:\d+/)\n", line)
            assert found, line + (process.stderr.read() if process.stderr else "")
            yield process, found[1]
        finally:
            process.kill() if process.poll() is None else None


def get(address: str) -> str:
    with urllib.request.urlopen(address, timeout=20) as answer:
        return str(answer.read().decode())


def test_it_prints_its_address_answers_and_ends_in_order(tmp_path: Path) -> None:
    with served(tmp_path) as (process, address):
        assert json.loads(get(f"{address}api/v1/items")) == {"items": [], "next": None}
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=20)
    assert process.returncode in (0, -signal.SIGTERM)
    lines = [json.loads(line) for line in said.splitlines()]
    assert [line["event"] for line in lines] == ["request"]


def test_it_ends_while_a_client_watches_and_what_is_not_done_goes_back_to_the_queue(tmp_path: Path) -> None:
    async def silent(_request: Request, _reply: Reply) -> None:
        await asyncio.sleep(120)

    with (
        Site({"silent": silent}) as site,
        served(tmp_path, PAGEKEEP_ALLOW_HOSTS="127.0.0.1", PAGEKEEP_TIMEOUT="100") as (process, address),
    ):
        body = json.dumps({"url": site.url("/silent"), "render": "never"}).encode()
        asked = urllib.request.Request(
            f"{address}api/v1/saves?wait=false", body, {"content-type": "application/json"}, method="POST"
        )
        with urllib.request.urlopen(asked, timeout=20) as answer:
            job = json.load(answer)["job"]["id"]
        with urllib.request.urlopen(f"{address}api/v1/jobs/{job}/events", timeout=20) as events:
            while b"Fetching" not in events.readline():
                pass
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=10)
    with closing(open_store(tmp_path / "library.db")) as library:
        assert (library.jobs.get(job).state, (library.jobs.get(job).error or {})["type"]) == ("queued", "Interrupted")


def test_several_processes_answer_and_their_numbers_are_one(tmp_path: Path) -> None:
    with served(tmp_path, "--workers", "2") as (process, address):
        for _ in range(20):
            get(f"{address}api/v1/items")
        name = 'pagekeep_request_seconds_count{method="GET",route="/api/v1/items",status="200"} 20.0'
        assert name in get(f"{address}metrics").splitlines()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


def test_a_port_that_is_taken_is_reported() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        with pytest.raises(Conflict, match="already in use") as caught:
            serve.bind(f"127.0.0.1:{port}")
    assert f"--port {port + 1}" in caught.value.suggestions[1]


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "[::1]:0", "localhost:0"])
def test_answers_are_sent_at_once(listen: str) -> None:
    """asyncio sees to it where a socket says that it speaks TCP, and only there."""
    with closing(serve.bind(listen)) as sock:
        assert sock.proto == socket.IPPROTO_TCP
        assert serve.browser_url(sock).startswith("http://")


@pytest.mark.parametrize("listen", ["127.0.0.1", ":80", "127.0.0.1:http", "127.0.0.1:99999"])
def test_what_is_not_a_place_to_listen_is_refused(listen: str) -> None:
    with pytest.raises(InvalidUrl):
        serve.parse_listen(listen)


@pytest.mark.parametrize("listen", ["0.0.0.0:8470", "192.168.1.5:8470", "[::]:8470", "pages.example.org:8470"])
def test_other_machines_are_let_in_only_where_users_are_known(settings: Settings, listen: str) -> None:
    from dataclasses import replace

    wide = replace(settings, listen=listen)
    with pytest.raises(NotAllowed, match="user accounts"):
        serve.check_exposure(wide)
    with closing(open_accounts(settings.library)) as known:
        accounts.add_user(known, "mira", "a long enough password")
    serve.check_exposure(wide)


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "[::1]:0", "localhost:0", "127.8.9.1:0"])
def test_this_machine_alone_needs_no_users(settings: Settings, listen: str) -> None:
    from dataclasses import replace

    serve.check_exposure(replace(settings, listen=listen))


def descendants(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def answers(address: str) -> bool:
    try:
        get(f"{address}healthz")
    except OSError:
        return False
    return True


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_killed_server_leaves_no_process_and_frees_the_port(tmp_path: Path, workers: str) -> None:
    """Its workers have extracted a page, so that they have children too."""
    with served(tmp_path, "--workers", workers) as (process, address):
        body = json.dumps({"url": "https://example.com/", "html": "<p>The keeper counts the ships.</p>" * 50}).encode()
        for _ in range(4):
            asked = urllib.request.Request(f"{address}api/v1/extract", body, {"content-type": "application/json"})
            urllib.request.urlopen(asked, timeout=60).close()
        children = descendants(process)
        assert len(children) >= int(workers)
        process.kill()
        process.wait()
    _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []
    assert not answers(address)
    with closing(serve.bind(address.removeprefix("http://").rstrip("/"))):
        pass


@pytest.mark.parametrize(
    ("configured", "forwarded", "client"),
    [
        ("", "203.0.113.9", "203.0.113.9"),  # this machine is trusted
        ("192.0.2.0/24", "203.0.113.9", "127.0.0.1"),  # only that proxy is, and this is not it
        ("127.0.0.0/8, 192.0.2.7", "198.51.100.1, 203.0.113.9, 192.0.2.7", "203.0.113.9"),  # the last one not trusted
    ],
)
def test_forwarded_addresses_are_believed_only_from_configured_proxies(
    tmp_path: Path, configured: str, forwarded: str, client: str
) -> None:
    """Seen by which address is locked out after five wrong passwords."""
    with closing(open_accounts(str(tmp_path / "library.db"))) as known:
        accounts.add_user(known, "mira", "a long enough password")
    with served(tmp_path, "--shared", PAGEKEEP_TRUSTED_PROXIES=configured) as (_, address):
        guesses = [sign_in(address, "wrong", forwarded) for _ in range(6)]
        assert guesses == [401] * 5 + [429]
        assert sign_in(address, "a long enough password", "203.0.113.77") == (429 if client == "127.0.0.1" else 303)
        assert sign_in(address, "a long enough password", client) == 429


def sign_in(address: str, password: str, forwarded: str) -> int:
    """The status for a client behind a proxy."""
    with closing(HTTPConnection(address.removeprefix("http://").rstrip("/"), timeout=60)) as connection:
        form = urlencode({"name": "mira", "password": password})
        kind = "application/x-www-form-urlencoded"
        connection.request("POST", "/sign-in", form, {"Content-Type": kind, "X-Forwarded-For": forwarded})
        return connection.getresponse().status


@pytest.mark.parametrize("listed", ["*", "proxy.example.org", "300.1.1.1"])
def test_proxies_are_addresses(listed: str) -> None:
    with pytest.raises(ParseError, match="PAGEKEEP_TRUSTED_PROXIES"):
        config.load(environ={"PAGEKEEP_TRUSTED_PROXIES": listed})
