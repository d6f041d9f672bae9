"""Reasons: why the judge left a block out or kept it, in words, by what spoke most against it or for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pagekeep.extraction.locate.exclusions import Reason
from pagekeep.extraction.prune.judge.features import NAMES

_GROUPS: Final = {
    Reason.NAMED_UNLIKE_TEXT: "names_min names_max names_mean own_names_min parent_names_min parent_names_max accused",
    Reason.WORDED_UNLIKE_TEXT: "words_mean heading_words",
    Reason.MOSTLY_LINKS: "linked parent_linked outer_linked alike_linked box_linked inline",
    Reason.ONE_OF_MANY: "alike alike_chars",
    Reason.APART_FROM_TEXT: "share_of_parent prose_in_owner prose_in_parent prose_in_outer box_chars",
    Reason.BEFORE_OR_AFTER_TEXT: "prose_before since_prose until_prose since_title since_heading heading_level",
    Reason.OTHER_SUBJECT: "shared title_shared",
    Reason.NO_SENTENCE: "tag parent_tag outer_tag within chars commas closes capitals",
}
_BY_NAME: Final = {name: reason for reason, names in _GROUPS.items() for name in names.split()}
_BY_FEATURE: Final = tuple(_BY_NAME.get(name, Reason.AMONG_OTHERS_LIKE_IT) for name in NAMES)


_KEPT: Final = {
    Reason.NAMED_UNLIKE_TEXT: "named like a text",
    Reason.WORDED_UNLIKE_TEXT: "worded like the text",
    Reason.MOSTLY_LINKS: "few links",
    Reason.ONE_OF_MANY: "like the paragraphs of the text",
    Reason.APART_FROM_TEXT: "together with the text",
    Reason.BEFORE_OR_AFTER_TEXT: "within the text",
    Reason.OTHER_SUBJECT: "about the same subject",
    Reason.NO_SENTENCE: "written like the text",
    Reason.AMONG_OTHERS_LIKE_IT: "judged by what is beside it",
}


def explain_removal(contributions: Mapping[int, int]) -> Reason:
    """Return what most speaks against a block, from how much each feature changed its score."""
    sums = _sum_by_reason(contributions)
    return min(sums, key=lambda reason: (sums[reason], reason), default=Reason.AMONG_OTHERS_LIKE_IT)


def explain_keeping(contributions: Mapping[int, int]) -> str:
    """Return what most speaks for a block, in words."""
    sums = _sum_by_reason(contributions)
    return _KEPT[max(sums, key=lambda reason: (sums[reason], reason), default=Reason.AMONG_OTHERS_LIKE_IT)]


def _sum_by_reason(contributions: Mapping[int, int]) -> dict[Reason, int]:
    sums: dict[Reason, int] = {}
    for feature, change in contributions.items():
        reason = _BY_FEATURE[feature]
        sums[reason] = sums.get(reason, 0) + change
    return sums
