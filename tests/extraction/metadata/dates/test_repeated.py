from __future__ import annotations

from pagekeep import dom
from pagekeep.extraction.metadata.dates.anywhere import find_unrepeated


def find(html: str) -> str | None:
    elements = dom.select(dom.parse(html), "i")
    single = find_unrepeated(elements, element=lambda element: element, day=dom.text_of)
    return dom.text_of(single) if single is not None else None


LIST = "<ul><li><i>2</i></li><li><i>3</i></li><li><i>4</i></li></ul>"


def test_date_with_markup_like_no_other_is_found() -> None:
    assert find(f"<p><i>1</i></p>{LIST}") == "1"
    assert find(f"{LIST}<div class=top><i>1</i></div>") == "1"


def test_dates_of_a_list_are_alike() -> None:
    assert find(LIST) is None


def test_several_days_with_their_own_markup_decide_nothing() -> None:
    assert find(f"<p><i>1</i></p><h2><i>5</i></h2>{LIST}") is None
    assert find(f"<p><i>1</i></p><h2><i>1</i></h2>{LIST}") == "1"


def test_no_dates_give_none() -> None:
    assert find("<p>x") is None
