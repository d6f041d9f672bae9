"""The judge: decides block by block whether a line or paragraph of an article is part of its text.

What else stands among the paragraphs of an article (teasers, pitches, notes about the author) often carries no name that gives
it away. A forest of decision trees, trained on labelled pages, weighs some sixty facts about a block and its neighbours. It
overrules the other steps only where it is sure.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from pagekeep.extraction.locate.exclusions import Exclusions, Reasons
from pagekeep.extraction.locate.page_facts import PageFacts
from pagekeep.extraction.locate.survey import HEADINGS, Survey
from pagekeep.extraction.prune.judge import forest
from pagekeep.extraction.prune.judge.features import Blocks, Features, View, collect_blocks, name_words

MAX_BLOCKS: Final = 5_000
"""Blocks up to which a page is judged, a bound on work: a page has about 230."""
_MAX_SCORE: Final = -600
"""Score under which a block in the content is left out: odds of 1 to 2. Chosen by halves of the corpora."""
_MAX_DOUBT: Final = 300
"""Score under which a block that is kept is reported as doubtful."""
_MAX_DOUBTS: Final = 20
"""Doubtful blocks that are reported."""
_MAX_DROPPED_SHARE: Final = 0.4
"""Share of the content's text from which on the judge is not believed: a wrong verdict must not cost the article."""
_MIN_SURE_CHARS: Final = 200
"""Characters of a paragraph between two others, or in a box of several such, that is content without being judged."""
_MIN_SURE_PARAGRAPHS: Final = 3
"""Paragraphs of that length in one box from which on all of them are content: a list of teasers has a box for each."""
_MAX_SURE_LINKED: Final = 7
"""Fewer than one in this many of its characters are in links."""
_MAX_LIST_SHARE: Final = 0.5
"""Share of the content's text up to which a list or table is judged as a whole."""

_MIN_PROSE_CHARS: Final = 1_000
"""Characters in paragraphs from which on a page is judged: on a shorter one a wrong verdict costs too much."""
_MIN_LINKED_SHARE: Final = 0.5
"""Share of a list's text in links from which on it is judged."""

_LISTS: Final = frozenset({"ul", "ol"})
_NEVER: Final = frozenset("pre code figcaption figure table dl blockquote details math aside".split())
"""Elements whose text is not judged: code, tables, formulas, quotations and notes are like nothing else in an article."""
_TABS: Final = frozenset({"tab", "tabs", "tabgroup", "tabpanel", "accordion"})
"""Words in the names of elements that are not judged either: texts of which a reader sees one at a time."""
_NOTES: Final = frozenset("footnote footnotes endnote endnotes sidenote sidenotes".split())
_CAPTIONS: Final = frozenset({"caption", "captions"})
_MAX_CAPTION_BOXES: Final = 3
"""Boxes around a caption that also have its picture."""
_UNJUDGED: Final = _TABS | _NOTES
_FIGURES: Final = frozenset({"img", "picture", "video", "iframe", "svg", "figure", "audio", "math", "pre"})
"""Elements that are not left out together with the text beside them."""


class Verdict(NamedTuple):
    """What the judge says about the blocks of the content."""

    dropped: Reasons
    """Elements and texts that are not part of the text."""
    doubts: tuple[tuple[int, str], ...] = ()
    """Elements that nearly were, each with the reason why it is kept."""


_NOTHING: Final = Verdict({})


def judge(facts: PageFacts, root: int, excluded: Exclusions) -> Verdict:
    """Judge the blocks of the content."""
    if facts.scope:  # a rule that chose the content knows better
        return _NOTHING
    survey, trees = facts.survey, forest.shipped()
    view = look(facts)
    blocks = view.blocks
    if not blocks or len(blocks) > MAX_BLOCKS:
        return _NOTHING
    features = Features(view, trees.lexicon)
    if features.prose_chars < _MIN_PROSE_CHARS:
        return _NOTHING
    facts.check_time()
    kept = _find_kept(survey, root, excluded, blocks)
    rows = {index: features.row(index) for index in _find_doubtful(view, features, root, kept)}
    if not rows:
        return _NOTHING
    scores = _judge_lists(survey, root, blocks, {index: trees.score(row) for index, row in rows.items()})
    dropped = {index for index, score in scores.items() if score < _MAX_SCORE}
    doubts = tuple(
        (blocks.owner[index], forest.explain_keeping(trees.contributions(rows[index])))
        for index in [index for index, score in scores.items() if _MAX_SCORE <= score < _MAX_DOUBT][:_MAX_DOUBTS]
    )
    if sum(blocks.chars[index] for index in dropped) > _MAX_DROPPED_SHARE * sum(blocks.chars[index] for index in kept):
        return _NOTHING
    headings = _find_headings(view, kept, dropped) if dropped else set()
    rows |= {index: features.row(index) for index in headings}
    found = _find_elements(survey, root, blocks, kept, dropped | headings)
    return Verdict(
        {element: forest.explain_removal(trees.contributions(rows[index])) for element, index in found}, doubts
    )


def look(facts: PageFacts) -> View:
    """Return the page as the judge sees it."""
    survey = facts.survey
    nodes, names = survey.nodes, dict[int, tuple[str, ...]]()

    def names_of(index: int) -> tuple[str, ...]:
        found = names.get(index)
        if found is None:
            found = names[index] = name_words(nodes[index])
        return found

    return View(
        survey.tag, survey.parent, survey.chars, survey.linked, names_of, collect_blocks(survey),
        facts.dead, facts.metadata.title or "",
    )  # fmt: skip


def _find_kept(survey: Survey, root: int, excluded: Exclusions, blocks: Blocks) -> list[int]:
    """Return which blocks are within the content and not left out."""
    left_out = sorted(index for index in excluded if root < index < survey.end[root])
    kept: list[int] = []
    place, until = 0, 0
    for index in range(bisect_left(blocks.start, root), bisect_left(blocks.start, survey.end[root])):
        start = blocks.start[index]
        while place < len(left_out) and left_out[place] <= start:
            until = max(until, survey.end[left_out[place]])
            place += 1
        if start >= until:
            kept.append(index)
    return kept


def _find_doubtful(view: View, features: Features, root: int, kept: Sequence[int]) -> list[int]:
    """Return the blocks that are judged: not long paragraphs among others, headings with a text, standfirsts and structures."""
    blocks, tags = view.blocks, view.tag
    is_kept = frozenset(kept)
    structures: dict[int, bool] = {}
    sure = _find_sure_text(view, features.is_prose)
    # The quickest tests come first: most blocks are left alone for one of several reasons.
    return [
        index
        for index in kept
        if not (
            (tags[blocks.owner[index]] in HEADINGS and index + 1 in is_kept)
            or view.accused[blocks.start[index]]  # kept all the same: a strategy found it to be the standfirst
            or index in sure
            or _is_in_structure(view, root, blocks.owner[index], structures)
            or features.is_standfirst(index)
            or features.is_plain_sentence(index)
            or features.heads_paragraphs(index)
            or "math" in tags[blocks.start[index] : blocks.stop[index]]
        )
    ]


def _find_sure_text(view: View, is_prose: Sequence[bool]) -> set[int]:
    """Return the blocks that are long paragraphs between two others, or in a box with several of them."""
    blocks, parents = view.blocks, view.parent
    boxes: dict[int, list[int]] = {}
    for index, prose in enumerate(is_prose):
        if prose and blocks.chars[index] >= _MIN_SURE_CHARS:
            boxes.setdefault(parents[blocks.owner[index]], []).append(index)
    return {
        index
        for box, paragraphs in boxes.items()
        for index in paragraphs
        if blocks.linked[index] * _MAX_SURE_LINKED < blocks.chars[index]
        and (len(paragraphs) >= _MIN_SURE_PARAGRAPHS or _is_between_paragraphs(view, is_prose, index, box))
    }


def _is_between_paragraphs(view: View, is_prose: Sequence[bool], index: int, box: int) -> bool:
    blocks, parents = view.blocks, view.parent
    return (
        0 < index < len(is_prose) - 1
        and is_prose[index - 1]
        and is_prose[index + 1]
        and parents[blocks.owner[index - 1]] == parents[blocks.owner[index + 1]] == box
    )


def _find_headings(view: View, kept: Sequence[int], dropped: Collection[int]) -> set[int]:
    """Return the headings of which everything up to the next heading is dropped: a heading goes with its section."""
    sections: dict[int, list[bool]] = {}
    heading = -1
    for index in kept:
        if view.tag[view.blocks.owner[index]] in HEADINGS:
            heading = index
        elif heading >= 0:
            sections.setdefault(heading, []).append(index in dropped)
    return {index for index, are_dropped in sections.items() if all(are_dropped)}


def _is_in_structure(view: View, root: int, element: int, known: dict[int, bool]) -> bool:
    """Return whether an element is in a table, a quotation, code, tabs, a custom element, or a list of more than links."""
    passed: list[int] = []
    found = False
    while element > root and not found:
        if element in known:
            found = known[element]
            break
        passed.append(element)
        tag = view.tag[element]
        found = (
            tag in _NEVER
            or "-" in tag
            or (tag in _LISTS and view.linked[element] < _MIN_LINKED_SHARE * view.chars[element])
            or not _UNJUDGED.isdisjoint(view.names(element))
            or (not _CAPTIONS.isdisjoint(view.names(element)) and _has_picture(view, element))
        )
        element = view.parent[element]
    for place in passed:
        known[place] = found
    return found


def _has_picture(view: View, caption: int) -> bool:
    """Return whether a caption is alone with a picture in a box: the clean-up makes them a figure."""
    box = caption
    for _ in range(_MAX_CAPTION_BOXES):
        box = view.parent[box]
        if view.chars[box] != view.chars[caption]:
            return False
        if "img" in view.tag[box:caption]:
            return True
    return False


def _judge_lists(survey: Survey, root: int, blocks: Blocks, scores: Mapping[int, int]) -> dict[int, int]:
    """Return the scores with one for all blocks of a list or table, their mean: it is content as a whole or not at all."""
    groups: dict[int, list[int]] = {}
    most = _MAX_LIST_SHARE * survey.chars[root]
    for index in scores:
        outermost, above = 0, blocks.owner[index]
        while above > root:
            if survey.tag[above] in _LISTS and survey.chars[above] < most:
                outermost = above
            above = survey.parent[above]
        if outermost:
            groups.setdefault(outermost, []).append(index)
    result = dict(scores)
    for members in groups.values():
        result.update(dict.fromkeys(members, sum(scores[index] for index in members) // len(members)))
    return result


def _find_elements(
    survey: Survey, root: int, blocks: Blocks, kept: Sequence[int], dropped: Collection[int]
) -> Iterator[tuple[int, int]]:
    """Yield the largest elements that have only dropped blocks and no figure, each with one of these blocks."""
    staying = [blocks.start[index] for index in kept if index not in dropped]
    end = 0
    for index in sorted(dropped):
        if blocks.start[index] < end:  # in the element before
            continue
        element = blocks.owner[index]
        if element <= root or _has_any(staying, element, survey.end[element]) or _has_figure(survey, element):
            for node in _find_run(survey, blocks, index):
                yield node, index
            continue
        above = survey.parent[element]
        while above > root and not _has_any(staying, above, survey.end[above]) and not _has_figure(survey, above):
            element, above = above, survey.parent[above]
        end = survey.end[element]
        yield element, index


def _find_run(survey: Survey, blocks: Blocks, index: int) -> Iterator[int]:
    """Yield the nodes of a block that is beside others in its element."""
    owner, place = blocks.owner[index], blocks.start[index]
    while place < blocks.stop[index]:
        child = place
        while survey.parent[child] != owner:
            child = survey.parent[child]
        if not _has_figure(survey, child):
            yield child
        place = survey.end[child]


def _has_any(places: Sequence[int], first: int, end: int) -> bool:
    found = bisect_left(places, first)
    return found < len(places) and places[found] < end


def _has_figure(survey: Survey, index: int) -> bool:
    """Return whether an element has a figure that is not in a link: the picture of a teaser is in one."""
    for inner in range(index, survey.end[index]):
        if survey.tag[inner] in _FIGURES:
            above = inner
            while above > index and survey.tag[above] != "a":
                above = survey.parent[above]
            if survey.tag[above] != "a":
                return True
    return False
