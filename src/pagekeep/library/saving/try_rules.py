"""Try rules on a page before they are saved: the result with them beside the result without."""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import dataclass

from pagekeep.capture.active_rules import add_draft, load_active, parse_draft, remove_draft
from pagekeep.capture.extract import extract_page, with_document
from pagekeep.capture.from_url import Request, Retrieval, capture
from pagekeep.config import Settings
from pagekeep.errors import NotFound
from pagekeep.library.items import build_item
from pagekeep.library.items.find import get_item
from pagekeep.model import Fetched, MadeField, Options, Page, RuleFault, RuleMatch
from pagekeep.present.diff import difference
from pagekeep.rules import Rulebook
from pagekeep.store import Store


@dataclass(frozen=True, slots=True)
class RuleTrial:
    """A page without and with the rules that are tried."""

    before: Page
    """The result with the active rules, without those that are tried."""
    after: Page
    """The result with both; rules with faults are left out."""
    faults: tuple[RuleFault, ...]
    matches: tuple[RuleMatch, ...]
    """What each of the tried rules did."""
    idle: tuple[str, ...]
    """Ids of tried rules that did not apply."""
    in_force: tuple[str, ...] = ()
    """Ids of tried rules that are already active, unchanged."""
    changes: tuple[str, ...] = ()
    """The lines of a diff of the Markdown; none when the rules change nothing."""


async def try_rules(
    yaml: str,
    source: str,
    store: Store,
    retrieval: Retrieval,
    *,
    rules: Rulebook | None = None,
    needs: tuple[MadeField, ...] = (),
) -> RuleTrial:
    """Try rules on an item of the library, by its id or address, or on a page that is fetched for it.

    They are compared with `rules`, by default the active ones. Nothing is stored.
    `needs` are the fields of both pages that the caller reads.
    """
    fetched = await _get_page(source, store, retrieval)
    options = Options(max_bytes=retrieval.settings.max_bytes, needs=needs)
    return await retrieval.run(_TrialTask(yaml, fetched, options, retrieval.settings, rules))


@dataclass(frozen=True, slots=True)
class _TrialTask:
    yaml: str
    fetched: Fetched
    options: Options
    settings: Settings
    rules: Rulebook | None

    def run(self) -> RuleTrial:
        """Extract the page without and with the rules, and compare the results."""
        draft = parse_draft(self.yaml)
        others, same = remove_draft(load_active(self.settings) if self.rules is None else self.rules, draft)
        before = after = self._extract(others)
        if draft.rules:
            after = self._extract(add_draft(others, draft))
        ids = [rule.id for rule in draft.rules]
        matches = tuple(match for match in after.trace.rules if match.id in ids)
        matched = {match.id for match in matches}
        idle = tuple(name for name in ids if name not in matched)
        changes = tuple(difference(before.markdown, after.markdown))
        return RuleTrial(before, after, draft.faults, matches, idle, same, changes)

    def _extract(self, rules: Rulebook) -> Page:
        return with_document(extract_page(self.fetched, self.options, rules).make(self.options.needs), None)


async def _get_page(source: str, store: Store, retrieval: Retrieval) -> Fetched:
    try:
        raw = await to_thread(lambda: store.items.raw(get_item(store, source).id))
    except NotFound:
        raw = None
        if "://" not in source:
            raise
    if raw is not None:
        return build_item.to_fetched(raw)
    if "://" not in source:
        raise NotFound("The downloaded HTML of this page was not stored.", suggestions=("Give its address instead.",))
    return (await capture(Request(source, join_pages=False), retrieval)).fetched
