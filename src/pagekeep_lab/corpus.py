"""Read corpora: pages with references, which people wrote for them.

There are two layouts. Flat: `NAME.html` or `NAME.html.gz` beside `NAME.json` (url and any of kind, title, author, published,
text, with, without, first_words, links, images, videos: what a reference lacks is not measured; a page without a kind is an
article). Folders: `NAME/source.html`, `NAME/expected.html` and
`NAME/expected-metadata.json`, each plain or gzipped, as Mozilla's Readability keeps its test pages."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagekeep import dom
from pagekeep.errors import NotFound, ParseError
from pagekeep.model import KINDS

FOLDER_URL = "http://fakehost/test/page.html"
"""The address Readability's test pages pretend to come from; their expected links are resolved against it."""

_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "br", "caption", "dd", "details", "div", "dl", "dt", "fieldset"),
        *("figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main"),
        *("nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
    )
)
_MEASURED_KEYS = ("text", "with", "without", "first_words", "title", "author", "published")
_VIDEO_HOSTS = ("youtube.com", "youtube-nocookie.com", "youtu.be", "vimeo.com", "dailymotion.com", "player.twitch.tv")


@dataclass(frozen=True, slots=True)
class Reference:
    """The right result for a page, as a person wrote it. `None` means that the reference does not have the value."""

    text: str | None
    title: str | None = None
    author: str | None = None
    published: str | None = None
    with_: tuple[str, ...] = ()
    """Snippets that must be in the result."""
    without: tuple[str, ...] = ()
    """Snippets that must not."""
    links: tuple[str, ...] | None = None
    images: tuple[str, ...] | None = None
    videos: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One page of a corpus, not yet read."""

    name: str
    source: Path
    """The HTML, plain or gzipped."""
    reference: Path
    """The JSON of the flat layout, or the expected HTML of the folder layout."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One page of a corpus, read."""

    name: str
    url: str | None
    kind: str
    html: bytes
    gold: Reference


def find_cases(corpus: Path, limit: int | None = None) -> list[Case]:
    """Return the pages in name order; with a limit, that many spread evenly. Raise `NotFound` without pages."""
    if not corpus.is_dir():
        raise NotFound(f"The corpus folder {corpus} does not exist.")
    cases = _find_flat(corpus) or _find_folders(corpus)
    if not cases:
        raise NotFound(
            f"{corpus} contains no pages to measure.",
            suggestions=("Put NAME.html (or NAME.html.gz) beside NAME.json in it.",),
        )
    return spread_evenly(cases, limit)


def has_markdown_cases(corpus: Path) -> bool:
    """Return whether the folder has Markdown cases, `NAME.html` beside `NAME.md`, which `lab.markdown.cases` measures."""
    return any(page.with_suffix(".md").is_file() for page in corpus.glob("*.html"))


def spread_evenly(cases: list[Case], limit: int | None) -> list[Case]:
    """Return at most `limit` cases (at least one), evenly spaced, so that a small sample has every kind of page."""
    if limit is None or limit >= len(cases):
        return cases
    size = max(limit, 1)
    return [cases[index * len(cases) // size] for index in range(size)]


def read_case(case: Case) -> Sample:
    """Return the page and its reference; raise `ParseError` for a file that is not valid."""
    if case.reference.suffix == ".json":
        return _read_flat(case)
    return _read_folder(case)


def _find_flat(corpus: Path) -> list[Case]:
    cases = []
    for reference in sorted(corpus.glob("*.json")):
        source = _find_file(corpus / f"{reference.stem}.html")
        if source is None:
            raise NotFound(f"{reference.name} has no page {reference.stem}.html beside it.")
        cases.append(Case(reference.stem, source, reference))
    return cases


def _find_folders(corpus: Path) -> list[Case]:
    cases = []
    for folder in sorted(path for path in corpus.iterdir() if path.is_dir()):
        source, reference = _find_file(folder / "source.html"), _find_file(folder / "expected.html")
        if source is not None and reference is not None:
            cases.append(Case(folder.name, source, reference))
    return cases


def _find_file(path: Path) -> Path | None:
    """Return the file or its gzipped form, or `None`."""
    zipped = path.with_name(path.name + ".gz")
    return path if path.is_file() else zipped if zipped.is_file() else None


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file, decompressed when it is gzipped."""
    data = path.read_bytes()
    if path.suffix != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ParseError(f"{path.name} is not a complete gzip file.") from error


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_bytes(path))
    except ValueError as error:
        raise ParseError(f"{path.name} is not valid JSON: {error}.") from error
    if not isinstance(value, dict):
        raise ParseError(f"{path.name} must contain one JSON object.")
    return value


def _read_flat(case: Case) -> Sample:
    reference = _read_json(case.reference)
    kind, text = reference.get("kind", "article"), reference.get("text")
    if kind not in KINDS:
        raise ParseError(f"{case.reference.name}: kind is {kind!r}, not one of {', '.join(KINDS)}.")
    if text is not None and not isinstance(text, str):
        raise ParseError(f"{case.reference.name}: text must be a string.")
    if not any(key in reference for key in _MEASURED_KEYS):
        raise ParseError(f"{case.reference.name} has nothing to compare with: none of {', '.join(_MEASURED_KEYS)}.")
    gold = Reference(
        text=text,
        title=reference.get("title") or None,
        author=reference.get("author") or None,
        published=reference.get("published") or None,
        with_=(*(reference.get("with") or ()), *filter(None, (reference.get("first_words"),))),
        without=tuple(reference.get("without") or ()),
        links=_urls(reference.get("links")),
        images=_urls(reference.get("images")),
        videos=_urls(reference.get("videos")),
    )
    return Sample(case.name, reference.get("url"), kind, read_bytes(case.source), gold)


def _urls(value: list[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)


def _read_folder(case: Case) -> Sample:
    metadata_file = _find_file(case.reference.with_name("expected-metadata.json"))
    metadata = _read_json(metadata_file) if metadata_file is not None else {}
    root = dom.parse_fragment(read_bytes(case.reference).decode("utf-8", "replace"))
    gold = Reference(
        text=block_text(root),
        title=metadata.get("title") or None,
        author=metadata.get("byline") or None,
        published=metadata.get("publishedTime") or None,
        links=_attribute_values(root, "a[href]", "href"),
        images=_attribute_values(root, "img[src]", "src"),
        videos=tuple(
            url for url in _attribute_values(root, "iframe[src], embed[src], video[src]", "src") if is_video(url)
        ),
    )
    return Sample(case.name, FOLDER_URL, "article", read_bytes(case.source), gold)


def _attribute_values(root: dom.Element, css: str, name: str) -> tuple[str, ...]:
    return tuple(str(element.attr(name) or "") for element in dom.select(root, css))


def is_video(url: str) -> bool:
    """Return whether the address belongs to a video player."""
    return any(host in url for host in _VIDEO_HOSTS)


def block_text(root: dom.Node) -> str:
    """Return the text of a node, with line breaks where blocks begin and end."""
    parts: list[str] = []
    pending: list[dom.Node | str] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            parts.append(node)
        elif isinstance(node, dom.Text):
            parts.append(node.data)
        elif isinstance(node, (dom.Element, dom.Document)):
            edge = "\n" if isinstance(node, dom.Element) and node.tag in _BLOCKS else ""
            parts.append(edge)
            pending.append(edge)
            pending.extend(reversed(node.children))
    return "".join(parts)
