"""Requests to another program's API: through the address guard, with limits, and never with the secret in an error."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from urllib.parse import quote

from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import BlockedAddress, FetchError, InvalidProtocol, InvalidUrl, PagekeepError, TooLarge
from pagekeep.fetch.client import Client
from pagekeep.fetch.politeness import SystemClock, retry_after
from pagekeep.fetch.urls import split_url
from pagekeep.model.sinks import Sink
from pagekeep.text import one_line
from pagekeep.workers import TEXT, Task

T = TypeVar("T")

SECONDS: Final = 20.0
"""For one request. Receivers of webhooks are expected to answer within 15 to 30 seconds."""
MAX_RESPONSE_BYTES: Final = 2_000_000
BUSY_SECONDS: Final = 60.0
"""The pause after a 429 that does not say how long."""
_MAX_DETAIL_CHARS: Final = 200
_MIN_SECRET_CHARS: Final = 4
"""Shorter words of headers are not secret, and are found in every text."""
_PASSING: Final = frozenset({401, 403, 408, 425})
"""Client errors that pass, the first two when the secret or its rights are mended; every other 4xx is about this item."""


class NotSent(FetchError):
    """The other program did not take it."""

    def __init__(
        self,
        message: str,
        *,
        suggestions: tuple[str, ...] = (),
        retry: bool = True,
        wait: float | None = None,
        switch_off: bool = False,
        status: int | None = None,
    ) -> None:
        super().__init__(message, suggestions=suggestions)
        self.retry = retry
        """Whether trying again can help."""
        self.wait = wait
        """Seconds that the other program asked us to wait: it is busy, and the attempt does not count."""
        self.switch_off = switch_off
        """Whether the other program wants nothing any more."""
        self.status = status


@dataclass(frozen=True, slots=True)
class Answer:
    """A response of another program."""

    status: int
    data: bytes

    @property
    def body(self) -> Any:
        """The JSON of the response; `None` when it is none. It is parsed for those who look at it only."""
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError):
            return None


@dataclass(frozen=True, slots=True)
class Api:
    """One sink's other program, as its kind sees it."""

    sink: Sink
    secret: str
    client: Client
    retrieval: Retrieval
    seconds: float = SECONDS
    memory: dict[str, Any] = field(default_factory=dict)
    """What a kind remembers while one process delivers, such as that everything was prepared."""

    def url(self, *parts: str) -> str:
        """Return a URL below the sink's address; each part is quoted."""
        return "/".join((self.sink.address.rstrip("/"), *(quote(part, safe="") for part in parts)))

    async def run(self, task: Task[T]) -> T:
        """Run a task that works on the text of a page, in a worker."""
        return await self.retrieval.run(task, TEXT)

    async def call(
        self,
        method: str,
        url: str,
        body: Mapping[str, Any] | bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        accept: tuple[int, ...] = (),
    ) -> Answer:
        """Make a request and return the answer; `NotSent` unless its status is 2xx or in `accept`."""
        data = body if body is None or isinstance(body, bytes) else to_json(body)
        host = split_url(url).host.name
        try:
            response = await self.client.send(
                method, url, data, headers=headers, max_bytes=MAX_RESPONSE_BYTES, deadline=self.seconds
            )
        except TooLarge:
            raise NotSent(f"`{host}` sent a response that is too long.") from None
        except (InvalidUrl, InvalidProtocol, BlockedAddress) as error:
            raise NotSent(error.message, suggestions=error.suggestions, retry=False) from None
        except PagekeepError as error:
            raise NotSent(error.message, suggestions=error.suggestions) from None
        answer = Answer(response.status, response.body)
        if 200 <= answer.status < 300 or answer.status in accept:
            return answer
        sent = {self.secret, *(word for value in (headers or {}).values() for word in value.split())}
        raise self._failure(host, answer, response.headers, sent)

    def _failure(self, host: str, answer: Answer, headers: Mapping[str, str], sent: Collection[str]) -> NotSent:
        """Return the error for an answer; it repeats nothing of `sent`, which the other program may have repeated."""
        status = answer.status
        if status == 429:
            wait = retry_after(headers, SystemClock())
            return NotSent(
                f"`{host}` is busy (status 429).", wait=BUSY_SECONDS if wait is None else wait, status=status
            )
        if status in (401, 403):
            return NotSent(
                f"`{host}` refused the secret of this sink (status {status}).",
                suggestions=("Pair the sink again, or give it a new secret.",),
                status=status,
            )
        if status == 410:
            return NotSent(
                f"`{host}` wants no more deliveries (status 410).", retry=False, switch_off=True, status=status
            )
        text = answer.data.decode("utf-8", "replace")
        for word in sorted((word for word in sent if len(word) >= _MIN_SECRET_CHARS), key=len, reverse=True):
            text = text.replace(word, "...")
        detail = one_line(text[: 4 * _MAX_DETAIL_CHARS])[:_MAX_DETAIL_CHARS]
        if 300 <= status < 400:
            detail = "It redirects; use the address that it leads to."
        retry = not 300 <= status < 500 or status in _PASSING
        message = f"`{host}` answered with status {status}" + (f": {detail}" if detail else ".")
        return NotSent(message, retry=retry, status=status)


def to_json(body: Mapping[str, Any]) -> bytes:
    """Return JSON as it is sent; what UTF-8 cannot encode is replaced."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def text_at(answer: Answer, *path: str) -> str:
    """Return a text in the JSON of an answer; `NotSent` when it is not there."""
    value = answer.body
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    if not isinstance(value, str) or not value or len(value) > 4_000:
        raise NotSent("The other program answered something else than its documentation says.", status=answer.status)
    return value
