"""Find the page's headline among the titles and headings it declares."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.structured import short_text
from pagekeep.extraction.metadata.clues import Clues, FieldValue
from pagekeep.extraction.metadata.plain import one_line, split_words, squeeze, tidy

_CJK: Final = "\u3000-\u9fff\uac00-\ud7af\uff00-\uffef"
_SEPARATOR: Final = re.compile(
    r"(\s+(?:[|\u2022\u00b7\u00bb\u00ab\u2013\u2014>~\u2023\u2039\u203a\u2605\u25aa-]{1,2}|::|/)\s+|\s*[|\uff5c]\s*"
    rf"|(?<=[{_CJK}])\s*[_-]\s*(?=[{_CJK}]))"
)
_BRACKETED: Final = re.compile(r"\s*[\[(]([^\[\]()]{2,40})[\])]\Z")
_STRONG: Final = frozenset("|\uff5c\u2022\u00b7\u00bb\u00ab\u2039\u203a")
"""Separators that are hardly ever part of a headline; a dash often is."""
_COLON: Final = re.compile(r"\A(.{2,40}?):\s+")
_MAX_PARTS: Final = 8
"""Elements in a heading that are compared with the declared titles."""
_MAX_SITE_WORDS: Final = 6
"""Words in the name of a site."""
_MIN_OWN_WORDS: Final = 3
"""A title of fewer words may be part of the site's name."""
_MIN_PREFIX_CHARS: Final = 6
"""A part that starts with a shorter site name may do so by chance."""
_TIE_MARGIN: Final = 0.01
"""What a later heading must agree better: the first of equals wins."""
_BRACKET_CHARS: Final = 60
_HEADING_CHARS: Final = 500
_MIN_AGREEMENT: Final = 0.34
"""With a smaller share of common words a heading is the site's banner, not another form of the title."""
_PLACEHOLDERS: Final = frozenset(("home", "homepage", "untitled", "blog", "news", "menu", "index", "untitleddocument"))


def read(clues: Clues, site_name: str | None) -> FieldValue | None:
    """Return the headline without the site's name, and its origin."""
    declared = _declared_titles(clues)
    names = _site_names(clues, site_name)
    if declared and clues.is_home:
        return _home_title(*_choose_for_home(clues, declared), names)
    titles = [
        (title, origin)
        for text, origin in declared
        if _is_headline(title := remove_site_name(text, names, loosely=origin != "json-ld"), names)
    ]
    heading = _heading(clues, [*(text for text, _ in titles), urls.path(clues.url)], names)
    if heading:
        return heading, "heading"
    headings = [(text, "heading") for text in clues.headings]
    agreed = [heading for heading in headings if any(text.startswith(heading[0]) for text, _ in declared)]
    return next(iter([*titles, *agreed, *declared, *headings]), None)


def _choose_for_home(clues: Clues, declared: list[FieldValue]) -> FieldValue:
    """Return the `<title>`, as structured data of a home page is often about something it lists.

    A `<title>` without a word of the title for sharing is a placeholder of the template.
    """
    if not clues.title:
        return declared[0]
    own = set(split_words(clues.title))
    shared = next((value for value in declared if value[1] in ("opengraph", "twitter")), declared[-1])
    return declared[-1] if own & set(split_words(shared[0])) else shared


def _home_title(text: str, origin: str, names: frozenset[str]) -> FieldValue:
    """Return a home page's title: usually the site's name, which is removed only after a title of several words."""
    pieces = _SEPARATOR.split(_remove_bracket(text, names))
    while (
        len(pieces) > 2 and _names_site(pieces[-1], names) and len(split_words("".join(pieces[:-2]))) >= _MIN_OWN_WORDS
    ):
        del pieces[-2:]
    return "".join(pieces).strip(), origin


def _declared_titles(clues: Clues) -> list[FieldValue]:
    data = clues.structured
    values = [
        (clues.item.get("headline") or clues.item.get("name"), "json-ld"),
        (data.opengraph.get("og:title"), "opengraph"),
        (data.twitter.get("twitter:title"), "twitter"),
        *((data.meta.get(name), "meta") for name in ("parsely-title", "sailthru.title", "citation_title", "dc.title")),
        (data.properties.get("headline", ("",))[0], "microdata"),
    ]
    from_markup = [(clues.title, "title")] if clues.title else []
    return [(text, origin) for value, origin in values if (text := one_line(value))] + from_markup


def _is_headline(title: str, names: frozenset[str]) -> bool:
    bare = squeeze(title)
    return bool(bare) and bare not in _PLACEHOLDERS and bare not in names


def _heading(clues: Clues, titles: list[str], names: frozenset[str]) -> str | None:
    """Return the `<h1>` that agrees best with a declared title or the words of the URL."""
    best, best_agreement = None, _MIN_AGREEMENT
    for heading in clues.headings:
        text = remove_site_name(heading, names, loosely=False)
        if (
            not _is_headline(text, names)
            or _ends_title(heading, clues.title)
            or _starts_title(heading, clues.title, titles)
        ):
            continue
        agreement = max((_agreement(text, title) for title in titles), default=0.0)
        if agreement >= best_agreement and text != best:
            best, best_agreement = text, agreement + _TIE_MARGIN
    return _remove_labels(clues, best, titles) if best else None


def _ends_title(heading: str, title: str) -> bool:
    """Return whether the heading is only the last part of the `<title>`: the name of the site, book or blog."""
    if not title.endswith(heading[-1:]):
        return False
    parts = _SEPARATOR.split(title)
    return len(parts) > 2 and squeeze(parts[-1]) == squeeze(heading) != squeeze(parts[0])


def _starts_title(heading: str, title: str, titles: list[str]) -> bool:
    """Return whether the `<title>` is the heading followed by a declared title: a blog's name before the headline."""
    whole, lead = squeeze(title), squeeze(heading)
    return len(whole) > len(lead) and whole.startswith(lead) and whole[len(lead) :] in map(squeeze, titles)


def _remove_labels(clues: Clues, heading: str, titles: list[str]) -> str:
    """Return the part of a heading that is a declared title, without labels and counts in their own elements."""
    if clues.heading is None or squeeze(heading) not in squeeze(short_text(clues.heading, _HEADING_CHARS)):
        return heading
    declared = {squeeze(title) for title in titles} - {squeeze(heading)}
    own = " ".join(child.data for child in clues.heading.children if isinstance(child, dom.Text))
    parts = [own, *(short_text(inner, _HEADING_CHARS) for inner in dom.select(clues.heading, "*")[:_MAX_PARTS])]
    return next(
        (tidy(part) for part in parts if squeeze(part) in declared and len(split_words(part)) >= _MIN_OWN_WORDS),
        heading,
    )


def _agreement(one: str, other: str) -> float:
    """Return the share of common words, 0 to 1."""
    first, second = set(split_words(one)), set(split_words(other.replace("_", " ")))
    # "Blog name: headline" starts with the blog's name, so a colon after the common start is not agreement.
    if other.startswith(one) and not other[len(one) :].startswith(":"):
        return 1.0
    return 2 * len(first & second) / (len(first) + len(second)) if first and second else 0.0


def _site_names(clues: Clues, site_name: str | None) -> frozenset[str]:
    """Return the site's name and host in comparable forms."""
    domain = urls.domain(clues.url)
    labels = domain.split(".")
    names = (
        site_name or "",
        domain,
        labels[0],
        "".join(labels[-2:-1]),
        *(clues.structured.meta.get("application-name", ""),),
    )
    at_end = (heading for heading in clues.headings if _ends_title(heading, clues.title))
    return frozenset(squeeze(name) for name in (*names, *at_end) if len(name) > 1)


def remove_site_name(text: str, names: frozenset[str], *, loosely: bool) -> str:
    """Return the title without a first or last part that names the site.

    `loosely` also removes a short last part that only looks like a site's name, as in a `<title>`.
    """
    pieces = _SEPARATOR.split(_remove_bracket(text, names))
    while len(pieces) > 2 and _names_site(pieces[-1], names):
        del pieces[-2:]
    while len(pieces) > 2 and squeeze(pieces[0]) in names:
        del pieces[:2]
    if (
        len(pieces) > 2
        and (loosely or pieces[-2].strip()[:1] in _STRONG)
        and _looks_like_site("".join(pieces[:-2]), pieces[-2], pieces[-1])
    ):
        del pieces[-2:]
    while len(pieces) > 2 and pieces[-2].strip() == "_":  # Chinese sites write headline_section_site.
        del pieces[-2:]
    rest = "".join(pieces).strip()
    lead = _COLON.match(rest)
    return rest[lead.end() :] if lead and squeeze(lead[1]) in names else rest


def _remove_bracket(text: str, names: frozenset[str]) -> str:
    match = _BRACKETED.search(text[-_BRACKET_CHARS:])
    return text[: -len(match[0])] if match and squeeze(match[1]) in names and len(match[0]) < len(text) else text


def _names_site(part: str, names: frozenset[str]) -> bool:
    bare = squeeze(part)
    return (
        bare in names
        or bare.removeprefix("the") in names
        or any(len(name) >= _MIN_PREFIX_CHARS and bare.startswith(name) for name in names)
    )


def _looks_like_site(before: str, separator: str, part: str) -> bool:
    size, before_size = len(split_words(part)), len(split_words(before))
    if separator.strip()[:1] in _STRONG:
        return size <= _MAX_SITE_WORDS and before_size >= 1
    return size <= _MAX_SITE_WORDS - 2 and before_size > size + 1  # a dash needs more evidence
