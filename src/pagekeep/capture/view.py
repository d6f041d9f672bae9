"""Extract a view of a page: only some parts, without some parts, the whole page, without images or links.

Runs in a worker process with limits, as the selectors come from the caller.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from pagekeep import dom, markdown
from pagekeep.capture.extract import ViewOptions, document_type, extract_page, is_text
from pagekeep.capture.join_pages import extract_joined
from pagekeep.capture.joined_file import first_page, is_joined
from pagekeep.capture.page_output import replace_content, write_output
from pagekeep.errors import ParseError
from pagekeep.extraction.clean import clean
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.decode import decode
from pagekeep.model import Fetched, Options, Page
from pagekeep.rules import Rulebook

_OVERLAYS: Final = tuple(
    "dialog [role=dialog] [role=alertdialog] [aria-modal=true] .modal .overlay .popup .cookie-banner #cookie-banner "
    ".newsletter-popup".split()
)
MAX_VALUES: Final = 1_000
"""Values for each selector."""
_MAX_CHARS: Final = 8_192
"""Characters of a value; longer ones carry data, such as an image."""


def view_page(fetched: Fetched, options: Options, rules: Rulebook, view: ViewOptions) -> Page:
    """Extract the page with the view's options; a view of the whole page is of the first page of an article."""
    if is_joined(fetched):
        fetched = first_page(fetched) if view.whole else fetched
    if is_joined(fetched):
        page = extract_joined(fetched, options, lambda one: view_page(one, options, rules, view))
        return page.with_document(_document(page, view, options))
    if is_text(fetched):
        page = extract_page(fetched, options, rules)
        return page.with_document(markdown.write_document(page, saved_at=options.saved_at))
    if document_type(fetched):
        return _view_document(extract_page(fetched, options, rules), options, view)
    options = replace(options, encoding=fetched.encoding, status=fetched.status, rendered=fetched.rendered)
    source, _ = decode(fetched.body, options)
    document = dom.parse(source)
    _drop(document, (*view.without, *(() if view.overlays else _OVERLAYS)))
    reduced = replace(fetched, body=dom.html_of(document).encode("utf-8", "replace"), encoding="utf-8")
    page = extract_page(reduced, replace(options, max_bytes=len(reduced.body)), rules)
    if view.whole or view.only:
        page = _use_parts(page, _select_parts(document, view.only), document, options)
    page = _reduce_images_and_links(page, view)
    return page.with_document(_document(page, view, options))


def _view_document(page: Page, options: Options, view: ViewOptions) -> Page:
    """Return a document such as a PDF with the view's options, which apply to its clean HTML."""
    if (view.only or view.without) and not page.caught:
        content = dom.parse(page.html)
        _drop(content, view.without)
        root = dom.element("div", None, *map(_copy_as_block, _select_parts(content, view.only)))
        page = replace_content(page, write_output(root))
    page = _reduce_images_and_links(page, view)
    return page.with_document(_document(page, view, options))


def _drop(document: dom.Document, selectors: Iterable[str]) -> None:
    selector = ", ".join(selectors)
    for element in dom.select(document, selector) if selector else ():
        if element.tag not in ("html", "body"):
            dom.drop(element)


def _select_parts(document: dom.Document, only: tuple[str, ...]) -> list[dom.Element]:
    """Return the elements that match the selectors, none inside another; the whole body without selectors."""
    if not only:
        body = dom.first(document, "body")
        return [body] if body else []
    selector = ", ".join(only)
    matches = dom.select(document, selector)
    if not matches:
        raise ParseError(f"No element of the page matches `{selector:.200}`.", suggestions=("Use another selector.",))
    inner = {id(element) for outer in matches for element in dom.select(outer, selector)}
    return [element for element in matches if id(element) not in inner]


def _use_parts(page: Page, parts: list[dom.Element], document: dom.Document, options: Options) -> Page:
    """Return the page with these parts as its content."""
    root = dom.element("div", None, *(_copy_as_block(part) for part in parts))
    dom.bound_depth(root)
    base_url = urls.base(document, page.url or page.metadata.canonical)
    content, _ = clean(root, base_url, skip=options.skip_steps)
    return replace_content(page, write_output(content))


def _copy_as_block(part: dom.Element) -> dom.Element:
    """Return a copy that can be part of a page's content."""
    copied = dom.copy(part)
    if copied.tag in ("html", "body", "main", "article"):
        dom.retag(copied, "div")
    return copied


def _reduce_images_and_links(page: Page, view: ViewOptions) -> Page:
    if view.images == view.links == "all":
        return page
    root = dom.parse_fragment(page.html)
    for image in dom.tagged(root, ("img",)) if view.images != "all" else ():
        alt = dom.attributes(image).get("alt", "") if view.images == "alt" else ""
        dom.replace(image, alt) if alt else dom.drop(image)
    for link in dom.tagged(root, ("a",)) if view.links != "all" else ():
        dom.unwrap(link) if view.links == "text" else dom.drop(link)
    return replace_content(page, write_output(root))


def _document(page: Page, view: ViewOptions, options: Options) -> str:
    """Write the document; without images it has no hero image either."""
    if view.images != "all":
        page = page.copy_with(metadata=replace(page.metadata, hero_image=None))
    return markdown.write_document(page, saved_at=options.saved_at)


@dataclass(frozen=True, slots=True)
class AttributesTask:
    """Read one attribute of all elements that match, for each pair of a selector and an attribute."""

    fetched: Fetched
    wanted: tuple[tuple[str, str], ...]

    def run(self) -> tuple[tuple[str, ...], ...]:
        """Return the values for each pair, in document order; elements without the attribute are left out."""
        body = self.fetched.body
        source, _ = decode(body, Options(encoding=self.fetched.encoding, max_bytes=len(body)))
        document = dom.parse(source)
        found = []
        for selector, attribute in self.wanted:
            try:
                elements = dom.select(document, selector)
            except dom.SelectorError:
                raise ParseError(f"Invalid selector: `{selector:.200}`.", suggestions=("Correct it.",)) from None
            values = (dom.attributes(element).get(attribute.lower()) for element in elements[:MAX_VALUES])
            found.append(tuple(value[:_MAX_CHARS] for value in values if value is not None))
        return tuple(found)
