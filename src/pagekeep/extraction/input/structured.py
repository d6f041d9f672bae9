"""Read the structured data of a page (JSON-LD, OpenGraph, meta, microdata...), and make its values plain text."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from pagekeep import dom
from pagekeep.text import compile_lazily
from pagekeep.values import dataclass

Json = Mapping[str, Any]
_NONE: Final[Mapping[str, Any]] = MappingProxyType({})

_JSON_LD: Final = 'script[type*="ld+json" i]'
_MICRODATA: Final = "[itemprop], [itemtype]"
# Limits against hostile pages, far above what real pages have.
_MAX_JSON_CHARS: Final = 2_000_000
"""Characters of JSON-LD in all scripts of a page."""
_MAX_OBJECTS: Final = 300
_MAX_META: Final = 500
_MAX_VALUES: Final = 50
"""Values of one meta name or link relation: galleries repeat `og:image`, sites repeat `article:tag`."""
_MAX_PROPERTIES: Final = 200
_MAX_NAMES: Final = 5
"""Relations of one link, and types of one microdata item."""
_MAX_PROPERTY_NAMES: Final = 3
"""Names in one `itemprop`."""
_MAX_TYPES: Final = 10
"""Types of one JSON-LD object."""
_MAX_CLIMB: Final = 60
"""Ancestors searched for the microdata item of a property."""
_MAX_CLASS_CHARS: Final = 300
_TEXT_CHARS: Final = 400
"""Characters of an element's text that are enough for a name, a date or a headline."""
_CLOSING_CHARS: Final = 40
"""Characters at the end of a script that may close a comment or CDATA section."""
_READ_PROPERTIES: Final = frozenset(
    ("headline", "name", "author", "datePublished", "dateModified", "dateCreated", "description", "articleBody",
     "articleSection", "keywords", "image")
)  # fmt: skip
_OWN_SCOPES: Final = compile_lazily(
    r"(?:Article|Posting|Page|Report|Recipe|HowTo|Product|Event|Course|Book|Movie|VideoObject|CreativeWork|Question"
    r"|SoftwareApplication|Dataset|Blog|JobPosting|Review|Guide)$"
)
"""Microdata items whose properties are the page's own; a breadcrumb's `name` or a comment's `author` is not."""


@dataclass(frozen=True, slots=True)
class Structured:
    """The machine-readable data of a page; values are trimmed but not checked."""

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
    """Names of the microdata types on the page, in document order, without duplicates."""
    properties: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NONE)
    """Microdata properties of the page itself (not of its comments or breadcrumbs); `articleBody` is truncated."""
    links: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NONE)
    """`<link>` targets by relation, as written."""


def read(document: dom.Document) -> Structured:
    """Return all structured data of the page; broken data is repaired or skipped."""
    collector = _Collector()
    # One query per tag: the tree has an index by tag, which a selector with several tags does not use.
    for element in dom.select(document, "meta"):
        collector.add_meta(element)
    for element in dom.select(document, "link[rel]"):
        collector.add_link(element)
    for element in dom.select(document, _JSON_LD):
        collector.add_json(element)
    for element in dom.select(document, _MICRODATA):
        collector.add_microdata(element)
    return collector.result()


def types(structured: Structured) -> tuple[str, ...]:
    """Return the names of the page's schema.org types: JSON-LD first, in document order, without duplicates."""
    names = [name for item in structured.json_ld for name in type_names(item)]
    return tuple(dict.fromkeys((*names, *structured.item_types)))


def type_names(item: Json) -> tuple[str, ...]:
    """Return the types of one JSON-LD object without their vocabulary, such as `NewsArticle`."""
    declared = item.get("@type")
    values = declared if isinstance(declared, list) else [declared]
    return tuple(_local_name(value) for value in values[:_MAX_TYPES] if isinstance(value, str) and value)


def article_body(structured: Structured) -> str | None:
    """Return the longest body text of a JSON-LD article, posting or question."""
    bodies = [item.get(key) for item in structured.json_ld for key in ("articleBody", "text")]
    return max((body.strip() for body in bodies if isinstance(body, str)), key=len, default="") or None


def _local_name(name: str) -> str:
    return name.strip().rstrip("/").rpartition("/")[2].rpartition("#")[2].rpartition(":")[2]


class _Collector:
    """Collects the structured data of a page, within limits."""

    def __init__(self) -> None:
        self._objects: list[Json] = []
        self._meta: dict[str, list[str]] = {}
        self._links: dict[str, list[str]] = {}
        self._types: dict[str, None] = {}
        self._properties: dict[str, list[str]] = {}
        self._items: dict[str, dom.Node | bool] = {}
        self._json_left = _MAX_JSON_CHARS
        self._properties_left = _MAX_PROPERTIES

    def add_meta(self, element: dom.Element) -> None:
        # `value` is a common mistake for `content`; RDFa allows several names in one `property`.
        content = (element.attr("content") or element.attr("value") or "").strip()
        name = element.attr("property") or element.attr("name") or element.attr("http-equiv")
        if not content or not name:
            return
        names = name.lower().split()[:_MAX_NAMES] if element.attr("property") else [name.strip().lower()]
        for each in names:
            if len(self._meta) < _MAX_META:
                _add(self._meta, each, content)

    def add_link(self, element: dom.Element) -> None:
        target = (element.attr("href") or "").strip()
        relations = (element.attr("rel") or "").lower().split()
        if target and len(self._links) < _MAX_VALUES:
            for relation in relations[:_MAX_NAMES]:
                _add(self._links, relation, target)

    def add_json(self, element: dom.Element) -> None:
        text = dom.text_of(element)
        if len(text) > self._json_left or len(self._objects) >= _MAX_OBJECTS:
            return
        self._json_left -= len(text)
        self._objects.extend(_objects(_load(text), _MAX_OBJECTS - len(self._objects)))

    def add_microdata(self, element: dom.Element) -> None:
        if (declared := element.attr("itemtype")) and len(self._types) < _MAX_VALUES:
            self._types.update(dict.fromkeys(_local_name(name) for name in declared.split()[:_MAX_NAMES]))
        if prop := element.attr("itemprop"):
            self._add_property(element, prop)

    def _add_property(self, element: dom.Element, prop: str) -> None:
        if self._properties_left <= 0:
            return
        self._properties_left -= 1
        for name in prop.split()[:_MAX_PROPERTY_NAMES]:
            if name not in _READ_PROPERTIES or (item := _own_scope(element)) is None:
                continue
            # Values of one item only: the author of a review below the article is not an author of the article.
            if self._items.setdefault(name, item) is item and (value := _property_value(element)):
                _add(self._properties, name, value)

    def result(self) -> Structured:
        first = {name: values[0] for name, values in self._meta.items()}
        twitter = {name: value for name, value in first.items() if name.startswith("twitter:")}
        opengraph = {name: value for name, value in first.items() if _is_opengraph(name)}
        rest = {name: value for name, value in first.items() if name not in twitter and name not in opengraph}
        return Structured(
            json_ld=tuple(self._objects),
            opengraph=MappingProxyType(opengraph),
            twitter=MappingProxyType(twitter),
            meta=MappingProxyType(rest),
            repeated=_freeze(self._meta),
            item_types=tuple(self._types),
            properties=_freeze(self._properties),
            links=_freeze(self._links),
        )


def _is_opengraph(name: str) -> bool:
    return name.startswith(("og:", "article:", "product:", "book:", "video:", "profile:"))


def _add(table: dict[str, list[str]], name: str, value: str) -> None:
    values = table.setdefault(name, [])
    if len(values) < _MAX_VALUES:
        values.append(value)


def _freeze(table: dict[str, list[str]]) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType({name: tuple(values) for name, values in table.items()})


# --- JSON-LD --------------------------------------------------------------------------------------

_WRAPPING: Final = compile_lazily(r"\A[\s;]*(?:(?://|/\*)?\s*(?:<!\[CDATA\[|<!--)(?:\s*\*/)?)?")
_UNWRAPPING: Final = compile_lazily(r"(?:(?://|/\*)?\s*(?:\]\]>|-->)(?:\s*\*/)?)?[\s;]*\Z")
_STRING_OR_COMMA: Final = compile_lazily(r'"(?:[^"\\]|\\.)*+"?|,(?=\s*[}\]])|,\s*\Z', re.DOTALL)


_ANY_ESCAPE: Final = compile_lazily(r'\\(?![\\"/bfnrtu])')
_DECODER: Final = json.JSONDecoder(strict=False)


def _load(text: str) -> Any:
    """Return the JSON value in the text after repairing common errors; `None` when that fails."""
    for repair in _REPAIRS:
        try:
            # Not strict: raw newlines and tabs inside strings are the most common error.
            # What follows the first value (a second value, a stray bracket) is ignored.
            return _DECODER.raw_decode(repair(text).lstrip("\ufeff \t\r\n"))[0]
        except (ValueError, RecursionError):
            continue
    return None


def _trim(text: str) -> str:
    """Remove comment and CDATA markers around the JSON."""
    # Only the end is searched: the closing pattern would be tried at every character of a long text.
    text = _WRAPPING.sub("", text, count=1)
    end = text[-_CLOSING_CHARS:]
    return text[:-_CLOSING_CHARS] + _UNWRAPPING.sub("", end, count=1)


def _remove_stray_commas(text: str) -> str:
    return _STRING_OR_COMMA.sub(lambda match: "" if match[0].startswith(",") else match[0], _trim(text))


def _remove_stray_escapes(text: str) -> str:
    """Remove escapes such as `\\'`, which JavaScript allows but JSON does not."""
    return _ANY_ESCAPE.sub("", _remove_stray_commas(text))


def _unescape(text: str) -> str:
    return html.unescape(text) if "&quot;" in text else ""


_REPAIRS: Final = (str, _trim, _remove_stray_commas, _remove_stray_escapes, _unescape)
"""Tried in order, from no repair to the most intrusive."""


def _objects(value: Any, limit: int) -> list[Json]:
    """Return the objects with a type in a JSON-LD value, at most `limit`."""
    objects: list[Json] = []
    pending = [value]
    while pending and len(objects) < limit:
        item = pending.pop()
        if isinstance(item, list):
            pending.extend(reversed(item[:limit]))
        elif isinstance(item, dict):
            if "@type" in item:
                objects.append(item)
            pending.extend(_inner(item))
    return objects


def _inner(item: dict[str, Any]) -> Iterator[Any]:
    for key in ("mainEntityOfPage", "mainEntity", "@graph"):
        inner = item.get(key)
        if isinstance(inner, (dict, list)):
            yield inner


# --- microdata ------------------------------------------------------------------------------------


def _own_scope(element: dom.Element) -> dom.Node | bool | None:
    """Return the microdata item of the page that the property belongs to, `True` without an item, `None` for another's."""
    node = element.parent
    for _ in range(_MAX_CLIMB):
        if not isinstance(node, dom.Element):
            return True
        if node.tag != "body" and "comment" in (node.attr("class") or "")[:_MAX_CLASS_CHARS]:
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


def short_text(node: dom.Node, limit: int = _TEXT_CHARS) -> str:
    """Return the node's first words on one line, about `limit` characters; the cost does not grow with the node."""
    parts: list[str] = []
    left, steps = limit, limit
    block_between, last = False, None
    for inner in dom.nodes(node):
        steps -= 1
        if isinstance(inner, dom.Element):
            block_between = block_between or inner.tag not in _INLINE
        elif isinstance(inner, dom.Text) and tag_of(inner.parent) not in _NOT_PROSE:
            parts.append(" " if block_between or _closed_block(last, inner.parent) else "")
            parts.append(inner.data[: limit * 4])
            left -= len(inner.data.strip())
            block_between, last = False, inner.parent
        if left <= 0 or steps <= 0:
            break
    return " ".join("".join(parts).split())


_INLINE: Final = frozenset("a abbr b cite code em font i kbd mark q s small span strong sub sup u wbr".split())
_NOT_PROSE: Final = frozenset(("script", "style", "noscript", "template", "svg", "button"))


def tag_of(node: dom.Node | None) -> str:
    """Return the tag of an element; of anything else, an empty string."""
    return node.tag if isinstance(node, dom.Element) else ""


def _closed_block(last: dom.Node | None, parent: dom.Node | None) -> bool:
    """Return whether a block ended between a text in `last` and one in `parent`."""
    if last is None or parent is None or last is parent or last is parent.parent:
        return False
    return tag_of(last) not in _INLINE or (tag_of(last.parent) not in _INLINE and last.parent is not parent)


_TAG: Final = compile_lazily(r"</?[a-zA-Z][^<>]{0,500}>")
_INVISIBLE: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b\u2060\ufeff\ufffd\ud800-\udfff]+")
_MAX_CHARS: Final = 500
_RAW_FACTOR: Final = 4
"""Raw text is longer than the result: markup, entities and white space go; the rest need not be processed."""
_WORD: Final = re.compile(r"\w+")
_NOT_WORD: Final = re.compile(r"\W+")
_SQUEEZED: Final = 256
"""Texts that are remembered: those of a page, such as its title, are compared several times each."""


def one_line(value: object, limit: int = _MAX_CHARS) -> str:
    """Return the value on one line without markup, cut at a word to `limit` characters; empty when it is not text."""
    if not isinstance(value, str):
        return ""
    text = value.strip()[: limit * _RAW_FACTOR]
    if "&" in text:
        # Twice: double escaping is common.
        text = html.unescape(html.unescape(text))
    if "<" in text:
        text = _TAG.sub(" ", text)
    return tidy(text, limit)


def tidy(text: str, limit: int = _MAX_CHARS) -> str:
    """Return text of the page on one line; unlike in `one_line`, `<table>` is text that the page shows, not markup."""
    text = " ".join(_INVISIBLE.sub("", text.strip()[: limit * _RAW_FACTOR]).split())
    return text if len(text) <= limit else text[:limit].rpartition(" ")[0] or text[:limit]


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, for comparing."""
    return _WORD.findall(text.lower())


@lru_cache(maxsize=_SQUEEZED)
def squeeze(text: str) -> str:
    """Return only letters and digits in lower case, for comparing names that differ in spacing or punctuation."""
    return _NOT_WORD.sub("", text.lower())
