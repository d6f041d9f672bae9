"""Suggest a few tags for a page: from its own keywords and sections, then by its site, then from its text.

A suggestion must be worth a click (docs/tags.md): a keyword that the page itself does not use, or that says the same as
another suggestion, is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import groupby
from typing import Final

from pagekeep.extraction.metadata.plain import squeeze
from pagekeep.extraction.metadata.tags import salient
from pagekeep.model import Metadata
from pagekeep.text import compile_lazily

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
    " uncategorized uncategorised default untitled tag tags english en us null undefined none nan true false paragraph body"
    " content text image images gallery standard premium sponsored clearance sale test tests web website online free new best"
    " releases changelog newsletter origins long short opinion allgemein artikel beiträge newsarchiv überregional"
    " aktuell magazin boulevard divers actu general-discussion".split()
) | {
    "front page", "landing page", "blog page", "page builder", "n/a", "not set", "general discussion", "all categories",
    "all products", "standard article", "product reviews", "how to", "for home", "read this", "announcements archive",
    "board index", "forum index", "resource center", "resources center", "learning center", "knowledge base", "help center",
    "press release", "press releases", "blog post", "blog posts", "off topic", "off topic discussion", "home page", "all posts",
    "case studies", "white papers", "our blog", "latest news", "top stories", "read more", "actualités", "actualité",
    "nachrichten", "aktuelles", "noticias", "notícias", "notizie", "nieuws", "nyheter", "новости", "新闻", "ニュース",
}  # fmt: skip
"""Keywords and sections that name a type of page or a default of its program, not a subject."""
_MAX_CJK_CHARS: Final = 8
"""Characters of a Chinese or Japanese keyword; longer ones are sentences."""
_MAX_LABELS: Final = 5
"""Labels of a host that are looked up."""
_NUMBER: Final = compile_lazily(r"[\d\W]+|\d{4}\s?[年년]?")
_MARKUP: Final = compile_lazily(r"[:=<>{}\[\]@\\]|\w_\w|\w\.\w{2,}$|^\W*\d+\W*$")
"""Signs of values that a program wrote: `page type: article`, `content_type`, `harbour.jpg`."""
_LISTING: Final = ("all ", "alle ", "tous ", "todos ", "más ", "mehr ", "more ")
_MAX_SECTIONS: Final = 2
"""Sections that are suggested, the most specific ones: the trail of a shop starts with its departments. A section of several
words must be used on the page, as keywords must: `kitchen and dining`, `tech matters` are the site's own names."""
_READ_CHARS: Final = 20_000
"""Characters of the text in which keywords are looked up."""
_MIN_WORD_CHARS: Final = 4
_WORD: Final = re.compile(r"\w+")
_FIRST_CJK: Final = "\u3040"
_CJK: Final = compile_lazily("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

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
    """Return at most five tags in lower case: keywords and sections, then the domain's, then salient terms of the text."""
    excluded = _excluded_names(metadata, domain)
    used = _Words(metadata, text)
    keywords = [tag for tag in _own_tags(metadata.keywords, excluded) if used.contain(tag)]
    named = [tag for tag in _own_tags(metadata.categories, excluded) if " " not in tag or used.contain(tag)]
    sections = named[-_MAX_SECTIONS:]
    chosen: list[str] = []
    for tag in (*keywords, *sections, *_domain_tags(domain)):
        if len(chosen) < _MAX_TAGS and not any(_says_the_same(tag, other) for other in chosen):
            chosen.append(tag)
    if len(chosen) < _MAX_TAGS:
        for term in salient.find_subjects(text, metadata.title or "", language):
            if len(chosen) < _MAX_TAGS and _is_new(term, chosen) and squeeze(term) not in excluded:
                chosen.append(term)
    return tuple(chosen)


class _Words:
    """The words that a page uses."""

    def __init__(self, metadata: Metadata, text: str) -> None:
        self._metadata, self._raw = metadata, text

    @cached_property
    def _text(self) -> str:
        """Return title, description and text in lower case; pages without keywords do not need it."""
        return f"{self._metadata.title or ''} {self._metadata.description or ''} {self._raw[:_READ_CHARS]}".lower()

    def contain(self, tag: str) -> bool:
        """Return whether the page uses every longer word of the tag, in some form."""
        if _has_cjk(tag):
            return tag in self._text
        words = [word for word in _WORD.findall(tag) if len(word) >= _MIN_WORD_CHARS] or _WORD.findall(tag)
        return all(map(self._contain_word, words))

    def _contain_word(self, word: str) -> bool:
        """Return whether a word of the page is this one or another form of it, looking only at those that start alike."""
        text, start = self._text, word[: salient.STEM_CHARS]
        place = text.find(start)
        while place >= 0:
            is_inside = place > 0 and (text[place - 1].isalnum() or text[place - 1] == "_")
            if not is_inside and (found := _WORD.match(text, place)) and salient.same_stem(word, found[0]):
                return True
            place = text.find(start, place + 1)
        return False


def _says_the_same(tag: str, other: str) -> bool:
    """Return whether the words of one tag are all in the other, in some form."""
    first, second = sorted((_WORD.findall(tag), _WORD.findall(other)), key=len)
    return all(any(salient.same_stem(word, fellow) for fellow in second) for word in first)


def _own_tags(own: Iterable[str], excluded: frozenset[str]) -> Iterator[str]:
    for term in own:
        # Chinese and Japanese pages separate keywords by spaces alone.
        parts = [part for part in term.split() if len(part) <= _MAX_CJK_CHARS] if _has_cjk(term) else [term]
        for part in parts:
            if (tag := _as_tag(part)) and squeeze(tag) not in excluded:
                yield tag


def _excluded_names(metadata: Metadata, domain: str) -> frozenset[str]:
    """Return the names of site and author and the whole title, which are useless as tags."""
    labels = domain.removeprefix("www.").split(".")
    names = (metadata.site_name or "", metadata.title or "", domain, *labels[:-1], *(metadata.author or "").split(", "))
    return frozenset(squeeze(name) for name in names if name)


def _is_new(term: str, chosen: Iterable[str]) -> bool:
    """Return whether no chosen tag has a word of the term, in some form."""
    words = _WORD.findall(term)
    return not any(salient.same_stem(word, other) for tag in chosen for other in _WORD.findall(tag) for word in words)


def _as_tag(term: str) -> str | None:
    tag = " ".join(word for word, _ in groupby(term.lower().split())).strip("#.,;:\"'")  # "forza franchise franchise"
    has_size = 1 < len(tag) <= _MAX_TAG_CHARS and len(tag.split()) <= _MAX_WORDS
    if not has_size or _NUMBER.fullmatch(tag) or _MARKUP.search(tag) or tag.count("(") != tag.count(")"):
        return None
    plain = tag.replace("-", " ")
    return None if {tag, plain, plain.replace(" ", "")} & _MEANINGLESS or plain.startswith(_LISTING) else tag


def _domain_tags(domain: str) -> Iterator[str]:
    """Yield the tag of the domain or of its nearest parent domain."""
    labels = domain.lower().split(".")[-_MAX_LABELS:]
    for start in range(len(labels) - 1):
        if tag := _DOMAIN_TAGS.get(".".join(labels[start:])):
            yield tag
            return


def _has_cjk(text: str) -> bool:
    return max(text, default="") >= _FIRST_CJK and _CJK.search(text) is not None  # compiling the pattern takes long
