"""BBCode as HTML."""

from __future__ import annotations

import pytest

from pagekeep.extraction.site_rules.embedded_data import bbcode_to_html


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("The [b]mill[/b] [i]turned[/i].", "The <b>mill</b> <i>turned</i>."),
        ("[h1]News[/h1]\nIt rained.", "<h2>News</h2>It rained."),
        ("One\nTwo", "One<br>Two"),
        ("[list]\n[*]Ash\n[*]Larch\n[/list]", "<ul><li>Ash<li>Larch</ul>"),
        ('[url="https://mill.example/a"]here[/url]', '<a href="https://mill.example/a">here</a>'),
        ("[url]https://mill.example/a[/url]", '<a href="https://mill.example/a">https://mill.example/a</a>'),
        ("[img]https://mill.example/w.png[/img]", '<img src="https://mill.example/w.png">'),
        ("[quote=Ada]It rained.[/quote]", "<blockquote><p>Ada:</p>It rained.</blockquote>"),
        ("[code]a [b]\n c[/code]", "<pre><code>a [b]\n c</code></pre>"),
        ("5 < 6 & [unknown]x[/unknown]", "5 &lt; 6 &amp; [unknown]x[/unknown]"),
    ],
)
def test_bbcode_becomes_html(source: str, expected: str) -> None:
    assert bbcode_to_html(source) == expected


def test_markup_in_the_text_or_an_address_stays_text() -> None:
    written = bbcode_to_html('<script>alert(1)</script>[url=https://x.example/"onclick="alert(1)]x[/url]')
    assert "<script" not in written
    assert '"onclick' not in written
