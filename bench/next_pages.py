"""List the pages of corpora on which a link to the next page of the same article is found, and what looking for it costs.

Usage: python -m bench.next_pages [FOLDER ...]
Nothing is fetched: of these links, those whose page has another title or no new text would not be joined. `rel=next` counts the
articles and manuals of a corpus that have it, by the kind in their references.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from bench.digest import SHARED, address_of, find_pages, name_of, read_page
from pagekeep import dom
from pagekeep.errors import PagekeepError
from pagekeep.extraction.pages import may_continue
from pagekeep.model import Options
from pagekeep.pipeline import extract

_ROUNDS = 3
"""The fastest of these is counted: others use the machine too."""
_WITHOUT, _WITH = Options(), Options(find_pages=1)


def main() -> int:
    """Print the links, the counts and the cost."""
    folders = [Path(name) for name in sys.argv[1:]] or sorted(path for path in SHARED.glob("*") if path.is_dir())
    pages = declared = found = 0
    seconds = [0.0, 0.0]
    for path in sorted({path for folder in folders for path in find_pages(folder)}):
        html, url = read_page(path), address_of(path)
        try:
            page = extract(html, url, options=_WITH)
        except PagekeepError:
            continue
        pages += 1
        if pages % 8 == 0:
            times = [[_time(html, url, options) for options in (_WITHOUT, _WITH)] for _ in range(_ROUNDS)]
            seconds = [total + min(column) for total, column in zip(seconds, zip(*times, strict=True), strict=True)]
        has_next = _kind_of(path) in ("article", "documentation") and _declares_next(html)
        declared += has_next
        if page.continuation and page.continuation.next and may_continue(page):
            found += 1
            print(f"{name_of(path)}{' (rel=next)' if has_next else ''}: {url}\n  {page.continuation.next}")
    cost = seconds[1] / seconds[0] - 1 if seconds[0] else 0.0
    print(
        f"{pages} pages, {found} with a link to follow; {declared} articles and manuals with rel=next; cost {cost:+.1%}"
    )
    return 0


def _time(html: bytes, url: str, options: Options) -> float:
    began = time.process_time()
    extract(html, url, options=options)
    return time.process_time() - began


def _kind_of(path: Path) -> str:
    reference = path.with_name(path.name.split(".html")[0] + ".json")
    return str(json.loads(reference.read_text(encoding="utf-8")).get("kind")) if reference.is_file() else ""


def _declares_next(html: bytes) -> bool:
    return dom.first(dom.parse(html.decode("utf-8", "replace")), "link[rel~=next], a[rel~=next]") is not None


if __name__ == "__main__":
    raise SystemExit(main())
