"""Extractors by name:

pagekeep           this version, with the shipped rules
pagekeep:bare      this version, without any
rules:FOLDER       this version, with the rules in a folder instead of the shipped ones
git:REF            Pagekeep as it was at a commit, tag or branch
trafilatura        if it is installed
readability        readability-lxml, if it is installed
remote             the reader that the settings name, which is sent the pages
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from pagekeep.config import Settings
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.lab.compare.older_version import Older
from pagekeep.lab.compare.results import Reading, of_html, of_markdown, of_page
from pagekeep.lab.measure import extract_without_rules, pipeline_extract
from pagekeep.pipeline import extract

Read = Callable[[bytes, str | None], Reading]
NAMES: Final = ("pagekeep", "pagekeep:bare", "rules:FOLDER", "git:REF", "trafilatura", "readability", "remote")


@contextmanager
def extractor(name: str, settings: Settings) -> Iterator[Read]:
    """The extractor of this name; `NotFound` for one that is not known or not installed. What it raises is its reading."""
    kind, _, what = name.partition(":")
    if name == "pagekeep":
        yield _timed(lambda html, url: of_page(pipeline_extract(html, url)))
    elif name == "pagekeep:bare":
        yield _timed(lambda html, url: of_page(extract_without_rules(html, url)))
    elif kind == "rules" and what:
        yield _timed(_by_rules(Path(what)))
    elif kind == "git" and what:
        with Older(what) as older:
            yield older.read
    elif name == "trafilatura":
        yield _timed(_trafilatura())
    elif name == "readability":
        yield _timed(_readability())
    elif name == "remote":
        with _remote(settings) as read:
            yield _timed(read)
    else:
        raise NotFound(f"There is no extractor {name:.80}.", suggestions=(f"Known are: {', '.join(NAMES)}.",))


def _timed(read: Read) -> Read:
    def one(html: bytes, url: str | None) -> Reading:
        begin = time.process_time()
        try:
            found = read(html, url)
        except Exception as error:  # whatever an extractor raises is a result of the comparison, never its end
            found = Reading(error=type(error).__name__)
        return replace(found, ms=(time.process_time() - begin) * 1000)

    return one


def _by_rules(folder: Path) -> Read:
    from pagekeep.rules import load

    if not folder.is_dir():
        raise NotFound(f"There is no folder of rules {folder}.")
    rules = load(folder)
    return lambda html, url: of_page(extract(html, url, rules=rules))


def _missing(name: str, package: str) -> NotFound:
    return NotFound(f"{name} is not installed.", suggestions=(f"Install it: pip install {package}",))


def _trafilatura() -> Read:
    try:
        import trafilatura
    except ImportError:
        raise _missing("trafilatura", "trafilatura") from None

    def read(html: bytes, url: str | None) -> Reading:
        text = html.decode("utf-8", "replace")
        found = trafilatura.extract(
            text, url=url, output_format="html", include_links=True, include_images=True, include_formatting=True
        )
        return of_html(found or "")

    return read


def _readability() -> Read:
    try:
        from readability import Document
    except ImportError:
        raise _missing("readability", "readability-lxml lxml_html_clean") from None

    def read(html: bytes, url: str | None) -> Reading:
        document = Document(html.decode("utf-8", "replace"), url=url)
        return of_html(document.summary(html_partial=True), document.title())

    return read


@contextmanager
def _remote(settings: Settings) -> Iterator[Read]:
    from pagekeep.fetch.remote_reader import RemoteReader, parse_answer

    reader = RemoteReader(settings)

    def read(html: bytes, url: str | None) -> Reading:
        try:
            fetched = loop.run(reader.read_html(html.decode("utf-8", "replace"), url))
        except PagekeepError as error:
            return Reading(error=error.type)
        answer = parse_answer(fetched.body.decode("utf-8", "replace"))
        return of_markdown(answer.markdown, answer.title or "")

    with asyncio.Runner() as loop:
        try:
            yield read
        finally:
            loop.run(reader.__aexit__(None, None, None))
