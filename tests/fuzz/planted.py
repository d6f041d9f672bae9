"""Targets with faults on purpose, behind comparisons that random bytes do not pass: they show that faults are found."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.fuzz.target import Target


def _check(fail: Callable[[], None], data: bytes) -> None:
    """Fail at five bytes that are compared in three branches."""
    if data[:1] == b"F" and data[1:3] == b"z!" and data[3:5] == b"ok":
        fail()


def _raise() -> None:
    raise RuntimeError("found")


def _hang() -> None:
    while True:
        pass


def _take_memory() -> None:
    taken = []
    while True:
        taken.append(bytearray(50_000_000))


TARGETS = {
    name: Target(partial(_check, fail), lambda: [b"nothing in it"], max_bytes=40, seconds=1, megabytes=500)
    for name, fail in (("planted_error", _raise), ("planted_hang", _hang), ("planted_memory", _take_memory))
}
