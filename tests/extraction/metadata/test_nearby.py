from __future__ import annotations

from pagekeep import dom
from pagekeep.extraction.metadata import nearby


def lines(html: str) -> list[str]:
    return [text for text, _ in nearby.find_lines(dom.first(dom.parse(html), "h1"))]


def test_lines_behind_the_heading_come_before_those_ahead_of_it() -> None:
    html = "<div><i>Kitchen</i><h1>Rye</h1><p>Ann <b>Lee</b></p></div><p>March 5</p>"
    assert lines(html) == ["Ann", "Lee", "March 5", "Kitchen"]


def test_lines_end_where_the_text_begins() -> None:
    long = "<p>" + "The dough rests for a night in a cool place and grows. " * 4 + "</p>"
    assert lines(f"<h1>Rye</h1><p>one</p>{long}<p>two</p>{long}<p>three</p>") == ["one", "two"]


def test_scripts_and_styles_are_no_lines() -> None:
    assert lines("<h1>Rye</h1><script>var a</script><style>p{}</style><p>x</p>") == ["x"]


def test_page_without_heading_has_no_lines() -> None:
    assert lines("<p>x") == []


def test_number_of_lines_is_bounded() -> None:
    assert len(lines("<h1>Rye</h1>" + "<p>x</p>" * 100_000)) <= 46
