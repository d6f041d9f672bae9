"""Write an item as a Markdown file, and read such a file."""

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
from pagekeep.library.exports.annotations_block import FileAnnotation
from pagekeep.markdown.frontmatter import Stamp, read_block, split_block, stamp, write_frontmatter
from pagekeep.model import Annotation, Item
from pagekeep.present.item_content import EDITED_FIELD, edited_frontmatter

Profile = Literal["pagekeep", "obsidian"]
PROFILES: Final[tuple[Profile, ...]] = ("pagekeep", "obsidian")

ITEM_FIELDS: Final = ("url", "pinned", "archived", "edited", EDITED_FIELD, "notes", "highlights", "id")
"""Fields that belong to the item: they are in its file but not in its stored content."""
SUGGESTIONS_FIELD: Final = "suggested_tags"
"""Tags that are not the user's: they are not exported, and a file that has them is read without them."""
REVISION_FIELD: Final = "mirror_revision"
"""The mirror's field with the revision of the file that an editor opened: its buffer may be older than the file."""
_FIELD_ORDER: Final = (
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
    *ITEM_FIELDS,
)
OBSIDIAN_FIELDS: Final = ("title", "source", "author", "published", "created", "description", "tags")
"""The properties that Obsidian's clipper writes, in its order; Pagekeep's follow."""
_MAX_NUMBER: Final = 10**30
KNOWN_FIELDS: Final = frozenset((*_FIELD_ORDER, *OBSIDIAN_FIELDS, SUGGESTIONS_FIELD))


@dataclass(frozen=True, slots=True)
class Document:
    """The parts of an item's Markdown file."""

    fields: Mapping[str, Any]
    body: str
    """The Markdown without frontmatter and without the annotations at its end."""
    annotations: tuple[FileAnnotation, ...] = ()

    @property
    def id(self) -> str | None:
        """The item's id, if the file has one."""
        value = self.fields.get("id")
        return value if isinstance(value, str) else None

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags, which users write as a list or as a text with commas."""
        value = self.fields.get("tags")
        tags = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
        cleaned = (" ".join(str(tag).split()).removeprefix("#") for tag in tags if tag is not None)
        return tuple(dict.fromkeys(tag for tag in cleaned if tag))

    def flag(self, name: str) -> bool:
        """Return whether a yes/no field is on."""
        return self.fields.get(name) is True


def read(text: str) -> Document:
    """Return the parts of a file; raise `ParseError` when its frontmatter is not valid."""
    block, rest = split_block(text.replace("\r\n", "\n").removeprefix("\ufeff"))
    fields = read_block(block)
    if _has_long_number(fields):
        raise ParseError("The frontmatter has a number that is too long.", suggestions=("Put it in quotes.",))
    return Document(fields, *annotations_block.split_annotations(rest))


def _has_long_number(value: object) -> bool:
    """Return whether there is a number that Python can read (as `0x...`) but does not write in digits."""
    if isinstance(value, dict):
        return any(map(_has_long_number, (*value.keys(), *value.values())))
    if isinstance(value, list):
        return any(map(_has_long_number, value))
    return isinstance(value, int) and abs(value) >= _MAX_NUMBER


def split_content(item: Item) -> tuple[dict[str, Any], str]:
    """Return the frontmatter fields and the Markdown of an item; frontmatter that is not valid belongs to the Markdown."""
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
    """Return the item as a Markdown file; `extra` are the user's own fields, which come last."""
    stored, body = split_content(item)
    section = annotations_block.format_annotations(annotations)
    fields = _collect_fields(item, stored, sum(1 for line in section.split("\n") if line.startswith("^")))
    block = (
        _obsidian_frontmatter(fields, extra or {})
        if profile == "obsidian"
        else _pagekeep_frontmatter(fields, extra or {})
    )
    parts = [block.rstrip("\n"), body.strip("\n"), section.strip("\n")]
    return "\n\n".join(part for part in parts if part) + "\n"


def _collect_fields(item: Item, stored: Mapping[str, Any], annotations: int) -> dict[str, Any]:
    known = item.metadata
    fields: dict[str, Any] = {
        "source": item.url,
        "title": item.title,
        "author": item.author,
        "published_date": stamp((item.published_at or "")[:10]),
        "domain": item.domain,
        "quality": known.quality,
        **{name: value for name, value in stored.items() if name not in (*ITEM_FIELDS, SUGGESTIONS_FIELD)},
        "tags": list(known.tags),
        "saved_at": stamp(clock.to_the_second(item.saved_at)),
        "notes": known.notes,
        "highlights": annotations or None,
        "id": item.id,
    }
    fields |= {name: True for name in ("pinned", "archived", "edited") if getattr(known, name)}
    fields |= edited_frontmatter(item)
    if known.has_only_address:
        fields["reason"] = known.reason
    if not _normalises_to(fields["source"], item.url):
        fields["url"] = item.url
    return fields


def _normalises_to(source: object, url: str) -> bool:
    try:
        return isinstance(source, str) and normal_url.normalise(source) == url
    except PagekeepError:
        return source == url


def _pagekeep_frontmatter(fields: Mapping[str, Any], extra: Mapping[str, Any]) -> str:
    ordered = {name: fields[name] for name in _FIELD_ORDER if name in fields}
    return write_frontmatter(
        {**ordered, **{name: fields[name] for name in fields if name not in _FIELD_ORDER}, **extra}
    )


def _obsidian_frontmatter(fields: Mapping[str, Any], extra: Mapping[str, Any]) -> str:
    """Return the frontmatter as Obsidian writes it: text in double quotes, plain dates, lists with one entry per line."""
    author = fields.get("author")
    properties = {
        "title": fields.get("title"),
        "source": fields.get("source"),
        "author": [name.strip() for name in str(author).split(", ")] if author else None,
        "published": fields.get("published_date"),
        "created": stamp(str(fields["saved_at"])[:10]),
        "description": fields.get("description"),
        "tags": [obsidian_tag(tag) for tag in fields.get("tags") or ()],
        **{name: fields[name] for name in (*ITEM_FIELDS, "quality", "reason") if fields.get(name)},
    }
    lines = [line for name, value in {**properties, **extra}.items() for line in _yaml_property(name, value)]
    return "\n".join(["---", *lines, "---", ""])


_NOT_IN_A_TAG: Final = re.compile(r"[^\w/-]+")


def obsidian_tag(tag: str) -> str:
    """Return a tag as Obsidian accepts it: without spaces, and not only digits."""
    name = _NOT_IN_A_TAG.sub("-", tag).strip("-") or "tag"
    return f"{name}-" if name.isdigit() else name


def _yaml_property(name: str, value: object) -> list[str]:
    if value is None or value == [] or value == "":
        return []
    if isinstance(value, list):
        return [f"{name}:", *(f"  - {_yaml_scalar(entry)}" for entry in value)]
    return [f"{name}: {_yaml_scalar(value)}"]


_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def _yaml_scalar(value: object) -> str:
    """Return a value in YAML; a JSON text is a valid YAML text in double quotes."""
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if isinstance(value, Stamp):
        return str(value)
    text = json.dumps(" ".join(str(value).split()), ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
