"""Rules tried on a page before they are kept: what comes of it, beside what came of it before."""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import dataclass, replace

from pagekeep.capture.active_rules import add_draft, parse_draft, remove_draft
from pagekeep.capture.extract_worker import ExtractPool
from pagekeep.capture.from_url import Request, Retrieval, capture
from pagekeep.errors import NotFound
from pagekeep.library import build_item
from pagekeep.library.items import get_item
from pagekeep.model import Fetched, Options, Page, RuleFault, RuleMatch
from pagekeep.present.diff import difference
from pagekeep.rules import Rulebook
from pagekeep.store import Store


@dataclass(frozen=True, slots=True)
class Tried:
    """What rules make of a page."""

    before: Page
    """By the rules in force, without those that are tried."""
    after: Page
    """By these too; those with faults left out."""
    faults: tuple[RuleFault, ...]
    matches: tuple[RuleMatch, ...]
    """What each of the tried rules did."""
    idle: tuple[str, ...]
    """Ids of tried rules that did not apply."""
    in_force: tuple[str, ...] = ()
    """Ids of tried rules that were in force already, just as they are."""

    @property
    def changes(self) -> tuple[str, ...]:
        """The lines of a diff of the documents; none when the rules change nothing."""
        return tuple(difference(self.before.markdown, self.after.markdown))


async def try_rules(
    yaml: str, source: str, store: Store, retrieval: Retrieval, extractor: ExtractPool, *, rules: Rulebook | None = None
) -> Tried:
    """The rules tried on a page of the library, by its id or address, else on one that is fetched for it.

    They are compared with `rules`, else with those in force. Nothing is stored. Pages are read in killable processes: what
    someone is just writing may well hang.
    """
    fetched = await _page(source, store, retrieval)
    tried = parse_draft(yaml)
    options = Options(max_bytes=retrieval.settings.max_bytes)
    others, same = remove_draft(rules or retrieval.rules, tried)
    before = await extractor.extract(fetched, options, others)
    after = await extractor.extract(fetched, options, add_draft(others, tried)) if tried.rules else before
    ids = [rule.id for rule in tried.rules]
    matches = tuple(match for match in after.trace.rules if match.id in ids)
    matched = {match.id for match in matches}
    idle = tuple(name for name in ids if name not in matched)
    return Tried(_with_document(before), _with_document(after), tried.faults, matches, idle, same)


def _with_document(page: Page) -> Page:
    from pagekeep.markdown import write_document  # it loads the parser

    return replace(page, document=write_document(page))


async def _page(source: str, store: Store, retrieval: Retrieval) -> Fetched:
    try:
        raw = await to_thread(lambda: store.raw(get_item(store, source).id))
    except NotFound:
        raw = None
        if "://" not in source:
            raise
    if raw is not None:
        return build_item.fetched_again(raw)
    if "://" not in source:
        raise NotFound("The downloaded HTML of this page was not stored.", suggestions=("Give its address instead.",))
    return (await capture(Request(source), retrieval)).fetched
