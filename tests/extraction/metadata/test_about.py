from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.extraction import metadata
from pagekeep.extraction.input import structured
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


@pytest.mark.parametrize(
    "address",
    ["/img/Mill%20Logo.png", "/img/milllogo_1200x630.png", "/static/social-share-default.e8.jpeg", "/a/apple-touch-icon@2.png",
     "/img/og/default.png", "/img/mill-og-image5.jpg", "/data/avatars/m/1.jpg", "/the_mill_social_share.png",
     "/theme/icons/rye.svg", "/img/transparent.gif", "/img/fallback-rye.jpg", "data:image/png;base64,AA"],
)  # fmt: skip
def test_picture_a_site_shows_for_any_page_is_not_a_hero(address: str) -> None:
    assert read(f'<meta property="og:image" content="{address}">').hero_image is None


@pytest.mark.parametrize(
    "address",
    [
        "/up/social-shopping.webp",
        "/vi/rgj/hqdefault.jpg",
        "/t_transparent/rye.jpg",
        "/iconic-bread.jpg",
        "/catalogos.jpg",
    ],
)
def test_words_within_words_do_not_cost_a_picture(address: str) -> None:
    assert read(f'<meta property="og:image" content="{address}">').hero_image == f"https://www.bugle.example{address}"


def test_logo_and_portrait_named_by_json_ld_and_tiny_pictures_are_not_heroes() -> None:
    data = (
        '<script type="application/ld+json">[{"@type":"Organization","logo":{"url":"/m.png"}},'
        '{"@type":"Person","image":"/ann.png"}]</script>'
    )
    for address in ("/m.png", "/ann.png"):
        assert read(f'{data}<meta property="og:image" content="{address}">').hero_image is None
    tiny = '<meta property="og:image" content="/x.png"><meta property="og:image:width" content="96">'
    assert read(tiny).hero_image is None


@pytest.mark.parametrize(
    ("html", "expected", "origin"),
    [
        ('<link rel="license" href="https://creativecommons.org/licenses/by-sa/4.0/">', "CC BY-SA 4.0", "link"),
        ('<a rel="license" href="//creativecommons.org/publicdomain/zero/1.0/">x</a>', "CC0 1.0", "rel"),
        ('<a rel="license" href="https://creativecommons.org/publicdomain/mark/1.0/">x</a>', "Public domain", "rel"),
        ('<a rel="license" href="/terms">x</a>', "https://www.bugle.example/terms", "rel"),
        ('<meta name="dcterms.license" content="MIT">', "MIT", "meta"),
        (
            '<script type="application/ld+json">{"@type":"Article","license":{"url":"https://m.example/l"}}</script>',
            "https://m.example/l",
            "json-ld",
        ),
    ],
)
def test_licence_is_named_and_its_origin_too(html: str, expected: str, origin: str) -> None:
    found = read(html)
    assert (found.licence, found.origins["licence"]) == (expected, origin)


def test_page_that_names_no_licence_has_none() -> None:
    found = read("<h1>Rye</h1>")
    assert found.licence is None
    assert "licence" not in found.origins
