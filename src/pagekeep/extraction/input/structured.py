"""What a page says about itself for machines: JSON-LD, OpenGraph, Twitter, meta, microdata, link relations."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from pagekeep import dom

Json = Mapping[str, Any]
_NONE: Final[Mapping[str, Any]] = MappingProxyType({})

_JSON_LD: Final = 'script[type*="ld+json" i]'
_MICRODATA: Final = "[itemprop], [itemtype]"
_MAX_JSON: Final = 2_000_000
"""Characters of JSON-LD read in all."""
_MAX_OBJECTS: Final = 300
_MAX_META: Final = 500
_MAX_VALUES: Final = 50
"""Values kept of one meta name or link relation: galleries repeat `og:image`, sites repeat `article:tag`."""
_MAX_PROPERTIES: Final = 200
_MAX_CLIMB: Final = 60
_WANTED_PROPERTIES: Final = frozenset(
    ("headline", "name", "author", "datePublished", "dateModified", "dateCreated", "description", "articleBody",
     "articleSection", "keywords", "image")
)  # fmt: skip
_OWN_SCOPES: Final = re.compile(
    r"(?:Article|Posting|Page|Report|Recipe|HowTo|Product|Event|Course|Book|Movie|VideoObject|CreativeWork|Question"
    r"|SoftwareApplication|Dataset|Blog|JobPosting|Review|Guide)$"
)
"""Microdata items whose properties are the page's own; a breadcrumb's `name` or a comment's `author` is not."""


@dataclass(frozen=True, slots=True)
class Structured:
    """The machine-readable part of a page, as it stands there: values are trimmed but not judged."""

    json_ld: tuple[Json, ...] = ()
    """Objects in document order; `@graph`, lists and `mainEntity` are flattened, outer before inner."""
    opengraph: Mapping[str, str] = field(default_factory=lambda: _NONE)
    """`og:*`, `article:*`, `product:*`... by lower-case name, the first value each."""
    twitter: Mapping[str, str] = field(default_factory=lambda: _NONE)
    """`twitter:*` by lower-case name, the first value each."""
    meta: Mapping[str, str] = field(default_factory=lambda: _NONE)
    """All other `<meta>` (by name, property or http-equiv), lower-case name, the first value each."""
    repeated: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NONE)
    """Every value of every `<meta>` name, OpenGraph and Twitter included."""
    item_types: tuple[str, ...] = ()
    """Names of the microdata types on the page, in document order, once each."""
    properties: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NONE)
    """Microdata properties of the page itself (not of its comments or breadcrumbs); `articleBody` is cut short."""
    links: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NONE)
    """`<link>` targets by relation, as written."""


def read(document: dom.Document) -> Structured:
    """All structured data of the page. Broken data is repaired or left out, never an error."""
    reader = _Reader()
    # Tags are asked for apart: the tree has an index of them, which a selector over all does not use.
    for element in dom.select(document, "meta"):
        reader.take_meta(element)
    for element in dom.select(document, "link[rel]"):
        reader.take_link(element)
    for element in dom.select(document, _JSON_LD):
        reader.take_json(element)
    for element in dom.select(document, _MICRODATA):
        reader.take_microdata(element)
    return reader.result()


def types(structured: Structured) -> tuple[str, ...]:
    """Names of the schema.org types on the page, JSON-LD first, in document order, once each."""
    names = [name for item in structured.json_ld for name in type_names(item)]
    return tuple(dict.fromkeys((*names, *structured.item_types)))


def type_names(item: Json) -> tuple[str, ...]:
    """The `@type` of one JSON-LD object without its vocabulary: `NewsArticle`."""
    declared = item.get("@type")
    values = declared if isinstance(declared, list) else [declared]
    return tuple(_local_name(value) for value in values[:10] if isinstance(value, str) and value)


def article_body(structured: Structured) -> str | None:
    """The longest body text a JSON-LD article, posting or question carries."""
    bodies = [item.get(key) for item in structured.json_ld for key in ("articleBody", "text")]
    return _longest(bodies)


def product_description(structured: Structured) -> str | None:
    """The longest description a JSON-LD product carries."""
    products = (item for item in structured.json_ld if any("Product" in name for name in type_names(item)))
    return _longest([item.get("description") for item in products])


def _longest(values: list[Any]) -> str | None:
    texts = [value.strip() for value in values if isinstance(value, str)]
    return max(texts, key=len, default="") or None


def _local_name(name: str) -> str:
    return name.strip().rstrip("/").rpartition("/")[2].rpartition("#")[2].rpartition(":")[2]


class _Reader:
    """Gathers what one pass over the page meets; bounded in every direction."""

    def __init__(self) -> None:
        self._objects: list[Json] = []
        self._meta: dict[str, list[str]] = {}
        self._links: dict[str, list[str]] = {}
        self._types: dict[str, None] = {}
        self._properties: dict[str, list[str]] = {}
        self._items: dict[str, dom.Node | bool] = {}
        self._json_left = _MAX_JSON
        self._properties_left = _MAX_PROPERTIES

    def take_meta(self, element: dom.Element) -> None:
        content = (element.attr("content") or "").strip()
        name = element.attr("property") or element.attr("name") or element.attr("http-equiv")
        if content and name and (len(self._meta) < _MAX_META):
            _add(self._meta, name.strip().lower(), content)

    def take_link(self, element: dom.Element) -> None:
        target = (element.attr("href") or "").strip()
        relations = (element.attr("rel") or "").lower().split()
        if target and len(self._links) < _MAX_VALUES:
            for relation in relations[:5]:
                _add(self._links, relation, target)

    def take_json(self, element: dom.Element) -> None:
        text = dom.text_of(element)
        if len(text) > self._json_left or len(self._objects) >= _MAX_OBJECTS:
            return
        self._json_left -= len(text)
        self._objects.extend(_objects(_load(text), _MAX_OBJECTS - len(self._objects)))

    def take_microdata(self, element: dom.Element) -> None:
        if (declared := element.attr("itemtype")) and len(self._types) < _MAX_VALUES:
            self._types.update(dict.fromkeys(_local_name(name) for name in declared.split()[:5]))
        if prop := element.attr("itemprop"):
            self._take_property(element, prop)

    def _take_property(self, element: dom.Element, prop: str) -> None:
        if self._properties_left <= 0:
            return
        self._properties_left -= 1
        for name in prop.split()[:3]:
            if name not in _WANTED_PROPERTIES or (item := _own_scope(element)) is None:
                continue
            # The values of one item: the author of a review below the article is not another author of the article.
            if self._items.setdefault(name, item) is item and (value := _property_value(element)):
                _add(self._properties, name, value)

    def result(self) -> Structured:
        graph = {name: values[0] for name, values in self._meta.items()}
        twitter = {name: value for name, value in graph.items() if name.startswith("twitter:")}
        opengraph = {name: value for name, value in graph.items() if _is_opengraph(name)}
        rest = {name: value for name, value in graph.items() if name not in twitter and name not in opengraph}
        return Structured(
            json_ld=tuple(self._objects),
            opengraph=MappingProxyType(opengraph),
            twitter=MappingProxyType(twitter),
            meta=MappingProxyType(rest),
            repeated=_frozen(self._meta),
            item_types=tuple(self._types),
            properties=_frozen(self._properties),
            links=_frozen(self._links),
        )


def _is_opengraph(name: str) -> bool:
    return name.startswith(("og:", "article:", "product:", "book:", "video:", "profile:"))


def _add(table: dict[str, list[str]], name: str, value: str) -> None:
    values = table.setdefault(name, [])
    if len(values) < _MAX_VALUES:
        values.append(value)


def _frozen(table: dict[str, list[str]]) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType({name: tuple(values) for name, values in table.items()})


# --- JSON-LD --------------------------------------------------------------------------------------

_WRAPPING: Final = re.compile(r"\A[\s;]*(?:(?://|/\*)?\s*(?:<!\[CDATA\[|<!--)(?:\s*\*/)?)?")
_UNWRAPPING: Final = re.compile(r"(?:(?://|/\*)?\s*(?:\]\]>|-->)(?:\s*\*/)?)?[\s;]*\Z")
_STRING_OR_COMMA: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|,(?=\s*[}\]])|,\s*\Z', re.DOTALL)


_ANY_ESCAPE: Final = re.compile(r'\\(?![\\"/bfnrtu])')
_DECODER: Final = json.JSONDecoder(strict=False)


def _load(text: str) -> Any:
    """The JSON value in the text, with the usual faults of the web repaired; `None` when it is beyond that."""
    for attempt in (_as_is, _trimmed, _without_stray_commas, _without_stray_escapes, _unescaped):
        try:
            # Not strict: raw newlines and tabs inside strings are the commonest fault of all.
            # What follows the first value (a second one, a stray bracket) is left.
            return _DECODER.raw_decode(attempt(text).lstrip("\ufeff \t\r\n"))[0]
        except (ValueError, RecursionError):
            continue
    return None


def _as_is(text: str) -> str:
    return text


def _trimmed(text: str) -> str:
    # Only the ends are searched: the closing pattern would be tried at every character of a long text.
    text = _WRAPPING.sub("", text, count=1)
    end = text[-40:]
    return text[:-40] + _UNWRAPPING.sub("", end, count=1)


def _without_stray_commas(text: str) -> str:
    return _STRING_OR_COMMA.sub(lambda match: "" if match[0].startswith(",") else match[0], _trimmed(text))


def _without_stray_escapes(text: str) -> str:
    """JSON knows no `\\'`; JavaScript does."""
    return _ANY_ESCAPE.sub("", _without_stray_commas(text))


def _unescaped(text: str) -> str:
    return html.unescape(text) if "&quot;" in text else ""


def _objects(value: Any, limit: int) -> list[Json]:
    """The objects of a JSON-LD value that stand for things of the page, at most `limit`."""
    found: list[Json] = []
    pending = [value]
    while pending and len(found) < limit:
        item = pending.pop()
        if isinstance(item, list):
            pending.extend(reversed(item[:limit]))
        elif isinstance(item, dict):
            if "@type" in item:
                found.append(item)
            pending.extend(_inner(item))
    return found


def _inner(item: dict[str, Any]) -> Iterator[Any]:
    for key in ("mainEntityOfPage", "mainEntity", "@graph"):
        inner = item.get(key)
        if isinstance(inner, (dict, list)):
            yield inner


# --- microdata ------------------------------------------------------------------------------------


def _own_scope(element: dom.Element) -> dom.Node | bool | None:
    """The item the property belongs to when it is the page's own, `True` when there is no item around it, else `None`."""
    node = element.parent
    for _ in range(_MAX_CLIMB):
        if not isinstance(node, dom.Element):
            return True
        if node.tag != "body" and "comment" in (node.attr("class") or "")[:300]:
            return None
        if declared := node.attr("itemtype"):
            return node if _OWN_SCOPES.search(declared.rstrip("/ ")) else None
        node = node.parent
    return True


def _property_value(element: dom.Element) -> str:
    for name in ("content", "datetime"):
        if value := element.attr(name):
            return value.strip()
    if element.tag in ("img", "link", "a") and element.attr("itemprop") in ("image", "url"):
        return (element.attr("src") or element.attr("href") or "").strip()
    inner = dom.first(element, '[itemprop="name"]') if element.attr("itemscope") is not None else None
    if inner is not None:
        return (inner.attr("content") or short_text(inner)).strip()
    return short_text(element)


def short_text(node: dom.Node, limit: int = 400) -> str:
    """The node's first words in one line, about `limit` characters: the cost does not grow with the node."""
    parts: list[str] = []
    left, steps = limit, limit
    block_between, last = False, None
    for inner in dom.nodes(node):
        steps -= 1
        if isinstance(inner, dom.Element):
            block_between = block_between or inner.tag not in _INLINE
        elif isinstance(inner, dom.Text) and _tag(inner.parent) not in _NOT_PROSE:
            parts.append(" " if block_between or _closed_block(last, inner.parent) else "")
            parts.append(inner.data[: limit * 4])
            left -= len(inner.data.strip())
            block_between, last = False, inner.parent
        if left <= 0 or steps <= 0:
            break
    return " ".join("".join(parts).split())


_INLINE: Final = frozenset("a abbr b cite code em font i kbd mark q s small span strong sub sup u wbr".split())
_NOT_PROSE: Final = frozenset(("script", "style", "noscript", "template", "svg", "button"))


def _tag(node: dom.Node | None) -> str:
    return node.tag if isinstance(node, dom.Element) else ""


def _closed_block(last: dom.Node | None, parent: dom.Node | None) -> bool:
    """Whether a block ended between a text in `last` and one in `parent`."""
    if last is None or parent is None or last is parent or last is parent.parent:
        return False
    return _tag(last) not in _INLINE or (_tag(last.parent) not in _INLINE and last.parent is not parent)
