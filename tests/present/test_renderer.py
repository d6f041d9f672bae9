"""Texts rendered in the worker room, with real worker processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from pagekeep.errors import ParseError, TooManyRequests
from pagekeep.present import markdown_html
from pagekeep.present.markdown_html import render
from pagekeep.present.renderer import KeptTexts, Rendered, Renderer
from pagekeep.workers import Limits, Room

LONG = "The keeper counts *the ships* and [writes](/log) it down.\n\n![A ship](/ship.png)\n\n" * 500
HOSTILE = "![a][" * 20_000
Render = Callable[..., Rendered]


@dataclass(frozen=True)
class Numbered:
    """An address of a picture that shows who made it."""

    sign: str

    def __call__(self, url: str) -> str:
        return f"/pictures/{self.sign}?{url}"


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    room = Room(1)
    yield room
    room.close()


@pytest.fixture
def renderer(room: Room) -> Renderer:
    return Renderer(room)


def run(renderer: Renderer, markdown: str, **options: Any) -> Rendered:
    return asyncio.run(renderer.render(markdown, **options))


@pytest.mark.parametrize("markdown", ["*Short.* ![A ship](/ship.png)", LONG])
def test_a_text_is_rendered_in_another_process(
    renderer: Renderer, monkeypatch: pytest.MonkeyPatch, markdown: str
) -> None:
    options = {"base": "https://e.example/", "title": "Ships", "image_url": Numbered("x")}
    expected = render(markdown, **options)
    monkeypatch.setattr(markdown_html, "render", lambda *_, **__: Rendered("here"))
    rendered = run(renderer, markdown, **options)
    assert rendered == expected
    assert "/pictures/x?" in rendered.html


def test_a_text_that_takes_too_long_is_shown_as_source_with_a_notice(room: Room) -> None:
    renderer = Renderer(room, Limits(cpu_seconds=0.4, wall_seconds=20.0))
    html = run(renderer, f"<script>\ud800{HOSTILE}").html
    assert html.startswith('<p role="note">Rendering this page took too long')
    assert "<pre>&lt;script&gt;?![a][![a][" in html
    assert "<em>the ships</em>" in run(renderer, LONG[:5_000]).html


class FailingRoom(Room):
    """Fails with each of the errors in turn, then works."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def run(self, task: Any, limits: Limits = Limits()) -> Any:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return task.run()


def test_failures_are_not_cached_and_results_are() -> None:
    room = FailingRoom(ParseError("The worker process was killed."), TooManyRequests("Too many."))
    renderer = Renderer(room)
    rendered = [run(renderer, LONG) for _ in range(4)]
    assert [one.is_temporary for one in rendered] == [True, True, False, False]
    assert "took too long" in rendered[0].html
    assert "busy" in rendered[1].html
    assert rendered[2] is rendered[3]
    assert room.calls == 3


def test_the_cache_keeps_the_texts_used_last() -> None:
    room = FailingRoom()
    renderer = Renderer(room)
    for number in range(64):
        run(renderer, str(number))
    run(renderer, "0")
    run(renderer, "another")
    calls = room.calls
    run(renderer, "0")
    assert room.calls == calls
    run(renderer, "1")
    assert room.calls == calls + 1


def test_a_list_is_rendered_once() -> None:
    room = FailingRoom()
    renderer = Renderer(room)
    texts = [(f"*{n}*", "https://e.example/", "T") for n in range(3)]
    first = asyncio.run(renderer.render_many(texts))
    assert first == [f"<p><em>{n}</em></p>\n" for n in range(3)]
    calls = room.calls
    assert asyncio.run(renderer.render_many(texts)) == first
    assert room.calls == calls
    more = asyncio.run(renderer.render_many([texts[2], ("new", "", ""), texts[0]]))
    assert more == [first[2], "<p>new</p>\n", first[0]]
    assert room.calls == calls + 1


def test_a_text_of_a_list_that_fails_is_not_kept() -> None:
    busy = [TooManyRequests("Too many.") for _ in range(3)]  # together, then each alone
    renderer = Renderer(FailingRoom(*busy))
    texts = [("a", "", ""), ("b", "", "")]
    assert all("busy" in html for html in asyncio.run(renderer.render_many(texts)))
    assert asyncio.run(renderer.render_many(texts)) == ["<p>a</p>\n", "<p>b</p>\n"]


def test_texts_are_kept_by_all_they_were_made_of() -> None:
    kept = KeptTexts(100)
    kept.put("one", "a", "bc")
    assert kept.get("a", "bc") == "one"
    assert kept.get("ab", "c") is None
    kept.put("\ud800", "\ud800")
    assert kept.get("\ud800") == "?"


def test_those_not_used_for_longest_are_dropped() -> None:
    kept = KeptTexts(10)
    for name in "abc":
        kept.put(name * 3, name)
    assert kept.get("a") == "aaa"
    kept.put("dddd", "d")
    assert [kept.get(name) for name in "abcd"] == ["aaa", None, "ccc", "dddd"]
    kept.put("ccccc", "c")
    assert [kept.get(name) for name in "acd"] == [None, "ccccc", "dddd"]
    kept.put("x" * 11, "x")
    assert kept.get("x") is None
