"""The order of the pages of a pack, their files and their links."""

from __future__ import annotations

import pytest

from pagekeep.extraction.site.navigation import NavigationEntry
from pagekeep.library.crawl.sitemaps import read_llms
from pagekeep.library.packs.folder import file_targets, rewrite_links
from pagekeep.library.packs.pack import SitePage, arrange, assign_paths, write_llms, write_llms_full

ROOT = "https://docs.example/manual/"


def page(path: str, title: str = "", markdown: str = "", **more: object) -> SitePage:
    return SitePage(ROOT + path, title or path, markdown, **more)  # type: ignore[arg-type]


def entry(title: str, path: str | None, level: int = 0) -> NavigationEntry:
    return NavigationEntry(title, None if path is None else ROOT + path, level)


PAGES = [
    page(""),
    page("tides/high.html"),
    page("tides/low.html"),
    page("tides/odd.html"),
    page("ropes.html"),
    page("about"),
]
NAVIGATION = [
    entry("Start", ""), entry("Water", None), entry("Low", "tides/low.html", 1), entry("High", "tides/high.html", 1),
    entry("Elsewhere", "gone.html"), entry("Ropes", "ropes.html"),
]  # fmt: skip


def test_pages_are_in_the_order_of_the_navigation_and_others_beside_their_folder() -> None:
    arranged = arrange(PAGES, NAVIGATION)
    assert [one.path for one in arranged] == [
        "index.md", "tides/low.md", "tides/high.md", "tides/odd.md", "ropes.md", "about.md",
    ]  # fmt: skip
    assert [one.section for one in arranged[:3]] == [(), ("Water",), ("Water",)]
    assert arranged[3].section == ("Water",)


def test_without_navigation_the_order_stays() -> None:
    assert [one.page for one in arrange(PAGES, [])] == PAGES


@pytest.mark.parametrize(
    ("urls", "paths"),
    [
        (["https://a.example/x/", "https://a.example/x/y.html"], ["index.md", "y.md"]),
        (["https://a.example/x", "https://a.example/X"], ["x.md", "X 2.md"]),
        (["https://a.example/1", "https://b.example/1"], ["a.example/1.md", "b.example/1.md"]),
        (["https://a.example/p?id=1", "https://a.example/p?id=2"], ["p id=1 d9fc91.md", "p id=2 25d0c8.md"]),
        (["https://a.example/con", "https://a.example/%2e%2e/%2fetc"], ["_con.md", "_/etc.md"]),
        (["https://a.example/r%C3%A9sum%C3%A9.php"], ["résumé.md"]),
    ],
)
def test_paths_follow_the_site_and_fit_every_file_system(urls: list[str], paths: list[str]) -> None:
    found = list(assign_paths(urls).values())
    assert found == paths
    assert all(".." not in path.split("/") and not path.startswith("/") for path in found)
    assert len({path.casefold() for path in found}) == len(found)


def test_deep_and_long_paths_are_bounded() -> None:
    url = "https://a.example/" + "folder/" * 200 + "name" * 200
    path = assign_paths([url, "https://a.example/b"])[url]
    assert path.count("/") <= 13
    assert max(len(part) for part in path.split("/")) <= 100


def test_links_between_pages_lead_to_files() -> None:
    arranged = arrange(PAGES, NAVIGATION)
    markdown = (
        f"See [low]({ROOT}tides/low.html#now), [start]({ROOT}) and [others](https://other.example/).\n"
        f"![pic]({ROOT}pic.png) [here]({ROOT}tides/high.html#top) [odd](<{ROOT}tides/odd.html>)\n\n"
        f"```\n[code]({ROOT})\n```\n"
    )
    assert rewrite_links(markdown, "tides/high.md", file_targets(arranged)) == (
        "See [low](low.md#now), [start](../index.md) and [others](https://other.example/).\n"
        f"![pic]({ROOT}pic.png) [here](#top) [odd](odd.md)\n\n"
        f"```\n[code]({ROOT})\n```\n"
    )


def test_llms_txt_lists_pages_under_headings_and_is_read_back() -> None:
    pages = [page("", "The manual"), page("tides/low.html", "Low [tide]", description="When the\nwater is gone.")]
    text = "".join(write_llms("Manual", "All about\nthe sea.", arrange(pages, NAVIGATION)))
    assert text == (
        "# Manual\n\n> All about the sea.\n\n## Pages\n\n"
        f"- [The manual]({ROOT})\n\n## Water\n\n- [Low (tide)]({ROOT}tides/low.html): When the water is gone.\n"
    )
    assert [(one.title, one.url) for one in read_llms(text)] == [
        ("Pages", None), ("The manual", ROOT), ("Water", None), ("Low (tide)", f"{ROOT}tides/low.html"),
    ]  # fmt: skip


def test_llms_full_has_every_page_with_its_title_once() -> None:
    pages = [page("a", "One", "# One\n\nText of one.\n"), page("b", "Two", "Text of two.")]
    text = "".join(write_llms_full("Manual", "", arrange(pages, [])))
    assert text.count("# One") == 1
    assert text.index("Text of one.") < text.index(f"Source: {ROOT}b") < text.index("Text of two.")
