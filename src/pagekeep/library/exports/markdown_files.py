"""An item as a Markdown file, and such a file read again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pagekeep import clock
from pagekeep.errors import PagekeepError, ParseError
from pagekeep.library import normal_url
from pagekeep.library.exports import annotations_block
from pagekeep.library.exports.annotations_block import Marked
from pagekeep.markdown.frontmatter import Stamp, read_block, split_block, stamp, write_frontmatter
from pagekeep.model import Annotation, Item

Profile = Literal["pagekeep", "obsidian"]
PROFILES: Final[tuple[Profile, ...]] = ("pagekeep", "obsidian")

OWN: Final = ("url", "pinned", "archived", "edited", "notes", "highlights", "id")
"""What a file tells about the item and the content of the item does not."""
_ORDER: Final = (
    *("source", "title", "author", "published_date", "domain", "site_name", "language", "word_count", "reading_time"),
    *(
        "hero_image",
        "description",
        "tags",
        "quality",
        "saved_at",
        "extraction_failed",
        "discarded",
        "reason",
        "rule_id",
    ),
    *OWN,
)
OBSIDIAN: Final = ("title", "source", "author", "published", "created", "description", "tags")
"""The properties that Obsidian's clipper writes, in its order; ours follow."""
KNOWN: Final = frozenset((*_ORDER, *OBSIDIAN))


@dataclass(frozen=True, slots=True)
class Document:
    """What a Markdown file of an item says."""

    fields: Mapping[str, Any]
    body: str
    """The Markdown, without frontmatter and without the passages at its end."""
    marked: tuple[Marked, ...] = ()

    @property
    def id(self) -> str | None:
        """The item's id, when the file tells one."""
        found = self.fields.get("id")
        return found if isinstance(found, str) else None

    @property
    def tags(self) -> tuple[str, ...]:
        """As people write them: a list, or one text with commas."""
        said = self.fields.get("tags")
        listed = said.split(",") if isinstance(said, str) else said if isinstance(said, list) else [said]
        cleaned = (" ".join(str(tag).split()).removeprefix("#") for tag in listed if tag is not None)
        return tuple(dict.fromkeys(tag for tag in cleaned if tag))

    def flag(self, name: str) -> bool:
        """Whether a switch is on."""
        return self.fields.get(name) is True


def read(text: str) -> Document:
    """The parts of a file; `ParseError` when its frontmatter cannot be read."""
    block, rest = split_block(text.replace("\r\n", "\n").removeprefix("\ufeff"))
    fields = read_block(block)
    return Document(fields, *annotations_block.split(rest))


def content_of(item: Item) -> tuple[dict[str, Any], str]:
    """The fields and the Markdown of an item's content; a block that cannot be read belongs to the text."""
    block, body = split_block(item.content)
    try:
        return read_block(block), body
    except ParseError:
        return {}, item.content


def write(
    item: Item,
    annotations: Sequence[Annotation] = (),
    profile: Profile = "pagekeep",
    extra: Mapping[str, Any] | None = None,
) -> str:
    """The item as a Markdown file. `extra` are fields of the user's own, which stand last."""
    stored, body = content_of(item)
    passages = annotations_block.section(annotations)
    fields = _fields(item, stored, sum(1 for line in passages.split("\n") if line.startswith("^")))
    block = _obsidian(fields, extra or {}) if profile == "obsidian" else _own(fields, extra or {})
    parts = [block.rstrip("\n"), body.strip("\n"), passages.strip("\n")]
    return "\n\n".join(part for part in parts if part) + "\n"


def _fields(item: Item, stored: Mapping[str, Any], passages: int) -> dict[str, Any]:
    known = item.metadata
    fields: dict[str, Any] = {
        "source": item.url,
        "title": item.title,
        "author": item.author,
        "published_date": stamp((item.published_at or "")[:10]),
        "domain": item.domain,
        "quality": known.quality,
        **{name: value for name, value in stored.items() if name not in OWN},
        "tags": list(known.tags),
        "saved_at": stamp(clock.to_the_second(item.saved_at)),
        "notes": known.notes,
        "highlights": passages or None,
        "id": item.id,
    }
    fields |= {name: True for name in ("pinned", "archived", "edited") if getattr(known, name)}
    if not _leads_to(fields["source"], item.url):
        fields["url"] = item.url
    return fields


def _leads_to(source: object, url: str) -> bool:
    try:
        return isinstance(source, str) and normal_url.normalise(source) == url
    except PagekeepError:
        return source == url


def _own(fields: Mapping[str, Any], extra: Mapping[str, Any]) -> str:
    ordered = {name: fields[name] for name in _ORDER if name in fields}
    return write_frontmatter({**ordered, **{name: fields[name] for name in fields if name not in _ORDER}, **extra})


def _obsidian(fields: Mapping[str, Any], extra: Mapping[str, Any]) -> str:
    """Text in double quotes, dates bare, lists one entry a line."""
    author = fields.get("author")
    told = {
        "title": fields.get("title"),
        "source": fields.get("source"),
        "author": [name.strip() for name in str(author).split(", ")] if author else None,
        "published": fields.get("published_date"),
        "created": stamp(str(fields["saved_at"])[:10]),
        "description": fields.get("description"),
        "tags": [obsidian_tag(tag) for tag in fields.get("tags") or ()],
        **{name: fields[name] for name in (*OWN, "quality", "reason") if fields.get(name)},
    }
    lines = [line for name, value in {**told, **extra}.items() for line in _property(name, value)]
    return "\n".join(["---", *lines, "---", ""])


_NOT_IN_A_TAG: Final = re.compile(r"[^\w/-]+")


def obsidian_tag(tag: str) -> str:
    """A tag has no spaces, and is no number."""
    name = _NOT_IN_A_TAG.sub("-", tag).strip("-") or "tag"
    return f"{name}-" if name.isdigit() else name


def _property(name: str, value: object) -> list[str]:
    if value is None or value == [] or value == "":
        return []
    if isinstance(value, list):
        return [f"{name}:", *(f"  - {_scalar(entry)}" for entry in value)]
    return [f"{name}: {_scalar(value)}"]


_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def _scalar(value: object) -> str:
    """A value as YAML reads it: a JSON text is one in double quotes."""
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if isinstance(value, Stamp):
        return str(value)
    text = json.dumps(" ".join(str(value).split()), ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
