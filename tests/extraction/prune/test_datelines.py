"""Lines above the first paragraph that are only a date or a reading time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pagekeep import dom, extract
from pagekeep.extraction.locate import survey as prose
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.prune import edges
from pagekeep.extraction.prune.edges import is_dateline

Surveyed = Callable[[str], Survey]

PROSE = "<p>The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still.</p>"


def found(survey: Survey, author: str | None = None) -> list[str]:
    cut = edges.find_datelines(survey, 0, {}, prose.measure_own_text(survey), author)
    assert set(cut.values()) <= {"date line"}
    return [" ".join(dom.text_of(survey.nodes[index]).split()) for index in cut]


@pytest.mark.parametrize(
    "line",
    [
        "March 5, 2024",
        "Wednesday, 26 February 2025",
        "Last updated: April 21, 2025",
        "Published on 03/12/2025 at 10:30 AM EST | 4 min read",
        "Published May 3, 2024 · Updated May 9, 2024",
        "5 minute read",
        "Veröffentlicht am 5. März 2024 um 10:30 Uhr",
    ],
)
def test_dates_and_reading_times_are_datelines(line: str) -> None:
    assert is_dateline(line)


@pytest.mark.parametrize(
    "line",
    [
        "November 2015",
        "Posted by Ada Grey",
        "The mill burnt down on March 5, 2024",
        "Bake for 5 minutes",
        "5 mins",
        "Updated",
        "",
    ],
)
def test_other_lines_are_not_datelines(line: str) -> None:
    assert not is_dateline(line)


def test_authors_may_be_in_the_line(surveyed: Surveyed) -> None:
    html = f"<h1>Mills</h1><p>By <a href=/ada>Ada Grey</a> | March 5, 2024</p>{PROSE}"
    assert found(surveyed(html), "Ada Grey") == ["By Ada Grey | March 5, 2024"]
    assert found(surveyed(html), "Bo Lind") == []


def test_links_to_the_subject_may_be_in_the_line(surveyed: Surveyed) -> None:
    html = f"<h1>Mills</h1><p>By Ada Grey | March 5, 2024 | <a href=/t>Wind and water</a></p>{PROSE}"
    assert found(surveyed(html), "Ada Grey") == ["By Ada Grey | March 5, 2024 | Wind and water"]
    assert found(surveyed(html), None) == []


def test_lines_are_found_in_boxes_and_headings(surveyed: Surveyed) -> None:
    html = "<div><h1>Mills</h1><div><span>March 5, 2024</span> <span>5 min read</span></div></div>"
    assert found(surveyed(html + PROSE)) == ["March 5, 2024 5 min read"]
    assert found(surveyed(f"<h1>Mills</h1><h6>March 5, 2024</h6>{PROSE}")) == ["March 5, 2024"]
    assert found(surveyed(f"<h1>Mills</h1><time>March 5, 2024</time>{PROSE}")) == ["March 5, 2024"]


def test_a_part_of_a_line_is_not_cut_out_of_it(surveyed: Surveyed) -> None:
    assert found(surveyed(f"<h1>Mills</h1>Burnt on <b>March 5, 2024</b>{PROSE}")) == []


def test_after_the_first_paragraph_every_date_is_text(surveyed: Surveyed) -> None:
    assert found(surveyed(f"<h1>Mills</h1>{PROSE}<p>March 5, 2024</p>{PROSE}")) == []


@pytest.mark.parametrize("tag", ["h2", "p"])
def test_dates_above_every_part_of_a_diary_stay(tag):
    said = "<p>" + "The ferry was late again, and nobody on the quay minded it much. " * 4 + "</p>"
    days = [f"<{tag}>{day} March 2024</{tag}>{said}" for day in (5, 6, 7)]
    page = extract(f"<article><h1>Diary</h1>{''.join(days)}</article>", "https://example.com/diary")
    assert all(f"{day} March 2024" in page.markdown for day in (5, 6, 7))


@pytest.mark.parametrize(
    ("line", "is_left_out"),
    [
        ("Jane Smith, Research Scientist, and John Doe, Senior Fellow", True),
        ("By Ada Marsh", True),
        ("The mill, and why it stopped", False),
        ("Water ran low in May, said the miller", False),
    ],
)
def test_names_and_roles_alone_with_a_date_are_left_out(surveyed: Surveyed, line: str, is_left_out: bool) -> None:
    page = surveyed(f"<h1>The mill</h1><div><p>March 5, 2024</p><p>{line}</p></div>{PROSE}")
    assert (line in found(page)) == is_left_out


@pytest.mark.parametrize(
    ("line", "is_left_out"),
    [
        ('<a href="/ada">Ada Marsh</a> <a href="/p">Mar 3, 2025</a> · 4 min read', True),
        ('<a href="/hastings">Battle Abbey</a> 14 October 2021', False),
        ('<a href="/x">How we made it in</a> 4 min read, March 3, 2025', False),
    ],
)
def test_a_linked_name_beside_a_date_and_a_reading_time_is_left_out(
    surveyed: Surveyed, line: str, is_left_out: bool
) -> None:
    assert bool(found(surveyed(f"<h1>The mill</h1><div>{line}</div>{PROSE}"))) == is_left_out
