"""Write a digest of every page's result, or compare with an earlier one: what must stay byte-equal in a refactoring.

Usage: python bench/digest.py OUT.json [--against EARLIER.json] [FOLDER ...]
Without folders: every folder of the shared corpora, and our own corpus. Exits with 1 when a digest differs.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pagekeep
from pagekeep.model import Options, Page, plain

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "corpora"
SAVED_AT = "2026-01-01T00:00:00Z"


def main() -> int:
    """Digest the pages and compare when asked."""
    parser = argparse.ArgumentParser(description="Digests of results, to see that a change left them byte-equal.")
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--against", type=Path, default=None, help="an earlier file of digests")
    options = parser.parse_intermixed_args()  # folders may follow --against
    folders = options.folders or [
        *sorted(path for path in SHARED.glob("*") if path.is_dir()),
        ROOT / "tests" / "corpus",
    ]
    pages = sorted({path for folder in folders for path in find_pages(folder)})
    with ProcessPoolExecutor() as pool:
        found = dict(zip(map(name_of, pages), pool.map(digest, pages, chunksize=20), strict=True))
    options.out.write_text(json.dumps(found, indent=0), encoding="utf-8")
    print(f"{len(found)} pages digested to {options.out}")
    return compare(json.loads(options.against.read_text(encoding="utf-8")), found) if options.against else 0


def find_pages(folder: Path) -> Iterator[Path]:
    """Yield every page of a corpus, whatever its layout; expected results are not pages."""
    for path in folder.rglob("*.html*"):
        if not path.name.startswith("expected"):
            yield path


def name_of(path: Path) -> str:
    """Return a name that is the same wherever the corpora are."""
    return "/".join(path.parts[-3:])


def digest(path: Path) -> dict[str, str]:
    """Return a hash per part of the page's result, or the error it raised."""
    try:
        page = pagekeep.extract(read_page(path), address_of(path), options=Options(saved_at=SAVED_AT))
    except pagekeep.PagekeepError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {name: hash_of(value) for name, value in parts(page).items()}


def read_page(path: Path) -> bytes:
    """Return the bytes of a page, decompressed when it is gzipped."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def address_of(path: Path) -> str:
    """Return the address the page's reference names, or a made-up one."""
    reference = path.with_name(path.name.split(".html")[0] + ".json")
    if reference.is_file():
        url = json.loads(reference.read_text(encoding="utf-8")).get("url")
        if isinstance(url, str) and url:
            return url
    return "https://pages.example/" + path.name.split(".html")[0]


def parts(page: Page) -> dict[str, Any]:
    """Return what a refactoring must not change."""
    return {
        "document": page.document,
        "html": page.html,
        "text": page.text,
        "metadata": plain(page.metadata),
        "links": plain(page.links),
        "media": plain(page.media),
        "quality": plain(page.quality),
        "verdict": [page.kind, page.strategy, plain(page.caught), plain(page.need_render), page.selector],
    }


def hash_of(value: Any) -> str:
    """Return a short hash of a value's JSON form."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()[:16]


def compare(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]) -> int:
    """Print every page whose result differs and in which parts; return 1 when one does."""
    differing = 0
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name, {}), after.get(name, {})
        if old != new:
            differing += 1
            changed = [part for part in sorted(old.keys() | new.keys()) if old.get(part) != new.get(part)]
            print(f"{name}: {', '.join(changed)}")
    print(f"{len(after)} pages, {differing} differ")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
