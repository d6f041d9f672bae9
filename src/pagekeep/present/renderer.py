"""Render Markdown for a server, in its worker room, and keep the results: most pages are opened more than once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from typing import Final

from pagekeep.errors import PagekeepError, TooManyRequests
from pagekeep.workers import TEXT, Limits, Room

_CACHE_SIZE: Final = 64
"""Rendered texts kept in memory."""
_MAX_CACHED_CHARS: Final = 200_000
_KEPT_BYTES: Final = 64_000_000
"""Of texts rendered for lists: about 10,000 of 1,000 words."""
_MAX_GROUP_CHARS: Final = 300_000
"""Characters of texts that are rendered as one task: about a second."""


ImageUrl = Callable[[str], str]
"""Returns the URL from which the browser loads an image, by the image's original URL."""


@dataclass(frozen=True, slots=True)
class RenderTask:
    """Render one text."""

    markdown: str
    base: str
    title: str
    image_url: ImageUrl | None
    """Must be picklable, as it is sent to another process: an object, not a closure."""

    def run(self) -> Rendered:
        """Return the text as safe HTML."""
        from pagekeep.present.markdown_html import render

        return render(self.markdown, base=self.base, title=self.title, image_url=self.image_url)


@dataclass(frozen=True, slots=True)
class RenderManyTask:
    """Render several texts."""

    tasks: tuple[RenderTask, ...]

    def run(self) -> tuple[Rendered, ...]:
        """Return each text as safe HTML."""
        return tuple(task.run() for task in self.tasks)


class KeptTexts:
    """Texts by what they were made of; when they are too large together, those that were not used for longest are dropped.

    The key is a cryptographic hash: users share these texts, and must not be able to replace those of others.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._texts: OrderedDict[bytes, bytes] = OrderedDict()

    def get(self, *made_of: str) -> str | None:
        """Return the text, if it is kept."""
        key = _key(made_of)
        text = self._texts.get(key)
        if text is None:
            return None
        self._texts.move_to_end(key)
        return text.decode()

    def put(self, text: str, *made_of: str) -> None:
        """Keep a text."""
        data, key = text.encode("utf-8", "replace"), _key(made_of)
        self._bytes += len(data) - len(self._texts.pop(key, b""))
        self._texts[key] = data
        while self._bytes > self._max_bytes:
            self._bytes -= len(self._texts.popitem(last=False)[1])


def _key(made_of: tuple[str, ...]) -> bytes:
    lengths = ":".join(str(len(part)) for part in made_of)
    return sha256("\n".join((lengths, *made_of)).encode("utf-8", "surrogatepass")).digest()


class Renderer:
    """Renders texts and caches the results. For one event loop."""

    def __init__(self, room: Room, limits: Limits = TEXT) -> None:
        self._room = room
        self._limits = limits
        self._cache: OrderedDict[RenderTask, Rendered] = OrderedDict()
        self._kept = KeptTexts(_KEPT_BYTES)

    async def render(
        self, markdown: str, *, base: str = "", title: str = "", image_url: ImageUrl | None = None
    ) -> Rendered:
        """Return the Markdown as safe HTML; if that takes too long, the Markdown source with a notice."""
        task = RenderTask(markdown, base, title, image_url)
        cached = self._cache.get(task)
        if cached is not None:
            self._cache.move_to_end(task)
            return cached
        try:
            rendered = await self._room.run(task, self._limits)
        except TooManyRequests:
            reason = "The server is busy, so this page is shown as Markdown source. Reload it to try again."
            return render_source(markdown, reason, is_temporary=True)
        except PagekeepError:
            reason = "Rendering this page took too long, so it is shown as Markdown source."
            return render_source(markdown, reason, is_temporary=True)
        if len(markdown) <= _MAX_CACHED_CHARS:
            self._cache[task] = rendered
            while len(self._cache) > _CACHE_SIZE:
                self._cache.popitem(last=False)
        return rendered

    async def render_many(self, texts: Sequence[tuple[str, str, str]]) -> list[str]:
        """Return several texts, each with base and title, as safe HTML: a list of them costs one task, not one each."""
        kept = [self._kept.get(*text) for text in texts]
        tasks = [RenderTask(*text, None) for text, html in zip(texts, kept, strict=True) if html is None]
        done = iter([rendered for group in _group(tasks) for rendered in await self._render_group(group)])
        return [next(done).html if html is None else html for html in kept]

    async def _render_group(self, tasks: tuple[RenderTask, ...]) -> Sequence[Rendered]:
        try:
            done: Sequence[Rendered] = await self._room.run(RenderManyTask(tasks), self._limits)
        except PagekeepError:  # one of them took too long: the others must not suffer
            done = [await self.render(task.markdown, base=task.base, title=task.title) for task in tasks]
        for task, rendered in zip(tasks, done, strict=True):
            if not rendered.is_temporary:
                self._kept.put(rendered.html, task.markdown, task.base, task.title)
        return done


def _group(tasks: Sequence[RenderTask]) -> Iterator[tuple[RenderTask, ...]]:
    """Yield the tasks in their order, in groups of limited size."""
    group: list[RenderTask] = []
    chars = 0
    for task in tasks:
        if group and chars + len(task.markdown) > _MAX_GROUP_CHARS:
            yield tuple(group)
            group, chars = [], 0
        group.append(task)
        chars += len(task.markdown)
    if group:
        yield tuple(group)


@dataclass(frozen=True, slots=True)
class Heading:
    """An entry of the table of contents."""

    level: int
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """A rendered page."""

    html: str
    """Safe to insert into a page."""
    headings: tuple[Heading, ...] = ()
    is_temporary: bool = False
    """Whether this is a fallback because the server was busy: it must not be cached."""


def render_source(markdown: str, reason: str, *, is_temporary: bool = False) -> Rendered:
    """Return the Markdown source with a notice of why it is not rendered."""
    text = markdown.encode("utf-8", "replace").decode()
    return Rendered(f'<p role="note">{escape(reason)}</p>\n<pre>{escape(text)}</pre>', is_temporary=is_temporary)
