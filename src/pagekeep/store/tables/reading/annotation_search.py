"""Finding annotations across the library: newest first, by the words of quote and note, or by the item they are on.

Every query walks an index in its order and stops at the limit, so it takes as long in a library of any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pagekeep.model import Annotation, Item
from pagekeep.model.reading import AnnotationPage
from pagekeep.store.engine import Row, Transaction
from pagekeep.store.search.page_key import read_key, read_time, write_key
from pagekeep.store.search.search_words import is_unspaced, words
from pagekeep.store.storable import clean_id
from pagekeep.store.table import Table, reads
from pagekeep.store.tables.annotations import COLUMNS
from pagekeep.store.tables.items import SELECT, item_of

MAX_ANNOTATIONS: Final = 500
"""Annotations of one page."""
_MAX_QUERY_WORDS: Final = 12
_MIN_PREFIX_CHARS: Final = 3
"""Letters of a last word that may be unfinished; a shorter one would match too many words."""
_NAMES: Final = ", ".join(f"a.{name}" for name in COLUMNS)
_NOT_DELETED: Final = (
    "EXISTS (SELECT 1 FROM items i WHERE i.user_id = a.user_id AND i.id = a.item_id AND i.deleted_at IS NULL)"
)
_IS_LAST: Final = (
    "NOT EXISTS (SELECT 1 FROM annotations b WHERE b.user_id = a.user_id AND b.item_id = a.item_id "
    "AND (b.created_at, b.id) > (a.created_at, a.id))"
)
_LAST: Final = "\U0010ffff"
"""Sorts after every word."""
_LIST_LENGTH: Final = 100


class AnnotationSearchTable(Table):
    """A user's annotations across all items that are not deleted."""

    @reads
    def find_annotations(
        self, tx: Transaction, text: str = "", *, limit: int = 50, after: str | None = None
    ) -> AnnotationPage:
        """Return one page of annotations, newest first: all, or those with all words of the text."""
        wanted = words(text)[:_MAX_QUERY_WORDS]
        source, parts, values = _search(wanted, is_prefix=bool(wanted) and not _is_known(tx, wanted[-1]))
        return _page(tx, source, parts, values, ["annotations", text], limit, after)

    @reads
    def find_annotated(self, tx: Transaction, *, limit: int = 20, after: str | None = None) -> AnnotationPage:
        """Return the newest annotation of each of the items that have any; the item annotated last comes first."""
        return _page(tx, "annotations a", [_IS_LAST], {}, ["annotated"], limit, after)

    @reads
    def items_by_id(self, tx: Transaction, item_ids: Sequence[str]) -> dict[str, Item]:
        """Return the items with these ids, deleted or not."""
        return _items(tx, item_ids)


def _page(
    tx: Transaction,
    source: str,
    parts: list[str],
    values: dict[str, Any],
    kind: list[Any],
    limit: int,
    after: str | None,
) -> AnnotationPage:
    limit = max(1, min(limit, MAX_ANNOTATIONS))
    time, key = ("w.created_at", "w.annotation_id") if " w" in source else ("a.created_at", "a.id")
    parts = ["a.user_id = :user", _NOT_DELETED, *parts]
    if after is not None:
        begin, annotation_id = read_key(after, kind, str, str)
        parts.append(f"({time}, {key}) < (:begin, :begin_id)")
        values |= {"begin": read_time(begin) or tx.no_time, "begin_id": clean_id(annotation_id)}
    rows = tx.all(
        f"SELECT {_NAMES} FROM {source} WHERE {' AND '.join(parts)} ORDER BY {time} DESC, {key} DESC LIMIT {limit + 1}",
        user=tx.user_id,
        **values,
    )
    found = tuple(map(_annotation, rows[:limit]))
    more = write_key(kind, found[-1].created_at, found[-1].id) if len(rows) > limit else None
    return AnnotationPage(found, _items(tx, [one.item_id for one in found]), more)


def _annotation(row: Row) -> Annotation:
    return Annotation(*row)


def _is_known(tx: Transaction, word: str) -> bool:
    """Return whether an annotation has this word as it is; otherwise it is probably unfinished."""
    sql = "SELECT 1 FROM annotation_words WHERE user_id = :user AND word = :word LIMIT 1"
    return bool(tx.all(sql, user=tx.user_id, word=word))


def _search(wanted: list[str], *, is_prefix: bool) -> tuple[str, list[str], dict[str, Any]]:
    """Return the tables, conditions and values of a search for all words; the last one may be unfinished."""
    if not wanted:
        return "annotations a", [], {}
    *whole, last = wanted
    is_prefix = is_prefix and len(last) >= _MIN_PREFIX_CHARS and not is_unspaced(last)
    whole = sorted(dict.fromkeys(whole if is_prefix else wanted), key=lambda word: (-len(word), word))
    values: dict[str, Any] = {f"w{number}": word for number, word in enumerate(whole)}
    on_word = "JOIN annotations a ON a.user_id = w.user_id AND a.id = w.annotation_id"
    parts = []
    if whole:  # begin with the longest, which is probably the rarest
        source = f"annotation_words w {on_word}"
        parts = ["w.user_id = :user", "w.word = :w0"]
        parts += [_has(f"v.word = :w{number} AND v.created_at = w.created_at") for number in range(1, len(whole))]
    if is_prefix:
        values |= {"first": last, "last": last + _LAST}
        between = "v.word >= :first AND v.word < :last"
        if whole:
            parts.append(_has(between))
        else:
            found = (
                "SELECT DISTINCT v.user_id, v.created_at, v.annotation_id FROM annotation_words v "
                f"WHERE v.user_id = :user AND {between}"
            )
            source = f"({found}) w {on_word}"
    return source, parts, values


def _has(condition: str) -> str:
    return (
        "EXISTS (SELECT 1 FROM annotation_words v WHERE v.user_id = w.user_id AND v.annotation_id = w.annotation_id "
        f"AND {condition})"
    )


def _items(tx: Transaction, item_ids: Sequence[str]) -> dict[str, Item]:
    ids = list(dict.fromkeys(clean_id(item_id) for item_id in item_ids))
    found: dict[str, Item] = {}
    for begin in range(0, len(ids), _LIST_LENGTH):
        part = ids[begin : begin + _LIST_LENGTH]
        values = {f"n{at}": value for at, value in enumerate([*part, *part[:1] * (_LIST_LENGTH - len(part))])}
        marks = ", ".join(f":{name}" for name in values)
        rows = tx.all(f"{SELECT} WHERE i.user_id = :user AND i.id IN ({marks})", user=tx.user_id, **values)
        found.update((item.id, item) for item in map(item_of, rows))
    return found
