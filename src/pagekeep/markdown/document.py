"""The file to keep: frontmatter, hero image, title and body."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from pagekeep.markdown.frontmatter import page_fields, write_frontmatter
from pagekeep.markdown.inline.escape import clean, destination, escape, publish
from pagekeep.model import Metadata, Page

_IMAGE: Final = re.compile(r"!\[(?:[^\[\]\\\n]++|\\.)*+\]\(((?:[^()\s]++|\([^()\s]*+\))++)")
_FIRST_LINES: Final = 3
_SIZE: Final = re.compile(r"(?:[-_](?:\d{2,5}x\d{2,5}|\d{2,5}w|scaled|large|medium|small|thumb(?:nail)?))+(?=\.\w+$|$)")
_TAIL: Final = 100
"""Where in a path a size is looked for."""
_LINK_END: Final = re.compile(r"\]\([^)\s]*\)")
_WORD: Final = re.compile(r"\w+")


_DISCARDED: Final = "[Content discarded by parsing rule]"


def write_document(page: Page, *, url: str | None = None, saved_at: str | None = None) -> str:
    """Return the page's frontmatter and Markdown as one file.

    The address in the frontmatter is `url`, else the page's own; `saved_at` is the ISO 8601 time at which it was saved.
    """
    fields = page_fields(
        page.metadata,
        page.quality,
        url=url or page.url or page.metadata.canonical,
        word_count=page.word_count,
        saved_at=saved_at,
        rule_id=page.discarded_by,
    )
    block = write_frontmatter(fields)
    if page.discarded_by and not page.markdown:
        return join_document(block, Metadata(), _DISCARDED)
    return join_document(block, page.metadata, page.markdown)


def join_document(frontmatter_block: str, metadata: Metadata, body: str) -> str:
    """Join the frontmatter, the hero image unless the body shows it, the title unless the body begins with it, the body."""
    parts = [frontmatter_block.rstrip("\n")] if frontmatter_block else []
    if metadata.hero_image and not _shows(body, metadata.hero_image):
        src = destination(metadata.hero_image)
        parts.append(f"[![Article hero image]({src})]({src})")
    title = " ".join((metadata.title or "").split())
    if title and not _begins_with(body, title):
        parts.append(f"# {_heading(title)}")
    if body:
        parts.append(body.rstrip("\n"))
    return "\n\n".join(parts) + "\n" if parts else ""


def _heading(title: str) -> str:
    text = publish(escape(clean(title)))
    return re.sub(r"(?:^|(?<= ))(?=#+$)", r"\\", text)


def _shows(body: str, hero: str) -> bool:
    """Whether the body shows the image, in whatever size or with whatever query."""
    wanted = _picture(destination(hero))
    return any(_picture(src) == wanted for src in _IMAGE.findall(body))


def _picture(url: str) -> str:
    """What stays the same when a page asks for the same image in another size."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.netloc.lower()}{parts.path[:-_TAIL]}{_SIZE.sub('', parts.path[-_TAIL:])}"


def _begins_with(body: str, title: str) -> bool:
    """Whether one of the body's first lines is a heading with the words of the title."""
    lines = [line for line in body[:4000].split("\n", 12) if line.strip()][:_FIRST_LINES]
    return any(line.startswith("#") and _words(_LINK_END.sub("]", line)) == _words(title) for line in lines)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.replace("_", " ").casefold())
