"""Lists: saved searches, and items in an order that the user chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pagekeep.errors import Conflict, NotFound
from pagekeep.model.lists import ItemList, ListPage, Neighbours
from pagekeep.store.engine import Part, Row, Transaction, read_page_key, reads, write_page_key, writes
from pagekeep.store.narrow import list_key
from pagekeep.store.storable import clean_id, clean_text
from pagekeep.store.tables.item_rows import SELECT, item_of

MAX_LISTS: Final = 300
"""Lists of one user: all are shown in one place."""
MAX_PAGE: Final = 200
_GAP: Final = 1 << 20
"""Between two places of a list: 20 moves to the same place fit in before the list is numbered again."""
_COLUMNS: Final = ("id", "name", "kind", "query", "created_at", "updated_at")
_NAMES: Final = ", ".join(_COLUMNS)
_SELECT_ITEMS: Final = SELECT.replace(
    "FROM items i",
    ", l.position FROM list_items l JOIN items i ON i.user_id = l.user_id AND i.id = l.item_id AND i.deleted_at IS NULL",
)
_OF_LIST: Final = "user_id = :user AND list_id = :list"


class Lists(Part):
    """A user's lists."""

    @writes
    def add(self, tx: Transaction, new: ItemList) -> ItemList:
        """Add a list; `Conflict` when its name is taken, or there are too many."""
        tx.lock("lists")
        count = int(tx.all("SELECT COUNT(*) FROM lists WHERE user_id = :user")[0][0])
        if count >= MAX_LISTS:
            raise Conflict(f"There are {MAX_LISTS} lists already.", suggestions=("Delete one that you do not need.",))
        _refuse_name(tx, new.name, "")
        new = replace(new, id=clean_id(new.id), name=clean_text(new.name), query=clean_text(new.query))
        tx.run(
            f"INSERT INTO lists (user_id, name_key, {_NAMES}) VALUES (:user, :key, "
            f"{', '.join(f':{name}' for name in _COLUMNS)})",
            key=list_key(new.name),
            **{name: getattr(new, name) for name in _COLUMNS},
        )
        return new

    @writes
    def change(
        self, tx: Transaction, list_id: str, now: str, *, name: str | None = None, query: str | None = None
    ) -> ItemList:
        """Rename a list, or change what a saved search finds; `Conflict` when the name is taken."""
        tx.lock("lists")
        old = find_list(tx, list_id)
        if name is not None:
            _refuse_name(tx, name, old.id)
        new = replace(
            old,
            name=clean_text(old.name if name is None else name),
            query=clean_text(old.query if query is None else query),
            updated_at=now,
        )
        tx.run(
            "UPDATE lists SET name = :name, name_key = :key, query = :query, updated_at = :now "
            "WHERE user_id = :user AND id = :id",
            id=old.id,
            name=new.name,
            key=list_key(new.name),
            query=new.query,
            now=now,
        )
        return new

    @writes
    def remove(self, tx: Transaction, list_id: str) -> None:
        """Remove a list; its items stay in the library. `NotFound` when there is none with this id."""
        if not tx.run("DELETE FROM lists WHERE user_id = :user AND id = :id", id=clean_id(list_id)):
            raise _no_list()

    @reads
    def list(self, tx: Transaction) -> tuple[ItemList, ...]:
        """Return all lists by name."""
        return tuple(map(_list, _select(tx, "TRUE ORDER BY name_key, id")))

    @reads
    def get(self, tx: Transaction, key: str) -> ItemList:
        """Return the list with this id or name; `NotFound` when there is none."""
        rows = _select(tx, "name_key = :key OR id = :id ORDER BY id", key=list_key(key), id=clean_id(key))
        if not rows:
            raise _no_list()
        return _list(rows[0])

    @reads
    def of_item(self, tx: Transaction, item_id: str) -> tuple[ItemList, ...]:
        """Return the manual lists that an item is in, by name."""
        where = (
            "id IN (SELECT l.list_id FROM list_items l WHERE l.user_id = :user AND l.item_id = :item) ORDER BY name_key"
        )
        return tuple(map(_list, _select(tx, where, item=clean_id(item_id))))

    @reads
    def counts(self, tx: Transaction, most: int) -> dict[str, int]:
        """Return how many items each manual list has, counted up to `most`."""
        rows = tx.all(
            "SELECT l.id, (SELECT COUNT(*) FROM (SELECT 1 FROM list_items i WHERE i.user_id = l.user_id "
            "AND i.list_id = l.id LIMIT :most) counted) FROM lists l WHERE l.user_id = :user AND l.kind = 'manual'",
            most=most,
        )
        return {str(list_id): int(count) for list_id, count in rows}

    @reads
    def page(self, tx: Transaction, list_id: str, limit: int = 50, after: str | None = None) -> ListPage:
        """Return one page of the items of a manual list, in its order, without deleted ones."""
        found, kind = find_list(tx, list_id), ["list", clean_id(list_id)]
        place, last = read_page_key(after, kind, int, str) if after is not None else (-1, "")
        limit = max(1, min(limit, MAX_PAGE))
        rows = tx.all(
            f"{_SELECT_ITEMS} WHERE l.user_id = :user AND l.list_id = :list AND (l.position, l.item_id) > (:place, :last) "
            "ORDER BY l.position, l.item_id LIMIT :limit",
            list=found.id,
            place=place,
            last=clean_id(last),
            limit=limit + 1,
        )
        items = tuple(map(item_of, rows[:limit]))
        return ListPage(items, write_page_key(kind, rows[limit - 1][-1], items[-1].id) if len(rows) > limit else None)

    @reads
    def neighbours(self, tx: Transaction, list_id: str, item_id: str) -> Neighbours:
        """Return the items around one of a manual list; `NotFound` when it is not in the list."""
        key, item_id = find_list(tx, list_id).id, clean_id(item_id)
        place = _place(tx, key, item_id)
        if place is None:
            raise _not_listed()

        def ids(where: str, direction: str, limit: int) -> list[str | None]:
            rows = tx.all(
                "SELECT l.item_id FROM list_items l JOIN items i ON i.user_id = l.user_id AND i.id = l.item_id "
                f"AND i.deleted_at IS NULL WHERE l.user_id = :user AND l.list_id = :list AND {where} "
                f"ORDER BY l.position {direction}, l.item_id {direction} LIMIT {limit}",
                list=key,
                place=place,
                item=item_id,
            )
            return [*(str(row[0]) for row in rows), None, None]

        here = "(l.position, l.item_id) {} (:place, :item)"
        following = ids(here.format(">"), "ASC", 2)
        first = ids(here.format("<="), "ASC", 1)[0]
        return Neighbours(first, ids(here.format("<"), "DESC", 1)[0], following[0], following[1])

    @writes
    def move(self, tx: Transaction, list_id: str, item_id: str, before: str | None) -> None:
        """Move an item of a manual list before another one of it, or to the end; `NotFound` when it is not in the list."""
        found, item_id = find_list(tx, list_id), clean_id(item_id)
        tx.lock(f"list {found.id}")
        if _place(tx, found.id, item_id) is None:
            raise _not_listed()
        place = None if before is None else _place_before(tx, found.id, clean_id(before))
        if place is None and before is not None:
            _number(tx, found.id)
            place = _place_before(tx, found.id, clean_id(before))
        sql = f"UPDATE list_items SET position = :place WHERE {_OF_LIST} AND item_id = :item"
        place = _end(tx, found.id) if place is None else place
        tx.run(sql, list=found.id, item=item_id, place=place)


def find_list(tx: Transaction, list_id: str) -> ItemList:
    """Return the list with this id; `NotFound` when there is none."""
    rows = _select(tx, "id = :id", id=clean_id(list_id))
    if not rows:
        raise _no_list()
    return _list(rows[0])


def add_to_list(tx: Transaction, list_id: str, item_ids: Sequence[str], now: str) -> list[str]:
    """Add items at the end of a manual list; return those that were not in it. A list that does not exist gets none."""
    rows = _select(tx, "id = :id AND kind = 'manual'", id=clean_id(list_id))
    if not rows:
        return []
    found = _list(rows[0]).id
    tx.lock(f"list {found}")
    added = []
    for item_id in map(clean_id, item_ids):
        added += [item_id] * tx.run(
            "INSERT INTO list_items (user_id, list_id, item_id, position, added_at) "
            "VALUES (:user, :list, :item, :place, :now) ON CONFLICT (user_id, list_id, item_id) DO NOTHING",
            list=found,
            item=item_id,
            place=_end(tx, found),
            now=now,
        )
    return added


def put_back(tx: Transaction, list_id: str, item_id: str, place: int, now: str) -> None:
    """Add an item to a list at a place that it had; nothing when the list is gone, or the item is in it."""
    if add_to_list(tx, list_id, [item_id], now):
        sql = f"UPDATE list_items SET position = :place WHERE {_OF_LIST} AND item_id = :item"
        tx.run(sql, list=clean_id(list_id), item=item_id, place=place)


def remove_from_list(tx: Transaction, list_id: str, item_id: str) -> int | None:
    """Remove an item from a list; return the place that it had, or `None` when it was not in it."""
    place = _place(tx, clean_id(list_id), item_id)
    sql = f"DELETE FROM list_items WHERE {_OF_LIST} AND item_id = :item"
    tx.run(sql, list=clean_id(list_id), item=item_id)
    return place


def _place(tx: Transaction, list_id: str, item_id: str) -> int | None:
    sql = f"SELECT position FROM list_items WHERE {_OF_LIST} AND item_id = :item"
    rows = tx.all(sql, list=list_id, item=item_id)
    return int(rows[0][0]) if rows else None


def _place_before(tx: Transaction, list_id: str, item_id: str) -> int | None:
    """Return a free place before an item of the list; `None` when there is none."""
    place = _place(tx, list_id, item_id)
    if place is None:
        raise NotFound("The page to move it before is not in this list.")
    sql = f"SELECT COALESCE(MAX(position), 0) FROM list_items WHERE {_OF_LIST} AND position < :place"
    low = int(tx.all(sql, list=list_id, place=place)[0][0])
    return (low + place) // 2 if place - low > 1 else None


def _end(tx: Transaction, list_id: str) -> int:
    sql = f"SELECT COALESCE(MAX(position), 0) FROM list_items WHERE {_OF_LIST}"
    return int(tx.all(sql, list=list_id)[0][0]) + _GAP


def _number(tx: Transaction, list_id: str) -> None:
    """Give the items of a list places with gaps between them, in their order."""
    tx.run(
        "UPDATE list_items SET position = n.number * :gap FROM (SELECT item_id, ROW_NUMBER() OVER "
        f"(ORDER BY position, item_id) AS number FROM list_items WHERE {_OF_LIST}) n "
        f"WHERE list_items.{_OF_LIST.replace('AND ', 'AND list_items.')} AND list_items.item_id = n.item_id",
        list=list_id,
        gap=_GAP,
    )


def _refuse_name(tx: Transaction, name: str, own: str) -> None:
    taken = [_list(row) for row in _select(tx, "name_key = :key", key=list_key(name))]
    if any(one.id != own for one in taken):
        raise Conflict(f"There is a list {name:.80} already.", suggestions=("Choose another name.",))


def _select(tx: Transaction, where: str, **values: Any) -> list[Row]:
    return tx.all(
        f"SELECT {_NAMES} FROM lists WHERE user_id = :user AND ({where.partition(' ORDER BY ')[0]})"
        f"{''.join(where.partition(' ORDER BY ')[1:])}",
        **values,
    )


def _list(row: Row) -> ItemList:
    return ItemList(str(row[0]), *row[1:])


def _not_listed() -> NotFound:
    return NotFound("The page is not in this list.", suggestions=("Add it first.",))


def _no_list() -> NotFound:
    return NotFound("There is no such list.", suggestions=("Look for its name in your lists.",))
