"""What a large job took goes back to the system."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = """
from pagekeep.workers import heap

class Node:
    pass

mine = heap.Heap()
before = heap._resident()
nodes = [Node() for _ in range(1_000_000)]
for one, other in zip(nodes, nodes[1:]):
    one.next, other.previous = other, one  # a tree of a page is full of such circles
kept = [bytes(600) for _ in range(200_000)][::1000]
grown = heap._resident()
del nodes, one, other
mine.tidy()
print(grown - before, heap._resident() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell what a process holds")
def test_a_process_is_small_again_after_a_large_job() -> None:
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True)
    grown, left = map(int, done.stdout.split())
    assert grown > 200_000_000
    assert left < grown / 3


_LATER = """
from pagekeep.workers import heap

heap.RETRY_SECONDS = 0.0
mine = heap.Heap()
before = heap._resident()
blocks = [bytes(600) for _ in range(400_000)]
mine.tidy()  # all of it is in use
kept = blocks[::4000]
del blocks
mine.tidy()
print(heap._resident() - before)
"""
_BLOCKS = """
from pagekeep.workers import heap

heap.return_large_blocks()
before = heap._resident()
kept = []
for _ in range(20):
    blocks = [bytes(10_000_000) for _ in range(10)]
    kept.append(bytearray(900_000))  # between them
    del blocks
print(heap._resident() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell what a process holds")
@pytest.mark.parametrize("script", [_LATER, _BLOCKS], ids=["what was in use at first", "large blocks at once"])
def test_a_process_returns(script: str) -> None:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 60_000_000
