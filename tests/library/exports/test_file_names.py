"""Names that every file system and Obsidian take, the same for the same item."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.library.exports.markdown_files import file_name

ID = "3f2a9b1c-0000-4000-8000-000000000000"


@given(st.text(max_size=400))
def test_no_title_makes_a_name_that_is_refused(title: str) -> None:
    name = file_name(title, ID)
    assert len(name.encode()) <= 200
    assert name.endswith(" 3f2a9b1c.md")
    assert not set(name) & set('*"\\/<>:|?#^[]')
    assert name[0] not in ". "
    assert name.isprintable()
    assert file_name(title, ID) == name


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("The keeper's log", "The keeper's log 3f2a9b1c.md"),
        ("a/b: c?", "a b c 3f2a9b1c.md"),
        ("...", "Untitled 3f2a9b1c.md"),
        ("../../etc/passwd", "etc passwd 3f2a9b1c.md"),
        ("灯台", "灯台 3f2a9b1c.md"),
        ("\u202egnp.exe\n\tx", "gnp.exe x 3f2a9b1c.md"),
        ("e\u0301", "é 3f2a9b1c.md"),
    ],
)
def test_a_title_stays_as_far_as_it_can(title: str, name: str) -> None:
    assert file_name(title, ID) == name


def test_a_long_title_is_cut_between_letters() -> None:
    assert file_name("灯" * 200, ID) == "灯" * 62 + " 3f2a9b1c.md"
