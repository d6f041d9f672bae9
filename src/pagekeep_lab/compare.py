"""Compare two extractors on the same pages: what one has and the other lacks.

`compare` runs both and compares the results, `write_report` takes results that were compared elsewhere; with a folder, both
write `summary.csv`, `history.csv` and `report.html` there. The extractors, by name:

pagekeep           this version with the shipped rules
pagekeep:bare      this version without rules
rules:FOLDER       this version with the rules in a folder instead of the shipped ones
git:REF            Pagekeep at a commit, tag or branch, in a separate process
trafilatura        if it is installed
readability        readability-lxml, if it is installed
remote             the remote reader in the settings, which the pages are sent to"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import IO, Any, Final

from pagekeep.config import Settings
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.pipeline import extract
from pagekeep_lab import corpus as corpora
from pagekeep_lab.comparison_report import history_row, summary_row, summary_rows, write_comparison
from pagekeep_lab.corpus import Case, Reference, Sample
from pagekeep_lab.evaluate import extract_without_rules, pipeline_extract
from pagekeep_lab.results import (
    Comparison,
    ExtractorResult,
    Pair,
    compare_markdown,
    compare_results,
    result_from_html,
    result_from_markdown,
    result_from_page,
    result_from_parts,
)

__all__ = [
    "EXTRACTOR_NAMES",
    "Comparison",
    "Extract",
    "OlderVersion",
    "Pair",
    "compare",
    "compare_markdown",
    "comparison_to_json",
    "format_comparison",
    "open_extractor",
    "resolve_commit",
    "write_report",
]


_WARM_UP_PAGE = (
    b"<!doctype html><title>First</title><article><p>" + b"The first page pays for what is loaded once. " * 40
)
_PAGE_PATTERNS = ("*.html", "*.htm", "*.html.gz")


def compare(
    a: str,
    b: str,
    corpus: Path,
    *,
    settings: Settings,
    limit: int | None = None,
    out: Path | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Comparison:
    """Extract the pages of a folder with both and compare the results; with `out`, also write them to that folder.

    The folder is a corpus as for `pagekeep evaluate`, or contains only pages.
    """
    cases = _find_cases(corpus, limit)
    pairs: list[Pair] = []
    with open_extractor(a, settings) as first, open_extractor(b, settings) as second:
        for read in (first, second):
            read(_WARM_UP_PAGE, None)  # so that loading modules does not count as the first page's time
        for sample in _read_samples(cases):
            readings = first(sample.html, sample.url), second(sample.html, sample.url)
            pairs.append(
                compare_results(
                    sample.name, sample.url, *readings, kind=sample.kind, reference=sample.gold.text or None
                )
            )
            progress(len(pairs), len(cases))
    return _finished(Comparison(corpus.resolve().name, a, b, tuple(sorted(pairs, key=lambda one: one.name))), out)


def write_report(out: Path, corpus: str, names: tuple[str, str], pairs: Iterable[Pair]) -> Comparison:
    """Write the report of pages that were compared elsewhere."""
    return _finished(Comparison(corpus, *names, tuple(pairs)), out)


def format_comparison(comparison: Comparison) -> list[list[str]]:
    """Return the summary as rows of strings, the header first."""
    return summary_rows(comparison)


def comparison_to_json(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as plain JSON types: the totals, then the numbers of each page."""
    return {"summary": history_row(comparison, "", ""), "pages": [summary_row(one) for one in comparison.pairs]}


def _finished(comparison: Comparison, out: Path | None) -> Comparison:
    if out is not None:
        write_comparison(comparison, out)
    return comparison


def _find_cases(corpus: Path, limit: int | None) -> list[Case | Path]:
    try:
        return list(corpora.find_cases(corpus, limit))
    except NotFound:
        pages = sorted(path for pattern in _PAGE_PATTERNS for path in corpus.glob(pattern)) if corpus.is_dir() else []
        if not pages:
            raise
    size = len(pages) if limit is None else max(1, min(limit, len(pages)))
    return [pages[index * len(pages) // size] for index in range(size)]


def _read_samples(cases: Iterable[Case | Path]) -> Iterator[Sample]:
    for case in cases:
        if isinstance(case, Case):
            yield corpora.read_case(case)
        else:
            yield Sample(case.name.partition(".html")[0], None, "", corpora.read_bytes(case), Reference(""))


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


_TIMEOUT_SECONDS: Final = 120
_WORKER: Final = """
import base64, json, sys, time
from pagekeep import extract
try:
    from pagekeep.rules import shipped
    options = {"rules": shipped()}
except Exception:
    options = {}
for line in sys.stdin:
    request = json.loads(line)
    start = time.process_time()
    try:
        page = extract(base64.b64decode(request["html"]), request["url"], **options)
        answer = {
            "text": page.text, "html": page.html, "title": page.metadata.title or "",
            "links": [link.url for link in page.links], "media": [[media.kind, media.url] for media in page.media],
        }
    except Exception as error:
        answer = {"error": type(error).__name__}
    print(json.dumps({**answer, "ms": (time.process_time() - start) * 1000}), flush=True)
"""


class OlderVersion:
    """The extractor at a commit; a context manager."""

    def __init__(self, ref: str) -> None:
        self._sha = resolve_commit(ref)
        self._folder = TemporaryDirectory(prefix="pagekeep-older-")
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> OlderVersion:
        _unpack(self._sha, Path(self._folder.name))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": str(Path(self._folder.name) / "src")},
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                _close(stream)
        self._folder.cleanup()

    def extract(self, html: bytes, url: str | None) -> ExtractorResult:
        """Return what that version extracts from a page."""
        answer = self._send({"html": base64.b64encode(html).decode(), "url": url})
        if answer.get("error"):
            return ExtractorResult(error=answer["error"], ms=answer.get("ms", 0.0))
        media = [(kind, media_url) for kind, media_url in answer["media"]]
        result = result_from_parts(answer["text"], answer["html"], answer["title"], answer["links"], media)
        return replace(result, ms=float(answer["ms"]))

    def _send(self, request: dict[str, Any]) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("Use an older version inside its `with` block.")
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        answer: dict[str, Any] = json.loads(line) if line else {"error": "Ended"}
        return answer


def _close(stream: IO[str] | None) -> None:
    if stream is not None:
        with suppress(BrokenPipeError):
            stream.close()


def resolve_commit(ref: str) -> str:
    """Return the commit of a ref; raise `NotFound` outside a checkout, or when the ref does not exist."""
    try:
        done = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    except (OSError, subprocess.SubprocessError):
        raise NotFound(
            f"Version {ref:.80} of Pagekeep was not found.",
            suggestions=("Name a commit, tag or branch, and run from a checkout.",),
        ) from None
    return done.decode().strip()


def _unpack(sha: str, folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(_git("archive", "--format=tar", sha, ":(top)src"))) as archive:
        archive.extractall(folder, filter="data")


def _git(*arguments: str) -> bytes:
    here = Path(__file__).parent
    top = subprocess.run(
        ["git", "-C", str(here), "rev-parse", "--show-toplevel"],
        capture_output=True,
        timeout=_TIMEOUT_SECONDS,
        check=True,
    )
    command = ["git", "-C", top.stdout.decode().strip(), *arguments]
    return subprocess.run(command, capture_output=True, timeout=_TIMEOUT_SECONDS, check=True).stdout
