"""Omnivore: lists of pages in JSON, their HTML and the marked passages in folders beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from pagekeep.errors import NotFound, PagekeepError
from pagekeep.library.imports.input.objects import Entry, object_rows
from pagekeep.library.imports.input.row import Fault, Found, Highlight, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source, Tree
from pagekeep.library.imports.input.values import moment, names, published, text

_LIST: Final = re.compile(r"(?:^|/)metadata_(\d{1,12})_to_(\d{1,12})\.json$")
_BLANK: Final = re.compile(r"\r?\n[ \t]*+(?:\r?\n[ \t]*+)++")
_LARGEST_PAGE: Final = 10_000_000
"""Characters."""
_LARGEST_NOTES: Final = 2_000_000


def knows(sample: Sample) -> bool:
    """One of its lists, without the rest."""
    return {"slug", "savedAt", "url"} <= sample.first.keys()


def rows(source: Source) -> Iterator[Found]:
    """Every page of one list."""
    return object_rows(source, _row)


def knows_tree(names: list[str]) -> bool:
    """By its lists."""
    return any(map(_LIST.search, names))


def tree_rows(tree: Tree) -> Iterator[Found]:
    """Every page with its HTML and what was marked in it."""
    lists = sorted((int(found[1]), name) for name in tree.names() if (found := _LIST.search(name)))
    for _, name in lists:
        base = name.rpartition("/")[0]
        try:
            yield from object_rows(tree.source(name), lambda place, entry, base=base: _whole(tree, base, place, entry))  # type: ignore[misc]
        except PagekeepError as error:
            yield Fault(Place(0, 0, name), error.message)


def _row(place: Place, entry: Entry) -> Row:
    begun = _number(entry.get("readingProgress")) > 0
    return Row(
        place,
        url=text(entry.get("url")),
        title=text(entry.get("title")),
        saved_at=moment(entry.get("savedAt")),
        published_at=published(entry.get("publishedAt")),
        opened_at=moment(entry.get("updatedAt")) if begun else None,
        author=text(entry.get("author")),
        description=text(entry.get("description")),
        image=text(entry.get("thumbnail")),
        tags=names(entry.get("labels")),
        archived=text(entry.get("state")).lower() == "archived",
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _whole(tree: Tree, base: str, place: Place, entry: Entry) -> Row:
    row, slug = _row(place, entry), text(entry.get("slug"))
    begin = f"{base}/" if base else ""
    if not slug:
        return row
    try:
        content, remarks = _content(tree, f"{begin}content/{slug}")
        notes = _read(tree, f"{begin}highlights/{slug}.md", _LARGEST_NOTES)
    except PagekeepError as error:
        return replace(row, remarks=(error.message,))
    return replace(row, content=content, highlights=tuple(passages(notes or "")), remarks=remarks)


def _content(tree: Tree, stem: str) -> tuple[str, tuple[str, ...]]:
    html = _read(tree, f"{stem}.html", _LARGEST_PAGE + 1)
    if html is None:
        is_pdf = _read(tree, f"{stem}.pdf", 1) is not None
        return "", ("The PDF was not carried over: Pagekeep keeps web pages.",) if is_pdf else ()
    if len(html) > _LARGEST_PAGE:
        return "", ("The page was too large to carry over.",)
    return html, ()


def _read(tree: Tree, name: str, most: int) -> str | None:
    """The beginning of a file; `None` when it is not there."""
    try:
        with tree.source(name).text() as stream:
            return stream.read(most)
    except NotFound:
        return None


def passages(written: str) -> list[Highlight]:
    """Quotations, each with the words that stand below it; words above the first are a note on the page."""
    found = [Highlight("")]
    for block in _BLANK.split(written):
        lines = block.strip().splitlines()
        quote = [line[1:].strip() for line in lines if line.startswith(">")]
        said = "\n".join(line for line in lines if not line.startswith(">"))
        if quote:
            found.append(Highlight("\n".join(quote).strip(), said))
        elif said:
            found[-1] = replace(found[-1], note=f"{found[-1].note}\n\n{said}".strip())
    return [mark for mark in found if mark.quote or mark.note]
