"""Filters as conditions in SQL that works on both engines."""

from __future__ import annotations

from typing import Any, Final

from pagekeep import clock
from pagekeep.errors import InvalidQuery
from pagekeep.model import Filter
from pagekeep.model.tags import tag_key
from pagekeep.store.storable import clean_id, clean_text, domain_key

_FIRST_TIME: Final = "0001-01-01T00:00:00.000000Z"
_LAST_TIME: Final = "9999-12-31T23:59:59.999999Z"
NAME_END: Final = "\x1f"
"""Follows each of the authors that a filter means."""
_IN_STATE: Final = "EXISTS (SELECT 1 FROM reading_states r WHERE r.user_id = i.user_id AND r.item_id = i.id AND {})"

_NEGATED: Final = {"deleted": "i.deleted_at IS NULL", "archived": "i.archived = FALSE", "failed": "NOT i.failed"}
"""Conditions in the words of the indexes for lists."""
_FIND_FAILED: Final = frozenset({Filter("is", "failed"), Filter("is", "fetch-again"), Filter("is", "deleted")})
"""Filters that find failed saves too: these are in one list, and in the trash."""


class Where:
    """A growing condition on items, with the values of its parameters."""

    def __init__(self) -> None:
        self.parts = ["i.user_id = :user"]
        self.values: dict[str, Any] = {}
        self.few = False
        """Whether the condition itself names a few items, so that their texts can be read instead of an index."""

    def add(self, sql: str, *values: Any) -> None:
        """Add a condition; `{0}`, `{1}`... in the SQL are replaced by the values."""
        names = [f"v{len(self.values) + number}" for number in range(len(values))]
        self.parts.append(sql.format(*(f":{name}" for name in names)))
        self.values.update(zip(names, values, strict=True))

    def add_filter(self, filter: Filter) -> None:
        """Add the condition that a filter means."""
        if filter.name == "is" and filter.negated and filter.value in _NEGATED:
            self.parts.append(_NEGATED[filter.value])
            return
        sql, *values = _condition(filter)
        self.add(f"NOT COALESCE({sql}, FALSE)" if filter.negated else sql, *values)

    def __str__(self) -> str:
        return " AND ".join(self.parts)


def where_of(filters: tuple[Filter, ...]) -> Where:
    """Return the condition that all filters hold, without deleted items and failed saves unless they are asked for."""
    where = Where()
    if Filter("is", "deleted") not in filters:
        where.add_filter(Filter("is", "deleted", negated=True))
    if _FIND_FAILED.isdisjoint(filters):
        where.add_filter(Filter("is", "failed", negated=True))
    for filter in filters:
        where.add_filter(filter)
    return where


def published_range(filter: Filter) -> tuple[str, str] | None:
    """Return from when and until before when a page was published; `None` for filters of other things."""
    match filter.name:
        case "published":
            return _begin_of(filter.value), clock.end_of(filter.value) or _LAST_TIME
        case "published-after":
            return _begin_of(filter.value), _LAST_TIME
        case "published-before":  # what has no date is before all times
            return _FIRST_TIME, _begin_of(filter.value)
    return None


def _begin_of(date: str) -> str:
    """Return the time at which a year, month, day or time begins; `InvalidQuery` when there is no such date."""
    begin = clock.begin_of(date)
    if begin is None:
        raise InvalidQuery(f"There is no date {date:.40}.", suggestions=("Write it as 2025-03-19.",))
    return begin


def _condition(filter: Filter) -> tuple[str, *tuple[Any, ...]]:
    value = clean_text(filter.value)
    if (published := published_range(filter)) is not None:
        # A page that names only a year does not say in which month.
        precise = f" AND LENGTH(i.published_at) >= {len(value)}" if filter.name == "published" else ""
        return (f"(i.published_sort >= {{0}} AND i.published_sort < {{1}}{precise})", *published)
    match filter.name:
        case "domain":
            key = domain_key(value)
            # "/" follows ".": all keys that begin with this one are in between.
            return "(i.domain_key >= {0} AND i.domain_key < {1})", key, key[:-1] + "/"
        case "tag":
            return (
                "EXISTS (SELECT 1 FROM item_tags t WHERE t.user_id = i.user_id AND t.item_id = i.id AND t.tag = {0})",
                tag_key(value),
            )
        case "author":  # the names, which `expand_names` has looked up
            names = [name for name in value.split(NAME_END) if name]
            marks = ", ".join(f"{{{number}}}" for number in range(len(names)))
            return (f"(i.author_key IN ({marks}))", *names) if names else ("(1 = 0)",)
        case "lang":
            return "(i.language = {0})", value
        case "list":  # the id of a manual list: `expand_lists` has looked it up
            return (
                "(i.id IN (SELECT l.item_id FROM list_items l WHERE l.user_id = :user AND l.list_id = {0}))",
                clean_id(value),
            )
        case "before":
            return "(i.saved_at < {0})", _begin_of(value)
        case "after":
            return "(i.saved_at >= {0})", _begin_of(value)
        case "changed":
            return "(i.updated_at >= {0})", _begin_of(value)
        case "quality":
            return "(i.quality = {0})", value
        case "feed":  # items that were kept from a feed; searches with `feed:` cover the feed inbox instead
            return (
                "EXISTS (SELECT 1 FROM feed_entries e JOIN feeds f ON f.user_id = e.user_id AND f.id = e.feed_id WHERE "
                "e.user_id = i.user_id AND e.item_id = i.id AND ({0} IN ('*', 'all') OR LOWER(f.title) LIKE {1} "
                "OR LOWER(f.folder) = {0} OR f.address = {0} OR CAST(f.id AS TEXT) = {0}))",
                value,
                f"%{value}%",
            )
        case _:
            return (
                {
                    "pinned": "i.pinned",
                    "archived": "i.archived = TRUE",
                    "deleted": "(i.deleted_at IS NOT NULL)",
                    "fetch-again": "i.fetch_again",
                    "failed": "i.failed",
                    "gone": "i.gone",
                    "reading": _IN_STATE.format("r.state = 'reading'"),
                    "read": _IN_STATE.format("r.state = 'read'"),
                    "unread": "NOT " + _IN_STATE.format("r.state IN ('reading', 'read')"),
                }[value],
            )


SQLITE_MATCHES: Final = (
    "SELECT i.seq FROM item_search s CROSS JOIN items i ON i.seq = s.rowid WHERE item_search MATCH '\"' || :word || '\"' "
    "AND i.user_id = :user AND i.deleted_at IS NULL ORDER BY s.rowid DESC LIMIT :limit"
)
POSTGRES_MATCHES: Final = (
    "SELECT f.seq FROM matches(CAST('''' || REPLACE(CAST(:word AS TEXT), ' ', ''' & ''') || '''' AS tsquery), "
    "9223372036854775807, 0) AS f (seq) WHERE CAST(:user AS TEXT) IS NOT NULL ORDER BY f.seq DESC LIMIT :limit"
)
"""Of several words all must occur, in any order: the caller compares the texts. Search words contain only letters and digits:
none can end the quotation. `matches` returns the user's own items."""
