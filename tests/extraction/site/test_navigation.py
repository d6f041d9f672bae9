"""The order of a site's pages, from its navigation."""

from __future__ import annotations

from pagekeep import dom
from pagekeep.extraction.site.navigation import NavigationEntry, merge_navigations, read_navigation

URL = "https://docs.example/manual/tides/low.html"
SCOPE = "https://docs.example/manual/"
TOP = "".join(f'<li><a href="/shop/{number}">Shop {number}</a></li>' for number in range(30))
SIDEBAR = """
<p class=x>First steps</p>
<ul><li><a href="../start.html">Start</a></li>
<li><a href="../tides/">Tides</a><ul><li><a href="low.html#top"><b>Low</b> tide</a></li><li><a href="high.html">High tide</a></li></ul></li></ul>
<p class=x>Reference</p>
<ul><li><a href="../ropes.html">Ropes</a></li><li><a href="../knots.html">Knots</a></li><li><a href="../knots.html">Knots again</a></li></ul>
"""


def read(html: str, url: str = URL) -> list[tuple[str, str | None, int]]:
    entries = read_navigation(dom.parse(html), url, SCOPE)
    return [(entry.title, entry.url and entry.url.removeprefix(SCOPE), entry.level) for entry in entries]


def test_pages_headings_and_levels_in_their_order() -> None:
    page = f"<nav><ul>{TOP}</ul></nav><div><nav>{SIDEBAR}</nav></div><main><p>Text with <a href=x.html>a link</a>.</p></main>"
    assert read(page) == [
        ("First steps", None, 0),
        ("Start", "start.html", 0),
        ("Tides", "tides/", 0),
        ("Low tide", "tides/low.html", 1),
        ("High tide", "tides/high.html", 1),
        ("Reference", None, 0),
        ("Ropes", "ropes.html", 0),
        ("Knots", "knots.html", 0),
    ]


def test_a_text_with_many_links_is_not_navigation() -> None:
    items = "".join(
        f"<li>The knot that sailors call <a href={n}.html>no. {n}</a> is tied twice, then once.</li>" for n in range(9)
    )
    assert read(f"<main><ul>{items}</ul></main>") == []


def test_a_trail_is_not_navigation() -> None:
    assert read("<nav><a href=/manual/>Manual</a> <a href=/manual/tides/>Tides</a></nav>") == []


def test_a_heading_without_pages_is_left_out() -> None:
    links = "".join(f"<li><a href={n}.html>Page {n}</a></li>" for n in range(5))
    assert [title for title, _, _ in read(f"<nav><h3>Versions</h3><h3>Pages</h3><ul>{links}</ul><h3>More</h3></nav>")] == [
        "Pages", "Page 0", "Page 1", "Page 2", "Page 3", "Page 4",
    ]  # fmt: skip


def entries(text: str) -> list[NavigationEntry]:
    return [NavigationEntry(title, f"https://docs.example/{title}", 0) for title in text.split()]


def test_inner_pages_are_added_where_they_belong() -> None:
    merged = merge_navigations([entries("a b c"), entries("a b b1 b2 c"), entries("a a1 b c d")])
    assert [entry.title for entry in merged] == "a a1 b b1 b2 c d".split()


def test_nothing_merges_to_nothing() -> None:
    assert merge_navigations([[], []]) == []


def test_many_links_in_deep_boxes_are_bounded() -> None:
    html = "<nav>" * 300 + "".join(f"<a href=/manual/{number}>page {number}</a> " for number in range(6_000))
    assert 0 < len(read(html)) <= 5_000
