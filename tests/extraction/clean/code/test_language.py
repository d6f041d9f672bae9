"""Which language a block of code is in, by the names on it and around it."""

from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.extraction.clean.code import language_of


def language(html: str) -> str:
    block = dom.first(dom.parse_fragment(html), "pre")
    assert block is not None
    return language_of(block)


@pytest.mark.parametrize(
    ("html", "name"),
    [
        ('<pre class="language-python">x</pre>', "python"),
        ('<pre><code class="lang-gleam">x</code></pre>', "gleam"),
        ('<pre class="brush: php; gutter: false">x</pre>', "php"),
        ('<pre class="brush:js;">x</pre>', "js"),
        ('<pre class="lang:sql decode:true">x</pre>', "sql"),
        ('<pre class="src src-ruby">x</pre>', "ruby"),
        ('<div class="highlight highlight-source-shell"><pre>x</pre></div>', "shell"),
        ('<div class="highlight-ipython3"><div class="highlight"><pre>x</pre></div></div>', "ipython3"),
        ('<div class="language-gleam highlighter-rouge"><pre>x</pre></div>', "gleam"),
        ('<div class="lang-rust"><pre>x</pre></div>', "rust"),
    ],
)
def test_a_highlighter_names_the_language(html: str, name: str) -> None:
    assert language(html) == name


@pytest.mark.parametrize(
    "html",
    [
        '<pre class="syntaxhighlighter-pre">x</pre>',
        '<pre class="syntax-block">x</pre>',
        '<pre class="srcdoc">x</pre>',
        '<pre class="languages">x</pre>',
        '<div class="highlight-box"><pre>x</pre></div>',
        '<div class="lang-en"><pre>x</pre></div>',
        '<div class="language-switcher"><pre>x</pre></div>',
    ],
)
def test_names_that_only_look_alike_are_not_languages(html: str) -> None:
    assert language(html) == ""
