"""Publication dates: shown as the page wrote them, sorted and filtered by the instant that they mean."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pagekeep import clock
from pagekeep.errors import InvalidQuery
from pagekeep.model import Filter, Item, ItemQuery, NewItem, item_filters
from pagekeep.store import Store, narrow, parse_query
from tests.store.making import NOW, make_item

IN_ORDER = (
    None,
    "2024",
    "2024-02",
    "2025-03-18T23:30:00-05:00",  # 04:30 on the 19th in UTC
    "2025-03-19T05:00:00Z",
    "2025-03-19T14:00:00+09:00",  # the same instant
    "2025-03-19T02:00:00-04:00",
    "2025-03-19T07:00:00",
    "2025-03-19T08:00:00.250+00:00",
    "2025-04",
    "2025-04-02",
)
"""Dates of pages from the earliest to the latest; as texts, they sort otherwise."""
SAME = frozenset({"2025-03-19T05:00:00Z", "2025-03-19T14:00:00+09:00"})


def fill(library: Store, *dates: str | None) -> list[Item]:
    for old in library.search.find(ItemQuery(limit=1_000)).items:  # of the example before
        library.items.delete(old.id, NOW)
    library.items.purge()
    items = [make_item(n, user_id=library.user_id, published_at=date, title=str(date)) for n, date in enumerate(dates)]
    return [item for item, _ in library.items.save_many([NewItem(item) for item in items], lambda _old, new: new)]


def walk(library: Store, query: ItemQuery, limit: int = 2) -> list[Item]:
    """All items of a query, in pages."""
    found: list[Item] = []
    after = None
    while True:
        page = library.search.find(
            ItemQuery(filters=query.filters, order=query.order, descending=query.descending, limit=limit, after=after)
        )
        found += page.items
        if page.next is None:
            return found
        after = page.next


def dates(library: Store, text: str) -> list[str | None]:
    """The dates of what a search finds."""
    return sorted(str(hit.item.published_at) for hit in library.search.find(parse_query(text, limit=100)).hits)


def test_pages_sort_by_the_instant_of_their_date(library: Store) -> None:
    fill(library, *reversed(IN_ORDER))
    for descending in (False, True):
        found = walk(library, ItemQuery(order="published", descending=descending))
        expected = [date for date in (IN_ORDER[::-1] if descending else IN_ORDER) if date not in SAME]
        assert [item.published_at for item in found if item.published_at not in SAME] == expected
        assert len(found) == len(IN_ORDER)
        places = [place for place, item in enumerate(found) if item.published_at in SAME]
        assert places[1] - places[0] == 1


def test_an_edited_date_sorts_by_what_it_is_now(library: Store) -> None:
    first, *_ = fill(library, "2020", "2021", "2022")
    about = first.metadata
    library.items.replace_content(
        first.id, content="x", title="x", author=None, published_at="2023-01-01T00:00:00+05:00", metadata=about, now=NOW
    )
    found = walk(library, ItemQuery(order="published"))
    assert [item.published_at for item in found] == ["2023-01-01T00:00:00+05:00", "2022", "2021"]


QUERIES: dict[str, list[str]] = {
    "published:2024": ["2024", "2024-02"],
    "published:2024-02": ["2024-02"],
    "published:2024-01": [],  # a page that says "2024" does not say January
    "published:2025-03": [date for date in IN_ORDER if date and date.startswith("2025-03")],
    "published:2025-03-18": [],  # in UTC it was the 19th everywhere
    "published:2025-03-19": [date for date in IN_ORDER if date and date.startswith("2025-03")],
    "published:2025-04-01": [],
    "published:2023": [],
    "published-after:2025-04": ["2025-04", "2025-04-02"],
    "published-after:2025-04-02": ["2025-04-02"],
    "published-before:2025": ["2024", "2024-02"],
    "published-before:2025-03-19T05:00:00": ["2024", "2024-02", "2025-03-18T23:30:00-05:00"],
    "published-after:2025-03-19T05:00:00 published-before:2025-03-19T06:00:00": sorted(SAME),
    "-published:2025": ["2024", "2024-02", "None"],
    "-published-before:2026": ["None"],
}


@pytest.mark.parametrize("few", [0, 2_000])
def test_filters_ask_for_publication_dates(library: Store, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrow, "FEW", few)
    fill(library, *IN_ORDER)
    assert {text: dates(library, text) for text in QUERIES} == {text: sorted(QUERIES[text]) for text in QUERIES}
    for order in ("saved", "published", "title"):
        found = walk(library, ItemQuery(filters=(Filter("published", "2025"),), order=order))
        assert len(found) == 8, order


def test_lists_have_the_same_filters(library: Store) -> None:
    fill(library, *IN_ORDER)
    filters = item_filters(published_after="2024-02", published_before="2025-03-19T05:00:00Z")
    found = walk(library, ItemQuery(filters=filters, order="published", descending=False))
    assert [item.published_at for item in found] == ["2024-02", "2025-03-18T23:30:00-05:00"]
    assert library.search.count(filters) == 2
    assert library.search.matches(found[0].id, ItemQuery(filters=filters))


@pytest.mark.parametrize(
    "text",
    ["published:soon", "published:2025-3", "published-after:x", "published-before:19.03.2025", "published-by:ada"],
)
def test_what_is_not_a_date_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuery):
        parse_query(text)


@pytest.mark.parametrize("date", ["2025-13", "2025-02-30", "0000", "2025-03-19T25:00"])
def test_a_date_that_does_not_exist_is_refused(library: Store, date: str) -> None:
    for name in ("published-after", "published-before", "after", "before"):
        with pytest.raises(InvalidQuery):
            library.search.find(ItemQuery(filters=(Filter(name, date),)))  # type: ignore[arg-type]


ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TIMES = st.datetimes(datetime(1001, 1, 1), datetime(9998, 1, 1), timezones=ZONES).map(
    lambda time: time.replace(microsecond=time.microsecond // 1_000 * 1_000)
)


def write(time: datetime, form: int) -> tuple[str, datetime]:
    """A date in one of the forms of pages, and the instant that it means."""
    if form == 0:
        return f"{time.year:04}", datetime(time.year, 1, 1, tzinfo=UTC)
    if form == 1:
        return f"{time.year:04}-{time.month:02}", datetime(time.year, time.month, 1, tzinfo=UTC)
    if form == 2:
        return time.date().isoformat(), datetime(time.year, time.month, time.day, tzinfo=UTC)
    if form == 3:
        return time.replace(tzinfo=None).isoformat(timespec="seconds"), time.replace(tzinfo=UTC, microsecond=0)
    if form == 4:
        return f"{time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z", time
    return time.isoformat(timespec="milliseconds"), time


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None, max_examples=8
)
@given(st.lists(st.tuples(TIMES, st.integers(0, 5)), min_size=2, max_size=30))
def test_the_order_of_dates_is_the_order_of_instants(library: Store, made: list[tuple[datetime, int]]) -> None:
    written = dict(write(*one) for one in made)
    fill(library, *written)
    found = walk(library, ItemQuery(order="published", descending=False), limit=7)
    instants = [written[str(item.published_at)] for item in found]
    assert instants == sorted(instants)
    for date, instant in written.items():
        assert clock.begin_of(date) == clock.format_time(instant)


ODD = st.one_of(
    st.text(max_size=40),
    st.text("0123456789-:TZ+ .", max_size=40),
    st.from_regex(
        r"[0-9]{4}(-[0-9]{2}(-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9:]{0,6})?)?)?)?", fullmatch=True
    ),
    st.sampled_from(
        ["now", "2025-03-19T10:00 EST", "24:00", "2025-03-19T24:00", "9999-12-31T23:59:59-14:00", "0001-01-01"]
    ),
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None, max_examples=15
)
@given(st.lists(ODD, min_size=1, max_size=20, unique=True))
def test_any_text_can_be_a_date(library: Store, texts: list[str]) -> None:
    """It never fails; what can be read is at its place, and the rest with the pages without a date."""
    items = fill(library, *texts)
    found = walk(library, ItemQuery(order="published", descending=False), limit=7)
    assert {item.id for item in found} == {item.id for item in items}
    read = [begin for item in found if (begin := clock.begin_of(item.published_at or "")) and "1000" <= begin < "9999"]
    assert read == sorted(read)
    dated = {hit.item.id for hit in library.search.find(parse_query("published-after:1000", limit=100)).hits}
    assert dated >= {item.id for item in items if _in_range(item.published_at or "")}
    assert not dated & {item.id for item in items if not str(item.published_at)[:4].isascii()}


def _in_range(date: str) -> bool:
    begin: Any = clock.begin_of(date)
    return begin is not None and "1001" <= date < "9999"
