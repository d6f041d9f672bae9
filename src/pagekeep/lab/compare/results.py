"""The result of an extractor for a page, in one form for all extractors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pagekeep import dom, extras
from pagekeep.lab.corpus import block_text, is_video
from pagekeep.lab.measure import count_structure
from pagekeep.lab.scores import Structure
from pagekeep.model import Page

_NO_STRUCTURE = Structure()


@dataclass(frozen=True, slots=True)
class ExtractorResult:
    """The parts of an extractor's result that are compared."""

    text: str = field(default="", repr=False)
    title: str = ""
    links: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    structure: Structure = _NO_STRUCTURE
    error: str = ""
    """Type of the error that was raised, or empty."""
    ms: float = 0.0


def result_from_page(page: Page) -> ExtractorResult:
    """Return the result for a page of this version of Pagekeep."""
    media = [(item.kind, item.url) for item in page.media]
    return result_from_parts(page.text, page.html, page.metadata.title or "", (link.url for link in page.links), media)


def result_from_parts(
    text: str, html: str, title: str, links: Iterable[str], media: Iterable[tuple[str, str]]
) -> ExtractorResult:
    """Return the result for the parts of a page, from this version of Pagekeep or another."""
    items = list(media)
    return ExtractorResult(
        text=text,
        title=title,
        links=tuple(links),
        images=tuple(url for kind, url in items if kind == "image"),
        videos=tuple(url for kind, url in items if kind == "video"),
        structure=count_structure(html),
    )


def result_from_html(html: str, title: str = "") -> ExtractorResult:
    """Return the result for extracted HTML."""
    root = dom.parse_fragment(html)
    links = _attribute_values(root, "a[href]", "href")
    players = _attribute_values(root, "iframe[src], embed[src], video[src], source[src]", "src")
    return ExtractorResult(
        text=block_text(root),
        title=title,
        links=tuple(url for url in links if not is_video(url)),
        images=_attribute_values(root, "img[src]", "src"),
        videos=tuple(url for url in (*players, *links) if is_video(url)),
        structure=count_structure(html),
    )


def result_from_markdown(markdown: str, title: str = "") -> ExtractorResult:
    """Return the result for extracted Markdown; raise `PagekeepError` when no renderer is installed."""
    extras.require("evaluate", "Comparing with Markdown")
    from pagekeep.lab.markdown.rendered import render_tree

    root = render_tree(markdown)
    for back in dom.select(root, "a.footnote-backref, sup.footnote-ref"):
        dom.drop(back)
    result = result_from_html(dom.inner_html(root), title)
    # The link of a picture to itself does not count as a link.
    return replace(result, links=tuple(url for url in result.links if url not in result.images))


def _attribute_values(root: dom.Element, css: str, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(element.attr(name) or "") for element in dom.select(root, css)))
