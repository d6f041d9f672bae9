"""Tags: rename, merge and delete them on all items, and suggest some for a page."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.library.items.change import change_selected, retag_items, undo_action, undo_whole
from pagekeep.model import Item, ItemQuery, Job
from pagekeep.model.lists import Action, Done, ItemChange, UndoResult
from pagekeep.model.tags import MAX_TAG_CHARS, clean_tag, tag_key
from pagekeep.store import Store

Progress = Callable[[int], None]


def rename_tag(store: Store, tag: str, new: str, *, progress: Progress | None = None) -> Done:
    """Give another name to a tag on all items; if another tag has that name, both become one.

    With `progress`, which is called with how many are done, all items are changed before it returns.
    """
    name = clean_tag(new)
    if not name or len(name) > MAX_TAG_CHARS or "," in name:
        raise InvalidQuery(
            "This cannot be the name of a tag.",
            suggestions=(f"Use one line without commas, of at most {MAX_TAG_CHARS} characters.",),
        )
    return retag_items(store, clean_tag(tag), name, f"Renamed the tag {clean_tag(tag)} to {name}", progress)


def delete_tag(store: Store, tag: str, *, progress: Progress | None = None) -> Done:
    """Remove a tag from all items; `progress` as for `rename_tag`."""
    return retag_items(store, clean_tag(tag), None, f"Removed the tag {clean_tag(tag)}", progress)


def undo_tags(store: Store, action_id: str, *, whole: bool = False) -> tuple[UndoResult, Job | None]:
    """Undo a change of a tag, with `whole` before returning. Items that were changed again since stay as they are."""
    return (undo_whole(store, action_id), None) if whole else undo_action(store, action_id)


def get_tag_change(store: Store, action_id: str) -> Action | None:
    """Return a change of a tag; `None` when it was undone or is forgotten."""
    try:
        action = store.actions.get(action_id)
    except NotFound:
        return None
    return action if action.undone_at is None else None


MAX_SUGGESTIONS: Final = 8
_SITE_PAGES: Final = 60
"""Newest pages of the same site whose tags are looked at."""
_MIN_SITE_SHARE: Final = 0.2
"""Part of them that must have a tag; at least two."""
_SCANNED: Final = 120
"""Pages looked at for one page of suggestions."""
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Suggested:
    """A page and the tags that are suggested for it."""

    item: Item
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SuggestionPage:
    """Some pages with suggestions, and the key of the next ones."""

    rows: tuple[Suggested, ...]
    next: str | None


def suggest_tags(store: Store, item: Item) -> tuple[str, ...]:
    """Return tags for an item, those of the library first; without its own tags and those that the user refused."""
    return _suggest_all(store, [item])[0]


def list_suggestions(store: Store, *, limit: int = 20, after: str | None = None) -> SuggestionPage:
    """Return pages with suggested tags, last saved first."""
    rows: list[Suggested] = []
    page = store.search.find(ItemQuery(limit=_SCANNED, after=after))
    for number, (item, tags) in enumerate(zip(page.items, _suggest_all(store, page.items), strict=True)):
        if not tags or item.metadata.quality == "bookmark":
            continue
        if len(rows) == limit:  # the next page begins after the last item that was looked at
            last = store.search.find(ItemQuery(limit=number, after=after))
            return SuggestionPage(tuple(rows), last.next)
        rows.append(Suggested(item, tags))
    return SuggestionPage(tuple(rows), page.next)


def accept_tags(store: Store, item_id: str, tags: tuple[str, ...]) -> Done:
    """Add suggested tags to an item, so that it can be undone."""
    return change_selected(store, [item_id], ItemChange(add_tags=tags), "Accepted suggested tags")


def refuse_tags(store: Store, item_id: str, tags: tuple[str, ...]) -> Done:
    """Note that tags are not wanted for an item: they are not suggested for it again."""
    return change_selected(store, [item_id], ItemChange(refuse_tags=tags), "Refused suggested tags")


def _suggest_all(store: Store, items: Sequence[Item]) -> list[tuple[str, ...]]:
    """Return the tags for each item; what the library knows is asked for once, for all of them."""
    phrases = [_own_phrases(item) for item in items]
    in_use = store.tags.known(sorted({key for own in phrases for key in own}))
    sites = store.tags.of_sites(sorted({item.domain for item in items if item.domain}), _SITE_PAGES)
    found = []
    for item, own in zip(items, phrases, strict=True):
        known = item.metadata
        ruled_out = {tag_key(tag) for tag in (*known.tags, *known.refused_tags)}
        named = [phrase for key, phrase in own.items() if key in in_use]
        tags: dict[str, str] = {}
        for tag in (*named, *_site_tags(item, sites.get(item.domain, [])), *known.suggested_tags):
            if tag_key(tag) not in ruled_out:
                tags.setdefault(tag_key(tag), tag)
        found.append(tuple(tags.values())[:MAX_SUGGESTIONS])
    return found


def _own_phrases(item: Item) -> dict[str, str]:
    """Return what may be a tag of the library, by its key: the page's keywords, then one or two words of its title."""
    words = _WORD.findall(item.title)[:30]
    phrases = (*item.metadata.suggested_tags, *(" ".join(pair) for pair in itertools.pairwise(words)), *words)
    found: dict[str, str] = {}
    for phrase in phrases:
        if len(phrase) > 2:
            found.setdefault(tag_key(phrase), phrase)
    return found


def _site_tags(item: Item, pages: Sequence[tuple[str, tuple[str, ...]]]) -> list[str]:
    """Return the tags that pages of the same site often have, the most frequent first."""
    spelled: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for item_id, tags in pages:
        for tag in tags if item_id != item.id else ():
            spelled.setdefault(tag_key(tag), tag)
            counts[tag_key(tag)] += 1
    needed = max(2, _MIN_SITE_SHARE * len(pages))
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [spelled[key] for key, count in ranked if count >= needed]
