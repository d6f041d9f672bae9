"""The answer of a remote reader as a page like any other."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from pagekeep.capture.markdown_parts import parts_of
from pagekeep.capture.plain_text import keep_text
from pagekeep.errors import ParseError
from pagekeep.extraction.metadata.dates import to_iso
from pagekeep.fetch.remote_reader import RemoteAnswer, parse_answer
from pagekeep.model import Fetched, Link, Media, Metadata, Options, Page, PageWarning


def page_of_answer(fetched: Fetched, options: Options) -> Page:
    """The page in a remote reader's answer, now or long ago; `ParseError` when there is none in it."""
    answer = parse_answer(fetched.body.decode("utf-8", "replace"))
    if not answer.markdown.strip():
        said = f" It says: {answer.warnings[0]}" if answer.warnings else ""
        raise ParseError(f"The remote reader found no content.{said}", suggestions=("Save it in the mode `local`.",))
    found = parts_of(answer.markdown)
    page = keep_text(
        answer.markdown,
        fetched.final_url or None,
        replace(options, encoding=None),
        about=_about(answer),
        plain=found.words,
    )
    warnings = (PageWarning("remote_reader", f"the reader warns: {text}") for text in answer.warnings)
    return replace(
        page.with_warnings(*warnings),
        links=tuple(Link(url, "") for url in found.links),
        media=tuple(Media("image", url) for url in found.pictures),
    )


def _about(answer: RemoteAnswer) -> Metadata:
    said = {"title": answer.title, "published": answer.published, "description": answer.description}
    known = {name: "remote" for name, value in said.items() if value}
    return Metadata(
        title=answer.title,
        published=to_iso(answer.published) if answer.published else None,
        description=answer.description,
        origins=MappingProxyType(known),
    )
