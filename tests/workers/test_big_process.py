"""Workers of a process that has mapped 3 GB: the limit of memory is for what a worker adds, not for what it inherits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.capture.documents.tiny_office import make_docx, p
from tests.capture.documents.tiny_pdf import TinyPage, make_pdf

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="only a forked worker inherits, and only on Linux it is forked"
)

_START = """
import mmap, sys
import pagekeep
from pagekeep.errors import ParseError
from pagekeep.workers import Limits, Pool, run_alone
from pagekeep.workers.heap import address_space
from tests.workers.jobs import Do

big = mmap.mmap(-1, 3_000_000_000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
assert address_space() > 3_000_000_000

def attempt(run, *arguments):
    try:
        return run(*arguments)
    except ParseError as error:
        return error.message

"""


def run_in_big_process(script: str, data: bytes = b"") -> list[str]:
    done = subprocess.run([sys.executable, "-c", _START + script], input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().splitlines()


@pytest.mark.parametrize(
    "document",
    [
        make_pdf([TinyPage().paragraph(["The tide came in.", "It was a cold morning."], 72, 700)]),
        make_docx(p("The tide came in. It was a cold morning.")),
    ],
    ids=["pdf", "docx"],
)
def test_documents_are_read(document: bytes) -> None:
    lines = run_in_big_process("print(pagekeep.extract(sys.stdin.buffer.read()).text)", document)
    assert "The tide came in." in " ".join(lines)


def test_a_task_has_its_limit_beside_what_its_process_inherits() -> None:
    assert run_in_big_process(
        """
for size in (500_000_000, 1_200_000_000, 3_000_000_000):
    print(attempt(run_alone, Do("take", size), Limits(megabytes=1_000)))
"""
    ) == ["500000000", "The page needs too much memory.", "The page needs too much memory."]


def test_a_pool_has_it_too_with_forked_and_with_fresh_processes() -> None:
    assert run_in_big_process(
        """
with Pool("tests.workers.jobs:work", 1, Limits(megabytes=1_000)) as pool:
    pool.fork()
    for job in (("take", 500_000_000), ("take", 1_200_000_000), ("crash", None), ("take", 500_000_000), ("eat", None)):
        print(attempt(pool.run, job))
"""
    ) == ["500000000", *2 * ["The page needs too much memory."], "500000000", "The page needs too much memory."]
