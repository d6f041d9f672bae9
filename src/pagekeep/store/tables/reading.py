"""Highlights and notes on items, found across the library by their words, and how far each item has been read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from pagekeep.errors import NotFound
from pagekeep.model import Annotation
from pagekeep.model.reading import AnnotationPage, ReadingState, ReadState
from pagekeep.store.engine import (
    Part,
    Row,
    Transaction,
    read_page_key,
    read_page_time,
    reads,
    select_in,
    write_page_key,
    writes,
)
from pagekeep.store.query import is_unspaced, words
from pagekeep.store.storable import clean_id, clean_text, clean_time
from pagekeep.store.tables.item_rows import items_by_id

ANNOTATION_COLUMNS: Final = ("id", "item_id", "quote", "before", "after", "note", "colour", "created_at", "updated_at")
_ANNOTATION_NAMES: Final = ", ".join(ANNOTATION_COLUMNS)
_INSERT_ANNOTATION: Final = (
    f"INSERT INTO annotations (user_id, {_ANNOTATION_NAMES}) "
    f"VALUES (:user, {', '.join(f':{name}' for name in ANNOTATION_COLUMNS)})"
)


class Annotations(Part):
    """A user's annotations; searches find those across all items that are not deleted."""

    @writes
    def put(self, tx: Transaction, annotation: Annotation) -> Annotation:
        """Add the annotation, or change the one with its id; `NotFound` when its item does not exist.

        The item counts as changed.
        """
        values = _annotation_values(annotation)
        if not tx.all("SELECT 1 FROM items WHERE user_id = :user AND id = :id", id=values["item_id"]):
            raise NotFound(f"There is no item {values['item_id']:.200} to annotate.")
        _touch(tx, values["item_id"], values["updated_at"])
        tx.run(
            f"{_INSERT_ANNOTATION} ON CONFLICT (user_id, id) DO UPDATE SET quote = excluded.quote, before = excluded.before, "
            "after = excluded.after, note = excluded.note, colour = excluded.colour, updated_at = excluded.updated_at",
            **values,
        )
        stored = Annotation(**values)
        index_words(tx, [stored])
        return stored

    @reads
    def of_item(self, tx: Transaction, item_id: str) -> tuple[Annotation, ...]:
        """Return the annotations of an item, oldest first."""
        rows = tx.all(
            f"SELECT {_ANNOTATION_NAMES} FROM annotations WHERE user_id = :user AND item_id = :item ORDER BY created_at, id",
            item=clean_id(item_id),
        )
        return tuple(Annotation(*row) for row in rows)

    @reads
    def of_items(self, tx: Transaction, item_ids: Sequence[str]) -> dict[str, tuple[Annotation, ...]]:
        """Return the annotations of several items by the item's id, oldest first; items without any are left out."""
        found: dict[str, tuple[Annotation, ...]] = {}
        sql = f"SELECT {_ANNOTATION_NAMES} FROM annotations WHERE user_id = :user AND item_id IN (:list)"
        rows = select_in(tx, sql, [clean_id(item_id) for item_id in item_ids])
        # Sorted here: SQLite would walk all annotations by time rather than sort these.
        for annotation in sorted((Annotation(*row) for row in rows), key=lambda one: (one.created_at, one.id)):
            found[annotation.item_id] = (*found.get(annotation.item_id, ()), annotation)
        return found

    @reads
    def between(self, tx: Transaction, low: str, high: str) -> tuple[Annotation, ...]:
        """Return the annotations whose ids are in a range, at most 10."""
        rows = tx.all(
            f"SELECT {_ANNOTATION_NAMES} FROM annotations "
            "WHERE user_id = :user AND id >= :low AND id <= :high ORDER BY id LIMIT 10",
            low=clean_id(low),
            high=clean_id(high),
        )
        return tuple(Annotation(*row) for row in rows)

    @writes
    def delete(self, tx: Transaction, annotation_id: str, now: str) -> None:
        """Delete an annotation; `NotFound` when there is none with this id."""
        sql = "DELETE FROM annotations WHERE user_id = :user AND id = :id RETURNING item_id"
        rows = tx.all(sql, id=clean_id(annotation_id))
        if not rows:
            raise NotFound("There is no such annotation.")
        _touch(tx, rows[0][0], clean_time(now))

    @reads
    def find(self, tx: Transaction, text: str = "", *, limit: int = 50, after: str | None = None) -> AnnotationPage:
        """Return one page of annotations, newest first: all, or those with all words of the text."""
        wanted = words(text)[:_MAX_QUERY_WORDS]
        source, parts, values = _search(wanted, is_prefix=bool(wanted) and not _is_known(tx, wanted[-1]))
        return _page(tx, source, parts, values, ["annotations", text], limit, after)

    @reads
    def find_newest(self, tx: Transaction, *, limit: int = 20, after: str | None = None) -> AnnotationPage:
        """Return the newest annotation of each of the items that have any; the item annotated last comes first."""
        return _page(tx, "annotations a", [_IS_LAST], {}, ["annotated"], limit, after)


def _touch(tx: Transaction, item_id: str, now: str) -> None:
    """Note that the item has changed, for programs that ask what has."""
    sql = "UPDATE items SET updated_at = :now WHERE user_id = :user AND id = :id AND updated_at < :now"
    tx.run(sql, now=now, id=item_id)


def add_missing_annotations(tx: Transaction, annotations: Iterable[Annotation]) -> None:
    """Add annotations whose ids are new; what the user has changed since stays. Their items exist."""
    rows = [{**_annotation_values(annotation)} for annotation in annotations]
    if rows:
        tx.many(f"{_INSERT_ANNOTATION} ON CONFLICT (user_id, id) DO NOTHING", rows)
        index_words(tx, _stored(tx, [row["id"] for row in rows]))


def _stored(tx: Transaction, ids: Sequence[str]) -> Iterator[Annotation]:
    for annotation_id in dict.fromkeys(ids):
        sql = f"SELECT {_ANNOTATION_NAMES} FROM annotations WHERE user_id = :user AND id = :id"
        yield from (Annotation(*row) for row in tx.all(sql, id=annotation_id))


def _annotation_values(annotation: Annotation) -> dict[str, str]:
    values = {name: getattr(annotation, name) for name in ANNOTATION_COLUMNS}
    texts = {name: clean_text(value) if isinstance(value, str) else value for name, value in values.items()}
    times = {name: clean_time(values[name]) for name in ("created_at", "updated_at")}
    return {**texts, **times, "id": clean_id(annotation.id), "item_id": clean_id(annotation.item_id)}


MAX_ANNOTATIONS: Final = 500
"""Annotations of one page."""
_MAX_QUERY_WORDS: Final = 12
_MIN_PREFIX_CHARS: Final = 3
"""Letters of a last word that may be unfinished; a shorter one would match too many words."""
_FOUND_NAMES: Final = ", ".join(f"a.{name}" for name in ANNOTATION_COLUMNS)
_NOT_DELETED: Final = (
    "EXISTS (SELECT 1 FROM items i WHERE i.user_id = a.user_id AND i.id = a.item_id AND i.deleted_at IS NULL)"
)
_IS_LAST: Final = (
    "NOT EXISTS (SELECT 1 FROM annotations b WHERE b.user_id = a.user_id AND b.item_id = a.item_id "
    "AND (b.created_at, b.id) > (a.created_at, a.id))"
)
_LAST: Final = "\U0010ffff"
"""Sorts after every word."""


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
        begin, annotation_id = read_page_key(after, kind, str, str)
        parts.append(f"({time}, {key}) < (:begin, :begin_id)")
        values |= {"begin": read_page_time(begin) or tx.no_time, "begin_id": clean_id(annotation_id)}
    rows = tx.all(
        f"SELECT {_FOUND_NAMES} FROM {source} WHERE {' AND '.join(parts)} ORDER BY {time} DESC, {key} DESC LIMIT {limit + 1}",
        **values,
    )
    found = tuple(map(_annotation, rows[:limit]))
    more = write_page_key(kind, found[-1].created_at, found[-1].id) if len(rows) > limit else None
    return AnnotationPage(found, items_by_id(tx, list(dict.fromkeys(one.item_id for one in found))), more)


def _annotation(row: Row) -> Annotation:
    return Annotation(*row)


def _is_known(tx: Transaction, word: str) -> bool:
    """Return whether an annotation has this word as it is; otherwise it is probably unfinished."""
    sql = "SELECT 1 FROM annotation_words WHERE user_id = :user AND word = :word LIMIT 1"
    return bool(tx.all(sql, word=word))


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


_INSERT_WORD: Final = (
    "INSERT INTO annotation_words (user_id, word, created_at, annotation_id) VALUES (:user, :word, :time, :id) "
    "ON CONFLICT DO NOTHING"
)
_MAX_WORDS: Final = 400
"""Distinct words of one annotation that are searched."""
_BATCH: Final = 500
"""Annotations that are indexed at a time."""


def index_words(tx: Transaction, annotations: Iterable[Annotation]) -> None:
    """Index the words of stored annotations in place of those they had."""
    rows = []
    for annotation in annotations:
        tx.run("DELETE FROM annotation_words WHERE user_id = :user AND annotation_id = :id", id=annotation.id)
        rows += [
            {"word": word, "time": annotation.created_at, "id": annotation.id} for word in _distinct_words(annotation)
        ]
    if rows:
        tx.many(_INSERT_WORD, rows)


def _distinct_words(annotation: Annotation) -> list[str]:
    return list(dict.fromkeys(words(f"{annotation.quote}\n{annotation.note}")))[:_MAX_WORDS]


def index_all_words(tx: Transaction) -> None:
    """Index all annotations of the user, as after a restore."""
    last = "00000000-0000-0000-0000-000000000000"
    while rows := tx.all(
        "SELECT id, item_id, quote, before, after, note, colour, created_at, updated_at FROM annotations "
        f"WHERE user_id = :user AND id > :last ORDER BY id LIMIT {_BATCH}",
        last=last,
    ):
        index_words(tx, [Annotation(*row) for row in rows])
        last = str(rows[-1][0])


STATE_COLUMNS: Final = (
    "item_id",
    "state",
    "chosen",
    "progress",
    "block",
    "block_offset",
    "updated_at",
    "read_at",
)
_STATE_NAMES: Final = ", ".join(f"r.{name}" for name in STATE_COLUMNS)
_SELECT_STATES: Final = f"SELECT {_STATE_NAMES} FROM reading_states r WHERE r.user_id = :user"
_PUT_STATE: Final = (
    f"INSERT INTO reading_states (user_id, {', '.join(STATE_COLUMNS)}) "
    f"VALUES (:user, {', '.join(f':{name}' for name in STATE_COLUMNS)}) "
    f"ON CONFLICT (user_id, item_id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in STATE_COLUMNS[1:])}"
)
_WHOLE: Final = 10_000
"""Progress and offset are stored in ten-thousandths."""
_MAX_BLOCK: Final = 2**31 - 1
_IN_INBOX: Final = (
    "EXISTS (SELECT 1 FROM items i WHERE i.user_id = r.user_id AND i.id = r.item_id AND i.deleted_at IS NULL "
    "AND NOT i.failed AND NOT COALESCE(i.archived, FALSE))"
)


class Reading(Part):
    """How far a user's items have been read."""

    @reads
    def get(self, tx: Transaction, item_id: str) -> ReadingState:
        """Return how far an item has been read; of one that was never opened, the state at its beginning."""
        return _get(tx, clean_id(item_id)) or ReadingState(item_id)

    @reads
    def get_many(self, tx: Transaction, item_ids: Sequence[str]) -> dict[str, ReadingState]:
        """Return how far items have been read, by their ids; those that nothing is known about are left out."""
        rows = select_in(tx, f"{_SELECT_STATES} AND r.item_id IN (:list)", [clean_id(item_id) for item_id in item_ids])
        return {state.item_id: state for state in map(_state_of, rows)}

    @writes
    def change(self, tx: Transaction, item_id: str, change: Callable[[ReadingState], ReadingState]) -> ReadingState:
        """Change how far an item has been read, and return it; `NotFound` when there is no such item.

        `change` gets the stored state and returns the new one, or the same to leave it. It may be called again.
        """
        item_id = clean_id(item_id)
        if not tx.all("SELECT 1 FROM items WHERE user_id = :user AND id = :id", id=item_id):
            raise NotFound(f"There is no item {item_id}.")
        tx.lock(f"reading {item_id}")
        old = _get(tx, item_id) or ReadingState(item_id)
        new = change(old)
        if new == old:
            return old
        tx.run(_PUT_STATE, **_state_values(new))
        return _get(tx, item_id) or new

    @reads
    def in_state(self, tx: Transaction, state: ReadState, limit: int) -> tuple[ReadingState, ...]:
        """Return the inbox's items in this state, those read last first."""
        rows = tx.all(
            f"{_SELECT_STATES} AND r.state = :state AND {_IN_INBOX} ORDER BY r.updated_at DESC, r.item_id DESC LIMIT :limit",
            state=state,
            limit=max(1, limit),
        )
        return tuple(map(_state_of, rows))


def put_newer_states(tx: Transaction, states: Iterable[ReadingState]) -> None:
    """Store states of an import; what was reported later stays. Their items exist."""
    rows = [{**_state_values(state)} for state in states]
    if rows:
        tx.many(f"{_PUT_STATE} WHERE reading_states.updated_at < excluded.updated_at", rows)


def _get(tx: Transaction, item_id: str) -> ReadingState | None:
    rows = tx.all(f"{_SELECT_STATES} AND r.item_id = :id", id=item_id)
    return _state_of(rows[0]) if rows else None


def _state_of(row: Row) -> ReadingState:
    item_id, state, chosen, progress, block, offset, updated_at, read_at = row
    return ReadingState(
        str(item_id), state, bool(chosen), progress / _WHOLE, block, offset / _WHOLE, updated_at, read_at
    )


def _state_values(state: ReadingState) -> dict[str, Any]:
    return {
        "item_id": state.item_id,
        "state": state.state,
        "chosen": state.chosen,
        "progress": _ten_thousandths(state.progress),
        "block": max(0, min(state.block, _MAX_BLOCK)),
        "block_offset": _ten_thousandths(state.offset),
        "updated_at": clean_time(state.updated_at),
        "read_at": clean_time(state.read_at) if state.read_at else None,
    }


def _ten_thousandths(part: float) -> int:
    return round(max(0.0, min(part, 1.0)) * _WHOLE)
