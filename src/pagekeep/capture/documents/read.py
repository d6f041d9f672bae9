"""Turn the file of a document into a page, by the same clean-up, sanitiser and writer as HTML."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Final

from pagekeep import dom, markdown
from pagekeep.capture.documents.file_types import FileType, detect
from pagekeep.capture.documents.parsed import ParsedDocument
from pagekeep.errors import TooLarge, UnsupportedContent
from pagekeep.extraction import clean, metadata
from pagekeep.extraction.output import quality, result_parts
from pagekeep.extraction.output import quality as losses
from pagekeep.extraction.output.quality import Output
from pagekeep.extraction.output.result_parts import leave_out
from pagekeep.extraction.output.sanitise import sanitise
from pagekeep.extraction.steps import Step, run_steps
from pagekeep.model import DOCUMENT_FACTOR, Attempt, Metadata, Options, Page, PageWarning, Removal, Strategy, Trace
from pagekeep.text import count_words, reading_time
from pagekeep.values import dataclass

_SKIPPED: Final = frozenset({"callouts", "layout-tables", "bullet-lists", "typed-math"})
"""Clean-up steps for habits of web pages; a document's tables and lists were recognised by its reader."""


@dataclass(slots=True)
class _State:
    about: Metadata
    output: Output
    url: str | None


def _detect_language(state: _State) -> None:
    state.about = metadata.add_language(state.about, dom.parse(""), state.output.text)


def _choose_tags(state: _State) -> None:
    state.about = metadata.add_tags(state.about, state.output.text, state.url)


_STEPS: Final = (Step("language", _detect_language, may_fail=True), Step("tags", _choose_tags, may_fail=True))


def read_document(file_type: FileType, data: bytes, url: str | None, options: Options) -> Page:
    """Return the document as a page; only for worker processes. Raise `TooLarge` over the limit of the options.

    A file that cannot be read, or has no text, gives a bookmark that says why.
    """
    limit = options.max_bytes * DOCUMENT_FACTOR
    if len(data) > limit:
        size = f"{len(data) / 1e6:.1f} MB, over the limit of {limit / 1e6:g} MB"
        raise TooLarge(f"The {file_type.name} is too large: {size}.")
    return make_page(file_type.read(data, url, options), url, options, file_type.name)


@dataclass(frozen=True, slots=True)
class DocumentTask:
    """Read a document, in a worker process."""

    data: bytes
    url: str | None
    options: Options
    declared: str | None = None
    """Its content type, where its content cannot decide."""

    def run(self) -> Page:
        """Return the page; raise `UnsupportedContent` for a file of another type."""
        file_type = detect(self.data, self.declared)
        if file_type is None:
            raise UnsupportedContent("This is not a document of a known type.")
        return read_document(file_type, self.data, self.url, self.options)


def make_page(parsed: ParsedDocument, url: str | None, options: Options, file_type: str | None = None) -> Page:
    """Return a parsed document as a page."""
    content = result_parts.make_bookmark_content(parsed.metadata) if parsed.caught else dom.parse_fragment(parsed.html)
    base = url if url and url.startswith(("http://", "https://")) else None
    skip = options.skip_steps if parsed.is_web else _SKIPPED | options.skip_steps
    content, removals = clean.clean(content, base, skip=skip)
    html, root = sanitise(content)
    text = markdown.to_text(root)
    output = Output(root, html, text, parsed.markdown or markdown.to_markdown(root), count_words(text))
    state, failures = _State(parsed.metadata, output, url or parsed.address), list[PageWarning]()
    run_steps(_STEPS, state, warn=failures.append)
    warnings = (*parsed.warnings, *failures)
    page = _assemble(parsed, state, warnings, (*parsed.removals, *removals))
    page = replace(page, links=result_parts.list_links(root), media=result_parts.list_media(root), file_type=file_type)
    return leave_out(page, options)


def _assemble(
    parsed: ParsedDocument, state: _State, warnings: tuple[PageWarning, ...], removals: tuple[Removal, ...]
) -> Page:
    strategy: Strategy = "bookmark" if parsed.caught else "document"
    output, caught = state.output, parsed.caught
    is_cut = any(warning.code == "truncated" for warning in warnings)
    comparison = losses.NOT_COMPARED if caught else losses.Comparison(note=parsed.how)
    reason = caught.reason if caught else None
    attempt = Attempt(strategy, not caught, reason or parsed.how, output.word_count)
    return Page(
        url=state.url,
        markdown=output.markdown,
        document="",
        html=output.html,
        text=output.text,
        metadata=state.about,
        links=(),
        media=(),
        kind="document",
        quality=quality.assess(output, strategy, state.about, reason, comparison, is_cut=is_cut),
        strategy=strategy,
        trace=Trace(
            kind_reasons=(parsed.how,),
            attempts=(attempt,),
            removals=removals,
            warnings=warnings,
            seconds=MappingProxyType(parsed.seconds),
        ),
        word_count=output.word_count,
        reading_time=reading_time(output.word_count),
        caught=caught,
        page_count=parsed.page_count,
    )
