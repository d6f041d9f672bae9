from __future__ import annotations

import pytest

from pagekeep.extraction.metadata.dates import (
    date_in_path,
    parse_month,
    remove_date,
    split_at_date,
    to_iso,
    to_short_iso,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-05", "2024-03-05"),
        ("2024-03-05T10:30:00.123+02:00", "2024-03-05T10:30:00+02:00"),
        ("2024-03-05T10:30:00+0200", "2024-03-05T10:30:00+02:00"),
        ("2024-03-05T10:30Z", "2024-03-05T10:30:00Z"),
        ("2024-03-05T00:00:00", "2024-03-05"),
        ("2024-03-05 10:30", "2024-03-05T10:30:00"),
        ("Tue, 05 Mar 2024 10:00:00 GMT", "2024-03-05T10:00:00Z"),
        ("Tue Mar 05 10:20:30 UTC 2024", "2024-03-05T10:20:30Z"),
        ("March 5, 2024", "2024-03-05"),
        ("Published Mar. 5th, 2024 at 3:15 pm", "2024-03-05T15:15:00"),
        ("12:30 AM is no date but 5 March 2024 is", "2024-03-05"),
        ("5. März 2024", "2024-03-05"),
        ("1er février 2024", "2024-02-01"),
        ("5 de marzo de 2024", "2024-03-05"),
        ("5 de março de 2024", "2024-03-05"),
        ("5 marzo 2024", "2024-03-05"),
        ("5 maart 2024", "2024-03-05"),
        ("5 marca 2024", "2024-03-05"),
        ("5 марта 2024", "2024-03-05"),
        ("05.03.2024, 14:30 Uhr", "2024-03-05T14:30:00"),
        ("2024/03/05", "2024-03-05"),
        ("4. 2. 2022.", "2022-02-04"),
        ("26 | 01 | 2022", "2022-01-26"),
        ("2024. 3. 5.", "2024-03-05"),
        ("2024. március 5.", "2024-03-05"),
        ("2024 m. kovo 5 d.", "2024-03-05"),
        ("2024-Mar-05", "2024-03-05"),
        ("الثلاثاء، 05 مارس 2024 - 12:09", "2024-03-05T12:09:00"),
        ("5 نيسان / أبريل 2024", "2024-04-05"),
        ("5 במרץ 2024", "2024-03-05"),
        ("5 มีนาคม 2567", "2024-03-05"),
        ("5 मार्च 2024", "2024-03-05"),
        ("5 tháng 3, 2024", "2024-03-05"),
        ("5 września 2024", "2024-09-05"),
        ("5 ožujka 2024", "2024-03-05"),
        ("2024年3月5日", "2024-03-05"),
        ("2024年3月5号 10:20", "2024-03-05T10:20:00"),
        ("2024年3月5日(火) 10:20", "2024-03-05T10:20:00"),
        ("二〇二四年三月五日", "2024-03-05"),
        ("二○二四年十二月二十五日", "2024-12-25"),
        ("民國113年3月5日", "2024-03-05"),
        ("令和元年5月1日", "2019-05-01"),
        ("平成30年3月5日", "2018-03-05"),
        ("2024년 3월 5일", "2024-03-05"),
        ("05-Mar-2024", "2024-03-05"),
        ("20240305", "2024-03-05"),
        ("20240305T101500Z", "2024-03-05T10:15:00Z"),
        ("1709600000", "2024-03-05T00:53:20Z"),
        ("1709600000000", "2024-03-05T00:53:20Z"),
    ],
)
def test_dates_of_people_and_machines_become_iso(text: str, expected: str) -> None:
    assert to_iso(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "© 2024",
        "March 2024",
        "1970-01-01",
        "2999-01-01",
        "2024-13-40",
        "2024-02-30",
        "20 Minutes 2024",
        "iPhone 11 Pro 2019",
        "昭和63年3月5日",
        "2024 年度",
        "123456",
    ],
)
def test_what_is_not_a_whole_date_in_range_is_refused(text: str) -> None:
    assert to_iso(text) is None


def test_order_of_day_and_month_follows_the_page_unless_only_one_is_possible() -> None:
    assert to_iso("03/05/2024") == "2024-03-05"
    assert to_iso("03/05/2024", day_first=True) == "2024-05-03"
    assert to_iso("25/03/2024") == "2024-03-25"
    assert to_iso("03/25/2024", day_first=True) == "2024-03-25"


@pytest.mark.parametrize(
    "path",
    [
        "/2024/03/05/title",
        "/news/2024-03-05-title",
        "/x-20240305/",
        "/a/2024-03-05+title",
        "/n1/2024/0305/c100-1.html",
        "/2024-03/05/content_1.htm",
        "/2024/03-05/1.shtml",
        "/202403/t20240305_1.html",
        "/omn/20240305A0B1C2",
        "/20240305.html",
        "/2024_03_05/title",
        "/world/2024/mar/05/title",
        "/news/~05-03-2024-title",
        "/news/05-03-2024",
        "/web/20250101120000/http://example.com/2024/03/05/title",
    ],
)
def test_address_carries_a_date(path: str) -> None:
    assert date_in_path(path) == "2024-03-05"


def test_year_at_the_end_of_an_address_follows_the_pages_order() -> None:
    assert date_in_path("/news/03-05-2024", day_first=False) == "2024-03-05"
    assert date_in_path("/news/25-03-2024", day_first=False) == "2024-03-25"


@pytest.mark.parametrize(
    "path",
    [
        "/2024/03/title",
        "/item/20249999/",
        "/2024/13/45/x",
        "",
        "/2024/10/3-questions",
        "/web/20250101120000/http://a.b/c",
    ],
)
def test_numbers_in_an_address_are_not_always_a_date(path: str) -> None:
    assert date_in_path(path) is None


def test_long_text_is_not_searched_to_its_end() -> None:
    assert to_iso("1 " * 100_000 + "2024-03-05") is None


def test_dashes_put_the_day_first_as_dots_do() -> None:
    assert to_iso("02-12-2025") == "2025-12-02"
    assert to_iso("02/12/2025") == "2025-02-12"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("November 2015", "2015-11"), ("mars 2021", "2021-03"), ("Nov. 2015", "2015-11"), ("November 5 2015", None),
     ("Closed November 2015", None), ("Lorem 2015", None), ("November 1815", None)],
)  # fmt: skip
def test_month_alone_is_a_whole_text(text: str, expected: str | None) -> None:
    assert parse_month(text) == expected


def test_text_without_its_date() -> None:
    assert remove_date("Posted March 5, 2024 by Ann") == "Posted  by Ann"
    assert remove_date("no date") == "no date"


def test_year_of_two_digits_is_read_where_it_is_expected() -> None:
    assert to_short_iso("News, 30.10.23") == "2023-10-30"
    assert to_short_iso("12/24/19") == "2019-12-24"
    assert to_short_iso("05/03/99", day_first=True) == "1999-03-05"
    assert to_short_iso("24-03-05 10:20", year_first=True) == "2024-03-05"
    assert to_short_iso("10:20:30") is None
    assert to_short_iso("1.2.3") is None
    assert to_short_iso("192.168.10.20") is None


def test_text_is_split_at_its_date() -> None:
    assert split_at_date("Bern, 05.03.2024. Rye") == ("2024-03-05", "Bern, ", ". Rye")
    assert split_at_date("no date") is None
