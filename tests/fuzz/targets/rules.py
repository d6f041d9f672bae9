"""Rule files: any file gives rules and faults; what is read can be written, read the same, and run on a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pagekeep.rules
from pagekeep.errors import PagekeepError
from pagekeep.pipeline import extract
from pagekeep.rules.loading import check as check_rules
from pagekeep.rules.loading import dump_rules, read
from pagekeep.rules.rulebook import Rulebook
from tests.fuzz.target import Target, expect
from tests.rules.test_loading import WHOLE

_PAGE = (
    "<html class=x><head><title>Harbour</title><meta name=author content=Ann></head><body class='post a'><nav>Menu</nav>"
    "<article id=main><h1 class=t>Harbour</h1><p class=b>He counts the ships at dawn, and writes them down.</p>"
    "<figure><img src=/a.png data-src=/b.png></figure><div class=comment><b>Bo</b><p>Well written.</p></div><table><tr><td>1"
    "</table></article><aside class='ad x'>Buy</aside></body></html>"
)


def check(data: bytes) -> None:
    """Read the file, write its rules and read them again, and run them."""
    loaded = read(data, "fuzz.yaml")
    for fault in loaded.faults:
        expect(fault.line >= 1 and fault.message, "a fault without a line or message", fault)
    check_rules(loaded)
    if not loaded.rules:
        return
    again = read(dump_rules(loaded.rules), "fuzz.yaml")
    bare, bare_again = ([replace(rule, source=None) for rule in rules] for rules in (loaded.rules, again.rules))
    expect(not again.faults and bare == bare_again, "rules read, written and read again differ", (again.faults, bare))
    book = Rulebook(loaded.rules)
    book.rendering("https://www.example.com/a")
    try:
        extract(_PAGE, "https://www.example.com/a", rules=book)
    except PagekeepError:
        return


def seeds() -> Iterator[bytes]:
    """Yield every shipped rule on its own, and our test of all keys."""
    yield WHOLE.encode()
    for file in sorted((Path(pagekeep.rules.__file__).parent / "sites").glob("*.yaml")):
        for part in file.read_text().split("\n- id:")[1:]:
            if len(part) < 2_500:
                yield b"- id:" + part.encode()
    yield b"- id: a\n  trigger: {host: {ends_with: example.com}}\n  removals: [.ad]\n"


TARGET = Target(
    check,
    seeds,
    max_bytes=3_000,
    words=(
        *(
            b"- id: ",
            b"trigger:",
            b"host:",
            b"ends_with: ",
            b"etld_plus_one: ",
            b"selector",
            b"actions:",
            b"phase: pre",
            b"phase: post",
        ),
        *(
            b"example.com",
            b":not(",
            b":has(",
            b"> ",
            b"[class*=",
            b"remove",
            b"metadata:",
            b"position: index",
            b"index: 1",
            b"priority: ",
        ),
        *(b"&a ", b"*a", b"<<: ", b"!!python/object", b"|\n", b"''", b"[]", b"{}", b"null", b":nth-child(", b"*|*"),
    ),
)
