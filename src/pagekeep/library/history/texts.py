"""The text of a version, always made by the current parser and rules: a better parser never shows as a change of the page."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final

from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.from_url import Retrieval
from pagekeep.library import build_item
from pagekeep.model import PARSER_VERSION, Item, Options, RawPage
from pagekeep.present.sections import body_of

_MAX_TEXTS: Final = 64
_MAX_CHARS: Final = 500_000
"""Longer texts are made again each time."""


@dataclass(frozen=True, slots=True)
class VersionText:
    """A version of a page as Markdown, and the item that it would make."""

    item: Item

    @property
    def markdown(self) -> str:
        """The title, as a heading, and the Markdown without frontmatter: what differences are found in."""
        return f"# {self.item.title}\n\n{body_of(self.item.content)}"


_Key = tuple[str | int | bool | None, ...]


class _Cache:
    """The texts that were made last, by the hash of the raw page, the parser's version and the rules. For all threads."""

    def __init__(self) -> None:
        self._texts: OrderedDict[_Key, VersionText] = OrderedDict()
        self._lock = Lock()

    def get(self, key: _Key) -> VersionText | None:
        """Return a text that was made before."""
        with self._lock:
            found = self._texts.get(key)
            if found is not None:
                self._texts.move_to_end(key)
            return found

    def put(self, key: _Key, text: VersionText) -> None:
        """Keep a text, unless it is very long."""
        if len(text.item.content) > _MAX_CHARS:
            return
        with self._lock:
            self._texts[key] = text
            while len(self._texts) > _MAX_TEXTS:
                self._texts.popitem(last=False)


_cache: Final = _Cache()


async def read_text(item: Item, raw: RawPage, retrieval: Retrieval) -> VersionText:
    """Return the text of a raw page of this item, as the current parser and rules make it."""
    rules = fingerprint(retrieval.rules)
    facts = (raw.final_url, raw.encoding, raw.content_type, raw.rendered, item.id, item.saved_at, item.url_full)
    key = (hashlib.sha256(raw.body).hexdigest(), *facts, PARSER_VERSION, rules, retrieval.settings.max_bytes)
    found = _cache.get(key)
    if found is not None:
        return found
    fetched = build_item.to_fetched(raw)
    options = Options(max_bytes=retrieval.settings.max_bytes)
    page = await retrieval.extract(fetched, options)
    made = build_item.make_again(item, page, fetched, rules, options)
    text = VersionText(replace(made, id=item.id))
    _cache.put(key, text)
    return text


def is_current(item: Item, retrieval: Retrieval) -> bool:
    """Return whether this parser and these rules extracted the item."""
    about = item.metadata
    return about.parser_version == PARSER_VERSION and about.rules_hash == fingerprint(retrieval.rules)
