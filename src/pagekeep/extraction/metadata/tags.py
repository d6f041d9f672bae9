"""Suggest a few tags for a page: from its keywords and sections, its site, and the terms that its text repeats.

A suggestion must be worth a click (docs/tags.md): a keyword that the page itself does not use, or that says the same as
another suggestion, is not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import groupby
from typing import Final

from pagekeep.extraction.input.structured import squeeze
from pagekeep.extraction.metadata.common_words import COMMON_WORDS
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
        for term in find_subjects(text, metadata.title or "", language):
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
        text, start = self._text, word[:STEM_CHARS]
        place = text.find(start)
        while place >= 0:
            is_inside = place > 0 and (text[place - 1].isalnum() or text[place - 1] == "_")
            if not is_inside and (found := _WORD.match(text, place)) and same_stem(word, found[0]):
                return True
            place = text.find(start, place + 1)
        return False


def _says_the_same(tag: str, other: str) -> bool:
    """Return whether the words of one tag are all in the other, in some form."""
    first, second = sorted((_WORD.findall(tag), _WORD.findall(other)), key=len)
    return all(any(same_stem(word, fellow) for fellow in second) for word in first)


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
    return not any(same_stem(word, other) for tag in chosen for other in _WORD.findall(tag) for word in words)


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


_COUNTED_CHARS: Final = 8_000
"""A text states its subject early; twice as much text changes few terms and takes twice the time."""
_MIN_COUNT: Final = 4
"""Uses of a word, of a pair and of a run of ideographs that make it a term; rarer ones are chance."""
_MIN_PAIR_COUNT: Final = 3
_MIN_RUN_COUNT: Final = 3
_MIN_PLURAL_CHARS: Final = 5
_MAX_TERMS: Final = 12
_MIN_NAME_COUNT: Final = 8
"""Uses of an abbreviation that the title does not have."""
STEM_CHARS: Final = 4
"""Letters at the start that two forms of a word share at least."""
_MAX_ENDING_CHARS: Final = 3
"""Letters by which two forms of a word differ at the end, at most."""
_TITLE_CHARS: Final = 100
_TITLE_WEIGHT: Final = 3
"""A term that is also in the title counts three times."""
_PAIR_WEIGHT: Final = 2
"""A pair is more specific than either of its words."""
_PAIR_SHARE: Final = 0.5
"""A pair is a term ("machine learning") if it makes up this share of the rarer word's uses; else it is chance."""
_TERM_WORD: Final = re.compile(r"[^\W\d_]\w*+(?:['-]++\w++)*+")
_WORD_SIGNS: Final = bytes(
    code if code > 127 or chr(code).isalnum() or chr(code) in "_'-" else ord(" ") for code in range(256)
)
"""Turns everything in ASCII that is not part of a word into a space."""
_SHORT_NAME: Final = re.compile(r"[A-Z](?<!\w.)[A-Z0-9]{1,3}\b")  # starts with letters, which are fast to search for
_NOT_NAMES: Final = frozenset("us uk eu usa faq pdf ok vs am pm its ii iii iv tm id tv gt lt amp http www".split())
_GENERIC: Final = frozenset(
    "account accounts activities advice analysis answer answers application applications approach april area areas"
    " article august base beginner behavior benefit benefits business challenge change changes choice choose class"
    " classes clean code companies company complete course courses customer customers data day days december design"
    " detail details development different easy edition electric employee employees essential event events example"
    " examples experience expert experts explained fact facts favorite feature features february friday future game"
    " games general goals group guide help history home house idea ideas impact important industry innovation"
    " innovations insight instruction interview introduction january july june kind learning lessons level life list"
    " local making management march market member members method methods million model models month months need"
    " november number october online option options order overview part people place plan planning platform"
    " platforms play point practice practices price prices principles private problem problems process product"
    " products program programs progress project projects question questions real reason reasons record recruiting"
    " report research resource result results review reviews rise role sales search selection september series"
    " service services simple size skill skills software solution solutions sound source special standard start"
    " states step steps story strategies strategy student students study success support system systems team"
    " technology term test thing things time tips title tool tools top trend trends tried type types update updates"
    " user users value version video week weeks women work working workspace world year years york".split()
)
"""English words that are often in titles and too general to be tags by themselves."""
_PLURALS: Final = ("en", "fr", "es", "pt", "nl", "ca")
"""Languages that form most plurals with an s."""
_UNSPACED: Final = ("th", "lo", "km", "my")
"""Languages without spaces between words: their terms cannot be counted without a dictionary."""
_RUN: Final = compile_lazily("[\u30a1-\u30fa\u30fc]{3,}|[\u3400-\u4dbf\u4e00-\u9fff]{2,6}")
"""Runs of katakana and of ideographs, which in Japanese are mostly words."""
_HAN: Final = compile_lazily("[\u3400-\u4dbf\u4e00-\u9fff]{2,}")
_PARTICLES: Final = compile_lazily(
    "[的了是在和有不我你他她它们这那就也都要会对为与及或被把让从到上下中个之其而但如果最更很]"
)


def find_terms(text: str, title: str, language: str | None) -> list[str]:
    """Return the text's terms in lower case, highest weight first; ties in the order of their first use."""
    primary = (language or "").partition("-")[0]
    text = text[:_COUNTED_CHARS]
    if primary in _UNSPACED:
        return []
    if primary == "ja":
        return _japanese_terms(text, title)
    if primary == "zh":
        return _chinese_terms(text, title)
    return _terms_of_words(text, title, primary)


def _terms_of_words(text: str, title: str, language: str) -> list[str]:
    words = _words(text)
    title_words = frozenset(_words(title))
    raw_counts = Counter(words)
    abbreviations = _abbreviations(text, raw_counts, title)
    counts = _merge_plurals(raw_counts, language)
    common = COMMON_WORDS.get(language)
    # Without a list of the language's common words only the title separates salient words from common ones.
    salient = {
        word: count
        for word, count in counts.items()
        if count >= _MIN_PAIR_COUNT
        and len(word) >= _MIN_WORD_CHARS
        and (word not in common if common else word in title_words)
    }
    weights = {word: count for word, count in salient.items() if count >= _MIN_COUNT}
    weights |= abbreviations
    for (first, second), count in (_pairs(words, salient) if common else {}).items():
        weights[f"{first} {second}"] = count * _PAIR_WEIGHT
        for word in (first, second):
            if count >= _PAIR_SHARE * salient[word]:  # It occurs mostly in the pair, which replaces it.
                weights[f"{first} {second}"] += weights.pop(word, 0)
    for term in weights:
        if all(word in title_words for word in term.split()):
            weights[term] *= _TITLE_WEIGHT
    return _remove_overlapping(sorted(weights, key=lambda term: -weights[term]))


def find_subjects(text: str, title: str, language: str | None) -> list[str]:
    """Return the terms that say what the text is about: those with a word of the title, and frequent abbreviations.

    A term that is only frequent (`users`, `selection`, `units figure`) is rarely worth a click.
    """
    title_words = frozenset(_words(title))
    terms = find_terms(text, title, language)
    if (language or "").partition("-")[0] in ("ja", "zh"):
        return [term for term in terms if term in title]
    return [term for term in terms if _is_subject(term, title_words, text)]


def _is_subject(term: str, title_words: frozenset[str], text: str) -> bool:
    words = term.split()
    if any(same_stem(word, other) for word in words for other in title_words if word[0] == other[0]):
        return len(words) > 1 or term not in _GENERIC
    is_name = len(words) == 1 and len(term) <= _MIN_WORD_CHARS
    return is_name and text[:_COUNTED_CHARS].count(term.upper()) >= _MIN_NAME_COUNT


def same_stem(one: str, other: str) -> bool:
    """Return whether two words are probably forms of one: `message` and `messaging`, `rent` and `rental`."""
    if one == other:
        return True
    if one[:STEM_CHARS] != other[:STEM_CHARS] or len(one) < STEM_CHARS or len(other) < STEM_CHARS:
        return False
    shared = max(STEM_CHARS, max(len(one), len(other)) - _MAX_ENDING_CHARS)
    return one[:shared] == other[:shared]


def _words(text: str) -> list[str]:
    text = text.lower().replace("\u2019", "'").replace("'s ", " ")
    words: list[str] = []
    # Most words have nothing but letters: searching only the others by the pattern takes two thirds of the time.
    for word in text.encode("utf-8", "surrogatepass").translate(_WORD_SIGNS).decode("utf-8", "surrogatepass").split():
        if word.isalpha():
            words.append(word)
        else:
            words += _TERM_WORD.findall(word)
    return words


def _merge_plurals(counts: Counter[str], language: str) -> Counter[str]:
    """Return the counts with singular and plural added up under the more frequent form."""
    if language not in _PLURALS:
        return counts
    for plural in [word for word in counts if word[-1] == "s" and len(word) >= _MIN_PLURAL_CHARS]:
        single = plural[:-1]
        # A form may have been merged already, as "princes" with "prince" when "princess" is looked at.
        if single.endswith("s") or single not in counts or plural not in counts:
            continue
        kept, merged = (plural, single) if counts[plural] > counts[single] else (single, plural)
        counts[kept] += counts.pop(merged)
    return counts


def _pairs(words: list[str], salient: dict[str, int]) -> dict[tuple[str, str], int]:
    """Return the pairs of salient words that often follow each other."""
    neighbours: dict[tuple[str, str], int] = {}
    before = ""
    for word in words:
        if word not in salient:
            before = ""
            continue
        if before:
            neighbours[before, word] = neighbours.get((before, word), 0) + 1
        before = word
    return {
        pair: count
        for pair, count in neighbours.items()
        if count >= _MIN_PAIR_COUNT
        and pair[0] != pair[1]
        and count >= _PAIR_SHARE * min(salient[pair[0]], salient[pair[1]])
    }


def _abbreviations(text: str, raw_counts: Counter[str], title: str) -> dict[str, int]:
    """Return abbreviations such as AI or DNS: short words that the text never has in lower case."""
    counts: dict[str, int] = {}
    for name, count in Counter(_SHORT_NAME.findall(text)).items():
        lower = name.lower()
        is_frequent = count >= _MIN_COUNT or (count > 1 and name in title)
        if is_frequent and raw_counts[lower] <= count and lower not in _NOT_NAMES:
            counts[lower] = count
    return counts


def _remove_overlapping(ranked: list[str]) -> list[str]:
    """Return the terms without those that share a word with a weightier one: "machine learning" covers "machine"."""
    kept: list[str] = []
    used: set[str] = set()
    for term in ranked:
        if used.isdisjoint(words := term.split()):
            kept.append(term)
            used.update(words)
    return kept[:_MAX_TERMS]


# --- scripts without spaces -----------------------------------------------------------------------


def _japanese_terms(text: str, title: str) -> list[str]:
    counts = Counter(_RUN.findall(text))
    weights = {
        run: count * (_TITLE_WEIGHT if run in title else 1) for run, count in counts.items() if count >= _MIN_RUN_COUNT
    }
    return sorted(weights, key=lambda run: -weights[run])[:_MAX_TERMS]


def _chinese_terms(text: str, title: str) -> list[str]:
    """Return pieces of the title that the text repeats, preferring longer pieces that are as frequent."""
    weights: dict[str, int] = {}
    for run in _HAN.findall(title[:_TITLE_CHARS]):
        for size in (4, 3, 2):
            for start in range(len(run) - size + 1):
                piece = run[start : start + size]
                if piece in weights or _PARTICLES.search(piece):
                    continue
                count = text.count(piece)
                if count >= _MIN_RUN_COUNT and not any(
                    piece in longer and weights[longer] >= count * size for longer in weights
                ):
                    weights[piece] = count * size
    ranked = sorted(weights, key=lambda piece: -weights[piece])
    return _remove_overlapping_pieces(ranked)


def _remove_overlapping_pieces(ranked: list[str]) -> list[str]:
    """Return the pieces that share no two adjacent characters with a weightier one."""
    kept: list[str] = []
    for piece in ranked:
        halves = {piece[start : start + 2] for start in range(len(piece) - 1)}
        if not any(half in other for other in kept for half in halves):
            kept.append(piece)
    return kept[:_MAX_TERMS]
