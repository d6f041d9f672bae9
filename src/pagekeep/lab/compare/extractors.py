"""The extractors that can be compared, by name:

pagekeep           this version with the shipped rules
pagekeep:bare      this version without rules
rules:FOLDER       this version with the rules in a folder instead of the shipped ones
git:REF            Pagekeep at a commit, tag or branch
trafilatura        if it is installed
readability        readability-lxml, if it is installed
remote             the remote reader in the settings, which the pages are sent to
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
from pagekeep.lab.compare.older_version import OlderVersion
from pagekeep.lab.compare.results import ExtractorResult, result_from_html, result_from_markdown, result_from_page
from pagekeep.lab.measure import extract_without_rules, pipeline_extract
from pagekeep.pipeline import extract

Extract = Callable[[bytes, str | None], ExtractorResult]
EXTRACTOR_NAMES: Final = (
    "pagekeep",
    "pagekeep:bare",
    "rules:FOLDER",
    "git:REF",
    "trafilatura",
    "readability",
    "remote",
)


@contextmanager
def open_extractor(name: str, settings: Settings) -> Iterator[Extract]:
    """Open the extractor of this name; raise `NotFound` for one that is unknown or not installed.

    Errors of the extractor are part of its results.
    """
    kind, _, value = name.partition(":")
    if name == "pagekeep":
        yield _with_time(lambda html, url: result_from_page(pipeline_extract(html, url)))
    elif name == "pagekeep:bare":
        yield _with_time(lambda html, url: result_from_page(extract_without_rules(html, url)))
    elif kind == "rules" and value:
        yield _with_time(_with_rules(Path(value)))
    elif kind == "git" and value:
        with OlderVersion(value) as older:
            yield older.extract
    elif name == "trafilatura":
        yield _with_time(_trafilatura())
    elif name == "readability":
        yield _with_time(_readability())
    elif name == "remote":
        with _remote(settings) as read:
            yield _with_time(read)
    else:
        raise NotFound(f"Unknown extractor: {name:.80}.", suggestions=(f"Extractors: {', '.join(EXTRACTOR_NAMES)}.",))


def _with_time(read: Extract) -> Extract:
    def extract_with_time(html: bytes, url: str | None) -> ExtractorResult:
        start = time.process_time()
        try:
            result = read(html, url)
        except Exception as error:  # an extractor that raises must not end the comparison
            result = ExtractorResult(error=type(error).__name__)
        return replace(result, ms=(time.process_time() - start) * 1000)

    return extract_with_time


def _with_rules(folder: Path) -> Extract:
    from pagekeep.rules import load

    if not folder.is_dir():
        raise NotFound(f"The folder of rules {folder} does not exist.")
    rules = load(folder)
    return lambda html, url: result_from_page(extract(html, url, rules=rules))


def _not_installed(name: str, package: str) -> NotFound:
    return NotFound(f"{name} is not installed.", suggestions=(f"Install it: pip install {package}",))


def _trafilatura() -> Extract:
    try:
        import trafilatura
    except ImportError:
        raise _not_installed("trafilatura", "trafilatura") from None

    def read(html: bytes, url: str | None) -> ExtractorResult:
        text = html.decode("utf-8", "replace")
        content = trafilatura.extract(
            text, url=url, output_format="html", include_links=True, include_images=True, include_formatting=True
        )
        return result_from_html(content or "")

    return read


def _readability() -> Extract:
    try:
        from readability import Document
    except ImportError:
        raise _not_installed("readability", "readability-lxml lxml_html_clean") from None

    def read(html: bytes, url: str | None) -> ExtractorResult:
        document = Document(html.decode("utf-8", "replace"), url=url)
        return result_from_html(document.summary(html_partial=True), document.title())

    return read


@contextmanager
def _remote(settings: Settings) -> Iterator[Extract]:
    from pagekeep.fetch.remote_reader import RemoteReader, parse_answer

    reader = RemoteReader(settings)

    def read(html: bytes, url: str | None) -> ExtractorResult:
        try:
            fetched = loop.run(reader.read_html(html.decode("utf-8", "replace"), url))
        except PagekeepError as error:
            return ExtractorResult(error=error.type)
        answer = parse_answer(fetched.body.decode("utf-8", "replace"))
        return result_from_markdown(answer.markdown, answer.title or "")

    with asyncio.Runner() as loop:
        try:
            yield read
        finally:
            loop.run(reader.__aexit__(None, None, None))
