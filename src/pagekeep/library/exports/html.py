"""An item's Markdown as HTML that needs nothing from elsewhere: for one page of all, and for books."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from pagekeep import dom
from pagekeep.errors import NotOffered
from pagekeep.library.exports.markdown_files import content_of
from pagekeep.library.exports.pictures import pictures_in
from pagekeep.model import Annotation, Item

_PLACE: Final = "https://picture.invalid/"
"""Stands for a picture while its page is rendered."""
_DROPPED: Final = frozenset({"loading", "decoding"})
_VOID: Final = frozenset({"area", "br", "col", "hr", "img", "wbr"})
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
MATHML: Final = "http://www.w3.org/1998/Math/MathML"


@dataclass(frozen=True, slots=True)
class Article:
    """An item as it stands in a page or book."""

    title: str
    language: str | None
    head: str
    """Who wrote it, where and when, as HTML."""
    body: dom.Element
    passages: str
    """What the reader marked, as HTML."""


def pictures_of(item: Item) -> list[str]:
    """Addresses of the pictures that an item shows."""
    return pictures_in(content_of(item)[1])


def article(item: Item, annotations: Sequence[Annotation], places: Mapping[str, str], *, prefix: str = "") -> Article:
    """The item with its pictures at their `places`; those that have none become links. Names of parts get the prefix."""
    render = _renderer()
    shown: list[str] = []

    def place(url: str) -> str:
        shown.append(url)
        return f"{_PLACE}{len(shown) - 1}"

    body = dom.parse_fragment(render(content_of(item)[1], item.url, item.title, place))
    for picture in dom.tagged(body, ("img",)):
        number = (picture.attr("src") or "").removeprefix(_PLACE)
        _set_picture(picture, shown[int(number)] if number.isdigit() and int(number) < len(shown) else "", places)
    _name_parts(body, prefix)
    for box in dom.select(body, "li.task span.done, li.task span.open"):  # drawn by the reader's style sheet elsewhere
        dom.append(box, "☑" if "done" in (box.attr("class") or "") else "☐")
    language = item.metadata.language
    known = language if language and _LANGUAGE.fullmatch(language) else None
    return Article(" ".join(item.title.split()) or item.url, known, _head(item), body, _passages(annotations))


def _renderer() -> Callable[[str, str, str, Callable[[str], str]], str]:
    try:
        from pagekeep.present.markdown_html import render
    except ImportError:
        raise NotOffered(
            "Pages and books need a renderer of Markdown, which is not installed.",
            suggestions=("Install it: pip install 'pagekeep[server]'.", "Export as Markdown instead."),
        ) from None

    def html(markdown: str, base: str, title: str, place: Callable[[str], str]) -> str:
        return render(markdown, base=base, title=title, picture=place).html

    return html


def _set_picture(picture: dom.Element, url: str, places: Mapping[str, str]) -> None:
    if url in places:
        dom.set_attr(picture, "src", places[url])
        return
    words = picture.attr("alt") or "Picture"
    linked = isinstance(picture.parent, dom.Element) and picture.parent.tag == "a"
    dom.replace(picture, words if linked or not url else dom.element("a", {"href": url}, words))


def _name_parts(body: dom.Element, prefix: str) -> None:
    """No name twice where many pages stand together, and no signs that XML does not take."""
    for part in dom.select(body, "[id], a[href^='#']"):
        name, href = part.attr("id"), part.attr("href")
        if name:
            dom.set_attr(part, "id", prefix + name.replace(":", "-"))
        if href and href.startswith("#"):
            dom.set_attr(part, "href", f"#{prefix}{href[1:].replace(':', '-')}")


def _head(item: Item) -> str:
    parts = [
        xml_text(item.author) if item.author else "",
        f'<a href="{xml_text(item.url)}">{xml_text(item.domain)}</a>',
        xml_text((item.published_at or "")[:10]),
    ]
    return f'<p class="from">{", ".join(part for part in parts if part)}</p>'


def _passages(annotations: Sequence[Annotation]) -> str:
    if not annotations:
        return ""
    told = "".join(
        (f"<blockquote><p>{_broken(one.quote)}</p></blockquote>" if one.quote else "")
        + (f"<p>{_broken(one.note)}</p>" if one.note else "")
        for one in annotations
    )
    return f'<section class="highlights"><h2>Highlights</h2>{told}</section>'


def _broken(text: str) -> str:
    return "<br/>".join(xml_text(line) for line in text.strip().split("\n"))


def xml_of(root: dom.Element) -> str:
    """What stands in an element, as well-formed XML."""
    return "".join(_xml(root))


def _xml(root: dom.Element) -> Iterator[str]:
    waiting: list[dom.Node | str] = list(reversed(root.children))
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, dom.Text):
            yield xml_text(node.data)
        elif isinstance(node, dom.Element):
            yield _tag(node)
            if node.tag not in _VOID:
                waiting.append(f"</{node.tag}>")
                waiting.extend(reversed(node.children))


def _tag(node: dom.Element) -> str:
    said = {
        name: value for name, value in dom.attributes(node).items() if _NAME.fullmatch(name) and name not in _DROPPED
    }
    if node.tag == "math":
        said["xmlns"] = MATHML
    told = "".join(f' {name}="{xml_text(value)}"' for name, value in said.items())
    return f"<{node.tag}{told}/>" if node.tag in _VOID else f"<{node.tag}{told}>"


def xml_text(text: str) -> str:
    """Text as XML takes it, in elements and attributes."""
    return escape(_NOT_IN_XML.sub("\ufffd", text))
