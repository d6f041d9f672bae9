"""Headings whose section was cut."""

from __future__ import annotations

from pagekeep import extract

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still. "
LINKS = (
    "<ul>" + "".join(f'<li><a href="/{name}">{name}</a></li>' for name in ("Weirs", "Sluices", "Millponds")) + "</ul>"
)
STORY = f"<p>{SENTENCE * 5}</p><h2>How it ended</h2><p>{SENTENCE * 5}</p>"


def headings(tail: str) -> list[str]:
    page = extract(f"<body><article><h1>The mill</h1>{STORY}{tail}</article></body>", "https://mill.example/a")
    return [line for line in page.markdown.splitlines() if line.startswith("##")]


def test_a_heading_goes_with_its_list_of_links() -> None:
    assert headings(f"<h2>See also</h2>{LINKS}") == ["## How it ended"]
    assert headings(f"<div><h2>See also</h2></div>{LINKS}<h2>Sources</h2><p>A letter of 1893.</p>") == [
        "## How it ended",
        "## Sources",
    ]


def test_a_heading_stays_with_what_is_left_under_it() -> None:
    assert headings(f"<h2>See also</h2>{LINKS}<p>All of them are in the valley.</p>")[-1] == "## See also"
    assert headings(f"<h2>See also</h2>{LINKS}<h3>By foot</h3><p>Along the weir.</p>")[1:] == [
        "## See also",
        "### By foot",
    ]


def test_of_headings_with_the_same_words_one_stays() -> None:
    assert headings("<h3>Sacks</h3><div><h2>Sacks</h2></div><p>Of hemp.</p>") == ["## How it ended", "## Sacks"]
    assert headings("<h2>Sacks</h2><p>Of hemp.</p><h2>Sacks</h2><p>Of wool.</p>")[1:] == ["## Sacks", "## Sacks"]
