"""Write the document to save: frontmatter, hero image, title and body."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from pagekeep.markdown.frontmatter import page_fields, write_frontmatter
from pagekeep.markdown.inline.escape import clean, destination, escape, publish
from pagekeep.model import Metadata, Page, Quality
from pagekeep.text import compile_lazily, count_words

_IMAGE: Final = compile_lazily(r"!\[(?:[^\[\]\\\n]++|\\.)*+\]\(((?:[^()\s]++|\([^()\s]*+\))++)")
_FIRST_LINES: Final = 3
"""Lines of the body in which the title may be: an image or a date may come before it."""
_HEAD_CHARS: Final = 4_000
_HEAD_LINES: Final = 12
_SIZE: Final = compile_lazily(
    r"(?:[-_](?:\d{2,5}x\d{2,5}|\d{2,5}w|scaled|large|medium|small|thumb(?:nail)?))+(?=\.\w+$|$)"
)
_TAIL_CHARS: Final = 100
"""Characters at the end of a path that are searched for a size."""
_LINK_END: Final = compile_lazily(r"\]\([^)\s]*\)")
_WORD: Final = compile_lazily(r"\w+")


_ESCAPES: Final = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>#|~$"})
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


def write_bookmark(about: Metadata, *, url: str, saved_at: str | None = None) -> str:
    """Return the document of a page that was not fetched: what is known about it, and its description as text."""
    description = about.description or ""
    quality = Quality(0, "bookmark", "orange", "Saved as bookmark", ())
    fields = page_fields(about, quality, url=url, word_count=count_words(description), saved_at=saved_at)
    return join_document(write_frontmatter(fields), about, description.translate(_ESCAPES))


def join_document(frontmatter_block: str, metadata: Metadata, body: str) -> str:
    """Join the frontmatter, the hero image unless the body shows it, the title unless the body starts with it, the body."""
    parts = [frontmatter_block.rstrip("\n")] if frontmatter_block else []
    if metadata.hero_image and not _shows(body, metadata.hero_image):
        src = destination(metadata.hero_image)
        parts.append(f"[![]({src})]({src})")
    title = " ".join((metadata.title or "").split())
    if title and not _starts_with(body, title):
        parts.append(f"# {_heading(title)}")
    if body:
        parts.append(body.rstrip("\n"))
    return "\n\n".join(parts) + "\n" if parts else ""


def _heading(title: str) -> str:
    text = publish(escape(clean(title)))
    return re.sub(r"(?:^|(?<= ))(?=#+$)", r"\\", text)


def _shows(body: str, hero: str) -> bool:
    """Return whether the body shows the image, in any size and with any query."""
    picture = _picture(destination(hero))
    return any(_picture(src) == picture for src in _IMAGE.findall(body))


def _picture(url: str) -> str:
    """Return the part of the URL that is the same for all sizes of an image."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.netloc.lower()}{parts.path[:-_TAIL_CHARS]}{_SIZE.sub('', parts.path[-_TAIL_CHARS:])}"


def _starts_with(body: str, title: str) -> bool:
    """Return whether one of the body's first lines is a heading with the words of the title."""
    lines = [line for line in body[:_HEAD_CHARS].split("\n", _HEAD_LINES) if line.strip()][:_FIRST_LINES]
    return any(line.startswith("#") and _words(_LINK_END.sub("]", line)) == _words(title) for line in lines)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.replace("_", " ").casefold())
