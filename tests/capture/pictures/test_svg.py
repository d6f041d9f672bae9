"""Drawings lose everything that runs or loads, and keep how they look."""

from __future__ import annotations

import pytest

from pagekeep.capture.pictures import SVG_TYPE, Checked, CheckPicture, Refused, clean_svg, looks_like_svg

NAMES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


def clean(inside: str, attributes: str = "") -> str:
    drawing = clean_svg(f"<svg {NAMES} {attributes}>{inside}</svg>".encode())
    assert drawing is not None
    return drawing.body.decode()


@pytest.mark.parametrize(
    "inside",
    [
        "<script>steal()</script>",
        "<g><SCRIPT xmlns='http://www.w3.org/2000/svg'>steal()</SCRIPT></g>",
        "<a href='javascript:steal()'><text>x</text></a>",
        "<a xlink:href=' java&#115;cript:steal()'><text>x</text></a>",
        "<rect onclick='steal()'/>",
        "<foreignObject><body xmlns='http://www.w3.org/1999/xhtml' onload='steal()'/></foreignObject>",
        "<h:script xmlns:h='http://www.w3.org/1999/xhtml'>steal()</h:script>",
        "<a id='x'><animate attributeName='href' to='javascript:steal()'/></a>",
        "<set attributeName='onload' to='steal()'/>",
        "<image href='https://steal.example/x.png'/>",
        "<image href='data:image/svg+xml,steal'/>",
        "<style>@import 'https://steal.example/x.css'; rect { fill: url(https://steal.example/y) }</style>",
        "<rect style='fill: url(https://steal.example/y)'/>",
        "<use href='https://steal.example/x.svg#a'/>",
        "<!-- steal --><?steal x?>",
    ],
)
def test_nothing_that_runs_or_loads_is_left(inside: str) -> None:
    assert "steal" not in clean(inside).casefold()


def test_what_is_drawn_stays() -> None:
    inside = (
        '<defs><linearGradient id="g"><stop offset="0" stop-color="red"/></linearGradient></defs>'
        '<style>rect { stroke: blue }</style><rect width="9" height="9" fill="url(#g)"/><use xlink:href="#g"/>'
        '<image href="data:image/png;base64,AAAA"/><text x="1" y="2">A title</text>'
    )
    cleaned = clean(inside, 'viewBox="0 0 30 20"')
    for part in ('fill="url(#g)"', 'xlink:href="#g"', "data:image/png;base64,AAAA", "stroke: blue", "A title"):
        assert part in cleaned


@pytest.mark.parametrize(
    ("attributes", "size"),
    [('width="60" height="40.4px"', (60, 40)), ('viewBox="0 0 30 20"', (30, 20)), ('width="100%"', (None, None))],
)
def test_size_is_read(attributes: str, size: tuple[int | None, int | None]) -> None:
    drawing = clean_svg(f"<svg {NAMES} {attributes}/>".encode())
    assert drawing is not None
    assert (drawing.width, drawing.height) == size


@pytest.mark.parametrize("data", [b"<svg><g></svg>", b"<svg/>", b"<html><svg/></html>", b"<svg xmlns='x'/>"])
def test_what_is_not_a_drawing_is_refused(data: bytes) -> None:
    assert clean_svg(data) is None


def test_entities_that_grow_are_refused() -> None:
    levels = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 9))
    bomb = (
        f'<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a0 "aaaaaaaaaa">{levels}]><svg {NAMES}><text>&a8;</text></svg>'
    )
    assert looks_like_svg(bomb.encode())
    assert clean_svg(bomb.encode()) is None


def test_drawing_is_kept_as_its_harmless_copy() -> None:
    data = f'<?xml version="1.0"?>\n<!-- made by hand -->\n<svg {NAMES} width="6" height="4"><script>x()</script></svg>'
    found = CheckPicture(data.encode(), 1_000).run()
    assert isinstance(found, Checked)
    assert (found.media_type, found.width, found.height) == (SVG_TYPE, 6, 4)
    assert b"script" not in (found.replacement or b"script")
    assert CheckPicture(data.encode(), 10).run() == Refused("too_large")
