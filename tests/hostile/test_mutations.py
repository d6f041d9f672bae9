"""Pages that were whole once: whatever broke them, there is a result or one of our errors."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from pagekeep import PagekeepError, dom, extract

CHUNKS = 100
PAGES_PER_CHUNK = 100
FEW = 4
"""Chunks that `make test` runs: every page is broken in eight ways; `make hostile` runs them all."""

SCRAPS = (
    *(
        b"<",
        b">",
        b"</",
        b"<!--",
        b"-->",
        b"<![CDATA[",
        b"&",
        b"&#x110000;",
        b"&#0;",
        b"'",
        b'"',
        b"=",
        b"\0",
        b"\x1b$B",
    ),
    *(
        b"<table>",
        b"<td>",
        b"</table>",
        b"<p>",
        b"</p>",
        b"<a href=",
        b"</a>",
        b"<svg>",
        b"<math>",
        b"<select>",
        b"<pre>",
    ),
    *(b"<script>", b"</script>", b"<style>", b"<template>", b"<noscript>", b"<textarea>", b"<title>", b"<plaintext>"),
    *(b"<body>", b"</body>", b"<head>", b"<html lang=zz>", b"<frameset>", b"<form>", b"<b><i></b>", b"<li>", b"<dd>"),
    *(b"\xff\xfe", b"\xc3(", b"\xed\xa0\x80", "\u202e\u2066".encode(), "\ufffd\ufeff".encode(), b"\r", b"\x0c"),
)
ATTRIBUTES = (
    *(b' class="nav footer ad hidden"', b' style="display:none"', b" hidden", b' role="dialog"', b' id="content"'),
    *(
        b' onclick="x()"',
        b' href="javascript:x()"',
        b' src="data:text/html,x"',
        b' srcset=", , 9w"',
        b' colspan="99999"',
    ),
    *(
        b' rowspan="-1"',
        b' start="9e99"',
        b' datetime="0000-99-99"',
        b' itemprop="author"',
        b' lang="xx-"',
        b' dir="rtl"',
    ),
    *(b' itemscope itemtype="https://schema.org/Article"', b' class="', b" =", b' width="1e400"', b' type="math/tex"'),
)

Mutation = Callable[[random.Random, bytes], bytes]


def _span(chance: random.Random, data: bytes) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(len(data), start + chance.choice((1, 7, 60, 900)))


def _delete(chance: random.Random, data: bytes) -> bytes:
    start, end = _span(chance, data)
    return data[:start] + data[end:]


def _double(chance: random.Random, data: bytes) -> bytes:
    start, end = _span(chance, data)
    return data[:end] + data[start:end] * chance.randint(1, 4) + data[end:]


def _swap(chance: random.Random, data: bytes) -> bytes:
    start, end = _span(chance, data)
    to = chance.randrange(len(data) + 1)
    rest = data[:start] + data[end:]
    return rest[:to] + data[start:end] + rest[to:]


def _flip(chance: random.Random, data: bytes) -> bytes:
    broken = bytearray(data)
    for _ in range(chance.randint(1, 12) if broken else 0):
        broken[chance.randrange(len(broken))] = chance.randrange(256)
    return bytes(broken)


def _insert(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(SCRAPS) * chance.choice((1, 1, 1, 40)) + data[at:]


def _attribute(chance: random.Random, data: bytes) -> bytes:
    at = data.find(b">", chance.randrange(len(data) + 1))
    return data if at < 0 else data[:at] + chance.choice(ATTRIBUTES) + data[at:]


def _unclose(chance: random.Random, data: bytes) -> bytes:
    at = data.find(b"</", chance.randrange(len(data) + 1))
    end = data.find(b">", at)
    return data if at < 0 or end < 0 else data[:at] + data[end + 1 :]


def _break_off(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


MUTATIONS: tuple[Mutation, ...] = (_delete, _double, _swap, _flip, _insert, _attribute, _attribute, _unclose, _unclose)


def mutated(chance: random.Random, data: bytes) -> bytes:
    for _ in range(chance.choice((1, 3, 10))):
        data = chance.choice(MUTATIONS)(chance, data)
    return _break_off(chance, data) if chance.random() < 0.1 else data


FORBIDDEN = "script, style, iframe, object, embed, form, input, button, svg, math, link, meta, base"


def check(data: bytes, url: str) -> str:
    """What became of the page; fails when the result is not one that may be kept."""
    try:
        page = extract(data, url)
    except PagekeepError as error:
        return error.type
    assert isinstance(yaml.safe_load(page.document.split("\n---\n")[0][4:]), dict)
    page.document.encode("utf-8")
    root = dom.parse_fragment(page.html)
    assert dom.select(root, FORBIDDEN) == []
    for node in dom.elements(root):
        for name, value in dom.attributes(node).items():
            assert not name.startswith("on")
            assert (
                name not in {"href", "src"}
                or value.partition(":")[0].lower() in {"http", "https", "mailto", "tel"}
                or value.startswith("#fn-")
            )
    return page.strategy


@pytest.mark.parametrize(
    "chunk", [*range(FEW), *(pytest.param(chunk, marks=pytest.mark.full) for chunk in range(FEW, CHUNKS))]
)
def test_a_broken_page_gives_a_clean_result_or_one_of_our_errors(chunk: int, own_pages: list[Any]) -> None:
    chance = random.Random(f"broken {chunk}")
    outcomes: dict[str, int] = {}
    for number in range(PAGES_PER_CHUNK):
        page = own_pages[number % len(own_pages)]
        data = mutated(chance, page.data)
        try:
            outcome = check(data, page.url)
        except Exception as error:
            error.add_note(f"page {page.name}, chunk {chunk}, number {number}")
            raise
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    # Most of what is broken can still be read; were everything a bookmark, this test would show nothing.
    assert outcomes["readability"] > PAGES_PER_CHUNK / 2
