"""What an extractor made of a page, in one form for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pagekeep import dom
from pagekeep.lab.corpus import is_video, text_of
from pagekeep.lab.measure import structure_of
from pagekeep.lab.report.summary import Structure
from pagekeep.model import Page

_NOTHING = Structure()


@dataclass(frozen=True, slots=True)
class Reading:
    """The parts of a result that are compared."""

    text: str = field(default="", repr=False)
    title: str = ""
    links: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    structure: Structure = _NOTHING
    error: str = ""
    """Why there is none, empty when there is one."""
    ms: float = 0.0


def of_page(page: Page) -> Reading:
    """Our own result."""
    media = [(one.kind, one.url) for one in page.media]
    return of_parts(page.text, page.html, page.metadata.title or "", (link.url for link in page.links), media)


def of_parts(text: str, html: str, title: str, links: Iterable[str], media: Iterable[tuple[str, str]]) -> Reading:
    """A result of ours in its parts, from this version or another."""
    found = list(media)
    return Reading(
        text=text,
        title=title,
        links=tuple(links),
        images=tuple(url for kind, url in found if kind == "image"),
        videos=tuple(url for kind, url in found if kind == "video"),
        structure=structure_of(html),
    )


def of_html(html: str, title: str = "") -> Reading:
    """A result that is HTML."""
    root = dom.parse_fragment(html)
    links = _values(root, "a[href]", "href")
    players = _values(root, "iframe[src], embed[src], video[src], source[src]", "src")
    return Reading(
        text=text_of(root),
        title=title,
        links=tuple(url for url in links if not is_video(url)),
        images=_values(root, "img[src]", "src"),
        videos=tuple(url for url in (*players, *links) if is_video(url)),
        structure=structure_of(html),
    )


def of_markdown(markdown: str, title: str = "") -> Reading:
    """A result that is Markdown; `PagekeepError` when no renderer is installed."""
    from pagekeep.lab.markdown.rendered import tree_of

    root = tree_of(markdown)
    for back in dom.select(root, "a.footnote-backref, sup.footnote-ref"):
        dom.drop(back)
    made = of_html(dom.inner_html(root), title)
    shown = set(made.images)
    # A picture that links to itself is a picture.
    return Reading(
        made.text, title, tuple(url for url in made.links if url not in shown), made.images, made.videos, made.structure
    )


def _values(root: dom.Element, css: str, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(found.attr(name) or "") for found in dom.select(root, css)))
