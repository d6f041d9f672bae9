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
    "PATCH /wallabag/api/entries/{number}/reload": changes(f"{_ENTRY}/reload", other=404, ada=304),
}
LAST: Final[dict[str, Route]] = {
    "POST /wallabag/api/entries": changes(f"{_W}/api/entries", json={"url": "{url}"}),
    "DELETE /wallabag/api/entries/{number}": changes(_ENTRY, other=404),
}
"""What Ada does after all else."""
