"""The modes of saving: extract locally, with a remote reader, with both to compare them, or remotely when local fails.

A remote reader is used only if the mode says so and one is configured. Pages that a user sends are always extracted
locally. The mode `compare` logs the results of Pagekeep and of the remote reader for the same pages."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, Final, NamedTuple

from pagekeep import clock
from pagekeep.capture.from_url import Captured, Progress, Request, Retrieval, capture
from pagekeep.capture.measure import COMPARING, WAITING_FOR_READER
from pagekeep.config import Settings
from pagekeep.errors import BlockedAddress, NotFound, PagekeepError
from pagekeep.model import Options, Page, PageWarning
from pagekeep.text import Overlap, normalise_url, overlap, score_words, similarity


async def capture_by_mode(request: Request, retrieval: Retrieval, options: Options, progress: Progress) -> Captured:
    """Capture the page at a URL in the mode of the settings."""
    mode = retrieval.settings.mode
    if mode == "remote":
        return await _read_remotely(request, retrieval, options, progress)
    if mode == "compare":
        return await _capture_and_compare(request, retrieval, options, progress)
    if mode == "fallback":
        return await _capture_with_fallback(request, retrieval, options, progress)
    return await capture(request, retrieval, options=options, progress=progress)


async def _read_remotely(request: Request, retrieval: Retrieval, options: Options, progress: Progress) -> Captured:
    reader = await retrieval.remote_reader()
    progress(WAITING_FOR_READER)
    fetched = await reader.read_url(request.url)
    return Captured(await retrieval.extract(fetched, options), fetched)


async def _capture_with_fallback(
    request: Request, retrieval: Retrieval, options: Options, progress: Progress
) -> Captured:
    """Capture the page locally, and with the remote reader if that fails."""
    await retrieval.remote_reader()  # reports faulty settings now, not at the first page that fails
    ours: Captured | PagekeepError
    try:
        ours = await capture(request, retrieval, options=options, progress=progress)
    except BlockedAddress:
        raise
    except PagekeepError as error:
        ours = error
    if isinstance(ours, Captured) and ours.page.quality.level != "bookmark":
        return ours
    try:
        theirs = await _read_remotely(request, retrieval, options, progress)
    except PagekeepError as error:
        if isinstance(ours, PagekeepError):
            ours.suggestions = (*ours.suggestions, error.message)
            raise ours from None
        return _add_warning(ours, PageWarning("not_read_remotely", f"not read remotely: {error.message}"))
    if theirs.page.quality.level == "bookmark" and isinstance(ours, Captured):
        return ours
    reason = ours.message if isinstance(ours, PagekeepError) else ours.page.quality.reason or "no content was found"
    return _add_warning(theirs, PageWarning("read_remotely", f"read remotely: {reason}"))


async def _capture_and_compare(
    request: Request, retrieval: Retrieval, options: Options, progress: Progress
) -> Captured:
    """Capture the page locally; the remote reader's result is only compared with it, and may fail."""
    await retrieval.remote_reader()
    remote = asyncio.create_task(_read_remotely(request, retrieval, options, lambda _stage: None))
    try:
        ours: Captured | PagekeepError = await capture(request, retrieval, options=options, progress=progress)
    except PagekeepError as error:
        ours = error
    except BaseException:
        remote.cancel()
        raise
    progress(COMPARING)
    try:
        theirs: Captured | PagekeepError = await remote
    except PagekeepError as error:
        theirs = error
    comparison = await retrieval.run(_Compare(request.url, _page_of(ours), _page_of(theirs)))
    await asyncio.to_thread(log_comparison, retrieval.settings, comparison)
    if isinstance(ours, PagekeepError):
        raise ours
    return ours


@dataclass(frozen=True, slots=True)
class _Compare:
    url: str
    ours: Page | PagekeepError
    theirs: Page | PagekeepError

    def run(self) -> Comparison:
        """Compare the two results."""
        return compare(self.url, self.ours, self.theirs)


def _page_of(result: Captured | PagekeepError) -> Page | PagekeepError:
    return result if isinstance(result, PagekeepError) else result.page


def _add_warning(captured: Captured, warning: PageWarning) -> Captured:
    return replace(captured, page=captured.page.with_warnings(warning))


MAX_MARKDOWN_CHARS: Final = 200_000
"""Longer texts are cut in the log."""


@dataclass(frozen=True, slots=True)
class Side:
    """The result of one extractor for a page."""

    title: str | None = None
    words: int = 0
    markdown: str = ""
    error: str | None = None
    """Why there is no result."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How our result for a page differs from the remote reader's. The numbers are `None` unless both have one."""

    at: str
    url: str
    ours: Side
    theirs: Side
    similarity: float | None = None
    coverage_words: float | None = None
    """Share of their words that we have; likewise for links and images, `None` when they have none."""
    missing_words: int | None = None
    extra_words: int | None = None
    coverage_links: float | None = None
    missing_links: int | None = None
    extra_links: int | None = None
    coverage_images: float | None = None
    missing_images: int | None = None
    extra_images: int | None = None


def compare(url: str, ours: Page | PagekeepError, theirs: Page | PagekeepError) -> Comparison:
    """Compare two results, each of which can be an error."""
    comparison = Comparison(clock.now(), url, _side(ours), _side(theirs))
    if isinstance(ours, PagekeepError) or isinstance(theirs, PagekeepError):
        return comparison
    return replace(comparison, **_measure(split_markdown(ours.markdown), split_markdown(theirs.markdown)))


def _side(result: Page | PagekeepError) -> Side:
    if isinstance(result, PagekeepError):
        return Side(error=f"{result.type}: {result.message}")
    return Side(result.metadata.title, result.word_count, result.markdown[:MAX_MARKDOWN_CHARS])


def _measure(ours: MarkdownParts, theirs: MarkdownParts) -> dict[str, Any]:
    words = score_words(ours.words, theirs.words)
    return {
        "similarity": similarity(ours.words, theirs.words),
        "coverage_words": words.recall,
        "missing_words": words.missing,
        "extra_words": words.extra,
        **_overlap_fields("links", overlap(ours.links, theirs.links)),
        **_overlap_fields("images", overlap(ours.images, theirs.images)),
    }


def _overlap_fields(part: str, result: Overlap) -> dict[str, Any]:
    return {f"{name}_{part}": getattr(result, name) for name in Overlap._fields}


def log_path(settings: Settings) -> Path:
    """Return the path of the log, next to the library."""
    from pagekeep.store.user_store import default_library

    library = settings.library
    if library is None or "://" in library:
        return default_library().with_name("comparisons.jsonl")
    path = Path(library)
    return path.with_name(f"{path.name}.comparisons.jsonl")


def log_comparison(settings: Settings, comparison: Comparison) -> None:
    """Append a comparison to the log in one write, as several processes may do so at the same time."""
    path = log_path(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(asdict(comparison), ensure_ascii=False) + "\n"
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line.encode("utf-8", "replace"))
    finally:
        os.close(file)


def read_log(path: Path) -> Iterator[Comparison]:
    """Yield all comparisons, oldest first, without lines cut off by a crash; raise `NotFound` when there is no log."""
    try:
        lines = path.open(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        raise NotFound(
            "Nothing has been compared yet.",
            suggestions=("Save pages in the mode `compare`: set PAGEKEEP_MODE=compare.",),
        ) from None
    with lines:
        for line in lines:
            try:
                fields = json.loads(line)
                yield Comparison(**{**fields, "ours": Side(**fields["ours"]), "theirs": Side(**fields["theirs"])})
            except (ValueError, TypeError, KeyError):
                continue


def latest_comparisons(log: Iterator[Comparison]) -> list[Comparison]:
    """Return the last comparison of each page, in the order of the log."""
    by_url: dict[str, Comparison] = {}
    for comparison in log:
        by_url.pop(comparison.url, None)
        by_url[comparison.url] = comparison
    return list(by_url.values())


def comparison_summary(log: Sequence[Comparison]) -> dict[str, Any]:
    """Return the log in numbers: pages, failures, means and deviations, and the totals of missing and extra parts."""
    both = [entry for entry in log if entry.similarity is not None]
    numbers: dict[str, Any] = {
        "pages": len(log),
        "compared": len(both),
        "failed_here": sum(entry.ours.error is not None for entry in log),
        "failed_there": sum(entry.theirs.error is not None for entry in log),
        **_mean("similarity", both),
        **{name: value for part in _PARTS for name, value in _mean(f"coverage_{part}", both).items()},
    }
    for part in _PARTS:
        for kind in ("missing", "extra"):
            numbers[f"{kind}_{part}"] = sum(getattr(entry, f"{kind}_{part}") or 0 for entry in both)
    return numbers


_PARTS: Final = ("words", "links", "images")


def _mean(name: str, log: Sequence[Comparison]) -> Mapping[str, float | None]:
    values = [value for entry in log if (value := getattr(entry, name)) is not None]
    mean, deviation = (fmean(values), pstdev(values)) if values else (None, None)
    return {name: mean, f"std_{name}": deviation}


_DESTINATION: Final = r"(?:<([^<>\n]*+)>|((?:[^()\s<>]++|\([^()\s]*+\))++))"
_TARGET: Final = re.compile(rf"\]\({_DESTINATION}(?:[ \t]++\"[^\"\n]*+\")?\)")
_IMAGE: Final = re.compile(rf"!\[((?:[^\[\]\\\n]++|\\.)*+)\]\({_DESTINATION}")
_AUTOLINK: Final = re.compile(r"<(https?://[^<>\s]++)>")
_SYNTAX: Final = re.compile(
    r"^[ \t]*+(?:[#>|]++|[-*+](?= )|\[\^[^\]\n]{1,60}\]:)[ \t]*+|[*`\[\]\\|]++|~~|(?<!\w)_++|_++(?!\w)", re.M
)


class MarkdownParts(NamedTuple):
    """The parts of a Markdown text."""

    words: str
    """The words, without syntax, link targets and images."""
    links: tuple[str, ...]
    """URLs of links, each one once, without links to images that the text shows."""
    images: tuple[str, ...]
    """URLs of images, each one once."""


def split_markdown(markdown: str) -> MarkdownParts:
    """Split a Markdown text into its parts."""
    images = dict.fromkeys(match[2] or match[3] for match in _IMAGE.finditer(markdown))
    image_urls = {normalise_url(url) for url in images}
    targets = [match[1] or match[2] for match in _TARGET.finditer(markdown)]
    targets += [match[1] for match in _AUTOLINK.finditer(markdown)]
    links = dict.fromkeys(url for url in targets if url and normalise_url(url) not in image_urls)
    words = _TARGET.sub("]", _IMAGE.sub("(", _AUTOLINK.sub(" ", markdown)).replace("[(", "["))
    return MarkdownParts(_SYNTAX.sub(" ", words), tuple(links), tuple(url for url in images if url))
