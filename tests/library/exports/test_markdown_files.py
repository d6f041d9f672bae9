"""Items as Markdown files by either profile."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import yaml
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.library.exports import markdown_files
from pagekeep.model import ItemMetadata
from tests.library.exports.making import make_item

ITEM = make_item(5, "keeper", title='He said: "ships"', tags=["sea", "solar panels", "2024", "C#"])


def block(text: str) -> str:
    return text.split("---\n")[1]


def test_obsidian_gets_its_own_properties_first_in_its_order() -> None:
    lines = block(markdown_files.write(ITEM, profile="obsidian")).split("\n")
    assert [line.split(":")[0] for line in lines if line and line[0] != " "] == [
        *("title", "source", "author", "published", "created", "description", "tags", "pinned", "id", "quality")
    ]
    assert lines[0] == 'title: "He said: \\"ships\\""'
    assert lines[2:5] == ["author:", '  - "Ann Lee"', '  - "Bo Ek"']
    assert lines[5:7] == ["published: 2024-12-24", "created: 2025-01-06"]


def test_obsidian_takes_the_values_as_they_are_meant() -> None:
    fields = yaml.safe_load(block(markdown_files.write(ITEM, profile="obsidian")))
    assert fields["title"] == 'He said: "ships"'
    assert fields["published"] == date(2024, 12, 24)
    assert fields["tags"] == ["sea", "solar-panels", "2024-", "C"]


def test_our_own_frontmatter_shows_the_tags_and_marks_of_today() -> None:
    fields = yaml.safe_load(block(markdown_files.write(ITEM)))
    assert fields["tags"] == ["sea", "solar panels", "2024", "C#"]
    assert (fields["pinned"], fields["id"], fields["quality"]) == (True, ITEM.id, "article")
    assert "archived" not in fields
    assert list(fields)[:4] == ["source", "title", "author", "published_date"]


def test_an_item_without_frontmatter_gets_some_and_keeps_its_text() -> None:
    bare = replace(ITEM, content="Just words.\n\n---\n\nMore.")
    found = markdown_files.read(markdown_files.write(bare))
    assert (found.fields["source"], found.body) == (ITEM.url, "Just words.\n\n---\n\nMore.\n")


def test_fields_of_the_users_own_stand_last() -> None:
    text = markdown_files.write(ITEM, extra={"aliases": ["x"], "cssclass": "wide"})
    assert block(text).endswith("aliases: [x]\ncssclass: wide\n")


def test_an_address_that_the_page_lacks_is_reported() -> None:
    moved = replace(ITEM, url="https://example.com/canonical")
    assert markdown_files.read(markdown_files.write(moved)).fields["url"] == "https://example.com/canonical"
    assert "url" not in markdown_files.read(markdown_files.write(ITEM)).fields


@given(st.text(max_size=80), st.lists(st.text(max_size=20), max_size=3))
def test_whatever_a_page_is_called_its_file_is_valid_yaml(title: str, tags: list[str]) -> None:
    item = replace(ITEM, title=title, content="x\n", author=title, metadata=ItemMetadata(tags=tuple(tags), notes=title))
    for profile in markdown_files.PROFILES:
        text = markdown_files.write(item, profile=profile).encode("utf-8", "replace").decode()
        found = markdown_files.read(text)
        assert found.id == ITEM.id
        assert isinstance(yaml.safe_load(block(text)), dict)


def test_tags_are_read_as_people_write_them() -> None:
    assert markdown_files.read('---\ntags: "a, #b ,a"\n---\n').tags == ("a", "b")
    assert markdown_files.read("---\ntags:\n- x\n- 12\n- null\n---\n").tags == ("x", "12")
    assert markdown_files.read("---\ntags: 7\n---\n").tags == ("7",)
    assert markdown_files.read("no frontmatter").tags == ()
