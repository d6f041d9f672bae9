"""Every format, from a sample with its quirks to the library."""

from __future__ import annotations

import pytest

from pagekeep.doors.cli.import_ import FORMATS as OFFERED
from pagekeep.errors import UnsupportedContent
from pagekeep.library.imports.detect import FORMAT_NAMES, detect_format
from pagekeep.store import Store
from tests.library.imports import samples
from tests.library.imports.conftest import Bring, everything, source

FILES = list(samples.ALL)


def tags(reported: samples.Expected, name: str) -> set[str]:
    """The tags that must be there; lists and folders come on top."""
    if name == "onetab.txt":
        return set()
    return {tag.replace(" ", "_") if name == "pinboard.json" else tag for tag in reported.tags}


@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith(".zip")])
def test_a_format_is_recognised_by_its_content(name: str) -> None:
    wanted, data = samples.ALL[name]
    assert detect_format(source(data)).name == wanted


@pytest.mark.parametrize("name", FILES)
def test_an_export_comes_in_completely_and_a_second_time_changes_nothing(
    name: str, library: Store, bring: Bring
) -> None:
    wanted, data = samples.ALL[name]
    report = bring(data, name)
    assert report.failed == samples.FAILING.get(name, 0), report.failures
    assert report.added == samples.COUNT + samples.MORE.get(name, 0)
    assert set(report.formats) == {wanted}
    items = everything(library)
    for reported in samples.pages():
        item = items[reported.url]
        if reported.title:
            assert item.title == " ".join(reported.title.split())
        assert tags(reported, name) <= set(item.metadata.tags)
        if name not in samples.UNDATED:
            assert item.saved_at == reported.saved_at
        if name not in samples.WITHOUT_STATE:
            assert bool(item.metadata.archived) is reported.archived
        assert item.source == f"import:{wanted}"
    again = bring(data, name)
    assert (again.added, again.updated, again.unchanged) == (0, 0, report.added)
    assert everything(library) == items
    assert library.check() == []


STARS = ["wallabag.json", "goodlinks.json", "raindrop.csv", "matter.csv", "bookmarks.html"]


@pytest.mark.parametrize("name", STARS)
def test_what_was_starred_is_pinned(name: str, library: Store, bring: Bring) -> None:
    bring(samples.ALL[name][1], name)
    items = everything(library)
    assert [bool(items[reported.url].metadata.pinned) for reported in samples.pages()] == [
        reported.pinned for reported in samples.pages()
    ]


@pytest.mark.parametrize("name", ["bookmarks.html", "pinboard.json", "karakeep.json", "raindrop.csv", "omnivore.zip"])
def test_the_readers_notes_are_kept(name: str, library: Store, bring: Bring) -> None:
    bring(samples.ALL[name][1], name)
    items = everything(library)
    for reported in samples.pages():
        notes = [mark.note for mark in library.annotations.of_item(items[reported.url].id) if mark.note]
        assert notes == ([reported.note] if reported.note else [])


@pytest.mark.parametrize("name", ["wallabag.json", "omnivore.zip", "instapaper.csv", "raindrop.csv"])
def test_highlights_are_kept_once(name: str, library: Store, bring: Bring) -> None:
    for _ in range(2):
        bring(samples.ALL[name][1], name)
    items = everything(library)
    for reported in samples.pages():
        quotes = [mark.quote for mark in library.annotations.of_item(items[reported.url].id) if mark.quote]
        assert quotes == ([reported.quote] if reported.quote else [])


@pytest.mark.parametrize("name", ["wallabag.json", "omnivore.zip"])
def test_carried_content_goes_through_the_pipeline_with_its_raw_page(name: str, library: Store, bring: Bring) -> None:
    report = bring(samples.ALL[name][1], name)
    assert report.carried >= samples.COUNT - 3
    item = everything(library)[samples.pages()[10].url]
    assert item.metadata.quality == "article"
    assert "It was day 10." in item.content
    assert "## The wind" in item.content
    assert "alert" not in item.content
    assert (item.author, item.published_at) == ("Ada Keeper", "2010-01-02")
    raw = library.items.raw(item.id)
    assert raw is not None
    assert b"It was day 10." in raw.body


def test_a_highlight_knows_the_words_around_it(library: Store, bring: Bring) -> None:
    bring(samples.wallabag(), "wallabag.json")
    (mark,) = library.annotations.of_item(everything(library)[samples.pages()[10].url].id)
    assert mark.before.endswith("They noted")
    assert mark.after.startswith("and went on.")


def test_a_damaged_pdf_of_omnivore_is_a_bookmark_that_says_so(library: Store, bring: Bring) -> None:
    bring(samples.omnivore(), "omnivore.zip")
    item = everything(library)[samples.pages()[11].url]
    assert (item.metadata.quality, item.metadata.caught) == ("bookmark", "damaged_file")


def test_folders_lists_and_collections_become_tags(library: Store, bring: Bring) -> None:
    url = samples.pages()[1].url
    for name, wanted in (
        ("bookmarks.html", {"Coast & sea"}),
        ("instapaper.csv", {"Coast"}),
        ("raindrop.csv", {"Coast", "Log"}),
        ("karakeep.json", {"Coast"}),
        ("linkwarden.json", {"Coast", "Log"}),
    ):
        bring(samples.ALL[name][1], name)
        found = set(everything(library)[url].metadata.tags)
        assert wanted <= found
        assert found.isdisjoint({"Unsorted", "Unorganized", "Unread", "Lesezeichenleiste", "Bookmarks Menu"})


@pytest.mark.parametrize("columns", [4, 5])
def test_older_files_of_instapaper_lack_columns(columns: int, library: Store, bring: Bring) -> None:
    assert bring(samples.instapaper(columns)).added == samples.COUNT
    item = everything(library)[samples.pages()[4].url]
    assert item.metadata.archived is True
    assert (item.saved_at == samples.pages()[4].saved_at) is (columns == 5)


def test_articles_of_feeds_are_left_out(library: Store, bring: Bring) -> None:
    report = bring(samples.readwise())
    assert report.skipped == 1
    assert library.items.by_url("https://feed.example.com/1") is None


def test_a_text_without_an_address_is_reported(bring: Bring) -> None:
    report = bring(samples.karakeep())
    assert report.failures[0][1].startswith("It is a text without an address")


def test_a_table_with_semicolons_in_another_encoding_is_read(library: Store, bring: Bring) -> None:
    table = "title;url;time_added;tags;status\r\nÜber Ebbe;https://example.com/a;1300000000;a|b;archive\r\n"
    assert bring(table.encode("utf-16")).added == 1
    item = everything(library)["https://example.com/a"]
    assert (item.title, list(item.metadata.tags)) == ("Über Ebbe", ["a", "b"])


def test_what_no_format_fits_is_refused() -> None:
    with pytest.raises(UnsupportedContent, match="not known"):
        detect_format(source("Dear diary, today it rained."))


def test_a_format_that_is_named_is_taken_even_where_it_is_not_seen() -> None:
    assert detect_format(source("nothing yet\nhttps://example.com"), "list").name == "list"


def test_the_command_offers_every_format() -> None:
    assert set(OFFERED) == {"auto", *FORMAT_NAMES}
