"""A page as a caller wants to see it: parts left out, parts alone, the whole of it, without its images or links.

Runs where pages are read, in a process that can be killed: the selectors are the caller's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from pagekeep import dom, markdown
from pagekeep.capture.from_url import is_text, read_page
from pagekeep.capture.view_options import View
from pagekeep.errors import ParseError
from pagekeep.extraction.clean import clean
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.decode import decode
from pagekeep.extraction.output import references
from pagekeep.extraction.output.sanitise import sanitise
from pagekeep.model import Fetched, Options, Page
from pagekeep.rules import Rulebook
from pagekeep.text import count_words, reading_time

_OVERLAYS: Final = (
    "dialog",
    "[role=dialog]",
    "[role=alertdialog]",
    "[aria-modal=true]",
    ".modal",
    ".overlay",
    ".popup",
    ".cookie-banner",
    "#cookie-banner",
    ".newsletter-popup",
)


def view_page(fetched: Fetched, options: Options, rules: Rulebook, view: View) -> Page:
    """The page so."""
    if is_text(fetched):
        page = read_page(fetched, options, rules)
        return replace(page, document=markdown.write_document(page, saved_at=options.saved_at))
    options = replace(options, encoding=fetched.encoding, status=fetched.status, rendered=fetched.rendered)
    source, _ = decode(fetched.body, options)
    document = dom.parse(source)
    _drop(document, (*view.without, *(() if view.overlays else _OVERLAYS)))
    left = replace(fetched, body=dom.html_of(document).encode("utf-8", "replace"), encoding="utf-8")
    page = read_page(left, replace(options, max_bytes=len(left.body)), rules)
    if view.whole or view.only:
        page = _shown(page, _parts(document, view.only), document, options)
    page = _retained(page, view)
    return replace(page, document=_document(page, view, options))


def _drop(document: dom.Document, wanted: Iterable[str]) -> None:
    selector = ", ".join(wanted)
    for element in dom.select(document, selector) if selector else ():
        if element.tag not in ("html", "body"):
            dom.drop(element)


def _parts(document: dom.Document, only: tuple[str, ...]) -> list[dom.Element]:
    """The parts that are wanted, none of them within another; the whole body where nothing is said."""
    if not only:
        body = dom.first(document, "body")
        return [body] if body else []
    named = ", ".join(only)
    found = dom.select(document, named)
    if not found:
        raise ParseError(f"The page has nothing at `{named:.200}`.", suggestions=("Give another selector.",))
    inner = {id(element) for outer in found for element in dom.select(outer, named)}
    return [element for element in found if id(element) not in inner]


def _shown(page: Page, parts: list[dom.Element], document: dom.Document, options: Options) -> Page:
    """The page with these parts as its content."""
    root = dom.element("div", None, *(_block(part) for part in parts))
    dom.bound_depth(root)
    base_url = urls.base(document, page.url or page.metadata.canonical)
    content, _ = clean(root, base_url, skip=options.skip_steps)
    html, tree = sanitise(content)
    return _with(page, html, tree)


def _block(part: dom.Element) -> dom.Element:
    """A copy that can stand in a page's content."""
    copied = dom.copy(part)
    if copied.tag in ("html", "body", "main", "article"):
        dom.retag(copied, "div")
    return copied


def _retained(page: Page, view: View) -> Page:
    if view.images == view.links == "all":
        return page
    root = dom.parse_fragment(page.html)
    for image in dom.tagged(root, ("img",)) if view.images != "all" else ():
        alt = dom.attributes(image).get("alt", "") if view.images == "alt" else ""
        dom.replace(image, alt) if alt else dom.drop(image)
    for link in dom.tagged(root, ("a",)) if view.links != "all" else ():
        dom.unwrap(link) if view.links == "text" else dom.drop(link)
    html, tree = sanitise(root)
    return _with(page, html, tree)


def _document(page: Page, view: View, options: Options) -> str:
    """Write the document; without images it has no hero image either."""
    if view.images != "all":
        page = replace(page, metadata=replace(page.metadata, hero_image=None))
    return markdown.write_document(page, saved_at=options.saved_at)


def _with(page: Page, html: str, tree: dom.Element) -> Page:
    """The page with another content."""
    text, written = markdown.to_text(tree), markdown.to_markdown(tree)
    count = count_words(text)
    return replace(
        page,
        markdown=written,
        html=html,
        text=text,
        links=references.links(tree),
        media=references.media(tree),
        word_count=count,
        reading_time=reading_time(count),
    )
