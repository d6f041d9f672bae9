"""Frontmatter: any block is read or refused, and any value that is written is read back the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pagekeep.errors import ParseError
from pagekeep.markdown import write_frontmatter
from pagekeep.markdown.frontmatter import Stamp, read_block, split_block, stamp
from tests.fuzz.target import CORPUS, Target, expect


def check(data: bytes) -> None:
    """Read the input as a block, and write it as values of one."""
    text = data.decode("utf-8", "replace")
    block, rest = split_block(text)
    expect(text.endswith(rest), "the text below a block changed")
    for one in (text, block):
        try:
            fields = read_block(one)
        except ParseError:
            continue
        plain = {name: value for name, value in fields.items() if _is_ours(value)}
        expect(_written(plain) == plain, "read, written and read again: differs", plain)
    lines = text.split("\n")
    values: dict[str, Any] = {"title": text, "author": lines[0], "tags": lines, "source": stamp(lines[-1])}
    values |= {line.partition(":")[0]: line.partition(":")[2] for line in lines[:5]}
    values = {name: value for name, value in values.items() if value}
    expect(_written(values) == values, "written and read: differs", values)


def _is_ours(value: object) -> bool:
    """Return whether the value is of a kind that we write."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, str) for one in value)
    return isinstance(value, (str, Stamp, bool, int)) and value != ""


def _written(fields: dict[str, Any]) -> dict[str, Any]:
    if not fields:
        return {}
    block, rest = split_block(write_frontmatter(fields) + "\nText\n")
    expect(rest == "Text\n", "a value ends the block", fields)
    return read_block(block)


def seeds() -> Iterator[bytes]:
    """Yield blocks of our golden documents, and YAML of every kind."""
    for golden in sorted((CORPUS.parent / "fixtures").rglob("*.md"))[:20]:
        yield golden.read_bytes()[:1_500]
    yield b"---\ntitle: 'It''s: a #test'\ntags: [a, 'b c', \"d\\n\"]\nword_count: 12\npublished_date: 2025-03-19\n---\n\n# x\n"
    yield b"a: !!binary aGk=\nb: !!set {x, y}\nc: ~\nd: 1e3\ne: 0x1f\nf: 12:30:45\ng: .inf\nh: 2025-03-19T10:00:00Z\n"
    yield b"a: &x [1, 2]\nb: *x\n<<: {c: d}\n? complex\n: key\nlong: >-\n  folded\n  text\nlit: |+\n  x\n\n"


TARGET = Target(
    check,
    seeds,
    max_bytes=2_000,
    words=(
        *(
            b"---\n",
            b"\n---\n",
            b": ",
            b" #",
            b"- ",
            b"? ",
            b"!!binary ",
            b"!!int ",
            b"!!float ",
            b"!!timestamp ",
            b"&a ",
            b"*a",
        ),
        *(
            b"<<: ",
            b"|-\n ",
            b">+\n ",
            b"'",
            b'"',
            b"\\x",
            b"\\u",
            b"%YAML 1.1\n",
            b"...\n",
            b"\xe2\x80\xa8",
            b"\xc2\x85",
            b"0o7",
        ),
    ),
)
