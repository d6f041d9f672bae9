from __future__ import annotations

import pytest

FIGURE = '<figure><img src="https://example.org/a.png"><figcaption>A pot</figcaption></figure>'


@pytest.mark.parametrize(
    "html",
    [
        '<figure><img src="/a.png"><figcaption>A pot</figcaption></figure>',
        '<figure><div class="frame"><img src="/a.png"></div><figcaption><p>A pot</p></figcaption></figure>',
        '<div class="wp-caption"><img src="/a.png"><p class="wp-caption-text">A pot</p></div>',
        '<div><p><img src="/a.png"></p><p class="caption">A pot</p></div>',
        '<div><img src="/a.png"><span class="image-caption">A pot</span></div>',
        '<figure><p><img src="/a.png"></p><div class="caption">A pot</div></figure>',
        '<dl class="wp-caption"><dt><img src="/a.png"></dt><dd class="wp-caption-text">A pot</dd></dl>',
        '<p>Before.</p><div class="bild"><img src="/a.png"><div>A pot</div></div>',
        '<p>Before.</p><div><div class="frame"><img src="/a.png"></div><div class="article-bildunterschrift">A pot</div></div>',
        '<p>Before.</p><div><span class="photoCredit">A pot</span><img src="/a.png"></div>',
        '<p>Before.</p><p><img src="/a.png"><br><em>A pot</em></p>',
    ],
)
def test_every_captioned_picture_is_a_figure(cleaned, html):
    assert cleaned(html).removeprefix("<p>Before.</p>") == FIGURE


@pytest.mark.parametrize(
    "html",
    [
        '<div class="card image"><a href="/x"><img src="/a.png">How to choose a pot</a></div>',
        '<div class="image"><img src="/a.png"><h3>Pots</h3><p>For tea.</p></div>',
        '<div class="image"><img src="/a.png"><p>' + "A paragraph about pots and tea. " * 12 + "</p></div>",
        '<p><img src="/a.png"> A pot <em>of tea</em> stands here.</p>',
        '<div><img src="/a.png"><p>It was late.</p></div>',
    ],
)
def test_words_beside_a_picture_that_are_not_its_caption_stay_text(cleaned, html):
    assert "<figure" not in cleaned(html)


def test_a_figure_may_hold_several_images(cleaned):
    html = '<figure><img src="/a.png"><img src="/b.png"><figcaption>Two pots</figcaption></figure>'
    assert cleaned(html).count("<img") == 2
    assert cleaned(html).startswith("<figure>")


def test_a_linked_image_stays_linked_in_its_figure(cleaned):
    html = '<figure><a href="/big"><img src="/a.png"></a><figcaption>A pot</figcaption></figure>'
    assert cleaned(html) == FIGURE.replace("<img", '<a href="https://example.org/big"><img').replace(
        'a.png">', 'a.png"></a>'
    )


def test_a_figure_around_code_or_a_table_is_only_a_box(cleaned):
    html = "<figure><pre>x</pre><figcaption>Listing 1</figcaption></figure>"
    assert cleaned(html) == "<pre><code>x</code></pre><p>Listing 1</p>"


def test_a_caption_far_from_any_picture_is_text(cleaned):
    assert cleaned('<p>words</p><p class="caption">more words</p>') == "<p>words</p><p>more words</p>"


def test_a_gallery_is_its_figures(cleaned):
    one = '<figure><img src="/{}.png"><figcaption>{}</figcaption></figure>'
    html = f"<figure class='gallery'>{one.format('a', 'A')}{one.format('b', 'B')}<figcaption>All</figcaption></figure>"
    assert cleaned(html) == (
        '<figure><img src="https://example.org/a.png"><figcaption>A</figcaption></figure>'
        '<figure><img src="https://example.org/b.png"><figcaption>B</figcaption></figure><p>All</p>'
    )
