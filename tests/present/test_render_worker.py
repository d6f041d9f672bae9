"""Long texts rendered in another process, with real children."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from pagekeep.errors import ParseError
from pagekeep.present import render_worker
from pagekeep.present.markdown_html import Rendered, render
from pagekeep.present.render_worker import MAX_INLINE_CHARS, Renderer, is_short
from pagekeep.workers import Limits

LONG = "The keeper counts *the ships* and [writes](/log) it down.\n\n![A ship](/ship.png)\n\n" * 500
HOSTILE = "![a][" * 20_000


@dataclass(frozen=True)
class Numbered:
    """An address of a picture that tells who made it."""

    sign: str

    def __call__(self, url: str) -> str:
        return f"/pictures/{self.sign}?{url}"


@pytest.fixture
def renderer() -> Iterator[Renderer]:
    made = Renderer(1)
    yield made
    made.close()


def test_a_long_text_comes_out_as_a_short_one_would(renderer: Renderer) -> None:
    assert len(LONG) > MAX_INLINE_CHARS
    how = {"base": "https://e.example/", "title": "Ships"}
    image_url = Numbered("x")
    assert renderer.render(LONG, **how, image_url=image_url) == render(LONG, **how, image_url=image_url)
    assert "/pictures/x?" in renderer.render(LONG, **how, image_url=image_url).html


def test_a_long_text_is_not_rendered_in_this_process(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render_worker, "render", lambda *_, **__: Rendered("here"))
    assert "<em>the ships</em>" in renderer.render(LONG).html
    assert renderer.render("*Short.*").html == "here"


def test_code_is_not_highlighted_in_this_process(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render_worker, "render", lambda *_, **__: Rendered("here"))
    for fence in ("```", "~~~"):
        code = f"{fence}c\nint x;\n{fence}\n\n" + "The keeper counts ships. " * 200
        assert not is_short(code)
        assert '<span class="kt">int</span>' in renderer.render(code).html


def test_a_text_that_takes_too_long_is_shown_as_written_with_a_notice() -> None:
    renderer = Renderer(1, Limits(cpu_seconds=0.4, wall_seconds=20.0))
    try:
        shown = renderer.render(f"<script>\ud800{HOSTILE}").html
        assert shown.startswith('<p role="note">Rendering this page took too long')
        assert "<pre>&lt;script&gt;?![a][![a][" in shown
        assert "<em>the ships</em>" in renderer.render(LONG[: MAX_INLINE_CHARS + 100]).html
    finally:
        renderer.close()


def test_a_failure_is_not_kept(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = 0
    run = renderer._pool.run

    def fails_once(job: object) -> object:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise ParseError("The process was killed.")
        return run(job)

    monkeypatch.setattr(renderer._pool, "run", fails_once)
    shown = [renderer.render(LONG) for _ in range(3)]
    assert [one.is_temporary for one in shown] == [True, False, False]
    assert shown[1] is shown[2]
    assert tries == 2


@pytest.mark.parametrize(
    ("markdown", "short"),
    [
        ("A | b" * 100, True),
        ("|a|b|c|\n|-|-|-|\n" + "|1|2|3|\n" * 500, True),
        ("|a" * 200 + "|\n" + "|-" * 200 + "|\n" + "x\n" * 300, False),
        ("a|b\n-|-\n" + "x\n" * 10_000, False),
        ("word " * 7_000, False),
        ("word\n" * 5_000, True),
    ],
)
def test_a_short_text_that_makes_a_large_table_counts_as_long(markdown: str, short: bool) -> None:
    assert is_short(markdown) is short


def test_when_too_many_wait_the_next_one_does_not(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderer, "_slots", threading.BoundedSemaphore(1))
    with renderer._slots:
        assert "busy" in renderer.render(LONG).html
        assert "<p>Short" in renderer.render("Short").html
    assert "<em>the ships</em>" in renderer.render(LONG).html
