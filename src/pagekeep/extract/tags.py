"""Choose a few tags for the library: the page's own words first, then what its site is known for, then its text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from pagekeep.extract.metadata.commonwords import COMMON_WORDS
from pagekeep.model import Metadata

_MAX_TAGS: Final = 5
_MAX_LENGTH: Final = 40
_MAX_WORDS: Final = 4
"""A tag is a term; a longer "keyword" is a search phrase or a sentence."""
_READ_WORDS: Final = 3_000
_TITLE_WORDS: Final = 200
_READ_CHARACTERS: Final = 30_000
_MIN_COUNT: Final = 4
_TITLE_WEIGHT: Final = 3
_WORD: Final = re.compile(r"[^\W\d_][\w'-]*")
_SAYS_NOTHING: Final = frozenset(
    "blog article articles post posts page pages forum forums stories story products".split()
)
"""Sections that name a form, not a subject."""
_SPACELESS: Final = ("zh", "ja", "th", "lo", "km", "my")
"""Languages whose words are not set apart: their salient terms cannot be counted without a dictionary."""

_DOMAIN_TAGS: Final = {
    "arxiv.org": "research", "nature.com": "science", "sciencemag.org": "science", "science.org": "science",
    "pubmed.ncbi.nlm.nih.gov": "medicine", "who.int": "health", "webmd.com": "health", "mayoclinic.org": "health",
    "github.com": "programming", "gitlab.com": "programming", "stackoverflow.com": "programming",
    "dev.to": "programming", "developer.mozilla.org": "programming", "docs.python.org": "programming",
    "pypi.org": "programming", "npmjs.com": "programming", "news.ycombinator.com": "technology",
    "techcrunch.com": "technology", "theverge.com": "technology", "wired.com": "technology",
    "arstechnica.com": "technology", "heise.de": "technology", "golem.de": "technology", "lwn.net": "linux",
    "wikipedia.org": "encyclopedia", "britannica.com": "encyclopedia", "youtube.com": "video",
    "vimeo.com": "video", "nytimes.com": "news", "theguardian.com": "news", "bbc.co.uk": "news", "bbc.com": "news",
    "reuters.com": "news", "apnews.com": "news", "washingtonpost.com": "news", "cnn.com": "news",
    "lemonde.fr": "news", "spiegel.de": "news", "elpais.com": "news", "corriere.it": "news",
    "bloomberg.com": "finance", "ft.com": "finance", "wsj.com": "finance", "economist.com": "economics",
    "investopedia.com": "finance", "espn.com": "sports", "imdb.com": "film", "goodreads.com": "books",
    "allrecipes.com": "recipes", "seriouseats.com": "recipes", "bonappetit.com": "recipes",
    "lonelyplanet.com": "travel", "tripadvisor.com": "travel", "nasa.gov": "space", "space.com": "space",
    "reddit.com": "discussion", "medium.com": "blog", "substack.com": "newsletter",
}  # fmt: skip


def choose(metadata: Metadata, text: str, domain: str, language: str | None) -> tuple[str, ...]:
    """At most five tags in lower case: keywords and categories, then the domain's, then salient terms of the text."""
    own = (*metadata.keywords, *metadata.categories)
    chosen = dict.fromkeys(tag for term in own if (tag := _as_tag(term)))
    if len(chosen) < _MAX_TAGS:
        chosen.update(dict.fromkeys(_domain_tags(domain)))
    if len(chosen) < _MAX_TAGS:
        chosen.update(dict.fromkeys(_salient(text, metadata.title or "", language)))
    return tuple(chosen)[:_MAX_TAGS]


def _as_tag(term: str) -> str | None:
    tag = " ".join(term.lower().split()).strip("#.,;:\"'")
    fits = 1 < len(tag) <= _MAX_LENGTH and len(tag.split()) <= _MAX_WORDS
    return tag if fits and not tag.isdigit() and tag not in _SAYS_NOTHING else None


def _domain_tags(domain: str) -> Iterator[str]:
    """The tag of the domain or of the nearest one above it."""
    labels = domain.lower().split(".")[-5:]
    for start in range(len(labels) - 1):
        if tag := _DOMAIN_TAGS.get(".".join(labels[start:])):
            yield tag
            return


def _salient(text: str, title: str, language: str | None) -> list[str]:
    """Words the text repeats, those of the title first among equals; the order is by weight, then by first use."""
    primary = (language or "").partition("-")[0]
    if primary in _SPACELESS:
        return []
    common = COMMON_WORDS.get(primary)
    titular = frozenset(_count_words(title, _TITLE_WORDS))
    counts = _count_words(text[:_READ_CHARACTERS], _READ_WORDS)
    weights = {
        word: count * (_TITLE_WEIGHT if word in titular else 1)
        for word, count in counts.items()
        # Without a list of the language's common words only the title tells the salient from the common.
        if count >= _MIN_COUNT and len(word) > 3 and (word not in common if common else word in titular)
    }
    return sorted(weights, key=lambda word: -weights[word])


def _count_words(text: str, limit: int) -> dict[str, int]:
    """How often each word stands in the text, in the order of first use; `Ann's` counts as `ann`."""
    counts: dict[str, int] = {}
    for word, count in Counter(_WORD.findall(text.lower().replace("\u2019", "'"))[:limit]).items():
        if not word.isalnum():
            word = word.rstrip("'-").removesuffix("'s")
        counts[word] = counts.get(word, 0) + count
    return counts
