"""Features: the blocks that the judge decides on, and what it knows about each, as whole numbers.

Features do not depend on which part of the page a strategy chose: where that is wrong, the judge would be wrong with it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from pagekeep import dom
from pagekeep.extraction.locate.survey import PHRASING, TEXT, Survey
from pagekeep.text import compile_lazily

TAGS: Final = (
    "p li h1 h2 h3 h4 h5 h6 td th div section article blockquote pre figcaption dt dd header footer aside nav main figure"
    " ul ol table form body caption address center summary details tr dl label button tbody"
).split()
_TAG_CODES: Final = {tag: code for code, tag in enumerate(TAGS, 1)}
_HEADINGS: Final = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_CONTAINERS: Final = {
    "article": 1, "main": 2, "aside": 4, "nav": 4, "footer": 4, "ul": 8, "ol": 8, "table": 16, "figure": 32, "header": 64,
    "blockquote": 128, "a": 256,
}  # fmt: skip

PROSE_CHARS: Final = 80
"""Characters outside links from which on a block is a paragraph."""
_SAMPLE_CHARS: Final = 120
"""Characters at the beginning of a block whose signs are counted."""
_STANDFIRST_BLOCKS: Final = 2
"""Blocks after the title within which a standfirst is."""
_STANDFIRST_CHARS: Final = 60
"""Characters of a standfirst."""
_SENTENCE_CHARS: Final = 40
"""Characters of a sentence."""
_MIN_HEADS: Final = 3
"""Lines alike that are taken for headings."""
_LEVELS: Final = 6
"""Levels of elements around a block whose names are looked up."""
_FAR: Final = 30
"""Blocks beyond which a distance does not matter."""

_NOT_CAPITALS: Final = bytes(code for code in range(128) if not chr(code).isupper())
_CLOSING: Final = frozenset('.!?。！？…"”’»)')
_EMPHASIS: Final = {"a": 1, "b": 2, "strong": 2, "em": 3, "i": 3}

_NEIGHBOURS: Final = (-2, -1, 1, 2)
_OWN: Final = (
    "tag", "parent_tag", "outer_tag", "chars", "linked", "commas", "closes", "capitals", "prose_before", "share_of_parent",
    "parent_linked", "outer_linked", "prose_in_owner", "prose_in_parent", "prose_in_outer", "alike", "alike_chars",
    "alike_linked", "accused", "names_min", "names_max", "names_mean", "own_names_min", "parent_names_min",
    "parent_names_max", "words_mean", "since_prose", "until_prose", "since_title", "inline", "within", "since_heading",
    "heading_words", "heading_level", "shared", "title_shared", "box_chars", "box_linked",
)  # fmt: skip
_OF_NEIGHBOUR: Final = ("chars", "linked", "accused", "tag", "names_mean")
NAMES: Final = (*_OWN, *(f"{name}{place:+d}" for place in _NEIGHBOURS for name in _OF_NEIGHBOUR))
"""The features in the order of a row."""
_MISSING: Final = (-1,) * len(_OF_NEIGHBOUR)

Spread = tuple[int, int, int]
"""Lowest, highest and mean odds."""
Neighbour = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """How much words speak for content (positive) or against it, in hundredths of the logarithm of the odds."""

    names: Mapping[str, int]
    """Words in class and id."""
    words: Mapping[str, int]
    """Words in short blocks."""


class Texts:
    """The text of each block on one line, put together when it is first read: most are never."""

    __slots__ = ("_firsts", "_known", "_texts")

    def __init__(self, texts: list[str], firsts: list[int]) -> None:
        self._texts = texts
        self._firsts = [*firsts, len(texts)]
        """The place of each block's first text; the block ends where the next one begins."""
        self._known: dict[int, str] = {}

    def __getitem__(self, index: int) -> str:
        text = self._known.get(index)
        if text is None:
            pieces = self._texts[self._firsts[index] : self._firsts[index + 1]]
            text = self._known[index] = " ".join(" ".join(pieces).split())
        return text


@dataclass(slots=True)
class Blocks:
    """Blocks in document order, as parallel lists. A block is a run of text that no other block interrupts."""

    owner: list[int]
    """Index of the innermost element around each block that is not part of a sentence."""
    start: list[int]
    """Index of the first text node."""
    stop: list[int]
    """Index after the last text node."""
    text: Texts | list[str]
    chars: list[int]
    linked: list[int]
    """Characters in links."""

    def __len__(self) -> int:
        return len(self.owner)


@dataclass(frozen=True, slots=True)
class View:
    """The page as the judge sees it."""

    tag: Sequence[str]
    parent: Sequence[int]
    chars: Sequence[int]
    linked: Sequence[int]
    names: Callable[[int], tuple[str, ...]]
    """Returns the words in the class and id of an element."""
    blocks: Blocks
    accused: Sequence[int]
    """Set for nodes that are boilerplate by their tag, name or attributes."""
    title: str


def _permille(part: int, whole: int) -> int:
    return part * 1000 // whole if whole else 0


def _spread(odds: Sequence[int]) -> Spread:
    return (min(odds), max(odds), sum(odds) // len(odds)) if odds else (0, 0, 0)


class _Around(NamedTuple):
    """What is the same for all blocks whose element has the same parent."""

    tags: tuple[int, int]
    odds: list[int]
    """Of the names of the parent and the elements around it."""
    own_odds: Spread
    within: int
    linked: tuple[int, int]
    prose: tuple[int, int]
    chars: int


class Features:
    """Measures the blocks of one page, each fact when it is first asked for: most blocks are never judged."""

    __slots__ = (
        "_around", "_before", "_groups", "_headings", "_lexicon", "_neighbours", "_odds", "_prose", "_since", "_title",
        "_title_words", "_topics", "_total", "_until", "_view", "_word_odds", "is_prose",
    )  # fmt: skip

    def __init__(self, view: View, lexicon: Lexicon) -> None:
        self._view, self._lexicon = view, lexicon
        self._odds: dict[int, list[int]] = {}
        self._around: dict[int, _Around] = {}
        self._neighbours: dict[int, Neighbour] = {}
        self._word_odds: dict[int, int] = {}
        self._groups: dict[int, list[int]] = {}
        self._until: list[int] = []
        self._topics: dict[bytes, int] = {}
        self._title_words: frozenset[bytes] = frozenset()
        self._prose: dict[int, int] = {}
        self.is_prose: list[bool] = []
        """Which blocks are paragraphs."""
        self._before: list[int] = []
        self._since: list[int] = []
        self._headings: list[int] = []
        self._title = -1
        self._total = self._count_prose()

    def _count_prose(self) -> int:
        """Sum up the paragraphs in each element around them, and note where each block is among them."""
        view, blocks, prose = self._view, self._view.blocks, self._prose
        tags, parents, accused, total = view.tag, view.parent, view.accused, 1
        since, heading = _FAR, -1
        for index, owner in enumerate(blocks.owner):
            own = blocks.chars[index] - blocks.linked[index]
            is_paragraph = own >= PROSE_CHARS and not accused[blocks.start[index]]
            self.is_prose.append(is_paragraph)
            self._before.append(total)
            self._since.append(since)
            self._headings.append(heading)
            since += 1
            tag = tags[owner]
            if tag in _HEADINGS:
                heading = index
                if tag == "h1" and self._title < 0 and not accused[blocks.start[index]]:
                    self._title = index
            if is_paragraph:
                since = 0
                total += own
                while owner:
                    prose[owner] = prose.get(owner, 0) + own
                    owner = parents[owner]
        prose[0] = total
        return total

    @property
    def prose_chars(self) -> int:
        """Return how many characters the page has in paragraphs."""
        return self._total - 1

    def is_standfirst(self, index: int) -> bool:
        """Return whether a block is a sentence right below the page's title."""
        blocks = self._view.blocks
        return (
            0 < index - self._title <= _STANDFIRST_BLOCKS
            and self._title >= 0
            and not blocks.linked[index]
            and blocks.chars[index] >= _STANDFIRST_CHARS
            and blocks.text[index][-1] in _CLOSING
        )

    def is_plain_sentence(self, index: int) -> bool:
        """Return whether a block is a sentence among the paragraphs of the text, without links, a name or telling words."""
        view, blocks = self._view, self._view.blocks
        owner = blocks.owner[index]
        return (
            not blocks.linked[index]
            and view.tag[owner] == "p"
            and blocks.chars[index] >= _SENTENCE_CHARS
            and self._prose.get(view.parent[owner], 0) * 2 >= self._total
            and blocks.text[index][-1] in _CLOSING
            and not view.names(owner)
            and self._odds_of_words(index) >= 0
        )

    def heads_paragraphs(self, index: int) -> bool:
        """Return whether a line and others like it are right above a paragraph, like headings: the questions of a FAQ."""
        if index + 1 >= len(self.is_prose) or not self.is_prose[index + 1] or self._view.blocks.linked[index]:
            return False
        alike, chars, linked = self._count_alike(index)
        return alike >= _MIN_HEADS and not linked and chars < PROSE_CHARS * alike

    def _count_until_prose(self) -> list[int]:
        """Return for each block how many blocks later the next paragraph is."""
        until, following = [_FAR] * len(self.is_prose), _FAR
        for index in range(len(self.is_prose) - 1, -1, -1):
            following += 1
            until[index] = following
            if self.is_prose[index]:
                following = 0
        return until

    def _count_alike(self, index: int) -> list[int]:
        """Count the blocks with the same tag and names in an element with the same: how many, characters, and in links."""
        found = self._groups.get(index)
        if found is None:
            self._group_alike(index)
            found = self._groups[index]
        return found

    def _group_alike(self, wanted: int) -> None:
        """Group all blocks whose element and the one around it have the same tags as those of a block."""
        view, blocks = self._view, self._view.blocks
        names, tags, parents, owners = view.names, view.tag, view.parent, view.blocks.owner
        tag, outer_tag = tags[owners[wanted]], tags[parents[owners[wanted]]]
        groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[int]] = {}
        for index, owner in enumerate(owners):
            if tags[owner] != tag or tags[parents[owner]] != outer_tag:
                continue
            key = (names(owner), names(parents[owner]))
            group = groups.get(key)
            if group is None:
                group = groups[key] = [0, 0, 0]
            group[0] += 1
            group[1] += blocks.chars[index]
            group[2] += blocks.linked[index]
            self._groups[index] = group

    def _count_topics(self) -> dict[bytes, int]:
        """Count the words of all paragraphs."""
        self._title_words = frozenset(find_topics(self._view.title))
        texts = self._view.blocks.text
        text = " ".join([texts[index] for index, is_paragraph in enumerate(self.is_prose) if is_paragraph])
        counts: dict[bytes, int] = Counter(split_words(text))
        for word in [] if text.isascii() else [word for word in counts if not word.isascii()]:
            for part in split_signs(word):
                if part != word:
                    counts[part] = counts.get(part, 0) + counts[word]
        return counts

    def _own_odds(self, index: int) -> list[int]:
        odds = self._odds.get(index)
        if odds is None:
            known = self._lexicon.names
            odds = self._odds[index] = [known[word] for word in self._view.names(index) if word in known]
        return odds

    def _look_around(self, parent: int) -> _Around:
        found = self._around.get(parent)
        if found is not None:
            return found
        view, prose, total = self._view, self._prose, self._total
        tags, parents, chars, linked = view.tag, view.parent, view.chars, view.linked
        odds: list[int] = []
        above, within = parent, 0
        for _ in range(_LEVELS - 1):
            if not above:
                break
            odds += self._own_odds(above)
            above = parents[above]
        above = parent
        while above:
            within |= _CONTAINERS.get(tags[above], 0)
            above = parents[above]
        outer = parents[parent]
        found = self._around[parent] = _Around(
            (_TAG_CODES.get(tags[parent], 0), _TAG_CODES.get(tags[outer], 0)),
            odds,
            _spread(self._own_odds(parent)) if parent else (0, 0, 0),
            within,
            (_permille(linked[parent], chars[parent]), _permille(linked[outer], chars[outer])),
            (_permille(prose.get(parent, 0), total), _permille(prose.get(outer, 0), total)),
            chars[parent],
        )
        return found

    def _look_at_neighbour(self, index: int) -> Neighbour:
        found = self._neighbours.get(index)
        if found is None:
            view, blocks = self._view, self._view.blocks
            owner, chars = blocks.owner[index], blocks.chars[index]
            odds = self._own_odds(owner) + self._look_around(view.parent[owner]).odds
            found = self._neighbours[index] = (
                chars,
                _permille(blocks.linked[index], chars),
                1 if view.accused[blocks.start[index]] else 0,
                _TAG_CODES.get(view.tag[owner], 0),
                sum(odds) // len(odds) if odds else 0,
            )
        return found

    def row(self, index: int) -> list[int]:
        """Return the features of a block, in the order of `NAMES`."""
        if not self._until:
            self._until = self._count_until_prose()
        view, blocks, total = self._view, self._view.blocks, self._total
        owner, start, chars, text = blocks.owner[index], blocks.start[index], blocks.chars[index], blocks.text[index]
        tag = view.tag[owner]
        around = self._look_around(view.parent[owner])
        own_odds = self._own_odds(owner)
        alike, alike_chars, alike_linked = self._count_alike(index)
        sample = text[:_SAMPLE_CHARS]
        length = len(sample) or 1
        row = [
            _TAG_CODES.get(tag, 0), *around.tags, chars, _permille(blocks.linked[index], chars),
            _count_commas(sample) * 1000 // length, 1 if text[-1:] in _CLOSING else 0,
            _count_capitals(sample) * 1000 // length, _permille(self._before[index], total),
            _permille(chars, around.chars), *around.linked, _permille(self._prose.get(owner, 0), total), *around.prose,
            alike, alike_chars // alike, _permille(alike_linked, alike_chars), 1 if view.accused[start] else 0,
            *_spread(own_odds + around.odds), min(own_odds, default=0), around.own_odds[0], around.own_odds[1],
            self._odds_of_words(index), min(self._since[index], _FAR), min(self._until[index], _FAR),
            max(-9, min(index - self._title, 99)) if self._title >= 0 else -99,
            _EMPHASIS.get(view.tag[start - 1], 0) if start - 1 > owner else 0,
            around.within | _CONTAINERS.get(tag, 0),
            *self._look_at_heading(index), *self._share_topics(index), around.chars,
            _permille(view.linked[owner], view.chars[owner]),
        ]  # fmt: skip
        for offset in _NEIGHBOURS:
            row += self._look_at_neighbour(index + offset) if 0 <= index + offset < len(blocks.owner) else _MISSING
        return row

    def _look_at_heading(self, index: int) -> tuple[int, int, int]:
        """Return how far above the block the nearest heading is, the odds of its words, and its level."""
        heading = self._headings[index]
        if heading < 0:
            return _FAR, 0, 0
        level = _HEADINGS[self._view.tag[self._view.blocks.owner[heading]]]
        return min(index - heading, _FAR), self._odds_of_words(heading), level

    def _odds_of_words(self, index: int) -> int:
        """Return the mean odds of the words of a block, if it is short."""
        found = self._word_odds.get(index)
        if found is None:
            known = self._lexicon.words
            odds = [known[word] for word in short_words(self._view.blocks.text[index]) if word in known]
            found = self._word_odds[index] = sum(odds) // len(odds) if odds else 0
        return found

    def _share_topics(self, index: int) -> tuple[int, int]:
        """Return how many of a block's words are in other paragraphs, and how many of the title's words are in it."""
        if not self._topics:
            self._topics = self._count_topics()
        topics, least = self._topics, 1 if self.is_prose[index] else 0
        words: dict[bytes, int] = {}
        for word in find_topics(self._view.blocks.text[index]):
            words[word] = words.get(word, 0) + least  # its own words are among those of the paragraphs
        if not words:
            return -1, -1
        shared = sum([topics.get(word, 0) > count for word, count in words.items()])
        titled = sum([word in words for word in self._title_words])
        return shared * 1000 // len(words), _permille(titled, len(self._title_words))


def _count_commas(sample: str) -> int:
    return sample.count(",") + (0 if sample.isascii() else sample.count("，") + sample.count("、"))


def _count_capitals(sample: str) -> int:
    if sample.isascii():
        return len(sample.encode().translate(None, _NOT_CAPITALS))
    return sum(map(str.isupper, sample))


def collect_blocks(survey: Survey) -> Blocks:
    """Return the blocks of the page."""
    tags, parents, chars, linked, phrasing = survey.tag, survey.parent, survey.chars, survey.linked, PHRASING
    blocks = Blocks([], [], [], [], [], [])
    owners, starts, stops, counts, in_links = blocks.owner, blocks.start, blocks.stop, blocks.chars, blocks.linked
    firsts: list[int] = []
    known: dict[int, int] = {}
    current = last = -1
    for place, index in enumerate(survey.places[TEXT]):
        owner = parents[index]
        if tags[owner] in phrasing:
            inner = owner
            owner = known.get(inner, -1)
            if owner < 0:
                owner = known[inner] = _find_owner(survey, inner)
        if owner == current and (index == last + 1 or phrasing.issuperset(tags[last + 1 : index])):
            stops[-1] = index + 1
            counts[-1] += chars[index]
            in_links[-1] += linked[index]
        else:
            owners.append(owner)
            starts.append(index)
            stops.append(index + 1)
            counts.append(chars[index])
            in_links.append(linked[index])
            firsts.append(place)
            current = owner
        last = index
    blocks.text = Texts(survey.texts, firsts)
    return blocks


def _find_owner(survey: Survey, index: int) -> int:
    """Return the innermost element around an element within a sentence that is not part of one."""
    while index and survey.tag[index] in PHRASING:
        index = survey.parent[index]
    return index


_SHORT_CHARS: Final = 100
"""Characters up to which the words of a block are looked up: longer texts are about anything."""
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_TOPIC_CHARS: Final = 4
"""Letters of a word that may be about the subject."""
_TOPIC_WORD: Final = compile_lazily(rf"[^\W\d_]{{{_TOPIC_CHARS},}}")
_LETTERS: Final = bytes(code if code > 127 or chr(code).isalpha() else ord(" ") for code in range(256))
"""Turns everything in ASCII that is not a letter into a space."""
_NAME_WORD: Final = re.compile(r"[a-z]{2,}|[A-Z][a-z]+|[A-Z]{2,}(?![a-z])")
_MAX_NAME_CHARS: Final = 300


@lru_cache(maxsize=8192)
def split_names(names: str) -> tuple[str, ...]:
    """Return the words of a class or id attribute, in lower case."""
    return tuple(dict.fromkeys(word.lower() for word in _NAME_WORD.findall(names[:_MAX_NAME_CHARS])))


def name_words(node: dom.Node) -> tuple[str, ...]:
    """Return the words in the class and id of an element."""
    if not isinstance(node, dom.Element):
        return ()
    names, identifier = node.attr("class"), node.attr("id")
    if not identifier:
        return split_names(names) if names else ()
    return split_names(f"{names} {identifier}" if names else identifier)


def short_words(text: str) -> list[str]:
    """Return the words of a short block, in lower case."""
    return _WORD.findall(text.lower()) if len(text) <= _SHORT_CHARS else []


def split_words(text: str) -> list[bytes]:
    """Return the words of a text, in lower case and UTF-8; longer ones are whole, others may be several in one."""
    # Searching them by a pattern takes three times as long. Signs that are not in ASCII are left to `split_signs`.
    return text.lower().encode("utf-8", "surrogatepass").translate(_LETTERS).split()


def split_signs(word: bytes) -> list[bytes]:
    """Return the longer words in a word that is not in ASCII."""
    return [part.encode() for part in _TOPIC_WORD.findall(word.decode("utf-8", "surrogatepass"))]


def find_topics(text: str) -> list[bytes]:
    """Return the longer words of a text, in lower case and UTF-8."""
    words = split_words(text)
    found = [word for word in words if len(word) >= _TOPIC_CHARS]
    if text.isascii():
        return found
    plain = [word for word in found if word.isascii()]
    return (
        plain
        if len(plain) == len(found)
        else plain + [part for word in found if not word.isascii() for part in split_signs(word)]
    )
