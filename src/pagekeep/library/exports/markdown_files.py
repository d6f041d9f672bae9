"""Write an item as a Markdown file with its annotations, name such a file, and read one."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from pagekeep import clock
from pagekeep.errors import PagekeepError, ParseError
from pagekeep.library import normal_url
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


class FileAnnotation(NamedTuple):
    """An annotation as a file contains it."""

    id: str
    quote: str
    note: str


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
    return Document(fields, *split_annotations(rest))


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
    section = format_annotations(annotations)
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


HEADING: Final = "## Highlights"
_ID: Final = re.compile(r"\^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")


def format_annotations(annotations: Iterable[Annotation]) -> str:
    """Return the section with the annotations, or an empty text when there are none."""
    entries = [_format_annotation(annotation) for annotation in annotations if _ID.fullmatch(f"^{annotation.id}")]
    return "\n\n".join([HEADING, *entries]) + "\n" if entries else ""


def _format_annotation(annotation: Annotation) -> str:
    quote = [f"> {line}".rstrip() for line in _clean_lines(annotation.quote)]
    note = [f"\\{line}" if line[:1] in (">", "^", "\\", "#") else line for line in _clean_lines(annotation.note)]
    parts = ["\n".join(quote), "\n".join(note), f"^{annotation.id}"]
    return "\n\n".join(part for part in parts if part)


def _clean_lines(text: str) -> list[str]:
    """Return the lines without spaces at their ends, and with one blank line for several."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    clean = "\n".join(line.rstrip() for line in lines).strip("\n")
    return re.sub(r"\n{3,}", "\n\n", clean).split("\n") if clean else []


def split_annotations(body: str) -> tuple[str, tuple[FileAnnotation, ...]]:
    """Return the text before the section and its annotations; a text without such a section is returned unchanged."""
    before, heading, section = body.rpartition(f"\n{HEADING}\n")
    if not heading and body.startswith(f"{HEADING}\n"):
        before, heading, section = "", HEADING, body.removeprefix(f"{HEADING}\n")
    annotations = _parse_annotations(section.split("\n")) if heading else None
    return (before.rstrip("\n") + "\n" if before.strip() else "", annotations) if annotations else (body, ())


def _parse_annotations(lines: Sequence[str]) -> tuple[FileAnnotation, ...] | None:
    """Return the annotations, or `None` when the lines are anything else: an article may have a section of this name."""
    annotations: list[FileAnnotation] = []
    quote: list[str] = []
    note: list[str] = []
    for line in lines:
        annotation_id = _ID.fullmatch(line.rstrip())
        if annotation_id:
            annotations.append(FileAnnotation(annotation_id[1], "\n".join(quote), "\n".join(note).strip("\n")))
            quote, note = [], []
        elif line.startswith(">") and not any(note):
            quote.append(line[1:].removeprefix(" "))
        else:
            note.append(line[1:] if line.startswith("\\") else line)
    return None if any(line.strip() for line in (*quote, *note)) else tuple(annotations)


MAX_NAME_BYTES: Final = 200
"""With the ending: most file systems allow 255, and sync services add to the name."""
_FORBIDDEN: Final = frozenset('*"\\/<>:|?#^[]%`')
"""What Windows does not allow, and what links to a heading or block in Obsidian."""
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of characters that have no shape."""
_SPACE: Final = re.compile(r"\s+")


def file_name(title: str, item_id: str, ending: str = ".md") -> str:
    """Return a file name that depends only on title and id, and that no two items share."""
    suffix = f" {item_id[:8]}{ending}"
    return (clean_stem(title, MAX_NAME_BYTES - len(suffix.encode())) or "Untitled") + suffix


def clean_stem(title: str, max_bytes: int) -> str:
    """Return the title as part of a file name; empty when none of its characters is allowed."""
    allowed = "".join(" " if char in _FORBIDDEN else char for char in unicodedata.normalize("NFC", title))
    visible = "".join(char for char in allowed if unicodedata.category(char) not in _INVISIBLE or char in "\t\n\r")
    cut = _SPACE.sub(" ", visible).strip(" .").encode()[:max_bytes]
    return cut.decode("utf-8", "ignore").strip(" .")
