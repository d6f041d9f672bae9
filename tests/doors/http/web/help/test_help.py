"""The documentation in the reader."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from pagekeep.doors.http.web.help import (
    FOR_DEVELOPERS,
    SECTIONS,
    list_sections,
    load_images,
    load_pages,
    search_help,
    slug,
)

DOCS = Path(__file__).parents[5] / "docs"


def test_every_page_of_the_docs_has_a_place() -> None:
    named = {name for _, names in SECTIONS for name in names}
    assert set(load_pages()) >= named
    assert {path.stem for path in DOCS.glob("*.md")} == {
        name for name in load_pages() if "/" not in name
    } | FOR_DEVELOPERS
    shown = [page.name for _, pages in list_sections() for page in pages]
    assert sorted(shown) == sorted(load_pages())


def test_every_link_between_pages_leads_to_one() -> None:
    pages = load_pages()
    anchors = {
        name: {
            slug(re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", text))
            for text in re.findall(r"^#+ +(.+)$", page.markdown, re.M)
        }
        for name, page in pages.items()
    }
    broken = []
    for name, page in pages.items():
        for target, anchor in re.findall(r"\]\(/help/([^)#\s]+)(?:#([^)\s]+))?\)", page.markdown):
            if target.startswith("images/"):
                known = target.removeprefix("images/") in load_images()
            else:
                known = target in pages and (not anchor or anchor in anchors[target])
            if not known:
                broken.append(f"{name}: {target}#{anchor}")
    assert broken == []


@pytest.mark.parametrize("name", ["security", "reader", "settings"])
def test_a_page_is_shown_without_signing_in(shared: TestClient, name: str) -> None:
    answer = shared.get(f"/help/{name}")
    assert answer.status_code == 200
    page = load_pages()[name]
    assert f"<h1>{page.title}</h1>" in answer.text
    assert answer.text.count("<h1") == 1
    assert "help.invalid" not in answer.text
    assert 'href="/settings"' not in answer.text  # nothing of a user


def test_pictures_and_links_are_those_of_the_help(client: TestClient) -> None:
    page = client.get("/help/reader").text
    [*pictures] = re.findall(r'src="(/help/images/[^"]+)"', page)
    assert pictures
    assert client.get(pictures[0]).headers["content-type"] in ("image/png", "image/webp")
    assert '<a href="/help/' in client.get("/help/serving").text


def test_the_help_is_searched_by_all_words(client: TestClient) -> None:
    hits = search_help("extension connect server")
    assert hits
    assert all("[[" in hit.snippet or "extension" in hit.heading.lower() for hit in hits[:3])
    page = client.get("/help", params={"q": "<script>alert(1)</script>"}).text
    assert "<script>alert" not in page
    assert "0 results" in page
    assert "<mark>" in client.get("/help", params={"q": "bookmarklet"}).text


@pytest.mark.parametrize("name", ["../CHANGELOG", "adr/0001-the-house-and-its-layers", "images/nothing.png", "x" * 300])
def test_nothing_else_is_shown(client: TestClient, name: str) -> None:
    assert client.get(f"/help/{name}").status_code == 404
