"""The Markdown writer: what it writes has, read by another program, the words and the structure of the clean HTML."""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep import dom
from pagekeep.extraction.clean import clean
from pagekeep.extraction.output.sanitise import sanitise
from pagekeep.markdown import to_markdown, to_text
from pagekeep.markdown.blocks import MAX_NESTING
from pagekeep_lab.markdown_cases import find_differences
from tests.fuzz.target import CORPUS, Target, expect

_CASES = CORPUS.parent / "cases"


def check(data: bytes) -> None:
    """Clean, sanitise, write, and read again."""
    root = dom.parse_fragment(data.decode("utf-8", "replace"))
    dom.bound_depth(root)
    safe, tree = sanitise(clean(root, "https://example.com/")[0])
    written = to_markdown(tree)
    expect(written == to_markdown(tree), "not the same twice")
    to_text(tree).encode("utf-8")
    for difference in find_differences(safe, written):
        expect(_is_by_design(difference, safe), difference.split(" ")[0].rstrip(":"), (difference, safe, written))


def _is_by_design(difference: str, safe: str) -> bool:
    """Return whether Markdown cannot be the same there.

    A reader orders notes itself. A table in a table is flattened. Lists deeper than other programs read become paragraphs.
    A table with code in it is written as blocks: a heading in it as a heading, a list as a list.
    """
    clean_root = dom.parse_fragment(safe)
    if difference.startswith(("headings", "tables", "items")) and dom.first(clean_root, "table table") is not None:
        return True
    if difference.startswith("items") and dom.first(clean_root, " ".join(["li"] * (MAX_NESTING + 1))) is not None:
        return True
    if difference.startswith(("headings", "items")) and " added" in difference:
        wanted = "li" if difference.startswith("items") else "h1, h2, h3, h4, h5, h6"
        return any(dom.first(table, wanted) is not None for table in dom.select(clean_root, "table:has(pre)"))
    return difference.startswith("words differ") and len(dom.select(clean_root, ".footnotes li")) > 1


def seeds() -> Iterator[bytes]:
    """Yield pieces of HTML of our test cases and pages."""
    for file in sorted(_CASES.glob("*.txt")):
        yield from (part.encode()[:1_000] for part in file.read_text().split("\n.\n") if "<" in part)
    for page in sorted(CORPUS.glob("*.html"))[::4]:
        body = page.read_bytes().partition(b"<article")[2] or page.read_bytes().partition(b"<body")[2]
        yield b"<p" + body[:1_500]


TARGET = Target(
    check,
    seeds,
    max_bytes=1_500,
    words=(
        *(
            b"<p>",
            b"<li>",
            b"<ol start=7>",
            b"<ul>",
            b"<pre><code>",
            b"<table><tr><td>",
            b"<th colspan=2>",
            b"<blockquote>",
        ),
        *(
            b"<em>",
            b"<strong>",
            b"<a href=/x>",
            b"<img src=/i.png alt=x>",
            b"<br>",
            b"<h2>",
            b"<dl><dt>",
            b"<dd>",
            b"<sup>",
        ),
        *(b"<sub>", b"<q>", b"<kbd>", b"<s>", b"<hr>", b"<figure>", b"<figcaption>", b"<span class=math-tex>", b"</p>"),
        *(
            b"<ruby>",
            b"<rt>",
            b"<input type=checkbox>",
            b"&nbsp;",
            b"&lt;",
            b"**",
            b"__",
            b"```",
            b"$$",
            b"[^1]",
            b"[!note]",
        ),
    ),
)
