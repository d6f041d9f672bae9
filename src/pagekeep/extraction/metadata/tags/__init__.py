"""Choose a few tags for a page: from its own keywords, then by its site, then from its text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from pagekeep.extraction.metadata.plain import squeeze
from pagekeep.extraction.metadata.tags import salient
from pagekeep.model import Metadata

_MAX_TAGS: Final = 5
_MAX_TAG_CHARS: Final = 40
_MAX_WORDS: Final = 4
"""A tag is a term; a longer "keyword" is a search phrase or a sentence."""
_MEANINGLESS: Final = frozenset(
    "article articles post posts page pages story stories blog blogs news newsroom latest featured feature general misc"
    " miscellaneous other others all archive archives announcement announcements update updates insight insights resource"
    " resources guide guides topic topics category categories section sections index home homepage main menu search shop store"
    " product products collection collections catalog services forum forums board discussion discussions community support help"
    " documentation docs manual manuals reference tutorial tutorials paths learn press media video videos podcast podcasts"
    " uncategorized uncategorised default untitled tag tags english en us".split()
) | {
    "board index", "forum index", "resource center", "resources center", "learning center", "knowledge base", "help center",
    "press release", "press releases", "blog post", "blog posts", "off topic", "off topic discussion", "home page", "all posts",
    "case studies", "white papers", "our blog", "latest news", "top stories", "read more", "actualités", "actualité",
    "nachrichten", "aktuelles", "noticias", "notícias", "notizie", "nieuws", "nyheter", "новости", "新闻", "ニュース",
}  # fmt: skip
"""Sections that name a type of page, not a subject."""
_MAX_CJK_CHARS: Final = 8
"""Characters of a Chinese or Japanese keyword; longer ones are sentences."""
_MAX_LABELS: Final = 5
"""Labels of a host that are looked up."""
_NUMBER: Final = re.compile(r"[\d\W]+|\d{4}\s?[年년]?")
_CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

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
}  # fmt: skip


def choose(metadata: Metadata, text: str, domain: str, language: str | None) -> tuple[str, ...]:
    """Return at most five tags in lower case: keywords and categories, then the domain's, then salient terms of the text."""
    excluded = _excluded_names(metadata, domain)
    chosen = dict.fromkeys(_own_tags((*metadata.keywords, *metadata.categories), excluded))
    if len(chosen) < _MAX_TAGS:
        chosen.update(dict.fromkeys(_domain_tags(domain)))
    if len(chosen) < _MAX_TAGS:
        terms = salient.find_terms(text, metadata.title or "", language)
        chosen.update(dict.fromkeys(term for term in terms if _is_new(term, chosen) and squeeze(term) not in excluded))
    return tuple(chosen)[:_MAX_TAGS]


def _own_tags(own: Iterable[str], excluded: frozenset[str]) -> Iterator[str]:
    for term in own:
        # Chinese and Japanese pages separate keywords by spaces alone.
        parts = [part for part in term.split() if len(part) <= _MAX_CJK_CHARS] if _CJK.search(term) else [term]
        for part in parts:
            if (tag := _as_tag(part)) and squeeze(tag) not in excluded:
                yield tag


def _excluded_names(metadata: Metadata, domain: str) -> frozenset[str]:
    """Return the names of site and author and the whole title, which are useless as tags."""
    labels = domain.removeprefix("www.").split(".")
    names = (metadata.site_name or "", metadata.title or "", domain, *labels[:-1], *(metadata.author or "").split(", "))
    return frozenset(squeeze(name) for name in names if name)


def _is_new(term: str, chosen: Iterable[str]) -> bool:
    """Return whether no chosen tag shares a word with the term, in singular or plural."""
    used = {word.removesuffix("s") for tag in chosen for word in tag.split()}
    return used.isdisjoint(word.removesuffix("s") for word in term.split())


def _as_tag(term: str) -> str | None:
    tag = " ".join(term.lower().split()).strip("#.,;:\"'")
    has_size = 1 < len(tag) <= _MAX_TAG_CHARS and len(tag.split()) <= _MAX_WORDS
    return tag if has_size and not _NUMBER.fullmatch(tag) and tag not in _MEANINGLESS else None


def _domain_tags(domain: str) -> Iterator[str]:
    """Yield the tag of the domain or of its nearest parent domain."""
    labels = domain.lower().split(".")[-_MAX_LABELS:]
    for start in range(len(labels) - 1):
        if tag := _DOMAIN_TAGS.get(".".join(labels[start:])):
            yield tag
            return
