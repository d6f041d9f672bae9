"""Read a page or a file, as a task for a worker, with the options of a view of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from pagekeep.capture.active_rules import load_active
from pagekeep.capture.documents.file_types import FileType, detect
from pagekeep.capture.joined_file import is_joined
from pagekeep.config import Settings
from pagekeep.errors import RuleError
from pagekeep.model import Fetched, Options, Page
from pagekeep.values import dataclass
from pagekeep.workers import DOCUMENT, PAGE, Limits

if TYPE_CHECKING:
    from pagekeep import dom
    from pagekeep.rules import Rulebook
    from pagekeep.workers import Room

Inspect: TypeAlias = "Callable[[dom.Document], None]"
"""Gets the tree of a page as it came."""
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
class ReadTask:
    """Read a page or a file, in a worker: extract it and, if `saved_at` of the options is set, write its document."""

    fetched: Fetched
    options: Options
    settings: Settings
    rules: Rulebook | None = None
    """Rules to use instead of the active ones."""
    view: ViewOptions = DEFAULT_VIEW
    file_type: FileType | None = None
    """Of a document, such as a PDF: `prepare` detects it."""

    @classmethod
    def prepare(
        cls,
        fetched: Fetched,
        options: Options,
        settings: Settings,
        rules: Rulebook | None = None,
        view: ViewOptions = DEFAULT_VIEW,
    ) -> ReadTask:
        """Return the task for a page or a file; the part that reads a document is installed if it is missing."""
        file_type = document_type(fetched)
        if file_type:
            file_type.require()
        return cls(fetched, options, settings, rules, view, file_type)

    @property
    def limits(self) -> Limits:
        """The limits that it needs."""
        return DOCUMENT if self.file_type else PAGE

    def run(self) -> Page:
        """Return the page."""
        options = self.options
        if self.view != DEFAULT_VIEW:
            from pagekeep.capture.view import view_page

            return view_page(self.fetched, options, self.load_rules(), self.view).make(
                options.needs, options.leaves_out
            )
        page = self.read()
        if options.saved_at and "document" not in options.leaves_out:
            page = with_document(page, options.saved_at)
        return page.make(options.needs, options.leaves_out)

    def read(self, inspect: Inspect | None = None) -> Page:
        """Return the page without its document, for a task that needs more of it."""
        if self.file_type:
            return _read_document(self.fetched, self.options, self.file_type)
        return extract_page(self.fetched, self.options, self.load_rules(), inspect)

    def load_rules(self) -> Rulebook:
        """Return the rules to use."""
        return load_active(self.settings) if self.rules is None else self.rules


def as_fetched(data: bytes, url: str | None, options: Options, declared: str | None = None) -> Fetched:
    """Return the bytes of a file as a response; `declared` is its content type by its name or its user."""
    return Fetched(
        url=url or "",
        final_url=url or "",
        status=options.status or 0,
        headers={},
        body=data,
        encoding=options.encoding,
        content_type=declared or "text/html",
        rendered=options.rendered,
    )


def extract_in_room(room: Room, fetched: Fetched, options: Options, settings: Settings) -> Page:
    """Extract the page from a response in a worker room, with the limits that it needs, and block the calling thread."""
    task = ReadTask.prepare(fetched, options, settings)
    return room.run_blocking(task, task.limits)


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


def extract_page(fetched: Fetched, options: Options, rules: Rulebook, inspect: Inspect | None = None) -> Page:
    """Extract the page from a response, fetched now or stored; `inspect` gets the tree of HTML, before it is changed.

    Only in a worker process may the page be a document, such as a PDF.
    """
    from pagekeep.pipeline import extract

    if is_joined(fetched):
        from pagekeep.capture.join_pages import extract_joined

        return extract_joined(fetched, options, lambda page: extract_page(page, options, rules))
    file_type = document_type(fetched)
    if file_type:
        return _read_document(fetched, options, file_type)
    options = replace(options, encoding=fetched.encoding, status=fetched.status or None, rendered=fetched.rendered)
    if fetched.content_type == REMOTE_READER_TYPE:
        from pagekeep.capture.remote_page import make_remote_page

        return make_remote_page(fetched, options)
    return extract(fetched.body, fetched.final_url or None, rules=rules, options=options, inspect=inspect)


def _read_document(fetched: Fetched, options: Options, file_type: FileType) -> Page:
    from pagekeep.capture.documents.read import read_document

    return read_document(
        file_type, fetched.body, fetched.final_url or None, replace(options, encoding=fetched.encoding)
    )
