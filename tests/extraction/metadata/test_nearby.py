from __future__ import annotations

from pagekeep import dom
from pagekeep.extraction.metadata import clues


def lines(html: str) -> list[str]:
    return [text for text, _ in clues.find_nearby_lines(dom.first(dom.parse(html), "h1"))]


def test_lines_behind_the_heading_come_before_those_ahead_of_it() -> None:
    html = "<div><i>Kitchen</i><h1>Rye</h1><p>Ann <b>Lee</b></p></div><p>March 5</p>"
    assert lines(html) == ["Ann", "Lee", "March 5", "Kitchen"]


def test_lines_end_where_the_text_begins() -> None:
    long = "<p>" + "The dough rests for a night in a cool place and grows. " * 4 + "</p>"
    assert lines(f"<h1>Rye</h1><p>one</p>{long}<p>two</p>{long}<p>three</p>") == ["one", "two"]


def test_scripts_and_styles_are_not_lines() -> None:
    assert lines("<h1>Rye</h1><script>var a</script><style>p{}</style><p>x</p>") == ["x"]


def test_page_without_heading_has_no_lines() -> None:
    assert lines("<p>x") == []


def test_number_of_lines_is_bounded() -> None:
    assert len(lines("<h1>Rye</h1>" + "<p>x</p>" * 100_000)) <= 46


def show(html: str, title: str) -> str | None:
    found = clues.find_nearby_text(dom.parse(html), title)
    return found.attr("class") if found is not None else None


def test_title_is_found_outside_of_headings_and_before_links() -> None:
    page = "<title>Rye in the valley</title><a class=1>Rye in the valley</a><div class=2>Rye in the valley</div>"
    assert show(page, "ryeinthevalleythemill") == "2"
    assert show(page, "themillryeinthevalley") == "2"
    assert show("<a class=1>Rye in the valley</a>", "ryeinthevalley") == "1"
    assert show("<p class=1>山谷里的黑麦</p>", "山谷里的黑麦山村报") == "1"


def test_short_or_other_texts_do_not_show_the_title() -> None:
    assert show("<p class=1>Rye</p><p class=2>Rye in the hills</p><p></p>", "ryeinthevalley") is None
    assert show("<p class=1>Rye</p>", "rye") is None
    assert show("<script class=1>Rye in the valley</script>", "ryeinthevalley") is None


def test_search_for_the_title_is_bounded() -> None:
    assert show("<i></i>" * 100_000 + "<p class=1>Rye in the valley</p>", "ryeinthevalley") is None
