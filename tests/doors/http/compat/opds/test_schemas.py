"""Every feed is valid by the schemas of OPDS 1.2 and 2.0, also with texts of others in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from jsonschema import Draft202012Validator

from pagekeep import clock
from pagekeep.library.items.lists import add_list
from pagekeep.library.normal_url import normalise
from pagekeep.store import Store
from tests.store.making import make_item, moment

etree = pytest.importorskip("lxml.etree", reason="lxml is not installed")
SCHEMAS = Path(__file__).parent / "schemas"
ATOM = etree.RelaxNG(etree.parse(SCHEMAS / "opds-1.2.rng"))
FEED = Draft202012Validator(
    json.loads((SCHEMAS / "opds-2.0.json").read_text("utf-8")), format_checker=Draft202012Validator.FORMAT_CHECKER
)
PATHS = (
    *("", "/", "/inbox", "/pinned", "/week", "/archive", "/tags", "/search?q=words", "/search?q=nothing-has-this"),
    *("/search?q=", "/tags/a%20%26%20b%2F%3F", "/tags/none", "/lists", "/lists/a%20%26%20b"),
)
ODD: tuple[dict[str, Any], ...] = (
    {"title": "  ", "author": "<b>&\x00\ud800", "tags": ["a & b/?", "\x0b"]},
    {"title": "]]> & \x1b[31m \u2028", "published_at": "2020"},
    {"title": "{?query}", "published_at": "2021-05-06T07:08:09+02:00", "author": ""},
    {"title": "x" * 5_000, "published_at": "2021-05", "author": "א ב"},
)


@pytest.fixture
def odd(library: Store, client: TestClient) -> TestClient:
    """A server with pages whose texts are odd; two lists have several pages."""
    for n in range(34):
        about = ODD[n] if n < len(ODD) else {"title": f"Page {n}", "tags": ["a & b/?"]}
        address = normalise("https://example.com/päge/{x}?a=%20b c&d='") if n == 1 else f"https://example.com/page/{n}"
        saved = clock.now() if n < 3 else moment(n)
        library.items.save(make_item(n, **{"url": address, "content": "Some words.", "saved_at": saved, **about}), None)
    add_list(library, "a & b", "words")
    return client


def follow(client: TestClient, path: str, accept: str) -> list[Any]:
    """Return all pages of a feed."""
    pages = []
    address: str | None = f"/opds{path}"
    while address:
        answer = client.get(address, headers={"accept": accept})
        assert answer.status_code == 200, answer.text
        if accept == "application/opds+json":
            page = answer.json()
            nexts = [link["href"] for link in page["links"] if link["rel"] == "next"]
        else:
            page = etree.fromstring(answer.content)
            nexts = page.xpath("a:link[@rel='next']/@href", namespaces={"a": "http://www.w3.org/2005/Atom"})
        pages.append(page)
        address = nexts[0] if nexts else None
    return pages


def test_atom_is_valid(odd: TestClient) -> None:
    pages = 0
    for path in PATHS:
        for page in follow(odd, path, "application/atom+xml"):
            ATOM.assertValid(page)
            pages += 1
    assert pages > len(PATHS) + 2, "some have a next page"


def test_json_is_valid(odd: TestClient) -> None:
    for path in PATHS:
        for page in follow(odd, path, "application/opds+json"):
            assert [f"{path} {fault.json_path}: {fault.message:.200}" for fault in FEED.iter_errors(page)] == []


def test_the_schemas_refuse_what_is_wrong(odd: TestClient) -> None:
    """They would accept anything otherwise."""
    (page,) = follow(odd, "/week", "application/atom+xml")
    entry = page.find("{*}entry")
    entry.remove(next(link for link in entry.findall("{*}link") if "acquisition" in link.get("rel")))
    assert not ATOM.validate(page)
    (feed,) = follow(odd, "/week", "application/opds+json")
    assert FEED.is_valid(feed)
    assert not FEED.is_valid({**feed, "publications": []})
    assert not FEED.is_valid({**feed, "links": feed["links"][1:]})
