"""Include the opening of an article that stands above its container: a standfirst, a lead, a first part."""

from __future__ import annotations

from collections.abc import Sequence

from pagekeep.extraction.locate.exclusions import Reason, Reasons
from pagekeep.extraction.locate.survey import Survey


def include(survey: Survey, root: int, opening: Sequence[int]) -> tuple[int, Reasons]:
    """Return the container of the content and of these elements above it, and what to leave out of it."""
    first = min(opening)
    wide = survey.parent[root]
    while wide >= first:
        wide = survey.parent[wide]
    kept = sorted((*opening, root))
    reasons: Reasons = {}
    index, end = wide + 1, survey.end[wide]
    while index < end:
        last = survey.end[index]
        if index in kept:
            index = last
        elif any(index < inner < last for inner in kept):
            index += 1
        else:
            reasons[index] = Reason.BESIDE_CONTENT
            index = last
    return wide, reasons
