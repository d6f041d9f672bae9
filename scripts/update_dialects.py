"""Write the table of docs/dialects.md from the server's routes; with `--check`, write nothing and fail when it is out of date.

A route that has no line in `REMARKS` below works as the original; `PROOFS` names the programs that showed it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from fastapi.routing import iter_route_contexts

from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app

PAGE = Path(__file__).resolve().parent.parent / "docs" / "dialects.md"
BEGIN, END = "<!-- begin: routes -->\n", "<!-- end: routes -->\n"
DIALECTS: Final = {
    "/r": "Jina Reader",
    "/s": "Jina search",
    "/v2": "Firecrawl",
    "/wallabag": "wallabag API v2",
    "/linkding": "linkding API",
    "/opds": "OPDS 1.2 and 2.0",
}
WALLABAG: Final = "wallabag-client 1.8.12"
ANDROID: Final = "requests of the Android app"
KOREADER: Final = "requests of KOReader's plugin"
IOS: Final = "requests of the iOS app"
AIO: Final = "aiolinkding 2025.2.0"
LINKDING: Final = "linkding-cli 2024.9.0"
FIRECRAWL: Final = "firecrawl-py 4.53.2"
OWN: Final = "our own tests"
PROOFS: Final[dict[str, str]] = {
    "POST /v2/scrape": FIRECRAWL,
    "POST /v2/map": FIRECRAWL,
    "POST /v2/crawl": FIRECRAWL,
    "GET /v2/crawl/{job_id}": FIRECRAWL,
    "POST /v2/batch/scrape": FIRECRAWL,
    "GET /v2/batch/scrape/{job_id}": FIRECRAWL,
    "POST /v2/search": FIRECRAWL,
    "GET /wallabag/oauth/v2/token": WALLABAG,
    "POST /wallabag/oauth/v2/token": f"{KOREADER}, {IOS}, {ANDROID}",
    "GET /wallabag/api/version": WALLABAG,
    "GET /wallabag/api/config": IOS,
    "GET /wallabag/api/entries": f"{WALLABAG}, {KOREADER}, {IOS}, {ANDROID}",
    "POST /wallabag/api/entries": f"{WALLABAG}, {KOREADER}",
    "GET /wallabag/api/entries/{number}": WALLABAG,
    "PATCH /wallabag/api/entries/{number}": f"{WALLABAG}, {KOREADER}",
    "DELETE /wallabag/api/entries/{number}": f"{WALLABAG}, {KOREADER}",
    "GET /wallabag/api/entries/exists": ANDROID,
    "GET /wallabag/api/entries/{number}/export.{format}": f"{WALLABAG}, {KOREADER}",
    "GET /wallabag/api/entries/{number}/tags": f"{WALLABAG}, {ANDROID}",
    "POST /wallabag/api/entries/{number}/tags": f"{WALLABAG}, {KOREADER}",
    "GET /wallabag/": ANDROID,
    "POST /wallabag/login_check": ANDROID,
    "GET /wallabag/developer": ANDROID,
    "POST /wallabag/developer/client/create": ANDROID,
    "GET /linkding/health": f"{AIO}, {LINKDING}",
    "GET /linkding/api/bookmarks/": f"{AIO}, {LINKDING}",
    "POST /linkding/api/bookmarks/": f"{AIO}, {LINKDING}",
    "GET /linkding/api/bookmarks/archived/": f"{AIO}, {LINKDING}",
    "GET /linkding/api/bookmarks/{number}/": AIO,
    "PATCH /linkding/api/bookmarks/{number}/": AIO,
    "DELETE /linkding/api/bookmarks/{number}/": f"{AIO}, {LINKDING}",
    "POST /linkding/api/bookmarks/{number}/archive/": f"{AIO}, {LINKDING}",
    "POST /linkding/api/bookmarks/{number}/unarchive/": AIO,
    "GET /linkding/api/tags/": f"{AIO}, {LINKDING}",
    "POST /linkding/api/tags/": AIO,
    "GET /linkding/api/user/profile/": AIO,
    "POST /linkding/api/bookmarks/singlefile/": "a file of SingleFile's single-file-cli 2.0.83",
    "GET /wallabag/api/annotations/{number}": "wallabag-client 1.8.12",
    "DELETE /wallabag/api/annotations/{number}": "wallabag-client 1.8.12",
    **dict.fromkeys(
        (
            *("GET /opds", "GET /opds/", "GET /opds/search", "GET /opds/tags", "GET /opds/tags/{tag:path}"),
            "GET /opds/{name}",
        ),
        "our schemas of OPDS 1.2 and 2.0",
    ),
    "GET /opds/books/{item_id}.epub": "epubcheck 5",
    "GET /opds/periodicals/{name}.epub": "epubcheck 5",
}
"""Route to the programs that used it in a test; all others were used by our own tests only."""
REMARKS: Final[dict[str, str]] = {
    "GET /wallabag/oauth/v2/token": "any client id and secret is accepted; an app password can be the password",
    "POST /wallabag/oauth/v2/token": "as above; by form or JSON",
    "GET /wallabag/api/entries": "`since` includes changes of the same second; `public` finds nothing; `http_status`, "
    "`annotations` are ignored; at most 100 entries with content on a page, 10,000 without",
    "GET /wallabag/api/search": "in our query language; the best 1,000 are counted",
    "POST /wallabag/api/entries": "`title`, `authors`, `published_at`, `preview_picture`, `language` count only with "
    "`content`; `public`, `origin_url` are ignored; a page that cannot be fetched is kept as a bookmark",
    "PATCH /wallabag/api/entries/{number}": "changes `archive`, `starred`, `tags`; all else is ignored",
    "DELETE /wallabag/api/entries/{number}": "moves to the trash",
    "GET /wallabag/api/entries/{number}/export.{format}": "EPUB, text, CSV, JSON, XML; PDF if a copy is kept, else 501; "
    "no MOBI: no program of ours writes it",
    "GET /wallabag/api/tags": "labels in lower case, without accents",
    "GET /wallabag/api/annotations/{number}": "`ranges` is empty: annotations are found by their words",
    "POST /wallabag/api/annotations/{number}": "`ranges` is returned, and not stored",
    "GET /wallabag/developer": "one client for all programs",
    "POST /wallabag/developer/client/create": "creates nothing",
    "GET /linkding/api/bookmarks/": "`#tag` and words; `!unread`, `!untagged` are ignored",
    "GET /linkding/api/bookmarks/shared/": "always empty: nothing is shared",
    "GET /linkding/api/bookmarks/check/": "fetches nothing; only a known page has a title",
    "POST /linkding/api/bookmarks/": "title and description come from the page; `shared` is ignored",
    "PUT /linkding/api/bookmarks/{number}/": "changes tags, notes, archived and read",
    "PATCH /linkding/api/bookmarks/{number}/": "changes tags, notes, archived and read",
    "DELETE /linkding/api/bookmarks/{number}/": "moves to the trash",
    "POST /linkding/api/tags/": "stores nothing: a tag exists when a page has it",
    "GET /linkding/api/tags/": "names in lower case, without accents; no date",
    "GET /linkding/api/bundles/": "always empty",
    "GET /linkding/api/bookmarks/{number}/assets/": "one file: the page as it was saved",
    "POST /linkding/api/bookmarks/{number}/assets/upload/": "takes an HTML page of up to 4 MB",
    "POST /linkding/api/bookmarks/singlefile/": "up to 110 MB; pictures are kept, fonts and styles are not",
    "GET /opds/{name}": "`inbox`, `pinned`, `archive`, `week`",
    "GET /opds/periodicals/{name}.epub": "the same lists, or `tag` with `?tag=`; at most 100 pages",
    "GET /opds/covers/{item_id}.jpg": "the kept main picture, else a drawn cover",
}
"""Route to how it differs from the original."""


def table() -> str:
    """Return the tables of all dialects."""
    routes = _routes()
    unknown = (set(PROOFS) | set(REMARKS)) - {route for route, _ in routes}
    if unknown:
        raise SystemExit(f"These routes do not exist: {', '.join(sorted(unknown))}")
    parts = []
    for prefix, name in DIALECTS.items():
        rows = [(route, about) for route, about in routes if _is_under(route.partition(" ")[2], prefix)]
        lines = "".join(f"| `{route}` | {about} | {_result(route)} | {_proof(route)} |\n" for route, about in rows)
        parts.append(f"### {name}\n\n| route | | | shown by |\n|---|---|---|---|\n{lines}")
    return "\n".join(parts)


def _routes() -> list[tuple[str, str]]:
    app = create_app(Settings())
    found = []
    for route in iter_route_contexts(app.routes):
        about = (getattr(getattr(route, "endpoint", None), "__doc__", None) or "").strip().partition("\n")[0]
        for method in sorted(set(getattr(route, "methods", None) or ()) - {"HEAD"}):
            found.append((f"{method} {route.path}", about))
    return found


def _is_under(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith(f"{prefix}/")


def _result(route: str) -> str:
    return f"differs: {REMARKS[route]}" if route in REMARKS else "works"


def _proof(route: str) -> str:
    return PROOFS.get(route, OWN)


def page() -> str:
    """Return the document with a new table."""
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def main() -> None:
    """Write the page, or check it."""
    new = page()
    if "--check" in sys.argv:
        if new != PAGE.read_text("utf-8"):
            raise SystemExit("docs/dialects.md is out of date: run scripts/update_dialects.py")
        return
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
