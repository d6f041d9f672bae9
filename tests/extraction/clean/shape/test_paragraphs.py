from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div>tea</div>", "<p>tea</p>"),
        ("<div><div><div>tea</div></div></div>", "<p>tea</p>"),
        ("tea", "<p>tea</p>"),
        ("<div>one<div>two</div>three</div>", "<p>one</p><p>two</p><p>three</p>"),
        ("<section><h2>A</h2>b <b>c</b></section>", "<h2>A</h2><p>b <strong>c</strong></p>"),
        ("<p>one<br><br>two</p>", "<p>one</p><p>two</p>"),
        ("<p>one<br>\n<br/> <br>two<br>three</p>", "<p>one</p><p>two<br>three</p>"),
        ("<p>one<br></p>", "<p>one</p>"),
        ("<p><br></p><p>&nbsp;</p><p>x</p>", "<p>x</p>"),
        ("<p><span>one<br><br>two</span></p>", "<p>one</p><p>two</p>"),
        ("<div><span><div>one</div></span>two</div>", "<p>one</p><p>two</p>"),
        ("<b><p>one</p></b>", "<p><strong>one</strong></p>"),
        ("<i><h2>one</h2><p>two</p></i>", "<h2>one</h2><p>two</p>"),
        ("<center>one</center>", "<p>one</p>"),
        ("<blockquote>one</blockquote>", "<blockquote><p>one</p></blockquote>"),
        ("<blockquote><div>one</div><div>two</div></blockquote>", "<blockquote><p>one</p><p>two</p></blockquote>"),
        ("<div dir='rtl'><p>one</p></div>", '<p dir="rtl">one</p>'),
        ("<p>a <span lang='fr'>thé</span></p>", '<p>a <span lang="fr">thé</span></p>'),
        (
            "<details><summary><div>More</div></summary><div>text</div></details>",
            "<details><summary>More</summary><p>text</p></details>",
        ),
        ("<p>a<em> </em>b<strong></strong></p>", "<p>a b</p>"),
        ("<p>a</p><hr><hr><p>b</p>", "<p>a</p><hr><hr><p>b</p>"),
        ("<p>a<!-- c -->b</p>", "<p>ab</p>"),
        ("<custom-box>one<p>two</p></custom-box>", "<p>one</p><p>two</p>"),
    ],
)
def test_text_is_in_blocks_and_boxes_are_gone(cleaned, html, expected):
    assert cleaned(html) == expected


def test_words_of_neighbouring_boxes_stay_apart(cleaned):
    assert cleaned("<p>one</p><div></div>two<section></section>three").count("<p>") >= 2
    assert "onetwo" not in cleaned("<div>one<div></div>two</div>")
