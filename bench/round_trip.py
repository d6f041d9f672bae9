"""Check that every page's Markdown, when rendered, has the same words, headings, lists, tables, code and formulas.

Usage: python bench/round_trip.py [FOLDER ...] [--pages N]; exits with 1 when a page differs. A folder is a corpus for
`pagekeep evaluate`, or contains Markdown files beside its pages.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from pagekeep_lab import corpus as corpora
from pagekeep_lab import pipeline_extract
from pagekeep_lab.markdown_cases import find_differences

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "corpora"
FOLDERS = (*(SHARED / name for name in ("wcxb", "readability", "markdown")), ROOT / "tests" / "corpus")


def cases(folder: Path, pages: int | None) -> Iterator[corpora.Case | Path]:
    """Return the folder's pages."""
    if corpora.has_markdown_cases(folder):
        yield from sorted(folder.glob("*.html"))[:pages]
    else:
        yield from corpora.find_cases(folder, pages)


def check(case: corpora.Case | Path) -> list[str]:
    """Return a sentence for each fault of one page, with the losses that the page reports."""
    if isinstance(case, Path):
        name, html, url = case.stem, case.read_bytes(), "https://example.com/page"
    else:
        sample = corpora.read_case(case)
        name, html, url = sample.name, sample.html, sample.url or ""
    page = pipeline_extract(html, url)
    lost = [check.reason for check in page.quality.checks if check.name == "nothing_lost" and not check.passed]
    return [f"{name}: {fault}" for fault in (*find_differences(page.html, page.markdown), *lost)]


def main() -> int:
    """Check every page and report."""
    parser = argparse.ArgumentParser(description="Markdown must say what the page said.")
    parser.add_argument("folders", type=Path, nargs="*", default=[folder for folder in FOLDERS if folder.is_dir()])
    parser.add_argument("--pages", type=int, default=None)
    options = parser.parse_args()
    every = [case for folder in options.folders for case in cases(folder, options.pages)]
    with ProcessPoolExecutor() as pool:
        found = [fault for faulty in pool.map(check, every, chunksize=8) for fault in faulty]
    print("\n".join([*found, f"{len(every)} pages, {len(found)} faults"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
