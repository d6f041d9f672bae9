"""Every route of the server, and what each of five people gets who ask for something of Ada's.

A route that is not in this table fails the build (`test_routes.py`). In paths and bodies, `{item}`, `{job}`, `{picture}` and
so on stand for what is Ada's own.
"""

from __future__ import annotations

from typing import Final, Literal

from tests.doors.http.dialect_routes import LAST, LINKDING, OPDS, WALLABAG
from tests.doors.http.row import Route, changes, looks, public

API: Final = "/api/v1"
ITEM: Final = f"{API}/items/{{item}}"
MARK: Final = f"{ITEM}/annotations/{{annotation}}"

FEED: Final = f"{API}/feeds/{{feed}}"
ENTRY: Final = f"{API}/feeds/entries/{{entry}}"

ROUTES: Final[dict[str, Route]] = {
    **WALLABAG,
    **LINKDING,
    **OPDS,
    "GET /api/v1/feeds": looks(f"{API}/feeds"),
    "POST /api/v1/feeds": changes(f"{API}/feeds", json={"url": "{url}"}, other=404, ada=404),  # the page names no feed
    "POST /api/v1/feeds/poll": changes(f"{API}/feeds/poll", json={"ids": ["{feed}"]}, other=404, ada=202),
    "GET /api/v1/feeds/opml": looks(f"{API}/feeds/opml"),
    "POST /api/v1/feeds/opml": changes(f"{API}/feeds/opml", json={"opml": "<opml><body/></opml>"}),
    "GET /api/v1/feeds/entries": looks(f"{API}/feeds/entries"),
    "POST /api/v1/feeds/entries/read": changes(f"{API}/feeds/entries/read", json={"ids": ["{entry}"]}),
    "GET /api/v1/feeds/entries/{entry_id}": looks(ENTRY, other=404),
    "PATCH /api/v1/feeds/entries/{entry_id}": changes(ENTRY, json={"read": False}, other=404),
    "POST /api/v1/feeds/entries/{entry_id}/keep": changes(f"{ENTRY}/keep", other=404, ada=202),
    "GET /api/v1/feeds/published": looks(f"{API}/feeds/published"),
    "POST /api/v1/feeds/published": changes(f"{API}/feeds/published", json={"title": "x"}, other=201, ada=201),
    "DELETE /api/v1/feeds/published/{published_id}": changes(
        f"{API}/feeds/published/{{published}}", other=404, ada=204
    ),
    "GET /api/v1/feeds/{feed_id}": looks(FEED, other=404),
    "PATCH /api/v1/feeds/{feed_id}": changes(FEED, json={"folder": "x"}, other=404),
    "GET /api/v1/annotations": looks(f"{API}/annotations"),
    "GET /api/v1/annotations/export": looks(f"{API}/annotations/export"),
    "GET /api/v1/reading": looks(f"{API}/reading"),
    "GET /api/v1/items/{item_id}/reading": looks(f"{ITEM}/reading", other=404),
    "PATCH /api/v1/items/{item_id}/reading": changes(f"{ITEM}/reading", json={"progress": 0.5}, other=404),
    "GET /highlights": looks("/highlights"),
    "GET /highlights/export": looks("/highlights/export"),
    "GET /feeds": looks("/feeds"),
    "POST /feeds": changes("/feeds", form={"url": "{url}"}, other=404, ada=404),
    "POST /feeds/poll": changes("/feeds/poll", form={"x": "y"}, other=303, ada=303),
    "GET /feeds/opml": looks("/feeds/opml"),
    "POST /feeds/opml": changes("/feeds/opml", form={"x": "y"}, other=422, ada=422),
    "GET /feeds/inbox": looks("/feeds/inbox"),
    "POST /feeds/inbox": changes("/feeds/inbox", form={"feed": "{feed}"}, other=303, ada=303),
    "GET /feeds/entries/{key}": looks("/feeds/entries/{entry}", other=404),
    "POST /feeds/entries/{key}": changes("/feeds/entries/{entry}", form={"action": "read"}, other=404, ada=303),
    "POST /feeds/published": changes("/feeds/published", form={"title": "x"}),
    "POST /feeds/published/{key}": changes("/feeds/published/{other_published}", form={"x": "y"}, other=404, ada=303),
    "GET /feeds/{key}": looks("/feeds/{feed}", other=404),
    "POST /feeds/{key}": changes("/feeds/{feed}", form={"action": "pause"}, other=404, ada=303),
    "GET /shared/{secret}/picture": public("/shared/guessed/picture?url=https://example.com/a.png&sig=guessed", 404),
    "GET /shared/{secret}/{format}": public("/shared/guessed/atom.xml", 404),
    "GET /api/v1/openapi.json": public(f"{API}/openapi.json"),
    "POST /api/v1/saves": changes(f"{API}/saves", json={"url": "{url}"}, other=201),
    "GET /api/v1/jobs": looks(f"{API}/jobs"),
    "GET /api/v1/jobs/{job_id}": looks(f"{API}/jobs/{{job}}", other=404),
    "POST /api/v1/jobs/{job_id}/revive": changes(f"{API}/jobs/{{job}}/revive", other=404),
    "GET /api/v1/jobs/{job_id}/events": looks(f"{API}/jobs/{{job}}/events", other=404),
    "POST /api/v1/crawls": changes(f"{API}/crawls", json={"urls": ["https://crawl.invalid/"]}, other=202, ada=202),
    "GET /api/v1/crawls": looks(f"{API}/crawls"),
    "GET /api/v1/crawls/{crawl_id}": looks(f"{API}/crawls/{{crawl}}", other=404),
    "GET /api/v1/crawls/{crawl_id}/pages": looks(f"{API}/crawls/{{crawl}}/pages", other=404),
    "GET /api/v1/crawls/{crawl_id}/errors": looks(f"{API}/crawls/{{crawl}}/errors", other=404),
    "GET /api/v1/crawls/{crawl_id}/events": looks(f"{API}/crawls/{{crawl}}/events", other=404),
    "POST /api/v1/crawls/{crawl_id}/cancel": changes(f"{API}/crawls/{{crawl}}/cancel", other=404),
    "POST /api/v1/crawls/{crawl_id}/resume": changes(f"{API}/crawls/{{crawl}}/resume", json={}, other=404, ada=202),
    "DELETE /api/v1/crawls/{crawl_id}": changes(f"{API}/crawls/{{crawl}}", other=404, ada=204),
    "POST /api/v1/map": looks(f"{API}/map", json={"url": "{url}"}),
    "POST /api/v1/imports": changes(f"{API}/imports?fetch=never", json=["https://example.com/"], other=202, ada=202),
    "GET /api/v1/export": looks(f"{API}/export"),
    "POST /api/v1/extract": looks(f"{API}/extract", json={"html": "<p>Some words.</p>"}),
    "POST /api/v1/explain": looks(f"{API}/explain", json={"html": "<p>Some words.</p>"}),
    "GET /api/v1/items": looks(f"{API}/items"),
    "GET /api/v1/items/lookup": looks(f"{API}/items/lookup?url={{url}}"),
    "GET /api/v1/items/{item_id}": looks(ITEM, other=404),
    "GET /api/v1/items/{item_id}/file": looks(f"{ITEM}/file", other=404),
    "GET /api/v1/items/{item_id}/explanation": looks(f"{ITEM}/explanation", other=404),
    "GET /api/v1/items/{item_id}/verification": looks(f"{ITEM}/verification", other=404),
    "GET /api/v1/items/{item_id}/copies": looks(f"{ITEM}/copies", other=404),
    "POST /api/v1/items/{item_id}/copies": changes(f"{ITEM}/copies?kind=pdf", other=404, ada=202),
    "GET /api/v1/items/{item_id}/copies/{kind}": Route(f"{ITEM}/copies/pdf", 401, 404, 404, 404, ada=404),
    "GET /api/v1/items/{item_id}/annotations": looks(f"{ITEM}/annotations", other=404),
    "POST /api/v1/items/{item_id}/annotations": changes(
        f"{ITEM}/annotations", json={"note": "Read again."}, other=404, ada=201
    ),
    "PATCH /api/v1/items/{item_id}/annotations/{annotation_id}": changes(MARK, json={"note": "Not so."}, other=404),
    "DELETE /api/v1/items/{item_id}/annotations/{annotation_id}": changes(MARK, other=404, ada=204),
    "POST /api/v1/items/{item_id}/reparse": changes(f"{ITEM}/reparse", json={}, other=404),
    "POST /api/v1/reparse": changes(f"{API}/reparse", json={"ids": ["{item}"]}, other=404, ada=202),
    "PATCH /api/v1/items/{item_id}": changes(ITEM, json={"pinned": True}, other=404),
    "POST /api/v1/items/{item_id}/retry": changes(f"{ITEM}/retry", json={}, other=404),
    "DELETE /api/v1/items/{item_id}": changes(ITEM, other=404),
    "POST /api/v1/items/{item_id}/restore": changes(f"{ITEM}/restore", other=404),
    "POST /api/v1/items/purge": changes(f"{API}/items/purge", json={"ids": ["{item}"]}),
    "GET /api/v1/search": looks(f"{API}/search?q=quincewort"),
    "GET /api/v1/stats": looks(f"{API}/stats"),
    "GET /api/v1/pictures": looks(f"{API}/pictures?item={{item}}", other=404),
    "POST /api/v1/pictures": changes(
        f"{API}/pictures?item={{item}}&url=https://example.com/none.png", json="x", other=404, ada=404
    ),
    "POST /api/v1/pictures/fetch": changes(f"{API}/pictures/fetch?item={{item}}", other=404, ada=204),
    "GET /api/v1/storage": looks(f"{API}/storage"),
    "POST /api/v1/storage/clean": changes(f"{API}/storage/clean"),
    "GET /api/v1/mail-sources": looks(f"{API}/mail-sources"),
    "POST /api/v1/mail-sources": changes(  # not on a server of several users
        f"{API}/mail-sources", json={"host": "imap.example.com", "user": "a", "senders": ["*"]}, other=403, ada=403
    ),
    "PATCH /api/v1/mail-sources/{source_id}": changes(f"{API}/mail-sources/0000", json={}, other=404, ada=404),
    "POST /api/v1/mail-sources/{source_id}/poll": changes(f"{API}/mail-sources/0000/poll", other=404, ada=404),
    "DELETE /api/v1/mail-sources/{source_id}": changes(f"{API}/mail-sources/0000", other=404, ada=404),
    "GET /settings/mail": looks("/settings/mail"),
    "POST /settings/mail": changes("/settings/mail", form={"host": "imap.example.com"}, other=403, ada=403),
    "POST /settings/mail/{source_id}": changes("/settings/mail/0000", form={"action": "poll"}, other=404, ada=404),
    "GET /api/v1/items/{item_id}/versions": looks(f"{ITEM}/versions", other=404),
    "GET /api/v1/items/{item_id}/versions/{version}": looks(f"{ITEM}/versions/1", other=404),
    "PATCH /api/v1/items/{item_id}/versions/{number}": changes(f"{ITEM}/versions/1", json={"pinned": True}, other=404),
    "POST /api/v1/items/{item_id}/versions/{number}/restore": changes(f"{ITEM}/versions/1/restore", other=404),
    "GET /api/v1/items/{item_id}/diff": looks(f"{ITEM}/diff?before=1&after=1", other=404),
    "PUT /api/v1/items/{item_id}/watch": changes(f"{ITEM}/watch", json={"every": "90d"}, other=404),
    "GET /api/v1/watches": looks(f"{API}/watches"),
    "GET /api/v1/changes": looks(f"{API}/changes"),
    "POST /api/v1/changes/seen": changes(f"{API}/changes/seen", json={}),
    "POST /api/v1/items/{item_id}/check": changes(f"{ITEM}/check", other=404),
    "GET /items/{key}/history": looks("/items/{item}/history", other=404),
    "GET /items/{key}/diff": looks("/items/{item}/diff?before=1&after=1", other=404),
    "GET /items/{key}/versions/{number}": looks("/items/{item}/versions/1", other=404),
    "POST /items/{key}/versions/{number}": changes(
        "/items/{item}/versions/1", form={"action": "pin"}, other=404, ada=303
    ),
    "POST /items/{key}/watch": changes("/items/{item}/watch", form={"every": "90d"}, other=404, ada=303),
    "DELETE /api/v1/items/{item_id}/watch": changes(f"{ITEM}/watch", other=404, ada=204),
    "GET /crawls": looks("/crawls"),
    "POST /crawls": changes("/crawls", form={"url": "https://crawl.invalid/"}, other=303, ada=303),
    "GET /crawls/{crawl_id}": looks("/crawls/{other_crawl}", other=404),
    "POST /crawls/{crawl_id}": changes("/crawls/{other_crawl}", form={"action": "remove"}, other=404, ada=303),
    "GET /changes": looks("/changes"),
    "POST /changes": changes("/changes", form={"x": "y"}, other=303, ada=303),
    "POST /changes/feed": changes("/changes/feed", form={"x": "y"}),
    "GET /feeds/changes/{secret}": public("/feeds/changes/guessed", 404),
    "GET /api/v1/rules": looks(f"{API}/rules"),
    "GET /api/v1/rules/schema": looks(f"{API}/rules/schema"),
    "POST /api/v1/rules/check": looks(f"{API}/rules/check", json={"yaml": "id: nothing"}),
    "POST /api/v1/rules/try": looks(f"{API}/rules/try", json={"yaml": "- id: nothing", "page": "{item}"}, other=404),
    "GET /": looks("/"),
    "POST /items": changes("/items", form={"action": "pin", "ids": "{item}"}, other=404, ada=303),
    "GET /items/{key}": looks("/items/{item}", other=404),
    "GET /items/{key}/markdown": looks("/items/{item}/markdown", other=404),
    "GET /items/{key}/raw": looks("/items/{item}/raw", other=404),
    "GET /items/{key}/copies/{kind}": Route("/items/{item}/copies/html", 401, 404, 404, 404, ada=404),
    "POST /items/{key}/copies": changes("/items/{item}/copies", form={"kind": "pdf"}, other=404, ada=303),
    "GET /items/{key}/explain": looks("/items/{item}/explain", other=404),
    "POST /items/{key}/tags": changes("/items/{item}/tags", form={"add": "seen"}, other=404, ada=303),
    "POST /items/{key}/retry": changes("/items/{item}/retry", form={"render": "auto"}, other=404, ada=303),
    "POST /items/{key}/annotations": changes("/items/{item}/annotations", form={"note": "So."}, other=404, ada=303),
    "POST /items/{key}/annotations/{annotation_id}": changes(
        "/items/{item}/annotations/{other_annotation}", form={"note": "Not so."}, other=404, ada=303
    ),
    "GET /add": looks("/add"),
    "POST /add": changes("/add", form={"urls": "{url}"}, other=303, ada=303),
    "GET /waiting": looks("/waiting"),
    "GET /failed": looks("/failed"),
    "POST /failed": changes("/failed", other=303, ada=303),
    "POST /waiting": changes("/waiting", other=303, ada=303),
    "POST /waiting/{job_id}": changes("/waiting/{other_job}", form={"action": "forget"}, other=404, ada=303),
    "POST /trash": changes("/trash", form={"x": "y"}, other=303, ada=303),
    "GET /import": looks("/import"),
    "POST /import": changes("/import", other=422, ada=422),
    "GET /playground": looks("/playground?item={item}", other=404),
    "POST /playground": changes("/playground", form={"source": "{item}"}, other=404),
    "GET /settings": looks("/settings"),
    "GET /settings/storage": looks("/settings/storage"),
    "POST /settings/storage": changes("/settings/storage", other=303, ada=303),
    "POST /settings/look": Route("/settings/look", 401, 303, 303, 303, 303, form={"theme": "dark"}),  # only a cookie
    "POST /settings/tokens": changes("/settings/tokens", form={"name": "phone"}),
    "POST /settings/tokens/{token_id}/revoke": changes(
        "/settings/tokens/{other_token}/revoke", form={"x": "y"}, other=404, ada=303
    ),
    "POST /settings/password": changes(
        "/settings/password", form={"old": "wrong", "new": "x" * 12, "again": "x" * 12}, other=403, ada=403
    ),
    "POST /settings/sessions/{key}/end": changes("/settings/sessions/{session}/end", other=404, ada=303),
    "GET /static/{name}": public("/static/icon.svg"),
    "GET /service-worker.js": public("/service-worker.js"),
    "GET /manifest.webmanifest": public("/manifest.webmanifest"),
    "GET /offline": public("/offline"),
    "GET /api/v1/tokens": Route(f"{API}/tokens", 401, 200, 403, 200),
    "POST /api/v1/tokens": changes(f"{API}/tokens", json={"name": "phone"}, other=201, ada=201),
    "DELETE /api/v1/tokens/{token_id}": changes(f"{API}/tokens/{{token}}", other=404, ada=204),
    "GET /r/{address:path}": looks("/r/{url}"),
    "GET /s": looks("/s?q=light"),
    "GET /s/{query:path}": looks("/s/light"),
    "POST /r": looks("/r", json={"url": "{url}"}),
    "GET /screenshots/{name}": public(f"/screenshots/{'0' * 32}.png?until=9999999999&sig=guessed", 404),
    "POST /v2/scrape": looks("/v2/scrape", json={"url": "{url}"}),
    "POST /v2/map": looks("/v2/map", json={"url": "{url}"}),
    "POST /v2/crawl": changes("/v2/crawl", json={"url": "{url}"}, other=200, ada=200),
    "GET /v2/crawl/active": looks("/v2/crawl/active"),
    "GET /v2/crawl/ongoing": looks("/v2/crawl/ongoing"),
    "GET /v2/crawl/{job_id}": Route("/v2/crawl/none-m", 401, 404, 404, 404, 404),
    "GET /v2/crawl/{job_id}/errors": Route("/v2/crawl/none-m/errors", 401, 404, 404, 404, 404),
    "DELETE /v2/crawl/{job_id}": changes("/v2/crawl/none-m", other=404, ada=404),
    "POST /v2/batch/scrape": changes("/v2/batch/scrape", json={"urls": ["{url}"]}, other=200, ada=200),
    "GET /v2/batch/scrape/{job_id}": Route("/v2/batch/scrape/none-m", 401, 404, 404, 404, 404),
    "GET /v2/batch/scrape/{job_id}/errors": Route("/v2/batch/scrape/none-m/errors", 401, 404, 404, 404, 404),
    "DELETE /v2/batch/scrape/{job_id}": changes("/v2/batch/scrape/none-m", other=404, ada=404),
    "POST /v2/search": looks("/v2/search", json={"query": "light"}),
    "GET /v2/team/credit-usage": looks("/v2/team/credit-usage"),
    "GET /v2/concurrency-check": looks("/v2/concurrency-check"),
    "GET /healthz": public("/healthz"),
    "GET /readyz": public("/readyz"),
    "GET /metrics": looks("/metrics"),
    "GET /api/proxy-image": looks("{picture}", other=403),
    "GET /sign-in": public("/sign-in"),
    "POST /sign-in": public("/sign-in", 401, form={"name": "ada", "password": "wrong"}),
    "* /mcp": Route("/mcp/", 401, 401, 400, 401, 401),  # by token alone; what it then answers is the protocol's
    "DELETE /api/v1/feeds/{feed_id}": changes(FEED, other=404, ada=204),
    "POST /api/v1/account/password": Route(
        f"{API}/account/password", 401, 403, 403, 403, 403, json={"old": "wrong", "new": "ten kettles and no stove"}
    ),  # a right one would end the sessions of all who ask after it
    **LAST,
    "POST /sign-out": Route("/sign-out", 401, 303, 403, 403, 303),
}
"""In an order in which Ada can do one after the other."""

Who = Literal["anonymous", "other", "read_only", "no_csrf", "ada"]
