"""Frontmatter is valid YAML that reads back to the values it was made from."""

from __future__ import annotations

import contextlib

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.errors import ParseError
from pagekeep.markdown import page_fields, write_frontmatter
from pagekeep.markdown.frontmatter import _dump, _plain, read_block, split_block, stamp
from pagekeep.model import Metadata, Quality

TRICKY = [
    "yes", "no", "null", "~", "true", "1e3", "0x1f", "012", "1_000", ".inf", "2025-03-19", "2025-03-19T10:00:00Z", "12:30",
    "a: b", "a #b", "#a", "- a", "? a", "| a", "> a", "@a", "`a", "%a", "&a", "*a", "!a", "[a", "{a", "a, b", "'a'", '"a"',
    " a", "a ", "a\nb", "a\n", "\ta", "---", "...", "😀 a", "\u2028", "\x85", "\ufeffa", "\x07", "=", "<<", "é", "\\n",
]  # fmt: skip
text = st.one_of(st.sampled_from(TRICKY), st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
names = st.from_regex(r"[a-z][a-z_]{0,12}", fullmatch=True)


def read_back(block: str) -> object:
    assert block.startswith("---\n")
    assert block.endswith("\n---\n")
    return yaml.safe_load(block[4:-4])


@given(st.dictionaries(names, st.one_of(text, st.lists(text, min_size=1), st.integers(), st.booleans()), min_size=1))
def test_values_read_back_the_same_and_in_order(fields: dict[str, object]) -> None:
    back = read_back(write_frontmatter(fields))
    assert back == fields
    assert isinstance(back, dict)
    assert list(back) == list(fields)


@pytest.mark.parametrize("value", TRICKY)
def test_tricky_text_reads_back_as_text(value: str) -> None:
    assert read_back(write_frontmatter({"title": value, "tags": [value, "b"]})) == {
        "title": value,
        "tags": [value, "b"],
    }


def test_long_text_stays_on_one_line_and_lists_are_short() -> None:
    block = write_frontmatter({"title": "word: " * 100 + "end", "tags": ["a", "b c"]})
    assert block.count("\n") == 4
    assert "tags: [a, b c]\n" in block


def test_absent_values_are_left_out() -> None:
    assert write_frontmatter({"a": None, "b": "", "c": [], "d": 0, "e": False}) == "---\nd: 0\ne: false\n---\n"
    assert write_frontmatter({"a": None}) == ""


def test_half_a_surrogate_pair_is_replaced() -> None:
    assert read_back(write_frontmatter({"title": "a\ud800"})) == {"title": "a\ufffd"}


GOOD = Quality(score=90, level="article", colour="green", message="")


def test_fields_are_in_the_order_of_the_specification() -> None:
    metadata = Metadata(
        title="T", author="A", published="2025-03-19T00:00:00Z", description="D", site_name="S", language="en",
        hero_image="https://x.y/i.png", suggested_tags=("a", "b"),
    )  # fmt: skip
    fields = page_fields(metadata, GOOD, url="https://www.X.y:80/p", word_count=1543, saved_at="2025-03-20T10:30:00Z")
    assert fields == {
        "source": "https://www.X.y:80/p", "title": "T", "author": "A", "published_date": "2025-03-19", "domain": "x.y",
        "site_name": "S", "language": "en", "word_count": 1543, "reading_time": "8 min",
        "hero_image": "https://x.y/i.png", "description": "D", "suggested_tags": ["a", "b"], "quality": "article",
        "saved_at": "2025-03-20T10:30:00Z",
    }  # fmt: skip
    assert (
        list(fields)
        == (
            "source title author published_date domain site_name language word_count reading_time hero_image description "
            "suggested_tags quality saved_at"
        ).split()
    )


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        ("2025-03-19", "2025-03-19"),
        ("2025-03-19T10:30:00Z", "2025-03-19"),
        ("2025-02-31", "2025-02-31"),
        (None, None),
    ],
)
def test_the_published_date_is_a_day(published: str | None, expected: str | None) -> None:
    fields = page_fields(Metadata(published=published), GOOD, url=None, word_count=0)
    assert fields["published_date"] == expected


def test_days_and_moments_are_written_as_yaml_writes_them() -> None:
    fields = page_fields(
        Metadata(published="2025-03-19"), GOOD, url=None, word_count=0, saved_at="2025-03-20T10:00:00Z"
    )
    written = write_frontmatter(fields)
    assert "published_date: 2025-03-19\n" in written
    assert "saved_at: 2025-03-20T10:00:00Z\n" in written


def test_a_day_that_does_not_exist_is_written_as_text() -> None:
    written = write_frontmatter(page_fields(Metadata(published="2025-02-31"), GOOD, url=None, word_count=0))
    assert yaml.safe_load(written.strip("-\n"))["published_date"] == "2025-02-31"


def test_a_bookmark_says_why_extraction_failed() -> None:
    failed = Quality(score=0, level="bookmark", colour="orange", message="", reason="login wall")
    fields = page_fields(Metadata(), failed, url="http://[bad", word_count=0)
    assert list(fields.items())[-2:] == [("extraction_failed", True), ("reason", "login wall")]
    assert fields["domain"] is None


def test_a_discarded_page_names_the_rule() -> None:
    gone = Quality(score=0, level="discarded", colour="grey", message="", reason="by rule")
    fields = page_fields(Metadata(), gone, url=None, word_count=0, rule_id="spam")
    assert list(fields.items())[-3:] == [("discarded", True), ("reason", "by rule"), ("rule_id", "spam")]


SIMPLE = st.from_regex(
    r"[!-~\u00a0-\u024f\u0400-\u04ff\u05d0-\u05ea\u0600-\u06ff\u2010-\u2030\u4e00-\u9fff\uac00-\uac20\ufe00-\uffff]"
    r"[ -~\u00a0-\u0250\u2010-\u2030\u4e00-\u4e20]{0,12}",
    fullmatch=True,
)


@given(
    st.dictionaries(
        names, st.one_of(SIMPLE, text, st.lists(st.one_of(SIMPLE, text), min_size=1)), min_size=1, max_size=2
    )
)
def test_what_is_written_without_the_yaml_library_is_what_it_would_write(fields: dict[str, object]) -> None:
    fields = {name: value for name, value in fields.items() if value}
    assert write_frontmatter(fields) == f"---\n{_dump({name: _plain(value) for name, value in fields.items()})}---\n"


def test_a_block_is_parted_from_its_text() -> None:
    assert split_block("---\na: 1\n---\n\n# Title\n") == ("a: 1\n", "# Title\n")
    assert split_block("---\na: 1\n---") == ("a: 1\n", "")
    for text in ("no block", "---\nnever closed", "----\na: 1\n---\n", "---\n---\nx"):
        assert split_block(text) == ("", text)


def test_what_is_written_is_read_and_written_the_same() -> None:
    block = write_frontmatter(
        {
            "title": "A: b",
            "day": stamp("2025-03-19"),
            "moment": stamp("2025-03-19T10:30:00Z"),
            "tags": ["a", "1"],
            "count": 3,
        }
    )
    fields = read_block(split_block(block)[0])
    assert fields["day"] == "2025-03-19"
    assert write_frontmatter(fields) == block


@pytest.mark.parametrize(
    "block",
    [
        "a: [",
        "- a\n- b\n",
        "a: &x [1]\nb: *x\n",
        "a: " + "[" * 60_000,
        "- " * 50_000,
        "? " * 50_000,
        "a: !!python/none x",
        "!!float",  # PyYAML raises errors of any type for values that do not fit their tag
        "a: !!bool x",
        "a: !!int ''",
        "a: !!set [x]",
        "x" * 200_000,
    ],
    ids=lambda block: block[:12],
)
def test_a_block_that_is_none_or_a_trap_is_refused(block: str) -> None:
    with pytest.raises(ParseError):
        read_block(block)


@pytest.mark.parametrize(
    "number", ["0x" + "f" * 5_000, "1" + ":59" * 3_000, str(1 << 70)], ids=lambda number: number[:6]
)
def test_a_number_that_is_too_large_to_store_stays_text(number: str) -> None:
    assert read_block(f"a: {number}\nb: {(1 << 63) - 1}\n") == {"a": number, "b": (1 << 63) - 1}


@given(st.text(max_size=200))
def test_no_text_makes_reading_a_block_fail_otherwise(text: str) -> None:
    with contextlib.suppress(ParseError):
        assert isinstance(read_block(text), dict)
