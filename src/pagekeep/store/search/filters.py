"""Filters as a condition in SQL that both engines read alike."""

from __future__ import annotations

from typing import Any, Final

from pagekeep.store.search.query import Filter
from pagekeep.store.search.search_words import fold
from pagekeep.store.storable import clean_text, domain_key

_LONGEST_TAG: Final = 200


def tag_key(tag: str) -> str:
    """Tags are the same whatever their case and accents."""
    return fold(tag).strip()[:_LONGEST_TAG]


class Where:
    """A growing condition on items, with the values of its parameters."""

    def __init__(self, user_id: str) -> None:
        self.parts = ["i.user_id = :user"]
        self.values: dict[str, Any] = {"user": user_id}

    def add(self, sql: str, *values: Any) -> None:
        """`{0}`, `{1}`... in the SQL stand for the values."""
        names = [f"v{len(self.values) + number}" for number in range(len(values))]
        self.parts.append(sql.format(*(f":{name}" for name in names)))
        self.values.update(zip(names, values, strict=True))

    def add_filter(self, wanted: Filter) -> None:
        """A filter of the query language."""
        sql, *values = _condition(wanted)
        self.add(f"NOT COALESCE({sql}, FALSE)" if wanted.negated else sql, *values)

    def __str__(self) -> str:
        return " AND ".join(self.parts)


def _condition(wanted: Filter) -> tuple[str, *tuple[Any, ...]]:
    value = clean_text(wanted.value)
    match wanted.name:
        case "domain":
            key = domain_key(value)
            # "/" follows ".": all keys that begin with this one lie between.
            return "(i.domain_key >= {0} AND i.domain_key < {1})", key, key[:-1] + "/"
        case "tag":
            return (
                "EXISTS (SELECT 1 FROM item_tags t WHERE t.user_id = i.user_id AND t.item_id = i.id AND t.tag = {0})",
                tag_key(value),
            )
        case "before":
            return "(i.saved_at < {0})", value
        case "after":
            return "(i.saved_at >= {0})", value
        case "quality":
            return "(i.quality = {0})", value
        case _:
            return (
                {
                    "pinned": "(i.pinned = 1)",
                    "archived": "(i.archived = 1)",
                    "deleted": "(i.deleted_at IS NOT NULL)",
                }[value],
            )
