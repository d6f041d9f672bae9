"""Reasons: why the judge left a block out, in words, by what spoke most against it."""

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


def explain(contributions: Mapping[int, int]) -> Reason:
    """Return the reason that most speaks against a block, from how much each feature changed its score."""
    sums: dict[Reason, int] = {}
    for feature, change in contributions.items():
        reason = _BY_FEATURE[feature]
        sums[reason] = sums.get(reason, 0) + change
    return min(sums, key=lambda reason: (sums[reason], reason))
