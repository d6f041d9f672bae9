"""Extract the page from a response, as a task for the worker room, with the options of a view of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from pagekeep.capture.active_rules import load_active
from pagekeep.capture.documents.file_types import FileType, detect
from pagekeep.capture.joined_file import is_joined
from pagekeep.config import Settings
from pagekeep.errors import RuleError
from pagekeep.model import Fetched, Options, Page
from pagekeep.values import dataclass
from pagekeep.workers import DOCUMENT, PAGE, Limits

if TYPE_CHECKING:
    from pagekeep.rules import Rulebook
    from pagekeep.workers import Room


REMOTE_READER_TYPE: Final = "text/x-reader"
"""The content type under which the answer of a remote reader is stored."""
TEXT_TYPES: Final = frozenset({"text/plain", "text/markdown", "text/x-markdown"})
"""Content types of text other than HTML."""


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """Which parts of a page to show."""

    whole: bool = False
    """Show the whole page, not only its main content."""
    only: tuple[str, ...] = ()
    """CSS selectors of the only parts to show."""
    without: tuple[str, ...] = ()
    """CSS selectors of parts to leave out."""
    overlays: bool = True
    """Whether to keep dialogs, cookie banners and other overlays."""
    images: Literal["all", "none", "alt"] = "all"
    links: Literal["all", "none", "text"] = "all"

    def __post_init__(self) -> None:
        """Raise `RuleError` for an invalid selector."""
        if not self.only and not self.without:
            return
        from pagekeep.rules import selectors

        for selector in (*self.only, *self.without):
            try:
                selectors.check(selector)
            except selectors.SelectorFault as fault:
                raise RuleError(str(fault), suggestions=filter(None, [fault.suggestion])) from None


DEFAULT_VIEW: Final = ViewOptions()


@dataclass(frozen=True, slots=True)
class ExtractTask:
    """Extract a page and, if `saved_at` of the options is set, write its document."""

    fetched: Fetched
    options: Options
    settings: Settings
    rules: Rulebook | None = None
    """Rules to use instead of the active ones."""
    view: ViewOptions = DEFAULT_VIEW

    def run(self) -> Page:
        """Return the page."""
        rules, options = load_active(self.settings) if self.rules is None else self.rules, self.options
        if self.view != DEFAULT_VIEW:
            from pagekeep.capture.view import view_page

            return view_page(self.fetched, options, rules, self.view).make(options.needs, options.leaves_out)
        page = extract_page(self.fetched, options, rules)
        if options.saved_at and "document" not in options.leaves_out:
            page = with_document(page, options.saved_at)
        return page.make(options.needs, options.leaves_out)


@dataclass(frozen=True, slots=True)
class FileTask:
    """Extract the page in a file and, if `saved_at` of the options is set, write its document."""

    data: bytes
    url: str | None
    options: Options
    settings: Settings
    declared: str | None = None
    """Its content type by its name or its user, for what its content cannot tell."""

    def run(self) -> Page:
        """Return the page."""
        page = self._read().make(self.options.needs)
        return with_document(page, self.options.saved_at) if self.options.saved_at else page

    def _read(self) -> Page:
        file_type = detect(self.data, self.declared)
        if file_type:
            from pagekeep.capture.documents.read import read_document

            return read_document(file_type, self.data, self.url, self.options)
        from pagekeep.pipeline import extract

        return extract(self.data, self.url, rules=load_active(self.settings), options=self.options)


def prepare_limits(data: bytes, declared: str | None = None) -> Limits:
    """Return the limits for extracting a file; for a document, the part that reads it is installed first if needed."""
    file_type = detect(data, declared)
    if file_type is None:
        return PAGE
    file_type.require()
    return DOCUMENT


def extract_in_room(room: Room, fetched: Fetched, options: Options, settings: Settings) -> Page:
    """Extract the page from a response in a worker room, with the limits that it needs, and block the calling thread."""
    limits = prepare_limits(fetched.body, fetched.content_type)
    return room.run_blocking(ExtractTask(fetched, options, settings), limits)


def with_document(page: Page, saved_at: str | None) -> Page:
    """Return the page with its document written."""
    from pagekeep.markdown import write_document  # it loads the parser

    return page.with_document(write_document(page, saved_at=saved_at))


def document_type(fetched: Fetched) -> FileType | None:
    """Return the type of a response that is a document, such as a PDF; `None` for a page or text."""
    if fetched.content_type == REMOTE_READER_TYPE or is_joined(fetched):
        return None
    return detect(fetched.body, fetched.content_type)


def is_text(fetched: Fetched) -> bool:
    """Return whether the response is text other than HTML."""
    return fetched.content_type in TEXT_TYPES


def extract_page(fetched: Fetched, options: Options, rules: Rulebook) -> Page:
    """Extract the page from a response, fetched now or stored.

    Only in a worker process may the page be a document, such as a PDF.
    """
    from pagekeep.pipeline import extract

    if is_joined(fetched):
        from pagekeep.capture.join_pages import extract_joined

        return extract_joined(fetched, options, lambda page: extract_page(page, options, rules))
    options = replace(options, encoding=fetched.encoding, status=fetched.status, rendered=fetched.rendered)
    if fetched.content_type == REMOTE_READER_TYPE:
        from pagekeep.capture.remote_page import make_remote_page

        return make_remote_page(fetched, options)
    file_type = document_type(fetched)
    if file_type:
        from pagekeep.capture.documents.read import read_document

        return read_document(file_type, fetched.body, fetched.final_url or None, options)
    return extract(fetched.body, fetched.final_url or None, rules=rules, options=options)
