"""Generated requests of one user for what another has, by every route: schemathesis on the API and all dialects.

    python -m tests.hostile.server_two_users [EXAMPLES] [--engine sqlite|postgres|both] [--only TEXT]

Grace sends EXAMPLES requests to every operation, by token or by session, right and wrong ones, with ids of hers, of Ada's, and
made up. No answer may be a fault of the server, differ from the API's description, or have a word of Ada's; and no row of
Ada's may change. Operations that the description leaves out (dialects, the reader) are described here, from the table of routes.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import logging
import random
import re
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import requests
import schemathesis
import uvicorn
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from pagekeep.capture.measure import CAPTURES
from pagekeep.doors.http.application import create_app
from pagekeep.doors.http.caller import CSRF_HEADER, csrf_token
from pagekeep.doors.http.service import Service
from pagekeep.identity import accounts
from pagekeep.store import open_store
from tests.doors.http.filling import fill_library
from tests.doors.http.routes import ROUTES
from tests.hostile.read_only_tokens import place

CANARY: Final = "quincewort"
"""In everything that Ada has: titles, texts, notes, names of feeds, lists, sinks, rules and tokens, hosts of crawls."""
EXPECTED: Final = frozenset({501, 502, 504})
"""Statuses above 500 that say something about what was asked for."""
HELD_TO: Final = [status_code_conformance, response_schema_conformance]
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
WORDS: Final = (
    *("url", "title", "tags", "starred", "archive", "content", "language", "published_at", "authors", "since", "page"),
    *(
        "perPage",
        "sort",
        "order",
        "detail",
        "domain_name",
        "term",
        "text",
        "quote",
        "ranges",
        "urls",
        "tag",
        "grant_type",
    ),
    *(
        "q",
        "limit",
        "offset",
        "description",
        "notes",
        "is_archived",
        "unread",
        "shared",
        "tag_names",
        "name",
        "username",
    ),
    *(
        "password",
        "refresh_token",
        "client_id",
        "action",
        "ids",
        "query",
        "every",
        "state",
        "kind",
        "feed",
        "list",
        "after",
    ),
)
"""Names of parameters of the dialects and of forms."""
_SHARE_REPLACED: Final = 0.6
_REFILL_EVERY: Final = 15
"""Operations after which Grace gets new things: requests delete some of hers."""


def describe_others(app: FastAPI) -> dict[str, Any]:
    """Return a description of the operations that the API's own one leaves out."""
    known = {f"{method.upper()} {path}" for path, found in app.openapi()["paths"].items() for method in found}
    anything: dict[str, Any] = {"type": ["string", "integer", "boolean", "array", "null"], "items": {"type": "string"}}
    paths: dict[str, Any] = {}
    for name, route in ROUTES.items():
        method, _, path = name.partition(" ")
        if name in known or method not in METHODS:
            continue
        path = re.sub(r":path\}", "}", path)
        named = re.findall(r"\{(\w+)\}", path)
        words = sorted({*WORDS, *(route.json if isinstance(route.json, dict) else ()), *route.form})
        fields = {"type": "object", "properties": dict.fromkeys(words, anything), "additionalProperties": True}
        operation: dict[str, Any] = {
            "operationId": name,
            "parameters": [
                *({"name": one, "in": "path", "required": True, "schema": {"type": "string"}} for one in named),
                *({"name": one, "in": "query", "schema": {"type": "string"}} for one in WORDS),
            ],
            "responses": {"default": {"description": "any"}},
        }
        if method != "GET":
            kinds = ("application/json",) if route.json is not None else ()
            kinds += ("application/x-www-form-urlencoded",) if route.form or not kinds else ()
            operation["requestBody"] = {"content": {kind: {"schema": fields} for kind in kinds}}
        paths.setdefault(path, {})[method.lower()] = operation
    return {"openapi": "3.1.0", "info": {"title": "others", "version": "1"}, "paths": paths}


@dataclass
class Faults(logging.Handler):
    """What the server logs about requests that failed by its own fault."""

    found: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(logging.ERROR)

    def __hash__(self) -> int:
        return id(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the end of the traceback. That a page could not be captured is not a fault of the server."""
        if record.name == CAPTURES:
            return
        shown = self.formatter or logging.Formatter()
        self.found.append(shown.format(record)[-1_500:])


async def _no_wait(_seconds: float, _ending: asyncio.Event) -> None:
    """Refusals are not delayed: most requests are refused."""


@contextmanager
def running(app: FastAPI) -> Iterator[str]:
    """Serve the application in a thread; yield its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="on"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.05)
        (port,) = {socket.getsockname()[1] for one in server.servers for socket in one.sockets}
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


class Attack:
    """Grace and Ada on one server."""

    def __init__(self, address: str, service: Service, library: str) -> None:
        self.address, self.service, self._library = address, service, library
        self.users: dict[str, str] = {}
        self.ada = self._fill("ada", CANARY, "https://example.com/ada")
        self.grace: dict[str, str] = {}
        self.faults: list[str] = []
        self.requests = 0
        self.statuses: dict[int, int] = {}
        self.log = Faults()
        self._session, self._filled = requests.Session(), 0

    def _fill(self, name: str, word: str, url: str) -> dict[str, str]:
        user = accounts.add_user(self.service.accounts, f"{name}{len(self.users)}", "nine stoves and a kettle")
        self.users[name] = user.id
        with closing(open_store(self._library, user.id)) as library:
            return fill_library(library, self.service, word, url, f"{url}.png")

    def begin(self) -> None:
        """Sign up as another Grace, with things, a session and a token."""
        self._filled += 1
        name = f"grace{self._filled}"
        self.grace = self._fill(name, f"marshmallow{self._filled}", "https://example.com/grace")
        self._user = self.users[name]
        self.sign_in()

    def sign_in(self) -> None:
        """Open a session and take a token; those of before may have been revoked by a request."""
        for token in self.service.accounts.tokens(self._user):
            if token.name == "mine":
                accounts.revoke_token(self.service.accounts, self._user, token.id)
        self.token = accounts.add_token(self.service.accounts, self._user, "mine").secret
        self.cookie = accounts.open_session(self.service.accounts, self._user)

    def headers(self, by_token: bool) -> dict[str, str]:
        """Return what says that the request is Grace's."""
        if by_token:
            return {"Authorization": f"Bearer {self.token}"}
        return {"Cookie": f"pagekeep_session={self.cookie}", CSRF_HEADER: csrf_token(self.service, self.cookie)}

    def try_operation(self, operation: Any, examples: int, *, described: bool) -> None:
        """Send requests to one operation; note the first fault."""
        modes = [
            operation.as_strategy(generation_mode=mode) for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        ]
        name = f"{operation.method.upper()} {operation.path}"

        @settings(
            max_examples=examples,
            deadline=None,
            derandomize=True,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(modes[0] | modes[1], st.integers(0, 1 << 40))
        def run(case: Any, number: int) -> None:
            self._try(case, random.Random(number), described=described)

        try:
            run()
        except Exception as error:  # what schemathesis raises has many types
            self.faults.append(f"{name}: {type(error).__name__}: {str(error)[:2_000]}")

    def _try(self, case: Any, pick: random.Random, *, described: bool) -> None:
        self._aim(case, pick)
        self.log.found.clear()
        headers = self.headers(pick.random() < 0.5)
        response = case.call(
            base_url=self.address, session=self._session, headers=headers, timeout=60, allow_redirects=False
        )
        self._session.cookies.clear()
        self.requests += 1
        self.statuses[response.status_code] = self.statuses.get(response.status_code, 0) + 1
        shown = f"{case.as_curl_command()[:1_500]}\n{response.status_code} {response.content[:500]!r}"
        assert not self.log.found, f"{shown}\n{self.log.found[0]}"
        # Firecrawl's clients know 500 as the status of a page that could not be fetched.
        is_typed = case.operation.path.startswith("/v2/") and b'"success":false' in response.content.replace(b" ", b"")
        assert response.status_code < 500 or response.status_code in EXPECTED or is_typed, shown
        assert not has_canary(response.content), f"Ada's words: {shown}"
        assert CANARY not in str(response.headers), f"Ada's words in headers: {shown}"
        if described and response.status_code < 500:
            case.validate_response(response, checks=HELD_TO)
        if response.status_code == 401:
            self.sign_in()

    def _aim(self, case: Any, pick: random.Random) -> None:
        """Put ids of Ada's or Grace's into the request, where the table of routes has them, and elsewhere at random."""
        whose = self.ada if pick.random() < 0.7 else self.grace
        names = placeholders(f"{case.operation.method.upper()} {case.operation.path}")
        for name in case.path_parameters or {}:
            if pick.random() < _SHARE_REPLACED and names.get(name, "") in whose:
                case.path_parameters[name] = whose[names[name]]
        values = list(whose.values())
        for part in ("query", "body"):
            sent = getattr(case, part)
            if isinstance(sent, (dict, list)) and pick.random() < _SHARE_REPLACED:
                setattr(case, part, _replace(sent, values, pick))


def placeholders(name: str) -> dict[str, str]:
    """Return the things of a user that the parameters of a route's path name: `item_id` to `item`."""
    own = name if name in ROUTES else re.sub(r"\}(?=[^{]*$)", ":path}", name)
    if own not in ROUTES:
        return {}
    pattern = re.sub(r"\\\{(\w+)(?::path)?\\\}", r"(?P<\1>[^/]+?)", re.escape(own.partition(" ")[2]))
    found = re.fullmatch(pattern, ROUTES[own].path.partition("?")[0])
    return {key: value.strip("{}") for key, value in found.groupdict().items()} if found else {}


def _replace(value: Any, values: list[str], pick: random.Random) -> Any:
    if isinstance(value, dict):
        return {key: _replace(one, values, pick) for key, one in value.items()}
    if isinstance(value, list):
        return [_replace(one, values, pick) for one in value]
    return pick.choice(values) if isinstance(value, str) and pick.random() < 0.5 else value


def has_canary(content: bytes) -> bool:
    """Return whether a response has Ada's word in it, also inside of a book or an archive."""
    if CANARY.encode() in content.lower():
        return True
    if not content.startswith(b"PK\x03\x04"):
        return False
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return any(has_canary(archive.read(name)) or CANARY in name for name in archive.namelist())


def _check_canary(attack: Attack) -> None:
    """Ada finds her words in these answers: else nothing that follows would say anything."""
    token = accounts.add_token(attack.service.accounts, attack.users["ada"], "own").secret
    for path in ("/api/v1/items/{item}", "/wallabag/api/entries/{number}", "/opds/books/{item}.epub", "/api/v1/export"):
        path = re.sub(r"\{(\w+)\}", lambda found: attack.ada[found[1]], path)
        response = requests.get(attack.address + path, headers={"Authorization": f"Bearer {token}"}, timeout=60)
        assert has_canary(response.content), f"{path}: {response.status_code} {response.content[:200]!r}"


def run(engine: str, examples: int, only: str = "") -> tuple[int, Attack]:
    """Try every operation; return how many there are, and what came of it."""
    with tempfile.TemporaryDirectory() as name, place(engine, Path(name)) as (found, rows):
        chosen = replace(found, timeout=1, token_requests=1_000_000_000)
        app = create_app(chosen, processes=1, wait=_no_wait)
        with patch.dict("os.environ", {"XDG_DATA_HOME": name}), running(app) as address:
            attack = Attack(address, app.state.service, str(chosen.library))
            _check_canary(attack)
            logging.getLogger().addHandler(attack.log)
            before = _rows_of(attack, rows)
            assert any(CANARY in row for row in before)
            count = 0
            for described, document in ((True, app.openapi()), (False, describe_others(app))):
                schema = schemathesis.openapi.from_dict(json.loads(json.dumps(document)))
                for result in schema.get_all_operations():
                    operation = result.ok()
                    if only not in f"{operation.method.upper()} {operation.path}":
                        continue
                    if count % _REFILL_EVERY == 0:
                        attack.begin()
                    count += 1
                    attack.try_operation(operation, examples, described=described)
            logging.getLogger().removeHandler(attack.log)
            changed = sorted(set(before) ^ set(_rows_of(attack, rows)))
            attack.faults += [f"a row of Ada's changed: {row[:500]}" for row in changed]
    return count, attack


def _rows_of(attack: Attack, rows: Callable[[], list[str]]) -> list[str]:
    return [row for row in rows() if attack.users["ada"] in row or CANARY in row]


def main(arguments: list[str]) -> int:
    """Attack on one engine or both; return the number of faults."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.server_two_users")
    parser.add_argument("examples", type=int, nargs="?", default=20)
    parser.add_argument("--engine", choices=("sqlite", "postgres", "both"), default="both")
    parser.add_argument("--only", default="", help="operations with this text in their method and path")
    given_ = parser.parse_args(arguments)
    total = 0
    for engine in ("sqlite", "postgres") if given_.engine == "both" else (given_.engine,):
        operations, attack = run(engine, given_.examples, given_.only)
        total += len(attack.faults)
        statuses = ", ".join(f"{status}: {count:,}" for status, count in sorted(attack.statuses.items()))
        print(
            f"{engine}: {operations} operations, {attack.requests:,} requests, {len(attack.faults)} faults ({statuses})"
        )
        print("".join(f"  {fault}\n" for fault in attack.faults), end="", flush=True)
    return min(total, 100)


if __name__ == "__main__":
    logging.raiseExceptions = False
    sys.exit(main(sys.argv[1:]))
