"""Let links between the pages of a pack lead to their files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from pagekeep.library.packs.pack import PackPage, key

_FENCE: Final = re.compile(r"[ >]*(`{3,}|~{3,})")
_TARGET: Final = re.compile(r"\]\((<[^<>\n]{1,8000}>|[^\s()<>]{1,8000})")
"""The address of a link as our writer writes it."""


def file_targets(pages: list[PackPage]) -> dict[str, str]:
    """Return the file of each address, under every address that leads to it."""
    return {key(url): one.path for one in reversed(pages) for url in (one.page.url, *one.page.aliases)}


def rewrite_links(markdown: str, here: str, targets: Mapping[str, str]) -> str:
    """Return the Markdown with links to pages of the pack as relative paths; code stays as it is."""
    folder = posixpath.dirname(here) or "."

    def replace(match: re.Match[str]) -> str:
        url = match[1].strip("<>")
        path = targets.get(key(url)) if "://" in url else None
        if path is None:
            return match[0]
        hash_sign, fragment = ("#", url.partition("#")[2]) if "#" in url else ("", "")
        if path == here:
            return f"]({hash_sign}{fragment}" if fragment else f"]({quote(posixpath.basename(here))}"
        return f"]({quote(posixpath.relpath(path, folder))}{hash_sign}{fragment}"

    fence = ""
    lines = markdown.split("\n")
    for number, line in enumerate(lines):
        opened = _FENCE.match(line)
        if opened and (not fence or (opened[1][0] == fence[0] and len(opened[1]) >= len(fence))):
            fence = "" if fence else opened[1]
        elif not fence and "](" in line:
            lines[number] = _TARGET.sub(replace, line)
    return "\n".join(lines)
