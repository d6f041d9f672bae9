from __future__ import annotations

import pytest

WARNING = '<blockquote class="callout" data-callout="warning"><p>It is hot.</p></blockquote>'
TITLED = '<blockquote class="callout" data-callout="tip" data-title="Save time"><p>Use a kettle.</p></blockquote>'


@pytest.mark.parametrize(
    "html",
    [
        '<div class="markdown-alert markdown-alert-warning"><p class="markdown-alert-title"><svg></svg>Warning</p><p>It is hot.</p></div>',
        '<div class="callout" data-callout="warning"><div class="callout-title"><div class="callout-icon"><svg></svg></div>'
        '<div class="callout-title-inner">Warning</div></div><div class="callout-content"><p>It is hot.</p></div></div>',
        '<div class="theme-admonition theme-admonition-warning alert alert--warning"><div class="admonitionHeading_x1">'
        '<span class="admonitionIcon_x2"><svg></svg></span>warning</div><div class="admonitionContent_x3"><p>It is hot.</p></div></div>',
        '<div class="admonition warning"><p class="admonition-title">Warning</p><p>It is hot.</p></div>',
        '<details class="admonition warning"><summary>Warning</summary><p>It is hot.</p></details>',
        '<div class="alert alert-warning" role="alert">It is hot.</div>',
        '<div class="admonitionblock warning"><table><tr><td class="icon"><div class="title">Warning</div></td>'
        '<td class="content"><div class="paragraph"><p>It is hot.</p></div></td></tr></table></div>',
        '<div class="warning custom-block"><p class="custom-block-title">WARNING</p><p>It is hot.</p></div>',
        '<blockquote class="hint hint-warning">It is hot.</blockquote>',
        '<div class="notices"><div class="notice warning"><p>It is hot.</p></div></div>',
        '<aside class="starlight-aside starlight-aside--warning"><p class="starlight-aside__title">Warning</p>'
        '<div class="starlight-aside__content"><p>It is hot.</p></div></aside>',
    ],
)
def test_every_tool_gives_the_same_callout(cleaned, html):
    assert cleaned(html) == WARNING


@pytest.mark.parametrize(
    "html",
    [
        '<div class="admonition tip"><p class="admonition-title">Save time</p><p>Use a kettle.</p></div>',
        '<div data-callout="tip" class="callout"><div class="callout-title">Save time</div><div class="callout-content">'
        "<p>Use a kettle.</p></div></div>",
        '<details class="admonition tip"><summary>Save time</summary>Use a kettle.</details>',
    ],
)
def test_its_own_title_stays(cleaned, html):
    assert cleaned(html) == TITLED


def test_a_callout_that_is_all_title_keeps_its_words(cleaned):
    html = '<div class="admonition note"><p class="admonition-title">Mind the steam</p></div>'
    assert cleaned(html) == '<blockquote class="callout" data-callout="note"><p>Mind the steam</p></blockquote>'


def test_callouts_within_callouts_stay_nested(cleaned):
    html = '<div class="admonition note"><p>a</p><div class="admonition tip"><p>b</p></div></div>'
    expected = (
        '<blockquote class="callout" data-callout="note"><p>a</p>'
        '<blockquote class="callout" data-callout="tip"><p>b</p></blockquote></blockquote>'
    )
    assert cleaned(html) == expected


@pytest.mark.parametrize("name", ["alert", "message", "notice-board", "callout-link", "hinterland"])
def test_an_unclear_name_makes_no_callout(cleaned, name):
    assert cleaned(f'<div class="{name}"><p>words</p></div>') == "<p>words</p>"
