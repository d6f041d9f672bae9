from __future__ import annotations

import pytest

ONE = '<p><img src="https://example.org/pot.jpg"></p>'


@pytest.mark.parametrize(
    "html",
    [
        '<p><img src="/pot.jpg"></p>',
        '<p><img src="data:image/gif;base64,R0lG" data-src="/pot.jpg"></p>',
        '<p><img src="/img/blank.gif" data-lazy-src="/pot.jpg"></p>',
        '<p><img src="/img/placeholder.svg" data-original="/pot.jpg"></p>',
        '<p><img data-srcset="/cup.jpg 300w, /pot.jpg 900w" src="data:image/png;base64,AA"></p>',
        '<p><img srcset="/cup.jpg 1x, /pot.jpg 2x" src="/cup.jpg"></p>',
        '<p><img srcset="/cup.jpg,/pot.jpg 2x" src="/img/spacer.gif" data-src="/pot.jpg"></p>'.replace("/cup.jpg,", ""),
        '<p><picture><source srcset="/pot.jpg 800w, /cup.jpg 200w"><img src="data:image/gif;base64,AA"></picture></p>',
        '<p><img src="data:image/gif;base64,AA"><noscript><img src="/pot.jpg"></noscript></p>',
        '<p><noscript><img src="/pot.jpg"></noscript></p>',
        '<p><amp-img src="/pot.jpg"></amp-img></p>',
        '<p><img src="/img/loader.gif" data-odd-name="/pot.jpg"></p>',
        '<p><picture><source srcset="#, # 2x"><img src="/pot.jpg"></picture></p>',
    ],
)
def test_every_way_of_loading_late_gives_the_real_address(cleaned, html):
    assert cleaned(html) == ONE


def test_the_largest_candidate_that_is_not_an_original_wins(cleaned):
    html = '<img srcset="/s.jpg 320w, /l.jpg 1600w, /huge.jpg 9000w, /m.jpg 800w">'
    assert cleaned(html) == '<p><img src="https://example.org/l.jpg"></p>'


def test_commas_within_an_address_do_not_split_it(cleaned):
    html = '<img srcset="https://cdn.example.org/w_1,c_fit/a.png 1x, https://cdn.example.org/w_2,c_fit/a.png 2x">'
    assert cleaned(html) == '<p><img src="https://cdn.example.org/w_2,c_fit/a.png"></p>'


@pytest.mark.parametrize(
    "image",
    [
        '<img src="/t.gif" width="1" height="1">',
        '<img src="https://pixel.example.com/visit">',
        '<img src="https://www.facebook.com/tr?id=1">',
        '<img src="/img/spacer.gif" width="200">',
        '<img src="data:image/png;base64,iVBORw0KGgo=" alt="dots">',
        '<img src="/x.png" style="width:1px;height:1px">',
        "<img alt='no address'>",
    ],
)
def test_images_that_show_nothing_are_dropped(cleaned, image):
    assert cleaned(f"<p>tea {image}time</p>") == "<p>tea time</p>"


def test_the_same_image_twice_in_a_row_stays_once(cleaned):
    html = '<figure><div><img src="/pot-800x600.jpg"></div><div><img src="/pot-300x200.jpg"></div></figure>'
    assert cleaned(html).count("<img") == 1


def test_the_same_image_in_two_places_stays_twice(cleaned):
    html = '<p>first <img src="/pot.jpg"> look</p><p>second <img src="/pot.jpg"> look</p>'
    assert cleaned(html).count("<img") == 2


def test_a_picture_of_an_emoji_becomes_the_character(cleaned):
    assert cleaned('<p>hot <img class="emoji" alt="🍵" src="/e/1f375.png"></p>') == "<p>hot 🍵</p>"


def test_alt_title_and_size_survive_and_nothing_else(cleaned):
    html = '<img src="/a.png" alt="A pot" title="Pot" width="40" height="30" class="x" loading="lazy" onerror="x()">'
    expected = '<p><img src="https://example.org/a.png" alt="A pot" title="Pot" width="40" height="30"></p>'
    assert cleaned(html) == expected


def test_without_a_page_address_a_relative_image_leads_nowhere(cleaned):
    assert cleaned('<p>x<img src="pot.jpg"></p>', None) == "<p>x</p>"


@pytest.mark.parametrize(
    "name", ["s-l960.webp", "award_of_the_town_2021_transparent.svg", "pixel-art-of-a-very-old-mill_blank.png"]
)
def test_names_that_only_hold_such_a_word_are_pictures(cleaned, name):
    assert name in cleaned(f'<p><img src="/{name}"></p>')


def test_an_image_that_touches_a_paragraph_gets_its_own_line(cleaned):
    text = "Green leaves are rolled by hand, one by one, until the sun has set and all of the water is hot. "
    picture = '<a href="https://a.example/b"><img src="https://a.example/c.png"></a>'
    assert cleaned(f"<p>{picture}{text}</p>") == f"<p>{picture}</p><p>{text}</p>"


def test_an_image_within_a_line_is_set_apart_by_spaces(cleaned):
    picture = '<img src="https://a.example/c.png">'
    assert cleaned(f"<p>{picture}5 cups</p>") == f"<p>{picture} 5 cups</p>"
    assert cleaned(f"<p>press{picture}now</p>") == f"<p>press {picture} now</p>"
