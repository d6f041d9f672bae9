"""Items as self-contained HTML: one for a book, or the library as one page that loads nothing from the network."""

from __future__ import annotations

import base64
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from tempfile import TemporaryFile
from typing import BinaryIO, Final

from pagekeep import dom, extras
from pagekeep.errors import NotOffered
from pagekeep.library.archive.pictures import find_picture_urls, normal_source
from pagekeep.library.exports.markdown_files import split_content
from pagekeep.library.exports.selection import Picture, PictureFetcher, SelectedItem
from pagekeep.model import Annotation, Item
from pagekeep.model.lists import page_values

_PLACEHOLDER: Final = "https://picture.invalid/"
"""The address of a picture while its page is rendered, followed by the picture's number."""
_DROPPED_ATTRIBUTES: Final = frozenset({"loading", "decoding"})
_VOID_ELEMENTS: Final = frozenset({"area", "br", "col", "hr", "img", "wbr"})
_ATTRIBUTE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
MATHML: Final = "http://www.w3.org/1998/Math/MathML"


@dataclass(frozen=True, slots=True)
class Article:
    """An item as a part of a page or book."""

    title: str
    language: str | None
    byline: str
    """Author, site and date, as HTML."""
    body: dom.Element
    annotations: str
    """The user's annotations, as HTML."""


def picture_urls(item: Item) -> list[str]:
    """Return the addresses of the pictures in an item."""
    return find_picture_urls(split_content(item)[1])


def build_article(
    item: Item, annotations: Sequence[Annotation], new_urls: Mapping[str, str], *, prefix: str = ""
) -> Article:
    """Return the item with its pictures at the new addresses in `new_urls`; other pictures become links.

    Ids of elements get the prefix.
    """
    render = _load_renderer()
    new_urls = {normal_source(url): new for url, new in new_urls.items()}
    originals: list[str] = []

    def replace_url(url: str) -> str:
        originals.append(url)
        return f"{_PLACEHOLDER}{len(originals) - 1}"

    body = dom.parse_fragment(render(split_content(item)[1], item.url, page_values(item)["title"] or "", replace_url))
    for picture in dom.tagged(body, ("img",)):
        number = (picture.attr("src") or "").removeprefix(_PLACEHOLDER)
        is_known = number.isdigit() and int(number) < len(originals)
        _place_picture(picture, originals[int(number)] if is_known else "", new_urls)
    _make_ids_unique(body, prefix)
    for box in dom.select(
        body, "li.task span.done, li.task span.open"
    ):  # the web reader draws these with its style sheet
        dom.append(box, "☑" if "done" in (box.attr("class") or "") else "☐")
    language = item.metadata.language
    known = language if language and _LANGUAGE.fullmatch(language) else None
    return Article(" ".join(item.title.split()) or item.url, known, _byline(item), body, _annotations_html(annotations))


def _load_renderer() -> Callable[[str, str, str, Callable[[str], str]], str]:
    try:
        from pagekeep.present.markdown_html import render
    except ImportError:
        extras.require("server", "An export as HTML or EPUB", error=NotOffered, hint="Or export as Markdown.")
        from pagekeep.present.markdown_html import render

    def render_html(markdown: str, base: str, title: str, replace_url: Callable[[str], str]) -> str:
        return render(markdown, base=base, title=title, image_url=replace_url).html

    return render_html


def _place_picture(picture: dom.Element, url: str, new_urls: Mapping[str, str]) -> None:
    new_url = new_urls.get(normal_source(url))
    if new_url is not None:
        dom.set_attr(picture, "src", new_url)
        return
    label = picture.attr("alt") or "Picture"
    is_linked = isinstance(picture.parent, dom.Element) and picture.parent.tag == "a"
    dom.replace(picture, label if is_linked or not url else dom.element("a", {"href": url}, label))


def _make_ids_unique(body: dom.Element, prefix: str) -> None:
    """Prefix ids, which must be unique in the whole export, and replace the colons that XML does not allow in them."""
    for element in dom.select(body, "[id], a[href^='#']"):
        element_id, href = element.attr("id"), element.attr("href")
        if element_id:
            dom.set_attr(element, "id", prefix + element_id.replace(":", "-"))
        if href and href.startswith("#"):
            dom.set_attr(element, "href", f"#{prefix}{href[1:].replace(':', '-')}")


def _byline(item: Item) -> str:
    parts = [
        escape_xml(item.author) if item.author else "",
        f'<a href="{escape_xml(item.url)}">{escape_xml(item.domain)}</a>',
        escape_xml((item.published_at or "")[:10]),
    ]
    return f'<p class="from">{", ".join(part for part in parts if part)}</p>'


def _annotations_html(annotations: Sequence[Annotation]) -> str:
    if not annotations:
        return ""
    html = "".join(
        (f"<blockquote><p>{_with_line_breaks(annotation.quote)}</p></blockquote>" if annotation.quote else "")
        + (f"<p>{_with_line_breaks(annotation.note)}</p>" if annotation.note else "")
        for annotation in annotations
    )
    return f'<section class="highlights"><h2>Highlights</h2>{html}</section>'


def _with_line_breaks(text: str) -> str:
    return "<br/>".join(escape_xml(line) for line in text.strip().split("\n"))


def serialize_xml(root: dom.Element) -> str:
    """Return the content of an element as well-formed XML."""
    return "".join(_iter_xml(root))


def _iter_xml(root: dom.Element) -> Iterator[str]:
    waiting: list[dom.Node | str] = list(reversed(root.children))
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, dom.Text):
            yield escape_xml(node.data)
        elif isinstance(node, dom.Element):
            yield _start_tag(node)
            if node.tag not in _VOID_ELEMENTS:
                waiting.append(f"</{node.tag}>")
                waiting.extend(reversed(node.children))


def _start_tag(node: dom.Element) -> str:
    attributes = {
        name: value
        for name, value in dom.attributes(node).items()
        if _ATTRIBUTE_NAME.fullmatch(name) and name not in _DROPPED_ATTRIBUTES
    }
    if node.tag == "math":
        attributes["xmlns"] = MATHML
    html = "".join(f' {name}="{escape_xml(value)}"' for name, value in attributes.items())
    return f"<{node.tag}{html}/>" if node.tag in _VOID_ELEMENTS else f"<{node.tag}{html}>"


def escape_xml(text: str) -> str:
    """Return text for XML elements and attributes, with forbidden characters replaced."""
    return escape(_NOT_IN_XML.sub("\ufffd", text))


_MAX_ARTICLE_BYTES: Final = 50_000_000
"""Pictures that are embedded in one article."""
_STYLESHEET: Final = """
:root { color-scheme: light dark }
body { max-width: 42rem; margin: 2rem auto; padding: 0 1rem; font: 1.1rem/1.6 Georgia, serif; overflow-wrap: break-word }
article { border-top: 1px solid #8886; margin-top: 4rem; padding-top: 1rem }
img { max-width: 100%; height: auto }
pre, div.table { overflow-x: auto }
pre, code { font-size: .9rem }
table { border-collapse: collapse } th, td { border: 1px solid #8886; padding: .2rem .5rem }
blockquote { border-left: 3px solid #8886; margin-left: 0; padding-left: 1rem }
.from, figcaption { opacity: .75; font-size: .95rem }
"""
_HEAD: Final = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">"
    '<meta name="referrer" content="no-referrer">'
    f"<title>Saved pages</title><style>{_STYLESHEET}</style></head>\n<body><h1>Saved pages</h1>\n<nav><ol>\n"
)


async def write_page(out: BinaryIO, items: Iterable[SelectedItem], pictures: PictureFetcher | None) -> None:
    """Write a table of contents and all items; pictures are embedded in the page, those that are missing become links."""
    out.write(_HEAD.encode())
    with TemporaryFile() as articles:
        for number, selected in enumerate(items, start=1):
            item = selected.item
            fetched = await pictures.fetch(picture_urls(item)) if pictures else {}
            data_urls = {
                url: f"data:{picture.media_type};base64,{base64.b64encode(picture.data).decode()}"
                for url, picture in _choose(item, fetched).items()
            }
            title = escape(" ".join(item.title.split()) or item.url)
            out.write(f'<li><a href="#p{number}">{title}</a></li>\n'.encode("utf-8", "replace"))
            articles.write(_article_html(number, selected, data_urls).encode("utf-8", "replace"))
        out.write(b"</ol></nav>\n<main>\n")
        articles.seek(0)
        shutil.copyfileobj(articles, out)
    out.write(b"</main></body></html>\n")


def _choose(item: Item, pictures: dict[str, Picture]) -> dict[str, Picture]:
    """Return the pictures to embed: one that an article shows many times would be embedded as often."""
    chosen, room, text = {}, _MAX_ARTICLE_BYTES, item.content
    for url, picture in pictures.items():
        size = len(picture.data) * max(1, text.count(url))
        if size <= room:
            chosen[url] = picture
            room -= size
    return chosen


def _article_html(number: int, selected: SelectedItem, data_urls: dict[str, str]) -> str:
    article = build_article(selected.item, selected.annotations, data_urls, prefix=f"p{number}-")
    language = f' lang="{article.language}"' if article.language else ""
    return (
        f'<article id="p{number}"{language}><h1>{escape(article.title)}</h1>{article.byline}\n'
        f"{dom.inner_html(article.body)}{article.annotations}</article>\n"
    )
