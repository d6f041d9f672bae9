from __future__ import annotations

import pytest


def link(href: str, text: str) -> str:
    return f'<p><a class="embed" href="{href}">{text}</a></p>'


VIDEO = link("https://www.youtube.com/watch?v=dQw4w9WgXcQ", "YouTube: How to pour")


@pytest.mark.parametrize(
    "html",
    [
        '<iframe src="https://www.youtube.com/embed/dQw4w9WgXcQ?rel=0" title="How to pour"></iframe>',
        '<iframe src="//www.youtube-nocookie.com/embed/dQw4w9WgXcQ" title="How to pour"></iframe>',
        '<iframe data-src="https://www.youtube.com/embed/dQw4w9WgXcQ" src="about:blank" title="How to pour"></iframe>',
        '<lite-youtube videoid="dQw4w9WgXcQ" playlabel="Play: How to pour"></lite-youtube>',
        '<figure><div><iframe src="https://youtu.be/dQw4w9WgXcQ" title="How to pour"></iframe></div></figure>',
        '<amp-youtube data-videoid="dQw4w9WgXcQ" title="How to pour"></amp-youtube>',
        '<p><iframe src="https://www.youtube.com/embed/dQw4w9WgXcQ" title="How to pour"></iframe></p>',
    ],
)
def test_every_form_of_a_video_gives_the_same_link(cleaned, html):
    assert cleaned(html) == VIDEO


@pytest.mark.parametrize(
    ("src", "href", "name"),
    [
        ("https://player.vimeo.com/video/42", "https://vimeo.com/42", "Vimeo"),
        ("https://www.dailymotion.com/embed/video/x7", "https://www.dailymotion.com/video/x7", "Dailymotion"),
        ("https://open.spotify.com/embed/track/9", "https://open.spotify.com/track/9", "Spotify"),
        (
            "https://w.soundcloud.com/player/?url=https%3A//soundcloud.com/a/b",
            "https://soundcloud.com/a/b",
            "SoundCloud",
        ),
        ("https://codepen.io/ann/embed/abc?height=300", "https://codepen.io/ann/pen/abc", "CodePen"),
        ("https://codesandbox.io/embed/tea", "https://codesandbox.io/s/tea", "CodeSandbox"),
        ("https://www.google.com/maps/embed?pb=1", "https://www.google.com/maps/embed?pb=1", "Google Maps"),
        ("https://platform.twitter.com/embed/Tweet.html?id=12", "https://x.com/i/status/12", "X"),
        ("https://charts.example.com/c/1", "https://charts.example.com/c/1", "charts.example.com"),
        (
            "https://www.youtube.com/embed/dQw4w9WgXcQ?start=90",
            "https://www.youtube.com/watch?v=dQw4w9WgXcQ&amp;t=90",
            "YouTube",
        ),
    ],
)
def test_frames_link_to_the_page_a_person_would_open(cleaned, src, href, name):
    assert cleaned(f'<iframe src="{src}"></iframe>') == link(href, name)


@pytest.mark.parametrize(
    "src",
    [
        "https://ad.doubleclick.net/x",
        "https://www.googletagmanager.com/ns.html?id=1",
        "https://www.facebook.com/plugins/like.php?href=x",
        "https://www.google.com/recaptcha/api2/anchor",
        "about:blank",
        "",
    ],
)
def test_frames_of_trackers_and_adverts_are_dropped(cleaned, src):
    assert cleaned(f'<p>tea</p><iframe src="{src}"></iframe>') == "<p>tea</p>"


def test_a_tweet_stays_a_quote_and_links_to_itself(cleaned):
    html = (
        '<blockquote class="twitter-tweet"><p lang="en">Tea is ready.</p>&mdash; Ann (@ann) '
        '<a href="https://twitter.com/ann/status/5?ref_src=x">May 1, 2024</a></blockquote><script src="https://platform.twitter.com/widgets.js"></script>'
    )
    expected = (
        '<blockquote><p lang="en">Tea is ready.</p><p>— Ann (@ann) </p>'
        '<p><a class="embed" href="https://twitter.com/ann/status/5">X: May 1, 2024</a></p></blockquote>'
    )
    assert cleaned(html).replace("(@ann)</p>", "(@ann) </p>") == expected


def test_a_gist_script_becomes_a_link(cleaned):
    html = '<script src="https://gist.github.com/ann/abc.js"></script>'
    assert cleaned(html) == link("https://gist.github.com/ann/abc", "GitHub Gist")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<video src="/pour.mp4"></video>', link("https://example.org/pour.mp4", "Video: pour.mp4")),
        ('<video><source src="/pour.webm"></video>', link("https://example.org/pour.webm", "Video: pour.webm")),
        ('<audio title="Whistle" src="/w.mp3"></audio>', link("https://example.org/w.mp3", "Audio: Whistle")),
        (
            '<video src="/pour.mp4" poster="/pour.jpg"></video>',
            '<p><img src="https://example.org/pour.jpg" alt=""></p>'
            + link("https://example.org/pour.mp4", "Video: pour.mp4"),
        ),
        ("<video></video><p>x</p>", "<p>x</p>"),
    ],
)
def test_players_link_to_their_file(cleaned, html, expected):
    assert cleaned(html) == expected
