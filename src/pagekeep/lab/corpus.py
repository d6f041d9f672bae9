"""Reads corpora: pages beside what a careful reader kept of them.

Two layouts. Flat: `NAME.html` or `NAME.html.gz` beside `NAME.json` (url, kind, title, author, published, text, with,
without, and where known links, images, videos). Folders: `NAME/source.html`, `NAME/expected.html` and
`NAME/expected-metadata.json`, each plain or gzipped, as Mozilla's Readability keeps its test pages.
"""

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
_VIDEO_HOSTS = ("youtube.com", "youtube-nocookie.com", "youtu.be", "vimeo.com", "dailymotion.com", "player.twitch.tv")


@dataclass(frozen=True, slots=True)
class Gold:
    """What a careful reader kept of a page. `None` means the reference does not say."""

    text: str
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
    gold: Gold


def find(corpus: Path, limit: int | None = None) -> list[Case]:
    """The corpus's pages in name order; with a limit, that many spread evenly. `NotFound` when there is none."""
    if not corpus.is_dir():
        raise NotFound(f"There is no corpus folder {corpus}.")
    cases = _flat(corpus) or _folders(corpus)
    if not cases:
        raise NotFound(
            f"{corpus} holds no pages to measure.",
            suggestions=("Put NAME.html (or NAME.html.gz) beside NAME.json in it.",),
        )
    return spread(cases, limit)


def holds_markdown(corpus: Path) -> bool:
    """Whether the folder holds hard cases of Markdown: `NAME.html` beside `NAME.md`, measured by `markdown_cases`."""
    return any(page.with_suffix(".md").is_file() for page in corpus.glob("*.html"))


def spread(cases: list[Case], limit: int | None) -> list[Case]:
    """At most `limit` cases (at least one), evenly spaced, so that a small sample still meets every kind."""
    if limit is None or limit >= len(cases):
        return cases
    size = max(limit, 1)
    return [cases[index * len(cases) // size] for index in range(size)]


def read(case: Case) -> Sample:
    """The page and its reference; `ParseError` names the file that cannot be understood."""
    if case.reference.suffix == ".json":
        return _read_flat(case)
    return _read_folder(case)


def _flat(corpus: Path) -> list[Case]:
    cases = []
    for reference in sorted(corpus.glob("*.json")):
        source = _either(corpus / f"{reference.stem}.html")
        if source is None:
            raise NotFound(f"{reference.name} has no page {reference.stem}.html beside it.")
        cases.append(Case(reference.stem, source, reference))
    return cases


def _folders(corpus: Path) -> list[Case]:
    cases = []
    for folder in sorted(path for path in corpus.iterdir() if path.is_dir()):
        source, reference = _either(folder / "source.html"), _either(folder / "expected.html")
        if source is not None and reference is not None:
            cases.append(Case(folder.name, source, reference))
    return cases


def _either(path: Path) -> Path | None:
    """The file itself or its gzipped twin."""
    zipped = path.with_name(path.name + ".gz")
    return path if path.is_file() else zipped if zipped.is_file() else None


def bytes_of(path: Path) -> bytes:
    """A file, unpacked when it is gzipped."""
    data = path.read_bytes()
    if path.suffix != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ParseError(f"{path.name} is not a whole gzip file.") from error


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(bytes_of(path))
    except ValueError as error:
        raise ParseError(f"{path.name} is not valid JSON: {error}.") from error
    if not isinstance(value, dict):
        raise ParseError(f"{path.name} must hold one JSON object.")
    return value


def _read_flat(case: Case) -> Sample:
    reference = _json(case.reference)
    kind, text = reference.get("kind"), reference.get("text")
    if kind not in KINDS:
        raise ParseError(f"{case.reference.name}: kind is {kind!r}, not one of {', '.join(KINDS)}.")
    if not isinstance(text, str):
        raise ParseError(f"{case.reference.name}: text must be a string.")
    gold = Gold(
        text=text,
        title=reference.get("title") or None,
        author=reference.get("author") or None,
        published=reference.get("published") or None,
        with_=tuple(reference.get("with") or ()),
        without=tuple(reference.get("without") or ()),
        links=_urls(reference.get("links")),
        images=_urls(reference.get("images")),
        videos=_urls(reference.get("videos")),
    )
    return Sample(case.name, reference.get("url"), kind, bytes_of(case.source), gold)


def _urls(value: list[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)


def _read_folder(case: Case) -> Sample:
    metadata_file = _either(case.reference.with_name("expected-metadata.json"))
    metadata = _json(metadata_file) if metadata_file is not None else {}
    root = dom.parse_fragment(bytes_of(case.reference).decode("utf-8", "replace"))
    gold = Gold(
        text=text_of(root),
        title=metadata.get("title") or None,
        author=metadata.get("byline") or None,
        published=metadata.get("publishedTime") or None,
        links=_values(root, "a[href]", "href"),
        images=_values(root, "img[src]", "src"),
        videos=tuple(url for url in _values(root, "iframe[src], embed[src], video[src]", "src") if is_video(url)),
    )
    return Sample(case.name, FOLDER_URL, "article", bytes_of(case.source), gold)


def _values(root: dom.Element, css: str, name: str) -> tuple[str, ...]:
    return tuple(str(found.attr(name) or "") for found in dom.select(root, css))


def is_video(url: str) -> bool:
    """Whether the address belongs to a player of films."""
    return any(host in url for host in _VIDEO_HOSTS)


def text_of(root: dom.Node) -> str:
    """The words below a node, with line breaks where blocks begin and end."""
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
