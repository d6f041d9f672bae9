"""The formats that can be imported, and telling which one a file has by looking at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from pagekeep.errors import UnsupportedContent
from pagekeep.library.imports import failed_rows
from pagekeep.library.imports.formats import (
    goodlinks,
    instapaper,
    karakeep,
    linkwarden,
    lists,
    matter,
    netscape,
    omnivore,
    pagekeep_jsonl,
    pagekeep_markdown,
    pinboard,
    pocket,
    raindrop,
    readwise,
    wallabag,
)
from pagekeep.library.imports.input.row import Found
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source, Tree


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file. Several may belong to one program."""

    name: str
    """What `--format` takes."""
    title: str
    knows: Callable[[Sample], bool]
    rows: Callable[[Source], Iterator[Found]]


@dataclass(frozen=True, slots=True)
class TreeFormat:
    """A kind of folder or archive whose files belong together."""

    name: str
    title: str
    knows: Callable[[list[str]], bool]
    rows: Callable[[Tree], Iterator[Found]]


FORMATS: Final = (
    Format("failed", "Rows that failed before", failed_rows.knows, failed_rows.rows),
    Format("pagekeep", "Pagekeep (lines of JSON)", pagekeep_jsonl.knows, pagekeep_jsonl.rows),
    Format("markdown", "Markdown with frontmatter", pagekeep_markdown.knows, pagekeep_markdown.rows),
    Format("netscape", "Bookmarks of a browser", netscape.knows, netscape.rows),
    Format("pocket", "Pocket", pocket.knows_table, pocket.table_rows),
    Format("pocket", "Pocket (page of links)", pocket.knows_page, pocket.page_rows),
    Format("omnivore", "Omnivore (a list alone)", omnivore.knows, omnivore.rows),
    Format("wallabag", "wallabag", wallabag.knows, wallabag.rows),
    Format("instapaper", "Instapaper", instapaper.knows, instapaper.rows),
    Format("readwise", "Readwise Reader", readwise.knows, readwise.rows),
    Format("goodlinks", "GoodLinks", goodlinks.knows, goodlinks.rows),
    Format("matter", "Matter", matter.knows, matter.rows),
    Format("raindrop", "Raindrop.io", raindrop.knows, raindrop.rows),
    Format("karakeep", "Karakeep", karakeep.knows, karakeep.rows),
    Format("linkwarden", "Linkwarden", linkwarden.knows, linkwarden.rows),
    Format("pinboard", "Pinboard", pinboard.knows, pinboard.rows),
    Format("pocket", "Pocket (marked passages)", pocket.knows_highlights, pocket.highlight_rows),
    Format("list", "OneTab, or a list of addresses", lists.knows, lists.rows),
)
"""In the order in which they are tried."""

TREE_FORMATS: Final = (
    TreeFormat("omnivore", "Omnivore", omnivore.knows_tree, omnivore.tree_rows),
    TreeFormat("markdown", "Markdown with frontmatter", pagekeep_markdown.knows_tree, pagekeep_markdown.tree_rows),
)

NAMES: Final = tuple(dict.fromkeys(known.name for known in (*FORMATS, *TREE_FORMATS)))


def recognise(source: Source, name: str | None = None) -> Format:
    """The format of a file; with a name, one of that program. `UnsupportedContent` when it has none that we know."""
    sample = Sample(source)
    candidates = [known for known in FORMATS if name in (None, known.name)]
    found = next((known for known in candidates if known.knows(sample)), None)
    if found is not None:
        return found
    if name is not None and candidates:
        return candidates[0]
    raise UnsupportedContent(
        f"The format of {source.part or source.name} is not known.",
        suggestions=(f"Known are: {', '.join(NAMES)}.",),
    )


def recognise_tree(tree: Tree, name: str | None = None) -> TreeFormat | None:
    """The format of a folder or archive as a whole; `None` when each of its files stands for itself."""
    names = tree.names()
    candidates = (known for known in TREE_FORMATS if name in (None, known.name))
    return next((known for known in candidates if known.knows(names)), None)
