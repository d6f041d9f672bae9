"""The bound of the HTML parser: any markup, of any length, gives a tree of bounded size and depth in bounded time (H2).

An input is a list of pieces, which begin with a control character from U+0010 on: the piece is repeated 1, 2, 4 and so on up
to 32,768 times. So a few bytes can be a large page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from pagekeep import dom
from tests.fuzz.target import CORPUS, Target, expect

MAX_CHARS = 100_000
_PIECE = re.compile("([\x10-\x1f])([^\x10-\x1f]*)")
_MAX_NODES = dom.MAX_REOPENED + 20 * MAX_CHARS


def expand(data: bytes) -> str:
    """Return the page that an input means."""
    text = data.decode("utf-8", "replace")
    begin = re.split("[\x10-\x1f]", text, maxsplit=1)[0]
    pieces, left = [begin], MAX_CHARS - len(begin)
    for sign, piece in _PIECE.findall(text):
        times = min(1 << (ord(sign) - 16), max(0, left) // max(1, len(piece)))
        pieces.append(piece * times)
        left -= len(piece) * times
    return "".join(pieces)


def check(data: bytes) -> None:
    """Parse as a page and as a fragment."""
    html = expand(data)
    document, _ = dom.parse_bounded(html)
    fragment = dom.parse_fragment(html)
    for name, root in (("page", document.root), ("fragment", fragment)):
        if root is None:
            continue
        text = dom.text_of(root)
        nodes = sum(1 for _ in islice(dom.nodes(root), _MAX_NODES + 1))
        expect(nodes <= _MAX_NODES, f"too many nodes in a {name}", nodes)
        dom.bound_depth(root)
        expect(_depth(root) <= dom.MAX_DEPTH + 2, f"a {name} is too deep", _depth(root))
        expect(dom.text_of(root) == text, f"bounding the depth of a {name} changed its text")


def _depth(root: dom.Element) -> int:
    deepest, pending = 0, [(root, 0)]
    while pending:
        node, depth = pending.pop()
        deepest = max(deepest, depth)
        pending += [(child, depth + 1) for child in node.children if isinstance(child, dom.Element)]
    return deepest


def seeds() -> Iterator[bytes]:
    """Yield our own pages, and bombs in few bytes."""
    yield from (page.read_bytes()[:3_000] for page in sorted(CORPUS.glob("*.html"))[::6])
    for bomb in (
        "\x1d<html a=1>",
        "\x1c<body a1=1 b2=2>\x10<p>x",
        "\x1d<b>\x1c<p>x",
        "\x1c<i><u a=1>\x1c<div>y</b>",
        "\x1f<div>",
        "\x1d<table><tr><td>\x10x",
        "\x1b<template shadowrootmode=open>\x10<slot>x",
        "\x1c<a href=x>\x10<p>",
        "\x1c<select><option>",
        "\x1c<svg><math><mi>",
        "\x1c<!--\x1c-->",
        "\x1c&amp\x1c&#x110000;",
        "\x1c<font color=a>\x10<p>\x1c</font>",
        "\x1a<nobr><code>\x1b<table>",
        "\x1c<p a\x1a b=c\x10>",
    ):
        yield bomb.encode()


TARGET = Target(
    check,
    seeds,
    max_bytes=3_000,
    words=(
        *(
            b"<html ",
            b"<body ",
            b"<b>",
            b"<i a=",
            b"</b>",
            b"<table>",
            b"<td>",
            b"<template shadowrootmode=open>",
            b"<slot>",
        ),
        *(
            b"<svg>",
            b"<math>",
            b"<!--",
            b"-->",
            b"<![CDATA[",
            b"<script>",
            b"</p>",
            b"<select>",
            b"<frameset>",
            b"&notit;",
        ),
        *(b"\x1d", b"\x1f"),
    ),
)
