"""The content of an item as it is shown: with the user's tags in its frontmatter."""

from __future__ import annotations

import re
from typing import Final

from pagekeep.markdown.frontmatter import split_block, write_frontmatter
from pagekeep.model import Item

_OLD_LINE: Final = re.compile(r"^(?:suggested_)?tags: .*\n", re.MULTILINE)
_FOLLOWING: Final = re.compile(r"^(?:quality|saved_at|extraction_failed|discarded|reason|rule_id): ", re.MULTILINE)
"""The fields after the tags, in the order of the frontmatter."""


def shown_content(item: Item) -> str:
    """Return frontmatter and Markdown; `tags` are the user's, `suggested_tags` those that are not tags yet.

    The stored frontmatter is made from the page alone, so that a change of tags does not change the content.
    """
    block, _ = split_block(item.content)
    if not block:
        return item.content
    rest = item.content[len("---\n") + len(block) :]
    fields = {"tags": list(item.metadata.tags), "suggested_tags": list(item.metadata.open_suggestions)}
    lines = write_frontmatter(fields).removeprefix("---\n").removesuffix("---\n")
    block = _OLD_LINE.sub("", block)
    found = _FOLLOWING.search(block)
    at = found.start() if found else len(block)
    return f"---\n{block[:at]}{lines}{block[at:]}{rest}"
