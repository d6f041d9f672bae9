"""What a worker sends is plain data of the declared type, or the job fails: nothing that it could shape is unpickled."""

from __future__ import annotations

import ast
import json
import os
import pickle
import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import pytest

import pagekeep
from pagekeep import errors
from pagekeep.bulk import row
from pagekeep.capture.pictures import Checked, Copy, Refused
from pagekeep.errors import FetchHttpError, PagekeepError, ParseError, RuleError, TooManyRequests
from pagekeep.library.imports import reader
from pagekeep.library.saving import reparse
from pagekeep.model import MADE_FIELDS, Page, RuleFault
from pagekeep.values import dataclass
from pagekeep.workers import Limits, Pool, Room, run_alone, wire
from tests.workers.jobs import Do, Lie, Object

SOURCE = Path(pagekeep.__file__).parent
TIGHT = Limits(wall_seconds=30)
HTML = (
    "<title>Tea</title><h1>Tea</h1>"
    + "<p>Some words on tea, with <a href='/b'>a link</a> and <img src='/c.png' alt='a cup'>.</p>" * 40
)


def send(value: Any, kind: Any) -> Any:
    return wire.loads(b"".join(wire.dumps(value, wire.codec_of(kind))), wire.codec_of(kind))


class Pair(NamedTuple):
    name: str
    count: int | None


@dataclass(frozen=True, slots=True)
class Nested:
    kind: Literal["a", "b"]
    parts: tuple[Nested, ...] = ()
    named: Mapping[str, float] | None = None


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("a", str),
        ("long \ud800 " * 1_000, str),
        ("", str | None),
        (None, str | None),
        (b"\x00\xff" * 2_000, bytes),
        (True, bool),
        (2**70, int),
        (0.1 + 0.2, float),
        ((), tuple[str, ...]),
        (("a", 1, None), tuple[str, int, str | None]),
        ([Pair("a", 1), Pair("b", None)], list[Pair]),
        ({"a": ("b",), "c": ()}, dict[str, tuple[str, ...]]),
        (MappingProxyType({"a": 1.5}), Mapping[str, float]),
        (Nested("a", (Nested("b"),), {"x": 1.0}), Nested),
        (Refused("damaged"), Checked | Refused),
        (Checked("image/png", 1, None, b"x", True, Copy("image/png", 1, 1, b"y")), Checked | Refused),
        ({"a": [1, (2.5, None), {"b": b"c"}], "d": "e" * 2_000}, Any),
    ],
)
def test_values_come_as_they_are_sent(value: Any, kind: Any) -> None:
    came = send(value, kind)
    assert came == value
    assert type(came) is type(value)


def test_a_page_comes_with_the_fields_that_are_made_and_no_others() -> None:
    page = pagekeep.extract(HTML, "https://example.org/")
    lazy = send(pagekeep.extract(HTML, "https://example.org/").make(()), Page)
    for name in MADE_FIELDS:
        with pytest.raises(RuntimeError, match="must be made in a worker"):
            getattr(lazy, name)
    assert lazy.copy_with(html="", links=(), media=()) == replace(page, html="", links=(), media=())
    assert send(page.make(MADE_FIELDS), Page) == page


def test_two_spellings_of_a_union_are_sent_alike() -> None:
    sent = b"".join(wire.dumps(Refused("damaged"), wire.codec_of(Checked | Refused)))
    wire.codec_of.cache_clear()
    assert wire.loads(sent, wire.codec_of(Refused | Checked)) == Refused("damaged")


def results() -> Iterator[Any]:
    """Every function whose results come from a worker: `run` of each task, and those of the pools."""
    for file in sorted(SOURCE.rglob("*.py")):
        module = ".".join(("pagekeep", *file.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        for node in ast.walk(ast.parse(file.read_text())):
            if (
                isinstance(node, ast.ClassDef)
                and any(
                    isinstance(one, ast.FunctionDef) and one.name == "run" and len(one.args.args) == 1 and one.returns
                    for one in node.body
                )
                and module not in NOT_TASKS
            ):
                yield getattr(import_module(module), node.name).run
    yield from (row.make_row, row.make_result, reparse.extract_stored, reader.read_on)


NOT_TASKS = {
    "pagekeep.fetch.imap",
    "pagekeep.library.mirror.run",
    "pagekeep.library.mirror.changes",
    "pagekeep.store.salvage",
    "pagekeep.workers.task",
}
"""Modules with another `run`."""


@cache
def _functions() -> list[Any]:
    return list(results())


def test_the_result_of_every_task_can_be_sent() -> None:
    assert len(_functions()) > 50
    for function in _functions():
        assert wire.returned_by(function), function


def _all_errors(kind: type[PagekeepError] = PagekeepError) -> Iterator[type[PagekeepError]]:
    yield kind
    for below in kind.__subclasses__():
        if below.__module__ == errors.__name__:
            yield from _all_errors(below)


@pytest.mark.parametrize("kind", [kind for kind in _all_errors() if kind is not FetchHttpError])
def test_errors_come_as_they_are_raised(kind: type[PagekeepError]) -> None:
    error = kind("What happened.", suggestions=("Do this.",))
    error.item_id = "an item"
    came = send(wire.SentError.of(error), wire.SentError).restore()
    assert type(came) is kind
    assert vars(came) == vars(error)


def test_fields_of_errors_come_too() -> None:
    fault = RuleFault("a.yaml", 3, "remove", "is not a selector", "Use another.")
    for error, name in (
        (FetchHttpError("No.", status=404), "status"),
        (TooManyRequests("Wait.", seconds=7), "seconds"),
        (RuleError.of((fault,)), "faults"),
    ):
        came = send(wire.SentError.of(error), wire.SentError).restore()
        assert getattr(came, name) == getattr(error, name) != ()
        assert came.suggestions == error.suggestions


def test_an_error_of_another_class_comes_as_the_nearest_that_all_know() -> None:
    class Odd(ParseError):
        pass

    assert type(wire.SentError.of(Odd("x")).restore()) is ParseError


class Evil:
    """Makes a file where it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.file),)


def frame(*pieces: bytes) -> bytes:
    sizes = b"".join(struct.pack("<Q", len(piece)) for piece in pieces)
    return struct.pack("<4sIQ", b"pkr1", len(pieces), len(sizes) + sum(map(len, pieces))) + sizes + b"".join(pieces)


def hostile(folder: Path) -> dict[str, bytes]:
    """What a worker that was taken over might send for a `bytes` result, and for an `object`."""
    return {
        "a pickle": pickle.dumps((Evil(folder / "made"), None)) + b" " * 100,
        "noise": os.urandom(4_000),
        "a huge size": struct.pack("<4sIQ", b"pkr1", 1, 2**60),
        "many parts": struct.pack("<4sIQ", b"pkr1", 2**32 - 1, 100) + b" " * 100,
        "parts over the end": struct.pack("<4sIQQ", b"pkr1", 1, 10, 2**63) + b"[]",
        "not JSON": frame(b"\xff\xfe"),
        "deep JSON": frame(b"[" * 200_000),
        "another shape": frame(b'{"a": 1}'),
        "an unknown error": frame(
            json.dumps([False, ["SystemExit", "", [], None, None, None, None, False, []]]).encode()
        ),
        "a name of a module": frame(
            json.dumps([False, ["partial", "", [], None, None, None, None, False, []]]).encode()
        ),
        "a missing part": frame(b'[true,{"b":7}]'),
        "a part before the first": frame(b'[true,{"b":-1}]', b"x"),
        "two kinds": frame(b'[true,{"b":0,"s":0}]', b"x"),
        "an unhashable key": frame(b'[true,{"m":[[[],1]]}]'),
    }


@pytest.mark.parametrize("name", sorted(hostile(Path())))
def test_a_worker_that_sends_something_else_is_replaced_and_its_job_fails(name: str, tmp_path: Path) -> None:
    with Pool("tests.workers.jobs:work", 1, TIGHT) as pool:
        first = pool.run(("pid", None))
        with pytest.raises(ParseError, match="sent a result that cannot be read"):
            pool.run(("write", hostile(tmp_path)[name]))
        assert pool.run(("pid", None)) != first
    assert list(tmp_path.iterdir()) == []


def test_a_result_of_another_type_is_refused() -> None:
    with pytest.raises(ParseError, match="cannot be read: TypeError: str instead of int"):
        run_alone(Lie())


@pytest.mark.parametrize("name", ["a pickle", "noise"])
def test_a_room_replaces_such_a_worker(name: str, tmp_path: Path) -> None:
    room = Room(1)
    try:
        first = room.run_blocking(Do("pid"))
        with pytest.raises(ParseError, match="sent a result that cannot be read"):
            room.run_blocking(Do("write", hostile(tmp_path)[name]))
        with pytest.raises(ParseError, match="sent a result that cannot be read"):
            room.run_blocking(Lie())
        with pytest.raises(ParseError, match=r"failed unexpectedly \(TypeError\)"):
            room.run_blocking(Object())
        assert room.run_blocking(Do("pid")) != first
    finally:
        room.close()
    assert list(tmp_path.iterdir()) == []
