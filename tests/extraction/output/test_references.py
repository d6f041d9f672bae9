from __future__ import annotations

from pagekeep import dom
from pagekeep.extraction.output import result_parts
from pagekeep.model import Link, Media


def root(html: str) -> dom.Element:
    return dom.parse_fragment(html)


def test_links_are_listed_once_in_order_with_their_text() -> None:
    found = result_parts.list_links(
        root(
            '<p><a href="https://b.example/">B <em>site</em>'
            '</a> <a href="https://a.example/x">A</a> <a href="https://b.example/">again</a></p>'
        )
    )
    assert found == (Link("https://b.example/", "B site"), Link("https://a.example/x", "A"))


def test_words_replace_the_empty_text_of_a_linked_picture() -> None:
    found = result_parts.list_links(
        root(
            '<a href="https://a.example/"><img src="https://a.example/i.png"></a><a href="https://a.example/">Read</a>'
        )
    )
    assert found == (Link("https://a.example/", "Read"),)


def test_picture_link_is_named_by_its_alternative_text() -> None:
    found = result_parts.list_links(
        root('<a href="https://a.example/"><img src="https://a.example/i.png" alt="A  map"></a>')
    )
    assert found == (Link("https://a.example/", "A map"),)


def test_footnotes_mail_and_embeds_are_not_links() -> None:
    html = (
        '<a href="#fn-1">1</a><a href="mailto:a@b.example">m</a>'
        '<a class="embed" href="https://vimeo.com/1">Vimeo: T</a>'
    )
    assert result_parts.list_links(root(html)) == ()


def test_image_carries_alternative_text_and_the_caption_of_its_figure() -> None:
    html = (
        '<figure><a href="https://a.example/"><img src="https://a.example/i.png" alt="A cat">'
        "</a><figcaption>Our <b>cat</b></figcaption></figure>"
    )
    assert result_parts.list_media(root(html)) == (Media("image", "https://a.example/i.png", "A cat", "Our cat"),)


def test_image_outside_a_figure_has_no_caption() -> None:
    html = '<p><img src="https://a.example/i.png"></p><figure><figcaption>Other</figcaption></figure>'
    assert result_parts.list_media(root(html)) == (Media("image", "https://a.example/i.png"),)


def test_embeds_are_video_or_audio_by_their_host_or_file() -> None:
    html = "".join(
        f'<p><a class="embed" href="{url}">T</a></p>'
        for url in (
            "https://www.youtube.com/watch?v=1",
            "https://open.spotify.com/episode/1",
            "https://a.example/x.MP3",
            "https://notyoutube.com/watch",
            "https://www.youtube.com/watch?v=1",
        )
    )
    assert [(item.kind, item.url) for item in result_parts.list_media(root(html))] == [
        ("video", "https://www.youtube.com/watch?v=1"),
        ("audio", "https://open.spotify.com/episode/1"),
        ("audio", "https://a.example/x.MP3"),
    ]
