"""Turn the answer of a remote reader into a page."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from pagekeep.capture.modes import split_markdown
from pagekeep.capture.plain_text import keep_text
from pagekeep.errors import ParseError
from pagekeep.extraction.metadata.dates import to_iso
from pagekeep.extraction.output.quality import NOT_COMPARED
from pagekeep.fetch.remote_reader import RemoteAnswer, parse_answer
from pagekeep.model import Fetched, Link, Media, Metadata, Options, Page, PageWarning


def make_remote_page(fetched: Fetched, options: Options) -> Page:
    """Return the page in a remote reader's answer, new or stored; raise `ParseError` when it has no content."""
    answer = parse_answer(fetched.body.decode("utf-8", "replace"))
    if not answer.markdown.strip():
        warning = f" Its warning: {answer.warnings[0]}" if answer.warnings else ""
        hint = "Set `mode` to `local` and try again."
        raise ParseError(f"The remote reader found no content.{warning}", suggestions=(hint,))
    parts = split_markdown(answer.markdown)
    page = keep_text(
        answer.markdown,
        fetched.final_url or None,
        replace(options, encoding=None),
        about=_metadata(answer),
        plain=parts.words,
        comparison=NOT_COMPARED,
    )
    warnings = (PageWarning("remote_reader", f"the remote reader warns: {text}") for text in answer.warnings)
    return replace(
        page.with_warnings(*warnings),
        links=tuple(Link(url, "") for url in parts.links),
        media=tuple(Media("image", url) for url in parts.images),
    )


def _metadata(answer: RemoteAnswer) -> Metadata:
    fields = {"title": answer.title, "published": answer.published, "description": answer.description}
    origins = {name: "remote" for name, value in fields.items() if value}
    return Metadata(
        title=answer.title,
        published=to_iso(answer.published) if answer.published else None,
        description=answer.description,
        origins=MappingProxyType(origins),
    )
