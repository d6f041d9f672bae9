"""Tell changes of a page from noise: what changes on every visit, such as dates, counters and advertisements."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pagekeep.present.diff import TooDifferent, match_lines, split_blocks
from pagekeep.text import split_words, strip_markdown

VISITS: Final = 3
"""Visits after which something counts as stable, or as noise."""
_MAX_KNOWN: Final = 500
"""Segments of each kind of noise that are remembered, the newest."""
_MAX_PENDING: Final = 200
_HASH_CHARS: Final = 12
_START: Final = "start"
"""The name of the place before the first segment."""

_DATE_WORDS: Final = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug sep "
    "sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun am "
    "pm utc gmt today yesterday second seconds minute minutes min mins hour hours day days week weeks month months ago".split()
)
"""Words that change with numbers in dates and ages."""
_COUNTER: Final = re.compile(
    r"\d[\d.,\u00a0\u202f ]*[KkMm]?(?=\s?(?:views?|comments?|likes?|shares?|replies|reads?|readers?|followers?|claps?|votes?"
    r"|points?|downloads?|visitors?|reactions?|retweets?|Aufrufe|Kommentare|vues|commentaires|visitas|comentarios)\b)"
)
_AGE: Final = re.compile(
    r"\b(?:\d+|an?|one)\s(?:second|sec|minute|min|hour|hr|day|week|month|year)s?\sago\b|\bjust now\b", re.IGNORECASE
)

Verdict = Literal["same", "unsure", "held", "changed"]
"""`unsure`: more visits are needed at once; `held`: the next visit decides."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a visit found."""

    verdict: Verdict
    state: Mapping[str, Any]
    """What to remember until the next visit."""
    before: str = ""
    """If it changed: both texts without what is noise."""
    after: str = ""


@dataclass(slots=True)
class _Known:
    """What is known about a page's noise."""

    visits: int = 0
    numbers: dict[str, None] = field(default_factory=dict)
    """Masked segments in which only numbers and dates change."""
    words: dict[str, None] = field(default_factory=dict)
    """Segments that have other words on every visit."""
    gaps: dict[str, None] = field(default_factory=dict)
    """Segments of the stored version after which something comes and goes."""
    pending: dict[str, list[Any]] = field(default_factory=dict)
    """By place: the hash of the new words, and how often it had other words at a visit."""
    recent: dict[str, int] = field(default_factory=dict)
    """Segments that a change brought, and at which visit."""

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> _Known:
        known = state.get("noise") or {}
        lists = {name: dict.fromkeys(known.get(name, ())) for name in ("numbers", "words", "gaps")}
        return cls(
            int(known.get("visits", 0)),
            **lists,
            pending={place: list(value) for place, value in (known.get("pending") or {}).items()},
            recent=dict(known.get("recent") or {}),
        )

    def to_json(self) -> dict[str, Any]:
        lists = {name: list(getattr(self, name))[-_MAX_KNOWN:] for name in ("numbers", "words", "gaps")}
        recent = {name: at for name, at in self.recent.items() if at > self.visits - VISITS}
        return {
            "visits": self.visits,
            **lists,
            "pending": dict(list(self.pending.items())[-_MAX_PENDING:]),
            "recent": recent,
        }


@dataclass(frozen=True, slots=True)
class _Segment:
    """A paragraph: its text, its words, and its words with numbers and dates masked."""

    text: str
    exact: str
    masked: str

    @property
    def id(self) -> str:
        return _hash(self.exact)

    @property
    def masked_id(self) -> str:
        return _hash(self.masked)


@dataclass(frozen=True, slots=True)
class _Hunk:
    """A part that differs: segments of the stored version, and what a visit shows in their place."""

    start: int
    end: int
    """In the stored version."""
    new: tuple[_Segment, ...]
    sure: bool = True
    """Whether nothing else in this place differs between visits."""

    @property
    def key(self) -> str:
        return "\n".join(segment.exact for segment in self.new)


def judge(before: str, visits: Sequence[str], state: Mapping[str, Any]) -> Judgement:
    """Return whether a page has changed, by the stored version and one text, or three from visits that follow each other.

    Both are Markdown made by the same parser.
    """
    known, old = _Known.of(state), _segments(before)
    seen = [_hunks(old, _segments(text), known) for text in visits]
    if len(visits) < VISITS:
        if any(seen[0]):
            return Judgement("unsure", state)
        known.visits += 1
        known.pending.clear()
        return Judgement("same", {**state, "noise": known.to_json()})
    places = [_confirm(place, old, known) for place in _places(seen)]
    confirmed = [hunk for hunk in places if hunk is not None]
    known.visits += 1
    believed, held = _believe(confirmed, old, known)
    verdict: Verdict = "changed" if believed else "held" if held else "same"
    if not believed:
        return Judgement(verdict, {**state, "noise": known.to_json()})
    new = _segments(visits[0])
    _carry_over(old, new, confirmed, known)
    return Judgement(verdict, {**state, "noise": known.to_json()}, *_without_noise(old, new, known))


def leave_out_noise(before: str, after: str, state: Mapping[str, Any]) -> tuple[str, str]:
    """Return two versions of a watched page without what is known to change on every visit."""
    return _without_noise(_segments(before), _segments(after), _Known.of(state))


def _segments(text: str) -> list[_Segment]:
    made = []
    for block in split_blocks(text):
        plain = _AGE.sub("", _COUNTER.sub("0", strip_markdown(block)))
        words = split_words(plain)
        if words:
            masked = " ".join("0" if word in _DATE_WORDS or not word.isalpha() else word for word in words)
            made.append(_Segment(block, " ".join(words), re.sub(r"0(?: 0)+", "0", masked)))
    return made


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_CHARS]


def _hunks(old: list[_Segment], new: list[_Segment], known: _Known) -> list[_Hunk]:
    """Return the parts that differ and are not noise."""
    old_keys, new_keys = ([_key(segment, known) for segment in side] for side in (old, new))
    try:
        matches = match_lines(old_keys, new_keys)
    except TooDifferent:
        matches = []
    moved_from, moved_to = Counter(new_keys), Counter(old_keys)
    found = []
    old_at = new_at = 0
    for old_match, new_match in (*matches, (len(old), len(new))):
        hunk = _trim(_Hunk(old_at, old_match, tuple(new[new_at:new_match])), old, known)
        if (hunk.start < hunk.end or hunk.new) and not _is_noise(hunk, old, known):
            tame = [place for place in range(hunk.start, hunk.end) if not _is_wild(old[place], known)]
            gone = any(not moved_from[old_keys[place]] for place in tame)
            came = any(not moved_to[_key(segment, known)] for segment in hunk.new if not _is_wild(segment, known))
            if gone or came:  # a part that only moved is not a change
                found.append(hunk)
        old_at, new_at = old_match + 1, new_match + 1
    return found


def _trim(hunk: _Hunk, old: list[_Segment], known: _Known) -> _Hunk:
    """Return the part without known noise at its ends, and without what came in its place."""
    start, end, new = hunk.start, hunk.end, hunk.new
    while start < end and _is_wild(old[start], known) and not _is_all_wild(old[start:end], known):
        new = new[1:] if len(new) > end - start - 1 else new
        start += 1
    while start < end and _is_wild(old[end - 1], known) and not _is_all_wild(old[start:end], known):
        new = new[:-1] if len(new) > end - start - 1 else new
        end -= 1
    return _Hunk(start, end, new)


def _is_all_wild(segments: Sequence[_Segment], known: _Known) -> bool:
    return all(_is_wild(segment, known) for segment in segments)


def _key(segment: _Segment, known: _Known) -> str:
    return f"#{segment.masked}" if segment.masked_id in known.numbers else segment.exact


def _is_wild(segment: _Segment, known: _Known) -> bool:
    return segment.id in known.words


def _before(old: list[_Segment], place: int) -> str:
    return old[place - 1].id if place else _START


def _is_noise(hunk: _Hunk, old: list[_Segment], known: _Known) -> bool:
    """Return whether only known noise differs: its segments have other words, or something comes or goes between others."""
    replaced = old[hunk.start : hunk.end]
    tame = [segment for segment in replaced if not _is_wild(segment, known)]
    if tame:
        return False
    if not replaced:
        return _before(old, hunk.start) in known.gaps
    room = len(replaced) + (_MAX_GAP if _before(old, hunk.start) in known.gaps else 1)
    return len(hunk.new) <= room


_MAX_GAP: Final = 12
"""Segments that may come at a place of noise."""


def _places(seen: Sequence[Sequence[_Hunk]]) -> list[list[_Hunk | None]]:
    """Return the parts that differ in any visit, each with what every visit shows there; `None` where it differs not."""
    marks = sorted({(hunk.start, hunk.end) for hunks in seen for hunk in hunks})
    joined: list[tuple[int, int]] = []
    for start, end in marks:
        if joined and (start < joined[-1][1] or (start, end) == joined[-1]):
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return [[_within(hunks, start, end) for hunks in seen] for start, end in joined]


def _within(hunks: Sequence[_Hunk], start: int, end: int) -> _Hunk | None:
    inside = [hunk for hunk in hunks if start <= hunk.start and hunk.end <= end]
    if not inside:
        return None
    return _Hunk(inside[0].start, inside[-1].end, tuple(segment for hunk in inside for segment in hunk.new))


def _confirm(visits: Sequence[_Hunk | None], old: list[_Segment], known: _Known) -> _Hunk | None:
    """Return what all visits show in one place, if that is new; what only some of them show is learned as noise."""
    hunks = [hunk for hunk in visits if hunk is not None]
    first, here = hunks[0], len(hunks) == len(visits)
    if here and len({(hunk.start, hunk.end, hunk.key) for hunk in hunks}) == 1:
        return first
    start, end = min(hunk.start for hunk in hunks), max(hunk.end for hunk in hunks)
    common = _common(hunks) if here else []
    _learn(hunks, common, start, end, old, known)
    replaced = Counter(segment.exact for segment in old[start:end])
    fresh = [segment for segment in common if not replaced[segment.exact] and not _is_wild(segment, known)]
    return _Hunk(start, end, tuple(fresh), sure=False) if fresh else None


def _common(hunks: Sequence[_Hunk]) -> list[_Segment]:
    """Return the segments that all visits show at the same place, counted from the beginning or the end."""
    from_start = [{(place, one.exact) for place, one in enumerate(hunk.new)} for hunk in hunks]
    from_end = [{(place, one.exact) for place, one in enumerate(reversed(hunk.new))} for hunk in hunks]
    common = {exact for _, exact in set.intersection(*from_start) | set.intersection(*from_end)}
    return [segment for segment in hunks[0].new if segment.exact in common]


def _learn(
    hunks: Sequence[_Hunk], common: Sequence[_Segment], start: int, end: int, old: list[_Segment], known: _Known
) -> None:
    """Remember what differs between visits as noise."""
    stable = {segment.exact for segment in common}
    varying = [[segment for segment in hunk.new if segment.exact not in stable] for hunk in hunks]
    masked = [{segment.masked_id for segment in side} for side in varying]
    in_all = set.intersection(*masked) if masked else set()
    known.numbers.update(dict.fromkeys(sorted(in_all)))
    replaced = old[start:end]
    wild = [segment for segment in replaced if segment.masked_id not in in_all and segment.exact not in stable]
    others = [segment for side in varying for segment in side if segment.masked_id not in in_all]
    if not others and len(hunks) == VISITS:
        return
    if len({len(hunk.new) for hunk in hunks}) == 1 and len(replaced) == len(hunks[0].new):
        same_places = {place for place, segment in enumerate(hunks[0].new) if segment.exact in stable}
        wild = [segment for place, segment in enumerate(replaced) if place not in same_places and segment in wild]
    elif stable:
        wild = []  # which of them changed is seen when the next version is compared
    # Also what came in their place: the same advertisements come again.
    known.words.update(dict.fromkeys(segment.id for segment in (*wild, *others)))
    if not replaced or len({len(hunk.new) for hunk in hunks}) > 1 or len(hunks) < VISITS:
        known.gaps[_before(old, start)] = None


def _believe(confirmed: Sequence[_Hunk], old: list[_Segment], known: _Known) -> tuple[list[_Hunk], list[_Hunk]]:
    """Return the changes that are believed, and those for which the next visit decides."""
    believed: list[_Hunk] = []
    held: list[_Hunk] = []
    pending: dict[str, list[Any]] = {}
    for hunk in confirmed:
        names, words = _names(hunk, old, known), _hash(hunk.key)
        waiting = [known.pending[name] for name in names if name in known.pending]
        times = max((entry[1] for entry in waiting), default=0) + 1
        is_settled = hunk.sure and known.visits > VISITS and not waiting and not _is_restless(hunk, old, known)
        if is_settled or any(entry[0] == words for entry in waiting):
            believed.append(hunk)
        elif times >= VISITS:
            _learn_slow(hunk, old, known)
        else:
            held.append(hunk)
            pending |= {name: [words, times] for name in names}
    known.pending = pending
    return believed, held


def _names(hunk: _Hunk, old: list[_Segment], known: _Known) -> list[str]:
    """Return the names of what a part replaces: its segments that are not noise, or the place between two segments."""
    tame = [segment.id for segment in old[hunk.start : hunk.end] if not _is_wild(segment, known)]
    return tame or [f"after {_before(old, hunk.start)}"]


def _is_restless(hunk: _Hunk, old: list[_Segment], known: _Known) -> bool:
    """Return whether the place has changed within the last visits, or is beside noise, as in a list of random links."""
    replaced = old[hunk.start : hunk.end]
    near = [segment.id for segment in replaced] or [_before(old, hunk.start)]
    if any(known.visits - known.recent[name] <= VISITS for name in near if name in known.recent):
        return True
    beside = (*old[max(0, hunk.start - 1) : hunk.start], *old[hunk.end : hunk.end + 1])
    return any(_is_wild(segment, known) for segment in beside)


def _learn_slow(hunk: _Hunk, old: list[_Segment], known: _Known) -> None:
    """Remember noise that changed at each of the last visits."""
    replaced = old[hunk.start : hunk.end]
    if replaced and [segment.masked for segment in replaced] == [segment.masked for segment in hunk.new]:
        known.numbers.update(dict.fromkeys(segment.masked_id for segment in replaced))
        return
    known.words.update(dict.fromkeys(segment.id for segment in replaced))
    if len(replaced) != len(hunk.new):
        known.gaps[_before(old, hunk.start)] = None


def _carry_over(old: list[_Segment], new: list[_Segment], confirmed: Sequence[_Hunk], known: _Known) -> None:
    """Remember the noise by the segments of the new version, and which of these the change brought."""
    fresh = {segment.exact for hunk in confirmed for segment in hunk.new}
    known.recent.update({segment.id: known.visits for segment in new if segment.exact in fresh})
    old_keys, new_keys = ([_key(segment, known) for segment in side] for side in (old, new))
    try:
        matches = match_lines(old_keys, new_keys)
    except TooDifferent:
        matches = []
    old_at = new_at = 0
    for old_match, new_match in (*matches, (len(old), len(new))):
        if any(_is_wild(segment, known) for segment in old[old_at:old_match]):
            noise = (segment for segment in new[new_at:new_match] if segment.exact not in fresh)
            known.words.update(dict.fromkeys(segment.id for segment in noise))
        if _before(old, old_at) in known.gaps:
            known.gaps[_before(new, new_at)] = None
        old_at, new_at = old_match + 1, new_match + 1
    known.pending.clear()


def _without_noise(old: list[_Segment], new: list[_Segment], known: _Known) -> tuple[str, str]:
    """Return both texts without noise, so that only what changed shows as a difference."""
    texts = {_key(segment, known): segment.text for segment in old}

    def shown(segments: Iterable[_Segment]) -> str:
        kept = (segment for segment in segments if not _is_wild(segment, known))
        return "\n\n".join(texts.get(_key(segment, known), segment.text) for segment in kept)

    return shown(old), shown(new)
