"""Read one more page of an article, in a worker, and decide whether it belongs to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pagekeep.config import Settings
from pagekeep.model import Fetched, Metadata, Options, Page
from pagekeep.model.continuation import Continuation, PageLink
from pagekeep.values import dataclass

if TYPE_CHECKING:
    from pagekeep.rules import Rulebook


_NOT_PAGES: Final = frozenset({"listing", "collection", "forum", "product"})
"""Kinds of pages that do not continue an article."""


@dataclass(frozen=True, slots=True)
class ReadPage:
    """What was found on another page."""

    text: str = ""
    why: str = ""
    """Why it belongs to the article."""
    refused: str | None = None
    """Why it does not."""
    caught: str | None = None
    """What came instead of the page, if something did."""
    continuation: Continuation | None = None


@dataclass(frozen=True, slots=True)
class ReadPageTask:
    """Extract a page, and compare it with the pages of the article before it."""

    fetched: Fetched
    options: Options
    settings: Settings
    rules: Rulebook | None
    first: Metadata
    """Of the first page."""
    url: str
    """Of the first page."""
    kept: tuple[str, ...]
    """The texts of the pages before."""
    link: PageLink

    def run(self) -> ReadPage:
        """Return the text of the page, and whether it belongs to the article."""
        from pagekeep.capture.active_rules import load_active
        from pagekeep.capture.extract import extract_page

        rules = load_active(self.settings) if self.rules is None else self.rules
        page = extract_page(self.fetched, self.options, rules)
        return self._judge(page)

    def _judge(self, page: Page) -> ReadPage:
        from pagekeep.extraction.pages import compare

        if page.caught is not None:
            return ReadPage(caught=f"{page.caught.reason}.")
        why = compare.same_work(self.first, self.url, page.metadata, self.link.number)
        if why is None and not self.link.by_rule:
            return ReadPage(refused="neither its title nor the address that it names are those of the article")
        is_whole = self.options.find_pages is None
        if not is_whole and not self.link.by_rule and page.kind in _NOT_PAGES:
            return ReadPage(refused=f"it is not an article but a {page.kind}")
        if page.strategy in ("bookmark", "discarded"):
            return ReadPage(caught="no content was found on it.")
        refused = compare.lacks(page.text, self.kept[0]) if is_whole else compare.why_known(page.text, self.kept)
        return ReadPage(page.text, why or "", refused, None, page.continuation)
