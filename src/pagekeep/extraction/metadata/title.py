"""Find the page's headline among the many forms a page gives it."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.structured import short_text
from pagekeep.extraction.metadata.clues import Clues
from pagekeep.extraction.metadata.plain import one_line, squeezed, tidy, words

Found = tuple[str, str]
"""A value and where it came from."""

_CJK: Final = "\u3000-\u9fff\uac00-\ud7af\uff00-\uffef"
_SEPARATOR: Final = re.compile(
    r"(\s+(?:[|\u2022\u00b7\u00bb\u00ab\u2013\u2014>~\u2023\u2039\u203a\u2605\u25aa-]{1,2}|::|/)\s+|\s*[|\uff5c]\s*"
    rf"|(?<=[{_CJK}])\s*[_-]\s*(?=[{_CJK}]))"
)
_BRACKETED: Final = re.compile(r"\s*[\[(]([^\[\]()]{2,40})[\])]\Z")
_STRONG: Final = frozenset("|\uff5c\u2022\u00b7\u00bb\u00ab\u2039\u203a")
"""Separators that hardly ever stand inside a headline; a dash often does."""
_COLON: Final = re.compile(r"\A(.{2,40}?):\s+")
_MAX_PARTS: Final = 8
_MAX_SITE_WORDS: Final = 6
_AGREEMENT: Final = 0.34
"""Share of common words from which a heading is another form of the title and not the site's banner."""
_HEADLESS: Final = frozenset(("home", "homepage", "untitled", "blog", "news", "menu", "index", "untitleddocument"))


def read(clues: Clues, site_name: str | None) -> Found | None:
    """The headline without the site's name, and its origin."""
    declared = _declared(clues)
    names = _site_names(clues, site_name)
    if declared and clues.is_home:
        # Its `<title>` first: what is declared for a home page is often about something it shows.
        return _home(*declared[-1], names) if clues.title else _home(*declared[0], names)
    titles = [
        (title, origin) for text, origin in declared if _says_something(title := _headline(text, names, origin), names)
    ]
    heading = _heading(clues, [*(text for text, _ in titles), urls.path(clues.url)], names)
    if heading:
        return heading, "heading"
    headings = [(text, "heading") for text in clues.headings]
    agreed = [found for found in headings if any(text.startswith(found[0]) for text, _ in declared)]
    return next(iter([*titles, *agreed, *declared, *headings]), None)


def _home(text: str, origin: str, names: frozenset[str]) -> Found:
    """A home page's title is the site's name or tells it first; only behind a title of its own is it dropped."""
    pieces = _SEPARATOR.split(_without_bracket(text, names))
    while len(pieces) > 2 and _names_site(pieces[-1], names) and len(words("".join(pieces[:-2]))) > 2:
        del pieces[-2:]
    return "".join(pieces).strip(), origin


def _declared(clues: Clues) -> list[Found]:
    given = clues.structured
    found = [
        (clues.item.get("headline") or clues.item.get("name"), "json-ld"),
        (given.opengraph.get("og:title"), "opengraph"),
        (given.twitter.get("twitter:title"), "twitter"),
        *((given.meta.get(name), "meta") for name in ("parsely-title", "sailthru.title", "citation_title", "dc.title")),
        (given.properties.get("headline", ("",))[0], "microdata"),
    ]
    read_from_markup = [(clues.title, "title")] if clues.title else []
    return [(text, origin) for value, origin in found if (text := one_line(value))] + read_from_markup


def _says_something(title: str, names: frozenset[str]) -> bool:
    bare = squeezed(title)
    return bool(bare) and bare not in _HEADLESS and bare not in names


def _headline(text: str, names: frozenset[str], origin: str) -> str:
    return without_site(text, names, loosely=origin != "json-ld")


def _heading(clues: Clues, titles: list[str], names: frozenset[str]) -> str | None:
    """The `<h1>` that agrees best with a declared title or the words of the address."""
    best, best_agreement = None, _AGREEMENT
    for heading in clues.headings:
        text = without_site(heading, names, loosely=False)
        if not _says_something(text, names) or _closes(heading, clues.title) or _opens(heading, clues.title, titles):
            continue
        agreement = max((_agreement(text, title) for title in titles), default=0.0)
        if agreement >= best_agreement and text != best:
            best, best_agreement = text, agreement + 0.01  # The first of equals.
    return _without_labels(clues, best, titles) if best else None


def _closes(heading: str, title: str) -> bool:
    """Whether the heading is the last part of the `<title>` alone: the name of the site, the book, the blog."""
    if not title.endswith(heading[-1:]):
        return False
    parts = _SEPARATOR.split(title)
    return len(parts) > 2 and squeezed(parts[-1]) == squeezed(heading) != squeezed(parts[0])


def _opens(heading: str, title: str, titles: list[str]) -> bool:
    """Whether the heading and another declared title make up the `<title>`: a blog's name before the headline."""
    whole, lead = squeezed(title), squeezed(heading)
    return len(whole) > len(lead) and whole.startswith(lead) and whole[len(lead) :] in map(squeezed, titles)


def _without_labels(clues: Clues, heading: str, titles: list[str]) -> str:
    """The part of a heading that is declared as the title, where labels or counts stand beside it in their own elements."""
    if clues.heading is None or squeezed(heading) not in squeezed(short_text(clues.heading, 500)):
        return heading
    declared = {squeezed(title) for title in titles} - {squeezed(heading)}
    own = " ".join(child.data for child in clues.heading.children if isinstance(child, dom.Text))
    parts = [own, *(short_text(inner, 500) for inner in dom.select(clues.heading, "*")[:_MAX_PARTS])]
    return next((tidy(part) for part in parts if squeezed(part) in declared and len(words(part)) > 2), heading)


def _agreement(one: str, other: str) -> float:
    """Share of common words, 0 to 1."""
    first, second = set(words(one)), set(words(other.replace("_", " ")))
    # "Blog name: headline" begins with its blog's name, so a colon behind the common beginning tells nothing.
    if other.startswith(one) and not other[len(one) :].startswith(":"):
        return 1.0
    return 2 * len(first & second) / (len(first) + len(second)) if first and second else 0.0


def _site_names(clues: Clues, site_name: str | None) -> frozenset[str]:
    """The site's name and host in comparable forms."""
    domain = urls.domain(clues.url)
    labels = domain.split(".")
    names = (
        site_name or "",
        domain,
        labels[0],
        "".join(labels[-2:-1]),
        *(clues.structured.meta.get("application-name", ""),),
    )
    closing = (heading for heading in clues.headings if _closes(heading, clues.title))
    return frozenset(squeezed(name) for name in (*names, *closing) if len(name) > 1)


def without_site(text: str, names: frozenset[str], *, loosely: bool) -> str:
    """The title without a leading or trailing part that names the site.

    `loosely` also drops a short last part that only looks like a site's name, as in a `<title>`.
    """
    pieces = _SEPARATOR.split(_without_bracket(text, names))
    while len(pieces) > 2 and _names_site(pieces[-1], names):
        del pieces[-2:]
    while len(pieces) > 2 and squeezed(pieces[0]) in names:
        del pieces[:2]
    if (
        len(pieces) > 2
        and (loosely or pieces[-2].strip()[:1] in _STRONG)
        and _looks_like_site("".join(pieces[:-2]), pieces[-2], pieces[-1])
    ):
        del pieces[-2:]
    while len(pieces) > 2 and pieces[-2].strip() == "_":  # Chinese houses write headline_section_house.
        del pieces[-2:]
    rest = "".join(pieces).strip()
    lead = _COLON.match(rest)
    return rest[lead.end() :] if lead and squeezed(lead[1]) in names else rest


def _without_bracket(text: str, names: frozenset[str]) -> str:
    found = _BRACKETED.search(text[-60:])
    return text[: -len(found[0])] if found and squeezed(found[1]) in names and len(found[0]) < len(text) else text


def _names_site(part: str, names: frozenset[str]) -> bool:
    bare = squeezed(part)
    return (
        bare in names
        or bare.removeprefix("the") in names
        or any(len(name) > 5 and bare.startswith(name) for name in names)
    )


def _looks_like_site(before: str, separator: str, part: str) -> bool:
    size, before_size = len(words(part)), len(words(before))
    if separator.strip()[:1] in _STRONG:
        return size <= _MAX_SITE_WORDS and before_size >= 1
    return size <= _MAX_SITE_WORDS - 2 and before_size > size + 1
