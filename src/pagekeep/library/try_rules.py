"""Try rules on a page before they are saved: the result with them beside the result without."""

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

    @property
    def changes(self) -> tuple[str, ...]:
        """Return the lines of a diff of the Markdown; none when the rules change nothing."""
        return tuple(difference(self.before.markdown, self.after.markdown))


async def try_rules(
    yaml: str, source: str, store: Store, retrieval: Retrieval, extractor: ExtractPool, *, rules: Rulebook | None = None
) -> RuleTrial:
    """Try rules on an item of the library, by its id or address, or on a page that is fetched for it.

    They are compared with `rules`, by default the active ones. Nothing is stored. Pages are extracted in worker processes,
    because a draft of a rule may hang.
    """
    fetched = await _get_page(source, store, retrieval)
    draft = parse_draft(yaml)
    options = Options(max_bytes=retrieval.settings.max_bytes)
    others, same = remove_draft(rules or retrieval.rules, draft)
    before = await extractor.extract(fetched, options, others)
    after = await extractor.extract(fetched, options, add_draft(others, draft)) if draft.rules else before
    ids = [rule.id for rule in draft.rules]
    matches = tuple(match for match in after.trace.rules if match.id in ids)
    matched = {match.id for match in matches}
    idle = tuple(name for name in ids if name not in matched)
    return RuleTrial(_with_document(before), _with_document(after), draft.faults, matches, idle, same)


def _with_document(page: Page) -> Page:
    from pagekeep.markdown import write_document  # it loads the parser

    return replace(page, document=write_document(page))


async def _get_page(source: str, store: Store, retrieval: Retrieval) -> Fetched:
    try:
        raw = await to_thread(lambda: store.raw(get_item(store, source).id))
    except NotFound:
        raw = None
        if "://" not in source:
            raise
    if raw is not None:
        return build_item.to_fetched(raw)
    if "://" not in source:
        raise NotFound("The downloaded HTML of this page was not stored.", suggestions=("Give its address instead.",))
    return (await capture(Request(source), retrieval)).fetched
