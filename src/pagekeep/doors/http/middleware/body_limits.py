"""Limits for request bodies: who sends them is known before they are read, and the declared length is not trusted."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Final

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pagekeep.doors.http.errors import error_response
from pagekeep.doors.http.middleware.arrivals import TOO_LARGE, Body, Limits, Pool, Rejected, shape_of
from pagekeep.errors import PagekeepError
from pagekeep.identity.accounts import network_of

UNPARSED_PATHS: Final = frozenset({"/api/v1/imports", "/api/v1/pictures"})
"""Their bodies are files: stored as they arrive, or read by a worker, and never parsed by the server. Counting the values of a
picture as if it were JSON would refuse it."""
PAGE_PATHS: Final = frozenset(
    {"/api/v1/saves", "/api/v1/extract", "/api/v1/explain", "/r", "/r/", "/add", "/api/v1/pictures"}
)
"""Paths that accept a whole page, or a picture."""
MAX_PAGE_BYTES: Final = 70_000_000
"""Enough for a document of 50 MB in base64, or a page of 10 MB written as JSON."""
MAX_OTHER_BYTES: Final = 4_000_000
"""For all other paths: enough for a file of rules (1 MB) in a form."""
MAX_TOTAL_BYTES: Final = 300_000_000
"""All bodies of signed-in users together."""
MAX_BODIES: Final = 200
"""Bodies of signed-in users that arrive at the same time; beyond that, slow ones are ended."""
MAX_USER_BODIES: Final = 40
"""The same for one user."""
USER_SHARE: Final = 0.4
"""Part of all bytes that one user can take."""
MAX_BODY_SECONDS: Final = 120.0

SIGN_IN_PATHS: Final = frozenset(
    {"/sign-in", "/api/v1/tokens/pairing", "/wallabag/oauth/v2/token", "/wallabag/login_check"}
)
"""The only paths that read a body of a client that is not signed in."""
MAX_SIGN_IN_BYTES: Final = 32_000
"""200 characters of name, 1,000 of password and 2,000 of path, each of up to 12 bytes."""
MAX_SIGN_IN_SECONDS: Final = 10.0
MAX_ANONYMOUS_BODIES: Final = 64
"""Sign-in forms that arrive at the same time; beyond that, slow ones are ended."""
MAX_ADDRESS_BODIES: Final = 8
"""The same from one address."""

MAX_FILE_SECONDS: Final = 3600.0
MAX_FILES: Final = 4
"""Large files uploaded at the same time; they are written to disk."""
MAX_USER_FILES: Final = 2


class BodyLimits:
    """Rejects bodies that are too large, without reading them to the end, and bodies that arrive too slowly.

    `files` maps the paths that accept larger files to their limits. Their routes read the body themselves, after authentication
    and never as a whole into memory. `authenticate` returns the user whom the headers of a request name, or raises an error:
    then the body is not read. `rejection` creates the response.
    """

    def __init__(
        self,
        app: ASGIApp,
        max_bytes: int = MAX_OTHER_BYTES,
        max_total: int = MAX_TOTAL_BYTES,
        seconds: float = MAX_BODY_SECONDS,
        files: Mapping[str, int] = MappingProxyType({}),
        authenticate: Callable[[Scope], Awaitable[str]] | None = None,
        rejection: Callable[[Scope, PagekeepError], Response] = lambda _, error: error_response(error),
    ) -> None:
        self._app = app
        self._limits = Limits(max_bytes, seconds)
        self._page_limits = Limits(MAX_PAGE_BYTES, seconds)
        self._files = files
        self._authenticate = authenticate
        self._rejection = rejection
        share = int(max_total * USER_SHARE) if authenticate else max_total
        largest_file = max(files.values(), default=0)
        self._large = LargeBodies()
        self._in_memory = Pool(max_total, MAX_BODIES, share, MAX_USER_BODIES)
        self._on_disk = Pool(MAX_FILES * largest_file, MAX_FILES, MAX_USER_FILES * largest_file, MAX_USER_FILES)
        self._sign_ins = Pool(
            MAX_ANONYMOUS_BODIES * MAX_SIGN_IN_BYTES,
            MAX_ANONYMOUS_BODIES,
            MAX_ADDRESS_BODIES * MAX_SIGN_IN_BYTES,
            MAX_ADDRESS_BODIES,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        length = _declared_length(scope) if scope["type"] == "http" else 0
        if length == 0:
            await self._app(scope, receive, send)
            return
        limits, pool = self._rules(scope["path"])
        if length is None or length > limits.max_bytes:
            await self._reject(TOO_LARGE, scope, receive, send)
            return
        try:
            client = await self._client(scope)
        except PagekeepError as error:
            await self._reject(error, scope, receive, send)
            return
        shape = None if scope["path"] in UNPARSED_PATHS else shape_of(scope["headers"])
        # One that does not declare its length counts as a whole page.
        weight = (limits.max_bytes if length == 1 else length) if pool is self._in_memory else 0
        async with self._large.take(client, weight):
            body = Body(client, limits, pool, receive, send, shape)
            await self._run(body, pool, scope)
        if body.error is not None and not body.started:
            await self._reject(body.error, scope, receive, send)

    async def _run(self, body: Body, pool: Pool, scope: Scope) -> None:
        pool.enter(body)
        try:
            await self._app(scope, body.receive, body.send)
        except Rejected:
            pass
        finally:
            pool.leave(body)

    async def _client(self, scope: Scope) -> str:
        """Return who sends the body, by the headers alone: the user, or for the sign-in forms the address."""
        if scope["path"] in SIGN_IN_PATHS:
            return network_of(scope["client"][0]) if scope.get("client") else ""
        return await self._authenticate(scope) if self._authenticate is not None else ""

    async def _reject(self, error: PagekeepError, scope: Scope, receive: Receive, send: Send) -> None:
        response = self._rejection(scope, error)
        response.headers["connection"] = "close"
        await response(scope, receive, send)

    def _rules(self, path: str) -> tuple[Limits, Pool]:
        if path in SIGN_IN_PATHS:
            return Limits(MAX_SIGN_IN_BYTES, MAX_SIGN_IN_SECONDS), self._sign_ins
        if path in self._files:
            return Limits(self._files[path], MAX_FILE_SECONDS), self._on_disk
        return self._page_limits if path in PAGE_PATHS else self._limits, self._in_memory


def _declared_length(scope: Scope) -> int | None:
    """Return the length of the body: 0 without one, 1 if it is not declared, `None` if the header is not a number."""
    headers = dict(scope["headers"])
    if b"transfer-encoding" in headers:
        return 1
    declared = headers.get(b"content-length", b"0")
    return int(declared.lstrip(b"0")[:20] or b"0") if declared.isdigit() else None


LARGE_BYTES: Final = 1_000_000
"""Smaller bodies never wait."""
MAX_USER_BYTES: Final = 12_000_000
"""Large bodies of one user that are read or worked on at a time: a page of 10 MB as JSON, or six of 2 MB. One of 10 MB takes
the server 22 to 83 MB by its route and its result, and up to 223 MB if it is all pictures."""


class LargeBodies:
    """The turns of large bodies, by user: those of one never wait for those of another. For one event loop."""

    def __init__(self, max_user_bytes: int = MAX_USER_BYTES) -> None:
        self._max = max_user_bytes
        self._in_use: dict[str, int] = {}
        self._waiting: dict[str, deque[tuple[int, asyncio.Future[None]]]] = {}

    @asynccontextmanager
    async def take(self, user: str, length: int) -> AsyncIterator[None]:
        """Wait until the user's other large bodies leave room for one of this length, and hold the room."""
        if length < LARGE_BYTES:
            yield
            return
        length = min(length, self._max)  # a larger one goes alone
        if user in self._waiting or self._in_use.get(user, 0) + length > self._max:
            await self._wait(user, length)
        else:
            self._in_use[user] = self._in_use.get(user, 0) + length
        try:
            yield
        finally:
            self._free(user, length)

    async def _wait(self, user: str, length: int) -> None:
        entry = (length, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(user, deque()).append(entry)
        try:
            await entry[1]
        except asyncio.CancelledError:
            if entry[1].done() and not entry[1].cancelled():  # it had just got the room
                self._free(user, length)
            else:
                self._waiting[user].remove(entry)
                self._free(user, 0)  # those behind it may be smaller
            raise

    def _free(self, user: str, length: int) -> None:
        """Free room, and give it to those who wait, in their order."""
        in_use, waiting = self._in_use.pop(user, 0) - length, self._waiting.pop(user, deque())
        while waiting and in_use + waiting[0][0] <= self._max:
            following, turn = waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                in_use += following
        if in_use:
            self._in_use[user] = in_use
        if waiting:
            self._waiting[user] = waiting
