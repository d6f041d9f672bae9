from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.extract import metadata, structured
from pagekeep.model import Metadata


def read(html: str, url: str | None = "https://www.bugle.example/a/page") -> Metadata:
    document = dom.parse(html)
    return metadata.read(document, structured.read(document), url)


def test_description_is_plain_and_its_origin_is_named() -> None:
    found = read(
        '<meta property="og:description" content="Bread &amp;amp; &lt;b&gt;butter&lt;/b&gt;">'
        '<meta name="description" content="x">'
    )
    assert (found.description, found.origins["description"]) == ("Bread & butter", "opengraph")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<meta property="og:site_name" content="Bugle">', "Bugle"),
        (
            (
                '<script type="application/ld+json">{"@type":"Article",'
                '"publisher":{"@type":"Organization","name":"Bugle Ltd"}}</script>'
            ),
            "Bugle Ltd",
        ),
        ('<script type="application/ld+json">{"@type":"WebSite","name":"Bugle Online"}</script>', "Bugle Online"),
        ('<meta name="application-name" content="Bugle App">', "Bugle App"),
        ("<title>Rain | The Bugle</title>", "The Bugle"),
        ("<title>Rain | Weather</title>", None),
    ],
)
def test_site_name_comes_from_the_first_place_that_states_it(html: str, expected: str | None) -> None:
    assert read(html).site_name == expected


def test_canonical_is_absolute_and_falls_back_to_opengraph() -> None:
    assert (
        read('<link rel="canonical" href="/a"><meta property="og:url" content="/b">').canonical
        == "https://www.bugle.example/a"
    )
    assert (
        read('<link rel="canonical" href="javascript:x"><meta property="og:url" content="/b">').canonical
        == "https://www.bugle.example/b"
    )
    assert read('<link rel="canonical" href="/a">', None).canonical is None


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            '<script type="application/ld+json">{"@type":"Article","image":{"url":"/i.jpg"}}</script>',
            "https://www.bugle.example/i.jpg",
        ),
        (
            '<script type="application/ld+json">{"@type":"Article","image":["/a.jpg","/b.jpg"]}</script>',
            "https://www.bugle.example/a.jpg",
        ),
        (
            (
                '<script type="application/ld+json">[{"@type":"Article","image":{"@id":"#i"}},'
                '{"@type":"ImageObject","@id":"#i","contentUrl":"/c.jpg"}]</script>'
            ),
            "https://www.bugle.example/c.jpg",
        ),
        (
            '<meta property="og:image" content="/logo.png"><meta name="twitter:image" content="/t.jpg">',
            "https://www.bugle.example/t.jpg",
        ),
        ('<meta property="og:image" content="/analogous/x.jpg">', "https://www.bugle.example/analogous/x.jpg"),
        ('<meta property="og:image" content="/placeholder.png">', None),
        ('<link rel="image_src" href="/l.jpg">', "https://www.bugle.example/l.jpg"),
    ],
)
def test_hero_image_is_absolute_and_never_a_logo(html: str, expected: str | None) -> None:
    assert read(html).hero_image == expected


def test_favicon_prefers_an_icon_to_a_touch_icon() -> None:
    html = '<link rel="apple-touch-icon" href="/touch.png"><link rel="shortcut icon" href="/f.ico">'
    assert read(html).favicon == "https://www.bugle.example/f.ico"


def test_page_without_metadata_has_none() -> None:
    assert read("<p>text", None) == Metadata()
