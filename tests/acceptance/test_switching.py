"""From a remote reader to local reading, as docs/switching.md walks through it: 200 pages, our own server as the reader."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.doors.cli.test_library import Shell
from tests.site.server import Reply, Request, Site

COUNT = 200
SENTENCE = "The keeper counts the ships before breakfast, writes the number down, and only then puts the kettle on. "


async def _page(request: Request, reply: Reply) -> None:
    number = int(request.path.rpartition("/")[2])
    text = f"<p>{SENTENCE * 3} Watch {number}.</p>" * (3 + number % 4)
    aside = f'<p>See <a href="https://example.com/log/{number}">the log</a>.</p>'
    await reply.send(
        f"<title>Watch {number}</title><nav><a href='/'>Home</a></nav><article><h1>Watch {number}</h1>{text}{aside}</article>"
    )


@contextmanager
def _served(folder: Path, env: dict[str, str]) -> Iterator[str]:
    """Our own server, whose `/r/` is a reader like any other."""
    command = [sys.executable, "-m", "pagekeep", "serve", "--port", "0", "--library", str(folder / "server.db")]
    environ = {**os.environ, **env, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
            assert found
            yield f"{found[0]}r/"
        finally:
            process.kill()


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    pytest.importorskip("uvicorn")
    with Site({"page": _page}) as site:
        yield Shell(site, {}, tmp_path)


def test_a_library_is_compared_first_and_then_switched(shell: Shell, tmp_path: Path) -> None:
    urls = [shell.url(str(number)) for number in range(COUNT)]
    with _served(tmp_path, shell.env) as reader:
        shell.env |= {"PAGEKEEP_REMOTE_URL": reader, "PAGEKEEP_MODE": "remote"}
        done = shell.run("save", "--file", "-", given="\n".join(urls))
        assert done.exit_code == 0, done.stderr
        before = {item["url"]: item for item in shell.json("list", "--limit", "1000")["items"]}
        assert (len(before), {item["source"] for item in before.values()}) == (COUNT, {"remote"})

        # A trial on a copy: both read every page, the library itself stays as it is.
        trial = str(tmp_path / "trial.db")
        assert shell.run("backup", "--single-file", trial).exit_code == 0
        shell.env["PAGEKEEP_MODE"] = "compare"
        assert shell.run("reparse", "--refetch", "--library", trial).exit_code == 0
        reported = shell.json("compared", "--library", trial, "--out", str(tmp_path / "report"))["summary"]
        assert (reported["pages"], reported["compared"], reported["failed_here"]) == (COUNT, COUNT, 0)
        assert reported["similarity"] > 0.95
        assert reported["coverage_links"] == 1.0
        assert {item["source"] for item in shell.json("list", "--limit", "1000")["items"]} == {"remote"}
        with (tmp_path / "report" / "history.csv").open() as lines:
            (row,) = csv.DictReader(lines)
        assert (row["a"], row["b"], row["ok_count"]) == ("remote", "local", str(COUNT))
        assert "Watch" in (tmp_path / "report" / "report.html").read_text()

    # The reader is gone now, and nothing needs it any more.
    shell.env["PAGEKEEP_MODE"] = "local"
    done = shell.json("reparse", "--refetch")
    assert (done["updated"] + done["unchanged"], done["failed"]) == (COUNT, 0)
    after = {item["url"]: item for item in shell.json("list", "--limit", "1000")["items"]}
    assert {item["source"] for item in after.values()} == {"web"}
    assert {url: item["id"] for url, item in after.items()} == {url: item["id"] for url, item in before.items()}
    assert all(after[url]["saved_at"] == before[url]["saved_at"] for url in urls)
