"""Split a title at its separators and remove the name of the site."""

from __future__ import annotations

import enum
import re
from typing import Final

from pagekeep.extraction.metadata.plain import split_words, squeeze
from pagekeep.text import compile_lazily

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
_MIN_OWN_WORDS: Final = 3
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
        len(pieces) > 2 and names_site(pieces[-1], names) and len(split_words("".join(pieces[:-2]))) >= _MIN_OWN_WORDS
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
