"""The rows of `routes.py` for the dialects."""

from __future__ import annotations

from typing import Final

from tests.doors.http.row import Route, changes, looks, public

_W: Final = "/wallabag"
_ENTRY: Final = f"{_W}/api/entries/{{number}}"

WALLABAG: Final[dict[str, Route]] = {
    "GET /wallabag/oauth/v2/token": public(f"{_W}/oauth/v2/token", 400),
    "POST /wallabag/oauth/v2/token": public(
        f"{_W}/oauth/v2/token", 400, form={"grant_type": "refresh_token", "refresh_token": "guessed"}
    ),
    "GET /wallabag/": public(f"{_W}/"),
    "GET /wallabag/login": public(f"{_W}/login"),
    "POST /wallabag/login_check": public(f"{_W}/login_check", 403, form={"_username": "ada", "_password": "wrong"}),
    "GET /wallabag/logout": public(f"{_W}/logout", 302),
    "GET /wallabag/developer": public(f"{_W}/developer", 302),
    "GET /wallabag/developer/client/create": public(f"{_W}/developer/client/create", 404),
    "POST /wallabag/developer/client/create": public(f"{_W}/developer/client/create", 404),
    "GET /wallabag/api/version": public(f"{_W}/api/version"),
    "GET /wallabag/api/info": public(f"{_W}/api/info"),
    "GET /wallabag/api/config": looks(f"{_W}/api/config"),
    "GET /wallabag/api/user": looks(f"{_W}/api/user"),
    "GET /wallabag/api/entries": looks(f"{_W}/api/entries"),
    "GET /wallabag/api/search": looks(f"{_W}/api/search?term=about"),
    "GET /wallabag/api/entries/exists": looks(f"{_W}/api/entries/exists?url={{url}}"),
    "GET /wallabag/api/entries/{number}": looks(_ENTRY, other=404),
    "GET /wallabag/api/entries/{number}/export.{format}": looks(f"{_ENTRY}/export.epub", other=404),
    "PATCH /wallabag/api/entries/{number}": changes(_ENTRY, json={"starred": 1}, other=404),
    "GET /wallabag/api/entries/{number}/tags": looks(f"{_ENTRY}/tags", other=404),
    "POST /wallabag/api/entries/{number}/tags": changes(f"{_ENTRY}/tags", json={"tags": "reed"}, other=404),
    "DELETE /wallabag/api/entries/{number}/tags/{tag}": changes(f"{_ENTRY}/tags/{{reed}}", other=404),
    "GET /wallabag/api/tags": looks(f"{_W}/api/tags"),
    "DELETE /wallabag/api/tags/{tag}": changes(f"{_W}/api/tags/{{reed}}", other=404, ada=404),
    "DELETE /wallabag/api/tags/label": changes(f"{_W}/api/tags/label?tags=reed", other=404, ada=404),
    "DELETE /wallabag/api/tag/label": changes(f"{_W}/api/tag/label?tag=reed", other=404, ada=404),
    "GET /wallabag/api/annotations/{number}": looks(f"{_W}/api/annotations/{{number}}", other=404),
    "POST /wallabag/api/annotations/{number}": changes(
        f"{_W}/api/annotations/{{number}}", json={"text": "So."}, other=404
    ),
    "PUT /wallabag/api/annotations/{number}": changes(
        f"{_W}/api/annotations/{{mark}}", json={"text": "No."}, other=404
    ),
    "DELETE /wallabag/api/annotations/{number}": changes(f"{_W}/api/annotations/{{mark}}", other=404),
    "PATCH /wallabag/api/entries/{number}/reload": changes(f"{_ENTRY}/reload", other=404),
}
_L: Final = "/linkding/api"
_MARK: Final = f"{_L}/bookmarks/{{number}}"

LINKDING: Final[dict[str, Route]] = {
    "GET /linkding/health": public("/linkding/health"),
    "GET /linkding/api/tags/": looks(f"{_L}/tags/"),
    "POST /linkding/api/tags/": changes(f"{_L}/tags/", json={"name": "reed"}, other=201, ada=201),
    "GET /linkding/api/tags/{number}/": Route(f"{_L}/tags/{{reed}}/", 401, 404, 404, 404, ada=404),
    "GET /linkding/api/user/profile/": looks(f"{_L}/user/profile/"),
    "GET /linkding/api/bundles/": looks(f"{_L}/bundles/"),
    "GET /linkding/api/bookmarks/": looks(f"{_L}/bookmarks/"),
    "GET /linkding/api/bookmarks/archived/": looks(f"{_L}/bookmarks/archived/"),
    "GET /linkding/api/bookmarks/shared/": looks(f"{_L}/bookmarks/shared/"),
    "GET /linkding/api/bookmarks/check/": looks(f"{_L}/bookmarks/check/?url={{url}}"),
    "GET /linkding/api/bookmarks/{number}/": looks(f"{_MARK}/", other=404),
    "PUT /linkding/api/bookmarks/{number}/": changes(f"{_MARK}/", json={"tag_names": []}, other=404),
    "PATCH /linkding/api/bookmarks/{number}/": changes(f"{_MARK}/", json={"notes": "So."}, other=404),
    "POST /linkding/api/bookmarks/{number}/archive/": changes(f"{_MARK}/archive/", other=404, ada=204),
    "POST /linkding/api/bookmarks/{number}/unarchive/": changes(f"{_MARK}/unarchive/", other=404, ada=204),
    "GET /linkding/api/bookmarks/{number}/assets/": looks(f"{_MARK}/assets/", other=404),
    "GET /linkding/api/bookmarks/{number}/assets/{asset}/": looks(f"{_MARK}/assets/1/", other=404),
    "GET /linkding/api/bookmarks/{number}/assets/{asset}/download/": looks(f"{_MARK}/assets/1/download/", other=404),
    "POST /linkding/api/bookmarks/{number}/assets/upload/": changes(
        f"{_MARK}/assets/upload/", form={"x": "y"}, other=404, ada=400
    ),
    "POST /linkding/api/bookmarks/singlefile/": changes(
        f"{_L}/bookmarks/singlefile/", form={"url": "{url}"}, other=400, ada=400
    ),
}
OPDS: Final[dict[str, Route]] = {
    "GET /opds": looks("/opds"),
    "GET /opds/": looks("/opds/"),
    "GET /opds/search.xml": looks("/opds/search.xml"),
    "GET /opds/search": looks("/opds/search?q=about"),
    "GET /opds/tags": looks("/opds/tags"),
    "GET /opds/tags/{tag:path}": looks("/opds/tags/reed"),
    "GET /opds/lists": looks("/opds/lists"),
    "GET /opds/lists/{list_id}": looks("/opds/lists/{list}", other=404),
    "GET /opds/{name}": looks("/opds/inbox"),
    "GET /opds/books/{item_id}.epub": looks("/opds/books/{item}.epub", other=404),
    "GET /opds/periodicals/{name}.epub": looks("/opds/periodicals/inbox.epub", other=404),
    "GET /opds/periodicals/{name}.jpg": looks("/opds/periodicals/week.jpg"),
    "GET /opds/covers/{item_id}.jpg": looks("/opds/covers/{item}.jpg", other=404),
}
LAST: Final[dict[str, Route]] = {
    "POST /wallabag/api/entries": changes(f"{_W}/api/entries", json={"url": "{url}"}),
    "POST /linkding/api/bookmarks/": changes(f"{_L}/bookmarks/", json={"url": "{url}"}, other=201, ada=201),
    "DELETE /linkding/api/bookmarks/{number}/": changes(f"{_MARK}/", other=404, ada=204),
    "DELETE /wallabag/api/entries/{number}": changes(_ENTRY, other=404, ada=404),
}
"""What Ada does after all else."""
