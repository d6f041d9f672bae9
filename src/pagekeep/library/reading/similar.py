"""Pages about the same subject, from the library's own index."""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.metadata.tags.common_words import COMMON_WORDS
from pagekeep.extraction.metadata.tags.salient import find_terms
from pagekeep.library.items import get_item
from pagekeep.model import Item
from pagekeep.model.reading import SimilarItem
from pagekeep.present.sections import body_of
from pagekeep.store import Store
from pagekeep.store.search.search_words import is_unspaced, words
from pagekeep.text import strip_markdown

_TEXT_CHARS: Final = 12_000
"""Characters of Markdown from which words are taken: a text states its subject early."""
_TITLE_WEIGHT, _TAG_WEIGHT, _TEXT_WEIGHT = 1.5, 1.5, 1.0
_MIN_TITLE_CHARS, _MIN_TERM_CHARS = 4, 2
"""Letters of a word: short ones of a title are mostly common words, short terms are abbreviations."""
_MAX_PHRASE_CHARS: Final = 8
_MAX_ITEMS: Final = 20


def similar_items(store: Store, key: str, limit: int = 5) -> tuple[SimilarItem, ...]:
    """Return the items that are most similar to an item, best first; none when all its words are common."""
    item = get_item(store, key)
    return store.similar(item.id, weigh_words(item), max(1, min(limit, _MAX_ITEMS)))


def weigh_words(item: Item) -> dict[str, float]:
    """Return the words that say what an item is about, the most telling first: of its tags, title and text."""
    about, language = item.metadata, (item.metadata.language or "en").partition("-")[0]
    text = strip_markdown(body_of(item.content[:_TEXT_CHARS]))
    common = COMMON_WORDS.get(language, frozenset())
    sources = (
        (_TITLE_WEIGHT, _MIN_TITLE_CHARS, [item.title]),
        (_TAG_WEIGHT, _MIN_TERM_CHARS, [*about.tags, *about.suggested_tags]),
        (_TEXT_WEIGHT, _MIN_TERM_CHARS, find_terms(text, item.title, about.language)),
    )
    weights: dict[str, float] = {}
    for weight, least, texts in sources:
        for word in (word for text in texts for word in _split(text)):
            if len(word) >= least and word not in common and not word.isdigit():
                weights.setdefault(word, weight)
    return weights


def _split(text: str) -> list[str]:
    """Return the search words of a title, tag or term; one in a script without spaces is a phrase."""
    found = words(text)
    if any(map(is_unspaced, found)):
        return [" ".join(found)] if len(found) <= _MAX_PHRASE_CHARS else []
    return found
