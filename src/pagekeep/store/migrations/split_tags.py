"""Move the tags that earlier versions added by themselves from the tags to the suggested ones.

They wrote a page's own tags into its frontmatter and, at its first save, after the requested ones into the item's tags. A
tag counts as added only where nothing indicates the user: the page was saved directly, its frontmatter has the tag, and the
tag is at its place in that order.

Frozen: it knows the tables of schema 5 alone.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import yaml

if TYPE_CHECKING:
    from pagekeep.store.migrations import Database

_BATCH: Final = 200
"""Items that are read at a time."""
_HEAD_CHARS: Final = 20_000
"""Characters of a document in which its frontmatter is."""
_MAX_KEY_CHARS: Final = 200
"""Characters of a tag's key in schema 5."""
_LINE: Final = re.compile(r"^tags: (\[.{0,5000}\])$", re.MULTILINE)
_MARKS: Final = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670\u0640\u1ab0-\u1aff\u1dc0-\u1dff]"
)


def split_tags(database: Database) -> None:
    """Split the tags of all items of the database's user."""
    after = -1
    while rows := database.all(
        "SELECT i.seq, i.id, CAST(i.metadata AS TEXT), i.source, i.content FROM items i "
        "WHERE i.user_id = :user AND i.seq > :after AND i.saved_at = i.created_at "
        "AND i.id IN (SELECT t.item_id FROM item_tags t WHERE t.user_id = :user) "
        f"ORDER BY i.seq LIMIT {_BATCH}",
        user=database.user_id,
        after=after,
    ):
        for seq, item_id, stored, source, content in rows:
            metadata = json.loads(stored)
            added = find_added(metadata, source, content)
            if added:
                _split_item(database, seq, str(item_id), metadata, added)
        after = rows[-1][0]


def _split_item(database: Database, seq: int, item_id: str, metadata: dict[str, Any], added: Sequence[str]) -> None:
    tags = [tag for tag in metadata["tags"] if tag not in added]
    database.run(
        "UPDATE items SET metadata = :metadata WHERE seq = :seq",
        metadata=database.json({**metadata, "tags": tags, "suggested_tags": list(added)}),
        seq=seq,
    )
    for key in {_key(tag) for tag in added} - {_key(tag) for tag in tags}:
        database.run(
            "DELETE FROM item_tags WHERE user_id = :user AND item_id = :id AND tag = :tag",
            user=database.user_id,
            id=item_id,
            tag=key,
        )


def find_added(metadata: Mapping[str, Any], source: str, content: str) -> list[str]:
    """Return the tags that the program added to an item by itself, of one that was saved when it was created."""
    tags = metadata.get("tags")
    if metadata.get("suggested_tags") or metadata.get("imported") or source.startswith("import:"):
        return []
    places = {tag: place for place, tag in enumerate(_read_own(content))}
    added: list[str] = []
    bound = len(places)
    for tag in reversed(tags if isinstance(tags, list) else []):
        # A requested tag comes before the page's own, so it is out of their order.
        if isinstance(tag, str) and places.get(tag, bound) < bound:
            bound = places[tag]
            added.append(tag)
    return added[::-1]


def _read_own(content: str) -> Sequence[str]:
    """Return the tags in the frontmatter of a document."""
    block = content[:_HEAD_CHARS].partition("\n---\n")[0] if content.startswith("---\n") else ""
    found = _LINE.search(block)
    try:
        values: Any = yaml.safe_load(found[1]) if found else []
    except yaml.YAMLError:
        return ()
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else ()


def _key(tag: str) -> str:
    """Return the key under which schema 5 has a tag: without case and accents."""
    folded = []
    for character in unicodedata.normalize("NFC", tag):
        decomposed = unicodedata.normalize("NFKD", character.casefold())
        folded.append(unicodedata.normalize("NFC", _MARKS.sub("", decomposed)).casefold())
    return "".join(folded).strip()[:_MAX_KEY_CHARS]
