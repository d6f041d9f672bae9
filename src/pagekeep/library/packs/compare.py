"""Compare two packs of the same site: which pages came, went, moved and changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pagekeep.library.packs.folder import PackFile, read_file, read_manifest
from pagekeep.library.packs.pack import key

Change = Literal["added", "removed", "moved", "changed"]


@dataclass(frozen=True, slots=True)
class PageChange:
    """What happened to a page from one pack to the other."""

    change: Change
    path: str
    """In the newer pack; of a removed page, in the older one."""
    title: str
    url: str
    old_path: str | None = None
    """Of a moved page."""
    lines: tuple[str, ...] = ()
    """Of a changed page: the difference of the texts."""


def compare_packs(older: Path, newer: Path, difference: Callable[[str, str], tuple[str, ...]]) -> Iterator[PageChange]:
    """Yield the changes, in the order of the newer pack, removed pages last.

    Pages are the same by path or address, or by text if they moved. `difference` compares two texts. Changes of links
    alone do not count.
    """
    before, after = read_manifest(older), read_manifest(newer)
    by_path = {file.path: file for file in before.files}
    by_url = {key(file.url): file for file in before.files}
    by_text = {file.text_sha256: file for file in before.files}
    matched: set[str] = set()
    added: list[PackFile] = []
    for file in after.files:
        old = by_path.get(file.path) or by_url.get(key(file.url))
        if old is None:
            added.append(file)
            continue
        matched.add(old.path)
        if old.text_sha256 != file.text_sha256:
            lines = difference(_text(older, old), _text(newer, file))
            if lines:
                yield PageChange("changed", file.path, file.title, file.url, lines=lines)
    for file in added:
        old = by_text.get(file.text_sha256)
        if old is not None and old.path not in matched:
            matched.add(old.path)
            yield PageChange("moved", file.path, file.title, file.url, old_path=old.path)
        else:
            yield PageChange("added", file.path, file.title, file.url)
    for file in before.files:
        if file.path not in matched:
            yield PageChange("removed", file.path, file.title, file.url)


def _text(folder: Path, file: PackFile) -> str:
    """Return the text of a page without its frontmatter: a new address does not change the text."""
    from pagekeep.markdown.frontmatter import split_block

    return split_block(read_file(folder, file))[1]
