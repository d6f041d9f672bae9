"""Feeds as they are on the web: every quirk gives what a reader expects, and nothing but our own errors is raised."""

from __future__ import annotations

from typing import Any

import pytest

from pagekeep.errors import PagekeepError, TooLarge
from pagekeep.library.feeds.parse import document
from pagekeep.library.feeds.parse.document import clean_entries, parse_feed, to_markdown
from pagekeep.model.feeds import MAX_ENTRIES, ParsedEntry
from tests.library.feeds.parse import quirks, quirks_of_documents
from tests.library.feeds.parse.quirks import URL, Case, atom, rss

GROUPS: dict[str, list[Case]] = {
    name.lower(): cases
    for module in (quirks, quirks_of_documents)
    for name, cases in vars(module).items()
    if name.isupper() and isinstance(cases, list)
}
CASES = [pytest.param(*case[1:], id=f"{group}: {case[0]}") for group, cases in GROUPS.items() for case in cases]


def test_there_are_enough_quirks() -> None:
    assert len(CASES) >= 200


def matches(found: Any, expected: Any) -> bool:
    if isinstance(expected, str) and "…" in expected and found != expected:
        begin, _, end = expected.partition("…")
        return isinstance(found, str) and found.startswith(begin) and found.endswith(end)
    return bool(found == expected)


@pytest.mark.parametrize(("body", "expect"), CASES)
def test_quirk(body: bytes, expect: dict[str, Any]) -> None:
    if "error" in expect:
        with pytest.raises(PagekeepError) as raised:
            parse_feed(body, URL)
        assert type(raised.value).__name__ == expect["error"]
        return
    feed = parse_feed(body, URL)
    entry = feed.entries[0] if feed.entries else None
    for name, expected in expect.items():
        if name == "n":
            found: Any = len(feed.entries)
        elif name == "guids":
            found = [one.guid for one in feed.entries]
        elif name == "text":
            assert entry is not None
            found = to_markdown(entry.html, entry.base)
        elif name == "absent":
            assert expected not in repr(feed)
            continue
        else:
            found = getattr(feed, name[1:]) if name.startswith(".") else getattr(entry, name)
        assert matches(found, expected), f"{name}: {found!r} is not {expected!r}"


def test_every_entry_has_a_title_and_its_own_guid() -> None:
    for cases in GROUPS.values():
        for _, body, expect in cases:
            if "error" not in expect:
                entries = parse_feed(body, URL).entries
                assert all(entry.title and entry.guid for entry in entries)
                assert len({entry.guid for entry in entries}) == len(entries)


def test_the_charset_of_the_response_is_used_where_nothing_else_says_more() -> None:
    body = '<rss version="2.0"><channel><title>Порт</title></channel></rss>'.encode("windows-1251")
    assert parse_feed(body, URL, "windows-1251").title == "Порт"


def test_a_long_feed_is_read_up_to_a_limit_and_stays_well_formed() -> None:
    items = "".join(f"<item><title>t{number}</title></item>" for number in range(100_000))
    feed = parse_feed(f'<rss version="2.0"><channel><title>H</title>{items}</channel></rss>'.encode(), URL)
    assert (len(feed.entries), feed.entries[-1].title, feed.title) == (MAX_ENTRIES, "t999", "H")


def test_a_large_feed_is_refused() -> None:
    with pytest.raises(TooLarge):
        parse_feed(b"<rss>" + b" " * document.MAX_BYTES, URL)


def test_entities_do_not_multiply() -> None:
    bomb = "<!DOCTYPE rss [<!ENTITY a0 'boom'>" + "".join(
        f"<!ENTITY a{number + 1} '{f'&a{number};' * 10}'>" for number in range(12)
    )
    feed = parse_feed(f"{bomb}]><rss version='2.0'><channel><title>&a12;</title></channel></rss>".encode(), URL)
    assert len(feed.title) <= 1_000


@pytest.mark.parametrize("nest", ["<b>" * 50_000, "<div>" * 20_000 + "x", "<ul><li>" * 5_000])
def test_deep_markup_is_flattened(nest: str) -> None:
    feed = parse_feed(rss(f"<title>t</title><description><![CDATA[{nest}end]]></description>"), URL)
    assert "end" in to_markdown(feed.entries[0].html, URL)


def test_deep_xml_is_survived() -> None:
    nest = "<x>" * 20_000
    assert parse_feed(rss(f"<title>t</title>{nest}{nest.replace('<', '</')}"), URL).entries[0].title == "t"


ENTRY = ParsedEntry(
    "1",
    "The Old Pier",
    "https://e.com/1",
    "Ada",
    None,
    "<p>About rope and <b>Café</b> Central.</p>" + "<p>More.</p>" * 900,
    summary="<p>In short.</p>",
    extra={"categories": ["Sea air"]},
)


@pytest.mark.parametrize(
    ("include", "exclude", "passes"),
    [
        ((), (), True),
        (("pier",), (), True),
        (("PIER", "other"), (), True),
        (("cafe central",), (), True),
        (("sea air",), (), True),
        (("ada",), (), True),
        (("pie",), (), False),
        (("rope sea",), (), False),
        ((), ("rope",), False),
        ((), ("ropes",), True),
        (("pier",), ("rope",), False),
        (("--",), (), True),
    ],
)
def test_words_decide_which_entries_are_wanted(
    include: tuple[str, ...], exclude: tuple[str, ...], passes: bool
) -> None:
    (found,) = clean_entries((ENTRY,), "feed", include, exclude)
    assert (found is not None) is passes


def test_what_an_entry_shows_is_chosen() -> None:
    (whole,), (link,) = clean_entries((ENTRY,), "feed", (), ()), clean_entries((ENTRY,), "link", (), ())
    assert whole is not None
    assert link is not None
    assert whole.markdown.startswith("About rope")
    assert whole.page is not None
    assert "<title>The Old Pier</title>" in whole.page
    assert (link.markdown, link.page) == ("In short.", None)
    (cut,) = clean_entries((ParsedEntry("1", html=ENTRY.html),), "link", (), ())
    assert cut is not None
    assert len(cut.markdown) < 2_100


def test_a_fingerprint_changes_with_the_entry_and_nothing_else() -> None:
    one = parse_feed(atom("<id>1</id><title>t</title><updated>2025-03-19T00:00:00Z</updated>"), URL).entries[0]
    later = parse_feed(atom("<id>1</id><title>t</title><updated>2025-03-20T00:00:00Z</updated>"), URL).entries[0]
    other = parse_feed(atom("<id>1</id><title>u</title><updated>2025-03-19T00:00:00Z</updated>"), URL).entries[0]
    assert one.fingerprint == later.fingerprint != other.fingerprint
