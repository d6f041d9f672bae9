"""Text that breaks careless programs, in every place where a page may put text."""

from __future__ import annotations

import pytest
import yaml

from pagekeep import PagekeepError, extract

NAUGHTY = (
    *("---", "...", "key: value", "- item", "#", "'", '"', "{", "[a, b]", "&anchor", "*alias", "!!python/none", "%", "@", "`"),
    *("null", "true", "~", "1e3", "0x1F", "2024-01-01", "12:30:45", "=", "<<", "? x", "| x", "> x", "a: b: c", "\\"),
    *("<script>alert(1)</script>", "javascript:alert(1)", "{{7*7}}", "${x}", "$(id)", "'; DROP TABLE page; --", "../../etc"),
    *("\u0000", "\u0007", "\u001b[31m", "\u0085", "\u2028", "\u2029", "\ufeff", "\u200b", "\u200d", "\u202e", "\u2066"),
    *("\ud800", "\udfff", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0010ffff", "\ufffe", "e\u0301" * 50, "Z\u0335" * 200),
    *("\u0627\u0644\u0639\u0631\u0628\u064a\u0629", "\u4e2d\u6587", "\u0e44\u0e17\u0e22", "\U000e0041", "\u034f", "\uff0e\uff0f"),
    *("$x$", "$$", "\\(", "**", "__", "```", "~~~", "[^1]", "[a](b)", "![", "](", "|", "1.", "> [!note]", "http://", "www."),
    *("%s%n%x", "0/0", "NaN", "Infinity", "-1", "undefined", "9" * 400, " ", "\n\n", "\t", "\r", "a" * 5_000),
)  # fmt: skip
PROSE = "The miller counted the sacks, one by one, until the tide turned again and the wheel stood still. " * 4


def page_with(text: str) -> str:
    quoted = text.replace("&", "&amp;").replace('"', "&quot;")
    inner = quoted.replace("<", "&lt;")
    return (
        f'<html lang="{quoted}"><head><title>{inner}</title><meta name="author" content="{quoted}">'
        f'<meta name="description" content="{quoted}"><meta name="keywords" content="{quoted}, {quoted}">'
        f'<meta property="og:site_name" content="{quoted}"><meta property="og:image" content="{quoted}">'
        f'<meta property="article:published_time" content="{quoted}"><base href="{quoted}">'
        f'<link rel="canonical" href="{quoted}"></head><body class="{quoted}"><article id="{quoted}"><h1>{inner}</h1>'
        f'<p>{PROSE}</p><p>{inner} <a href="{quoted}" title="{quoted}">{inner}</a> <em>{inner}</em> {PROSE}</p>'
        f'<figure><img src="{quoted}" alt="{quoted}" srcset="{quoted}"><figcaption>{inner}</figcaption></figure>'
        f'<pre class="language-{quoted}"><code>{inner}</code></pre><table><tr><td>{inner}<td>b</table>'
        f"<ul><li>{inner}</ul><blockquote>{inner}</blockquote><p>{PROSE}</p>"
        f'<script type="application/ld+json">{{"@type": "Article", "headline": "{inner}"}}</script></article>'
    )


@pytest.mark.parametrize("text", NAUGHTY, ids=range(len(NAUGHTY)))
def test_naughty_text_anywhere_leaves_a_valid_document(text: str) -> None:
    page = extract(page_with(text), "https://mill.example/blog/naughty")
    page.document.encode("utf-8")
    _, block, rest = page.document.split("---\n", 2) if page.document.count("---\n") >= 2 else ("", "", "")
    fields = yaml.safe_load(page.document[4:].split("\n---\n")[0])
    assert fields["source"] == "https://mill.example/blog/naughty"
    assert fields["quality"] in ("article", "simplified")  # text of nothing but controls is not kept
    assert "until the tide turned again" in rest
    assert block


@pytest.mark.parametrize("text", NAUGHTY, ids=range(len(NAUGHTY)))
def test_naughty_text_as_the_whole_input_gives_a_result_or_one_of_our_errors(text: str) -> None:
    for source in (text, text.encode("utf-8", "surrogatepass"), text * 100):
        try:
            page = extract(source)
        except PagekeepError:
            continue
        assert page.document.startswith("---\n")


@pytest.mark.parametrize("text", NAUGHTY, ids=range(len(NAUGHTY)))
def test_a_naughty_address_does_not_stop_extraction(text: str) -> None:
    for url in (
        text,
        f"https://{text}/",
        f"https://mill.example/{text}",
        f"https://mill.example:{text}/?{text}#{text}",
    ):
        page = extract(f'<title>Mill</title><p>{PROSE}<a href="next">on</a></p><p>{PROSE}</p>', url)
        assert "until the tide turned again" in page.text
        page.document.encode("utf-8")
        yaml.safe_load(page.document[4:].split("\n---\n")[0])
