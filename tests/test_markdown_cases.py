"""How the web's tools mark up formulas, notes, code and callouts, and the Markdown that a reader expects of each.

Every file in `cases/` has many small cases: a title, the HTML of a part of a page, and its Markdown. The part goes through the
whole pipeline within a page that has a menu, an article and a footer, and is compared as rendered.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pagekeep.pipeline import extract
from pagekeep_lab.markdown_cases import find_differing_aspects, normalise, render_tree
from pagekeep_lab.scores import normalise_tokens

CASES = Path(__file__).parent / "cases"
TITLE = "The log of the harbour"
BEFORE = (
    "The harbour keeps a log of everything that happens between the two lights, from the first boat in the morning to the "
    "last one at night, and most of what is written there is about ropes, bells and the weather."
)
AFTER = (
    "When the last boat is in, the keeper closes the book, puts it back on its shelf above the stove and walks home along "
    "the quay, where nothing is left to write about until the morning."
)
PAGE = f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{TITLE}</title></head><body>
<header class="site-header"><nav><ul><li><a href="/">Home</a></li><li><a href="/log">Log</a></li></ul></nav></header>
<main><article><h1>{TITLE}</h1>
<p>{BEFORE}</p>
%s
<p>{AFTER}</p>
%s
</article></main>
<footer><p>© Harbour office</p><a href="/imprint">Imprint</a></footer></body></html>"""


def read_cases() -> Iterator[tuple[str, str, str]]:
    """Yield title, HTML and Markdown of every case."""
    for path in sorted(CASES.glob("*.txt")):
        for case in path.read_text("utf-8").split("=== ")[1:]:
            title, _, rest = case.partition("\n")
            html, _, markdown = rest.partition("\n---\n")
            yield f"{path.stem}: {title}", html, markdown.strip()


@pytest.mark.parametrize(("html", "expected"), [pytest.param(html, md, id=name) for name, html, md in read_cases()])
def test_markdown_of_every_tool(html: str, expected: str) -> None:
    body, _, notes = html.partition("\n~~~\n")
    page = extract(PAGE % (body, notes), "https://example.com/log/1")
    text, _, definitions = expected.partition("\n\n[^1]:")
    text = text.replace("<AFTER>", AFTER) if "<AFTER>" in text else f"{text}\n\n{AFTER}"
    wanted = f"{BEFORE}\n\n{text}\n" + (f"\n[^1]:{definitions}\n" if definitions else "")
    ours, theirs = (normalise(render_tree(markdown), [TITLE]) for markdown in (page.markdown, wanted))
    differing = list(find_differing_aspects(ours, theirs, 1.0))
    if normalise_tokens(ours.text) != normalise_tokens(theirs.text):
        differing.append("words")
    assert not differing, f"{differing}\n{page.markdown}\n----- expected -----\n{wanted}"
