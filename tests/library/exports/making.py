"""Libraries to export, with the titles, tags and texts that make trouble."""

from __future__ import annotations

import asyncio
import io
import uuid
from pathlib import Path
from typing import Any

from pagekeep.config import Settings
from pagekeep.library.exports.run import ExportOptions, ExportReport, export
from pagekeep.library.imports.rows import read_folder
from pagekeep.library.imports.run import ImportPlan, ImportReport, import_rows, import_stream
from pagekeep.markdown.frontmatter import stamp, write_frontmatter
from pagekeep.model import Annotation, Item, ItemMetadata, NewItem
from pagekeep.rules import Rulebook
from pagekeep.store import Store

NOW = "2025-03-19T10:30:00.123456Z"
TITLES = (
    *("The keeper's log", 'Ships: "counted" / not * counted?', "CON", "...dots...", "  spaces  ", "", "#1 [draft] ^x"),
    *(
        "灯台守の日誌",
        "نور البحر",
        "A" * 400,
        "é" * 150,
        "Line\nbreak\tand tab",
        "🚢" * 80,
        "null\x00byte",
        "../../etc/passwd",
    ),
    *("\u202egnp.exe", "- yes: no", "true", "2025-03-19", "null", "aux.txt", "---"),
)


def make_item(number: int, user_id: str, **changes: Any) -> Item:
    """An item of a library; those with other numbers are other pages."""
    title = changes.pop("title", TITLES[number % len(TITLES)])
    url = changes.pop("url", f"https://example.com/page/{number}")
    tags = changes.pop("tags", ["sea", "solar panels", "C#"][: number % 4])
    saved = f"2025-01-{number % 28 + 1:02}T08:{number % 60:02}:07.000000Z"
    fields = {
        "source": url,
        "title": title or None,
        "author": "Ann Lee, Bo Ek" if number % 2 else None,
        "published_date": stamp("2024-12-24") if number % 3 else None,
        "domain": "example.com",
        "word_count": 12,
        "reading_time": "1 min",
        "description": 'Says: it\'s "fine" #1\nand more',
        "tags": ["page's own"],
        "quality": "article",
        "saved_at": stamp(saved[:19] + "Z"),
    }
    body = changes.pop(
        "body",
        f"# Page {number}\n\nShips were counted, {number} of them. See [[not a link]] and `---`.\n\n---\n\nEnd.\n",
    )
    flags = {name: True for name, every in (("pinned", 5), ("archived", 3)) if number % every == 0}
    values: dict[str, Any] = {
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, url)),
        "user_id": user_id,
        "url": url,
        "url_full": f"{url}?utm_source=mail",
        "domain": "example.com",
        "title": title or url,
        "content": f"{write_frontmatter(fields)}\n{body}",
        "source": "web",
        "author": fields["author"],
        "saved_at": saved,
        "published_at": fields["published_date"],
        "metadata": ItemMetadata(tags=tuple(tags), quality="article", word_count=12, reading_time="1 min", **flags),
        "created_at": NOW,
        "updated_at": NOW,
        **changes,
    }
    return Item(**values)


def fill(store: Store, count: int) -> list[Item]:
    """This many items, every fourth with marked passages."""
    entries = [NewItem(make_item(number, store.user_id)) for number in range(count)]
    items = [item for item, _ in store.items.save_many(entries, lambda _old, new: new)]
    for item in items[::4]:
        mark(store, item, "Ships were counted", "Why?\n\n> really\n^no id")
        mark(store, item, "", "A note on the whole page.")
    return items


def mark(store: Store, item: Item, quote: str, note: str) -> Annotation:
    moment = f"2025-02-01T00:00:{len(store.annotations.of_item(item.id)):02}.000000Z"
    name = str(uuid.uuid5(uuid.NAMESPACE_URL, item.url + quote + note))
    return store.annotations.put(Annotation(name, item.id, quote, "", "", note, None, moment, moment))


def send(store: Store, out: Path, settings: Settings | None = None, **option: Any) -> ExportReport:
    return asyncio.run(export(store, out, ExportOptions(**option), settings or Settings()))


def take(store: Store, path: Path) -> ImportReport:
    """Import a folder or file, fetching nothing."""
    plan, report = ImportPlan(Rulebook(())), ImportReport()
    if path.is_dir():
        for _ in import_rows(read_folder(path, None), store, plan, report):
            pass
        return report
    return import_stream(io.BytesIO(path.read_bytes()), path.name, store, plan)


def tree(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
