"""The content of an item as it is shown: with the user's tags in its frontmatter."""

from __future__ import annotations

import re
from typing import Final

from pagekeep.errors import ParseError
from pagekeep.markdown.frontmatter import read_block, split_block, stamp, write_frontmatter
from pagekeep.model import Item

_OLD_LINE: Final = re.compile(r"^(?:suggested_)?tags: .*\n", re.MULTILINE)
_OLD_REASON: Final = re.compile(r"^reason: .*\n(?:(?: .*)?\n)*", re.MULTILINE)
"""The reason as older versions stored it, of a page that was never fetched."""
_FOLLOWING: Final = re.compile(r"^(?:quality|saved_at|extraction_failed|discarded|reason|rule_id): ", re.MULTILINE)
"""The fields after the tags, in the order of the frontmatter."""

_FIRST_FIELDS: Final[tuple[str, ...]] = ("source", "title", "author", "published_date", "domain", "site_name")

EDITED_FIELD: Final = "edited_fields"
"""The field with the names of those that the user edited."""
EDITED_NAMES: Final = {"title": "title", "author": "author", "published_at": "published_date", "site_name": "site_name"}
"""Fields that can be edited to their names in the frontmatter."""


def shown_content(item: Item) -> str:
    """Return frontmatter and Markdown; `tags` are the user's, `suggested_tags` those that are not tags yet.

    The stored frontmatter is made from the page alone, so that neither a change of tags nor another failure to fetch the
    page changes the content: why a page was never fetched is added here.
    """
    block, _ = split_block(item.content)
    if not block:
        return item.content
    rest = item.content[len("---\n") + len(block) :]
    block = _with_edits(block, item) if item.metadata.edits else block
    fields = {"tags": list(item.metadata.tags), "suggested_tags": list(item.metadata.open_suggestions)}
    lines = write_frontmatter(fields).removeprefix("---\n").removesuffix("---\n")
    block = _OLD_LINE.sub("", block)
    if item.metadata.has_only_address:
        reason = write_frontmatter({"reason": item.metadata.reason}).removeprefix("---\n").removesuffix("---\n")
        block = f"{_OLD_REASON.sub('', block)}{reason}"
    found = _FOLLOWING.search(block)
    at = found.start() if found else len(block)
    return f"---\n{block[:at]}{lines}{block[at:]}{rest}"


def edited_frontmatter(item: Item) -> dict[str, object]:
    """Return the fields that the user edited as the frontmatter has them, and their names; empty when there are none."""
    edits = item.metadata.edits or {}
    fields: dict[str, object] = {ours: edits[name] for name, ours in EDITED_NAMES.items() if name in edits}
    if "published_date" in fields:
        fields["published_date"] = stamp(str(edits["published_at"] or "")[:10])
    return {**fields, EDITED_FIELD: list(fields)} if fields else {}


def _with_edits(block: str, item: Item) -> str:
    """Return the frontmatter with what the user edited, and the names of these fields."""
    try:
        fields = read_block(block)
    except ParseError:
        return block
    fields |= edited_frontmatter(item)
    ordered = {name: fields[name] for name in _FIRST_FIELDS if name in fields}
    return write_frontmatter({**ordered, **fields}).removeprefix("---\n").removesuffix("---\n")
