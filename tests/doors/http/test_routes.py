"""A caller that requests what is not theirs gets nothing, by any route, on both engines."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.doors.http.caller import CSRF_HEADER, csrf_token
from pagekeep.identity import accounts as app
from pagekeep.model import EntryQuery, ItemQuery, item_filters
from pagekeep.store import Store, open_store
from tests.doors.http.conftest import PASSWORD, service_of
from tests.doors.http.filling import fill_library
from tests.doors.http.image_proxy.pictures import picture
from tests.doors.http.routes import ROUTES, Who
from tests.doors.http.row import Route
from tests.site.fixtures import Shore, article
from tests.site.server import Reply, Request, Site
from tests.store.conftest import server
from tests.store.making import Server
from tests.store.rows import all_rows

__all__ = ["server"]
SECRET_WORD = "quincewort"
SAFE = ("GET", "HEAD")
WHO: tuple[Who, ...] = ("anonymous", "other", "read_only", "no_csrf")


class People:
    """A shared server, with Ada, who has something, and Grace, who would like to."""

    def __init__(self, client: TestClient, settings: Settings, url: str, picture_url: str) -> None:
        self.client = client
        self.service = service_of(client)
        accounts = self.service.accounts
        self.ids = {
            name: app.add_user(accounts, f"{name}-{uuid.uuid4().hex[:8]}", PASSWORD).id for name in ("ada", "grace")
        }
        self.sessions = {name: app.open_session(accounts, user) for name, user in self.ids.items()}
        self.tokens = {"read_only": app.add_token(accounts, self.ids["ada"], "reader", ("read",)).secret}
        self.library: Store = open_store(settings.library, self.ids["ada"])
        self.known = fill_library(self.library, self.service, SECRET_WORD, url, picture_url)

    def state(self) -> list[Any]:
        """All that is Ada's."""
        items = [
            self.library.search.find(ItemQuery(filters=item_filters(deleted=deleted))).items
            for deleted in (False, True)
        ]
        tokens = [replace(token, last_used_at=None) for token in self.service.accounts.tokens(self.ids["ada"])]
        marks = self.library.annotations.of_item(self.known["item"])
        feeds = [self.library.feeds.list(), self.library.entries.find(EntryQuery()), self.library.feeds.published()]
        lists = [self.library.lists.list(), self.library.save_rules.list(), self.library.actions.list()]
        feeds += [self.library.sinks.list(), self.library.outbox.list()]
        return [
            lists,
            items,
            marks,
            self.library.jobs.list(),
            self.library.crawls.list(),
            dict(self.library.counts.totals()),
            tokens,
            feeds,
        ]

    def ask(self, name: str, route: Route, who: Who) -> httpx2.Response:
        """The answer."""
        self.client.cookies.clear()
        headers: dict[str, str] = {}
        if who == "read_only":
            headers["authorization"] = f"Bearer {self.tokens['read_only']}"
        elif who != "anonymous":
            session = self.sessions["grace" if who == "other" else "ada"]
            self.client.cookies.set("pagekeep_session", session)
            if who != "no_csrf":
                headers[CSRF_HEADER] = csrf_token(self.service, session)
        method = name.partition(" ")[0].replace("*", "POST")
        path, body = self.filled(route.path), self.filled(route.json)
        return self.client.request(
            method, path, json=body, data=self.filled(route.form) or None, headers=headers, follow_redirects=False
        )

    def filled(self, value: Any) -> Any:
        if isinstance(value, str):
            return re.sub(r"\{(\w+)\}", lambda found: self.known[found[1]], value)
        if isinstance(value, dict):
            return {key: self.filled(each) for key, each in value.items()}
        return [self.filled(each) for each in value] if isinstance(value, list) else value


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "library.db")
    running: Server = request.getfixturevalue("server")
    return running.shared


@pytest.fixture
def people(
    where: str,
    settings: Settings,
    serve: Callable[..., TestClient],
    shore: Shore,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[People]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # where the secret is kept when the library is on a server
    shore.bodies["keeper"] = article(600)

    async def shown(_request: Request, reply: Reply) -> None:
        await reply.send(picture("PNG"))

    settings = replace(settings, library=where, shared=True)
    with Site({"picture": shown}) as gallery:
        made = People(serve(settings), settings, shore.url("keeper"), gallery.url("/picture"))
        with closing(made.library):
            yield made


def routes_of(client: TestClient) -> set[str]:
    """Every method and path the server knows; what is mounted, whole."""
    found = set()
    for route in iter_route_contexts(client.app.routes):  # type: ignore[attr-defined]
        methods = set(getattr(route, "methods", None) or ["*"]) - {"HEAD"}
        found |= {f"{method} {route.path}" for method in methods}
    return found


def test_every_route_has_its_row(shared: TestClient) -> None:
    assert routes_of(shared) - set(ROUTES) == set(), "Say in tests/doors/http/routes.py who may use the route."
    assert set(ROUTES) - routes_of(shared) == set()


def test_everybody_gets_what_the_table_says_and_nothing_of_adas(people: People) -> None:
    before = people.state()
    wrong = []
    for name, route in ROUTES.items():
        for who in WHO:
            answer = people.ask(name, route, who)
            if answer.status_code != getattr(route, who):
                wrong.append(f"{name} for {who}: {answer.status_code}")
            if who in ("anonymous", "other") and SECRET_WORD in answer.text:
                wrong.append(f"{name} tells {who} what is Ada's")
    assert wrong == []
    assert people.state() == before


def test_ada_herself_gets_all_of_it(people: People) -> None:
    wrong = []
    for name, route in ROUTES.items():
        answer = people.ask(name, route, "ada")
        if answer.status_code != route.ada:
            wrong.append(f"{name}: {answer.status_code} {answer.text[:200]}")
    assert wrong == []


def test_nothing_is_changed_by_reading(people: People) -> None:
    before = people.state()
    for name, route in ROUTES.items():
        if name.partition(" ")[0] in SAFE:
            people.ask(name, route, "ada")
    assert people.state() == before


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_no_row_is_changed_by_a_read_only_token(people: People, where: str) -> None:
    before = all_rows(where)
    assert any(SECRET_WORD in row for row in before)
    for name, route in ROUTES.items():
        people.ask(name, route, "read_only")
    assert all_rows(where) == before


@pytest.mark.parametrize("key", ["whole", "beginning", "address"])
def test_no_form_of_a_key_finds_what_is_anothers(people: People, key: str) -> None:
    item = people.known["item"]
    given = {"whole": item, "beginning": item[:8], "address": quote(people.known["url"], safe="")}[key]
    for name, route in ROUTES.items():
        if "{item}" in route.path:
            other = replace(route, path=route.path.replace("{item}", given))
            answer = people.ask(name, other, "other")
            assert answer.status_code == 404
            assert SECRET_WORD not in answer.text
