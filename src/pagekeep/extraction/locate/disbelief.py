"""Disbelief: accusations that would leave nothing of the page.

A name says little when hardly any text is outside of everything that is accused: the article may be in a
`commentOnSelection`, every paragraph of it in a `share-text`, and all of it hidden until a script shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pagekeep.extraction.locate.exclusions import Reason, Reasons
from pagekeep.extraction.locate.survey import Survey

MAX_KEPT_CHARS: Final = 1_000
"""Characters of text outside all accused elements from which on the accusations leave an article."""
_MIN_CHARS: Final = 500
"""Characters of an accused element that may be the content."""
_MIN_RATIO: Final = 5
"""How many times the text outside all accused elements an accused element must have: terms of sale in a dialog may be longer
than what is sold."""
_MIN_GROUP: Final = 3
"""Elements accused of the same thing that are the parts of one text."""
_ALWAYS_BELIEVED: Final = frozenset({Reason.COOKIE_NOTICE, Reason.SMALL_PRINT, Reason.NOSCRIPT, Reason.SIGN_UP})
"""What may be nearly all that a page shows, without being its content."""
_BELIEVED_TAGS: Final = frozenset({"nav", "menu", "footer", "noscript"})
"""Tags that say it better than any name."""


def find_disbelieved(survey: Survey, text: Sequence[int], reasons: Reasons, signs: dict[Reason, int]) -> frozenset[int]:
    """Return the accused elements that are content after all, because hardly any text is outside of all of them.

    `text` has the characters of each subtree that count as content, `signs` the sign of what has many parts with that sign.
    """
    kept = text[0] - sum(text[index] for index in reasons)
    if kept >= MAX_KEPT_CHARS or text[0] - kept < _MIN_CHARS:
        return frozenset()
    min_chars = max(_MIN_CHARS, _MIN_RATIO * kept)
    groups: dict[Reason, list[int]] = {}
    for index, reason in reasons.items():
        if text[index] and reason not in _ALWAYS_BELIEVED and survey.tag[index] not in _BELIEVED_TAGS:
            groups.setdefault(reason, []).append(index)
    own = {
        index: _measure_own(survey, text, index, signs.get(reason, 0))
        for reason, group in groups.items()
        for index in group
        if text[index] >= min_chars
    }
    best = max(own, key=lambda index: own[index], default=0)
    if best and own[best] >= min_chars:
        return frozenset({best})
    for group in groups.values():
        if len(group) >= _MIN_GROUP and sum(text[index] for index in group) >= min_chars:
            return frozenset(group)
    return frozenset()


def _measure_own(survey: Survey, text: Sequence[int], accused: int, sign: int) -> int:
    """Return the characters that are in no further element with the same sign: a list of comments has none."""
    own = text[accused]
    index, end = accused + 1, survey.end[accused]
    while sign and index < end:
        if survey.flags[index] & sign:
            own -= text[index]
            index = survey.end[index]
        else:
            index += 1
    return own
