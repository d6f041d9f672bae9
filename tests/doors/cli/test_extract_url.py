"""`pagekeep extract URL`: the command against a real server."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from tests.site.pages import PAGES
from tests.site.server import Site


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site(PAGES) as running:
        yield running


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pagekeep", "extract", *arguments]


def environment(allow: str = "127.0.0.1") -> dict[str, str]:
    return {**os.environ, "PAGEKEEP_ALLOW_HOSTS": allow, "PAGEKEEP_PER_HOST_DELAY": "0"}


def run(*arguments: str, allow: str = "127.0.0.1") -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), env=environment(allow), capture_output=True, text=True, timeout=60)


def test_an_address_gives_a_document_with_its_source(site: Site) -> None:
    done = run(site.url("/article"))
    assert done.returncode == 0, done.stderr
    assert f"source: {site.url('/article')}" in done.stdout


def test_a_private_address_is_refused_and_not_asked(site: Site) -> None:
    site.requests.clear()
    done = run(site.url("/article"), allow="")
    assert done.returncode == 2
    assert re.search(r"PAGEKEEP_ALLOW_HOSTS=127\.0\.0\.1, or add it to `allow_hosts` in \S+config\.toml$", done.stderr)
    assert not site.requests


def test_errors_are_json_when_json_was_asked_for(site: Site) -> None:
    done = run(site.url("/status/404"), "--format", "json")
    assert done.returncode == 2
    answer = json.loads(done.stdout)
    assert answer["success"] is False
    assert answer["error"]["type"] == "FetchHttpError"
    assert answer["error"]["suggestions"]


def test_another_protocol_is_refused() -> None:
    done = run("ftp://files.example/page.html")
    assert done.returncode == 2
    assert "http" in done.stderr


def test_a_header_without_a_name_is_a_mistake_of_usage(site: Site) -> None:
    done = run(site.url("/article"), "--header", "no colon")
    assert done.returncode == 2
    assert "NAME:VALUE" in done.stderr


def test_the_timeout_ends_a_silent_server(site: Site) -> None:
    done = run(site.url("/silent"), "--timeout", "0.5")
    assert done.returncode == 2
    assert "time" in done.stderr.lower()


def test_an_interrupt_ends_it_at_once_and_quietly(site: Site) -> None:
    process = subprocess.Popen(command(site.url("/silent")), env=environment(), stderr=subprocess.PIPE, text=True)
    before = len(site.requests)
    until = time.monotonic() + 30
    while len(site.requests) == before and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in complaint
