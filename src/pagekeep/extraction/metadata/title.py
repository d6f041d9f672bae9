"""Find the page's headline among its titles and headings, without the name of the site."""

from __future__ import annotations

import enum
import re
import unicodedata
from typing import Final
from urllib.parse import unquote

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.structured import one_line, short_text, split_words, squeeze, tidy, type_names
from pagekeep.extraction.metadata.clues import Clues, FieldValue
from pagekeep.text import compile_lazily

_MAX_PARTS: Final = 8
"""Elements in a heading that are compared with the declared titles."""
_MIN_OWN_WORDS: Final = 3
"""A shorter part of a heading may equal a declared title by chance."""
_TIE_MARGIN: Final = 0.01
"""What a later heading must agree better: the first of equals wins."""
_HEADING_CHARS: Final = 500
_MIN_AGREEMENT: Final = 0.34
"""With a smaller share of common words a heading is the site's banner, not another form of the title."""
_MIN_HEADLINE_WORDS: Final = 6
"""A heading of fewer words that agrees with nothing may be the name of a section."""
_MIN_IN_PATH: Final = 0.5
"""With this share of common words the URL is made from the heading."""
_MAX_NAME_WORDS: Final = 8
"""Words in the name of a site, book or blog."""
_MAX_PATH_CHARS: Final = 500
_PLACEHOLDERS: Final = frozenset(
    "home homepage untitled blog news menu index untitleddocument startseite accueil inicio início главная 首页 ホーム".split()
)
_FILE_NAME: Final = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+){2,}")
"""A title such as `spring-fair-2024` is the name of a file or of a program."""
_DIGRAPH: Final = compile_lazily(r"([aou])e")
_META_NAMES: Final = (
    "parsely-title", "sailthru.title", "citation_title", "dc.title", "dcterms.title", "dc:title", "dcterms:title",
)  # fmt: skip


def read(clues: Clues, site_name: str | None) -> FieldValue | None:
    """Return the headline without the site's name, and its origin."""
    declared = _declared_titles(clues)
    own_names = _own_names(clues, site_name)
    names = own_names | {squeeze(text) for text in clues.headings if _closes_title(text, clues, declared, own_names)}
    if declared and clues.is_home:
        text, origin = _choose_for_home(clues, declared)
        return remove_site_name_at_home(text, names), origin
    titles = [
        (title, origin)
        for text, origin in declared
        if _is_headline(title := remove_site_name(text, names, _cut(text, origin, clues.title)), names)
    ]
    heading = _heading(clues, titles, names) or _lesser_heading(clues, declared, names)
    if heading:
        return heading, "heading"
    headings = [(text, "heading") for text in clues.headings]
    started = [heading for heading in headings if any(text.startswith(heading[0]) for text, _ in declared)]
    return _find_agreed(titles) or next(iter([*titles, *started, *declared, *headings]), None)


def _cut(text: str, origin: str, title: str) -> Cut:
    """Return how the site's name is recognised: most freely in the `<title>` and its copies, which often have it."""
    return Cut.LOOSE if text == title and origin != "json-ld" else Cut.STRONG


def _find_agreed(titles: list[FieldValue]) -> FieldValue | None:
    """Return the text that the `<title>` has in common with another declared title."""
    own = next((squeeze(text) for text, origin in titles if origin == "title"), None)
    return next((value for value in titles if squeeze(value[0]) == own and value[1] != "title"), None)


def _choose_for_home(clues: Clues, declared: list[FieldValue]) -> FieldValue:
    """Return the `<title>`, as structured data of a home page is often about something it lists.

    A `<title>` without a word of the title for sharing is a placeholder of the template.
    """
    if not clues.title:
        return declared[0]
    own = set(split_words(clues.title))
    shared = next((value for value in declared if value[1] in ("opengraph", "twitter")), declared[-1])
    return declared[-1] if own & set(split_words(shared[0])) else shared


def _declared_titles(clues: Clues) -> list[FieldValue]:
    data = clues.structured
    values = [
        (clues.item.get("headline") or clues.item.get("name"), "json-ld"),
        (data.opengraph.get("og:title"), "opengraph"),
        (data.twitter.get("twitter:title"), "twitter"),
        *((data.meta.get(name), "meta") for name in _META_NAMES),
        (data.properties.get("headline", ("",))[0], "microdata"),
    ]
    from_markup = [(clues.title, "title")] if clues.title else []
    return [(text, origin) for value, origin in values if (text := one_line(value))] + from_markup


def _is_headline(title: str, names: frozenset[str]) -> bool:
    bare = squeeze(title)
    return bool(bare) and bare not in _PLACEHOLDERS and bare not in names and not _FILE_NAME.fullmatch(title)


def _heading(clues: Clues, titles: list[FieldValue], names: frozenset[str]) -> str | None:
    """Return the `<h1>` that agrees best with a declared title or the words of the URL."""
    texts = [text for text, _ in titles]
    own = _own_headings(clues, texts, names)
    best, best_agreement = None, _MIN_AGREEMENT
    for text, element in own.items():
        agreement = max([_agreement(text, title, names) for title in texts] + [_agreement_with_path(text, clues.url)])
        if agreement >= best_agreement:
            best, best_agreement = (text, element), agreement + _TIE_MARGIN
    if best is None:
        return _only_heading(own, titles)
    return None if _is_outvoted(best[0], titles, clues) else _remove_labels(*best, texts)


def _own_headings(clues: Clues, titles: list[str], names: frozenset[str]) -> dict[str, dom.Element]:
    """Return the texts of the `<h1>` elements that may be the headline, without the site's name."""
    own: dict[str, dom.Element] = {}
    for heading, element in zip(clues.headings, clues.heading_elements, strict=True):
        text = remove_site_name(heading, names, Cut.STRONG)
        is_own = heading not in clues.banners and not _starts_title(heading, clues.title, titles)
        if is_own and _is_headline(text, names):
            own.setdefault(text, element)
    return own


def _only_heading(own: dict[str, dom.Element], titles: list[FieldValue]) -> str | None:
    """Return the page's only `<h1>` if it is as long as a headline, and nothing but a `<title>` says something else."""
    text = next(iter(own), "")
    is_headline = len(own) == 1 and len(split_words(text)) >= _MIN_HEADLINE_WORDS
    return text if is_headline and all(origin == "title" for _, origin in titles) else None


def _is_outvoted(heading: str, titles: list[FieldValue], clues: Clues) -> bool:
    """Return whether the `<title>`, another declared title and the URL agree against a heading declared nowhere.

    Not for articles: readers know them by the headline, and the other two are often a shorter form for search engines.
    """
    agreed, bare = _find_agreed(titles), squeeze(heading)
    if agreed is None or _is_article(clues) or any(squeeze(text) == bare for text, _ in titles):
        return False
    # Only the last part of the path: the others name sections, as the <title> of a manual does.
    name = urls.path(clues.url).rstrip("/").rpartition("/")[2]
    return _agreement_with_words(agreed[0], name) > _agreement_with_words(heading, name)


def _is_article(clues: Clues) -> bool:
    """Return whether the page declares itself an article."""
    shared = clues.structured.opengraph
    is_shared = shared.get("og:type", "").lower() == "article" or "article:published_time" in shared
    return is_shared or any(name.endswith(("Article", "Posting")) for name in type_names(clues.item))


def _lesser_heading(clues: Clues, declared: list[FieldValue], names: frozenset[str]) -> str | None:
    """Return an `<h2>` or `<h3>` that is a part of the `<title>`, where no other title is declared.

    Old forums and blogs use `<h1>` for their own name.
    """
    if clues.heading is None or clues.heading.tag == "h1" or any(text != clues.title for text, _ in declared):
        return None
    text = tidy(short_text(clues.heading, _HEADING_CHARS))
    is_own = is_part(text, clues.title) and not _closes_title(text, clues, declared, names)
    return text if is_own and _is_headline(text, names) else None


def _closes_title(text: str, clues: Clues, declared: list[FieldValue], own_names: frozenset[str]) -> bool:
    """Return whether a heading is only the last part of the `<title>`: the name of the site, book or blog.

    It is the headline after the site's name where that comes first, where the URL is made from the heading, where it is
    declared as the title elsewhere, or where it is longer than names are.
    """
    bare = squeeze(text)
    if not bare or not squeeze(clues.title).endswith(bare) or len(split_words(text)) > _MAX_NAME_WORDS:
        return False
    parts = split_title(clues.title)
    if len(parts) < 3 or squeeze(parts[-1]) != bare or squeeze(parts[0]) == bare:
        return False
    is_declared = any(squeeze(title) == bare for title, origin in declared if origin != "title")
    return not (names_site(parts[0], own_names) or is_declared or _agreement_with_path(text, clues.url) >= _MIN_IN_PATH)


def _starts_title(heading: str, title: str, titles: list[str]) -> bool:
    """Return whether the `<title>` is the heading followed by a declared title: a blog's name before the headline."""
    whole, lead = squeeze(title), squeeze(heading)
    return len(whole) > len(lead) and whole.startswith(lead) and whole[len(lead) :] in map(squeeze, titles)


def _remove_labels(heading: str, element: dom.Element, titles: list[str]) -> str:
    """Return the part of a heading that is a declared title, without labels and counts in their own elements."""
    declared = {squeeze(title) for title in titles} - {squeeze(heading)}
    for inner in (element, *dom.select(element, "*")[:_MAX_PARTS]) if declared else ():
        own = " ".join(child.data for child in inner.children if isinstance(child, dom.Text))
        for part in (own, short_text(inner, _HEADING_CHARS)):
            if squeeze(part) in declared and len(split_words(part)) >= _MIN_OWN_WORDS:
                return tidy(part)
    return heading


def _agreement(one: str, other: str, names: frozenset[str]) -> float:
    """Return the share of common words, 0 to 1; the site's name is not counted."""
    # "Blog name: headline" starts with the blog's name, so a colon after the common start is not agreement.
    if other.startswith(one) and not other[len(one) :].startswith(":"):
        return 1.0
    return _share_common(set(split_words(one)) - names, set(split_words(other)) - names)


def _agreement_with_path(heading: str, url: str | None) -> float:
    """Return the share of words that the heading and the URL's path have in common."""
    return _agreement_with_words(heading, urls.path(url))


def _agreement_with_words(heading: str, path: str) -> float:
    path = unquote(path[:_MAX_PATH_CHARS]).replace("_", " ")
    return _share_common(set(split_words(_fold(heading))), set(split_words(_fold(path)))) if path else 0.0


def _share_common(first: set[str], second: set[str]) -> float:
    return 2 * len(first & second) / (len(first) + len(second)) if first and second else 0.0


def _fold(text: str) -> str:
    """Return the text as URLs have it, without accents; an umlaut may be written with or without "e"."""
    if not text.isascii():
        plain = unicodedata.normalize("NFKD", text)
        text = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return _DIGRAPH.sub(r"\1", text.lower())


def _own_names(clues: Clues, site_name: str | None) -> frozenset[str]:
    """Return the site's name and host in comparable forms."""
    domain = urls.domain(clues.url)
    labels = domain.split(".")
    application = clues.structured.meta.get("application-name", "")
    names = (site_name or "", domain, labels[0], "".join(labels[-2:-1]), application, *clues.banners)
    return frozenset(squeeze(name) for name in names if len(name) > 1)


_CJK: Final = "\u3000-\u9fff\uac00-\ud7af\uff00-\uffef"
_FIRST_CJK: Final = "\u3000"
_SEPARATORS: Final = (
    r"\s+(?:[|\u2022\u00b7\u00bb\u00ab\u2013\u2014>~\u2023\u2039\u203a\u2605\u25aa-]{1,2}|::|/)\s+|\s*[|\uff5c]\s*"
)
_SEPARATOR: Final = re.compile(f"({_SEPARATORS})")
_CJK_SEPARATOR: Final = compile_lazily(rf"({_SEPARATORS}|(?<=[{_CJK}])\s*[_-]\s*(?=[{_CJK}]))")
_BRACKETED: Final = re.compile(r"\s*[\[(]([^\[\]()]{2,40})[\])]\Z")
_STRONG: Final = frozenset("|\uff5c\u2022\u00b7\u00bb\u00ab\u2039\u203a")
"""Separators that are hardly ever part of a headline; a dash often is."""
_COLON: Final = re.compile(r"\A(.{2,40}?):\s+")
_CLOSING_COLON: Final = re.compile(r"\s?:\s+([^:]{2,60})\Z")
_STRAY: Final = re.compile(r"\A[|\u2022\u00b7:/\u2013\u2014-]+\s+|\s+[|\u2022\u00b7:/\u2013\u2014-]+\Z")
"""Separators at the edge, where one side was empty."""
_EDGE: Final = "|\uff5c\u2022\u00b7\u00bb\u00ab\u2013\u2014>~\u2039\u203a:\uff1a/_-"
_MAX_SITE_WORDS: Final = 6
"""Words in the name of a site."""
_MIN_TITLE_WORDS: Final = 3
"""A title of fewer words may be part of the site's name."""
_MIN_PREFIX_CHARS: Final = 6
"""A part that starts with a shorter site name may do so by chance."""
_BRACKET_CHARS: Final = 60


class Cut(enum.Enum):
    """Which short last parts are removed besides those that name the site."""

    STRONG = "after a bar or a bullet, where more words are left than removed"
    LOOSE = "after a bar or a bullet, and after a dash where many more words are left"


def split_title(title: str) -> list[str]:
    """Return the headline, the section and the name of the site, with what is between them."""
    has_cjk = max(title, default="") >= _FIRST_CJK  # the pattern for it takes long to compile
    return (_CJK_SEPARATOR if has_cjk else _SEPARATOR).split(title)


def remove_site_name(text: str, names: frozenset[str], cut: Cut) -> str:
    """Return the title without a first or last part that names the site, or looks like a site's name."""
    pieces = split_title(_remove_bracket(text, names))
    while len(pieces) > 2 and (size := _named_at_end(pieces, names)):
        del pieces[-size:]
    whole = len(pieces)
    while len(pieces) > 2 and (size := _named_at_start(pieces, names)):
        del pieces[:size]
    # After the site's name at the start, the last part is the headline.
    if len(pieces) == whole > 2 and _looks_like_site("".join(pieces[:-2]), pieces[-2], pieces[-1], cut):
        del pieces[-2:]
    while len(pieces) > 2 and pieces[-2].strip() == "_":  # Chinese sites write headline_section_site.
        del pieces[-2:]
    rest = _STRAY.sub("", "".join(pieces).strip())
    lead, end = _COLON.match(rest), _CLOSING_COLON.search(rest)
    if lead and squeeze(lead[1]) in names:
        return rest[lead.end() :]
    return rest[: end.start()] if end and squeeze(end[1]) in names else rest


def remove_site_name_at_home(text: str, names: frozenset[str]) -> str:
    """Return a home page's title: usually the site's name, which is removed only after a title of several words."""
    pieces = split_title(_remove_bracket(text, names))
    while (
        len(pieces) > 2 and names_site(pieces[-1], names) and len(split_words("".join(pieces[:-2]))) >= _MIN_TITLE_WORDS
    ):
        del pieces[-2:]
    return _STRAY.sub("", "".join(pieces).strip())


def is_part(text: str, title: str) -> bool:
    """Return whether the title starts or ends with the text, with a separator between it and the rest."""
    if title.startswith(text):
        return title[len(text) :].lstrip()[:1] in _EDGE
    return title.endswith(text) and title[: -len(text)].rstrip()[-1:] in _EDGE


def names_site(part: str, names: frozenset[str]) -> bool:
    """Return whether the part of a title is the name of the site, or starts with it."""
    bare = squeeze(part)
    return (
        bare in names
        or bare.removeprefix("the") in names
        or any(len(name) >= _MIN_PREFIX_CHARS and bare.startswith(name) for name in names)
    )


def _named_at_end(pieces: list[str], names: frozenset[str]) -> int:
    """Return how many pieces at the end name the site; a name may have a separator in it ("Rye | Bread")."""
    if names_site(pieces[-1], names):
        return 2
    return next((size for size in range(4, len(pieces), 2) if squeeze("".join(pieces[1 - size :])) in names), 0)


def _named_at_start(pieces: list[str], names: frozenset[str]) -> int:
    return next((size for size in range(2, len(pieces), 2) if squeeze("".join(pieces[: size - 1])) in names), 0)


def _remove_bracket(text: str, names: frozenset[str]) -> str:
    match = _BRACKETED.search(text[-_BRACKET_CHARS:])
    return text[: -len(match[0])] if match and squeeze(match[1]) in names and len(match[0]) < len(text) else text


def _looks_like_site(before: str, separator: str, part: str, cut: Cut) -> bool:
    size, before_size = len(split_words(part)), len(split_words(before))
    if separator.strip()[:1] in _STRONG:
        return size <= _MAX_SITE_WORDS and before_size > (size if cut is Cut.STRONG else 0)
    # A dash needs more evidence.
    return cut is Cut.LOOSE and size <= _MAX_SITE_WORDS - 2 and before_size > size + 1
