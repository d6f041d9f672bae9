"""The rules by which the product was first described: each loads, matches and does what it says, from page to Markdown."""

from __future__ import annotations

import pytest

from pagekeep.model import Page
from pagekeep.pipeline import extract
from pagekeep.rules import Rulebook
from pagekeep.rules.loading import read

RULES = """\
- id: swiper-carousel
  phase: post
  priority: 100
  trigger: {dom: {any: [".swiper-slide-duplicate"]}}
  remove: [".swiper-slide-duplicate"]
- id: squarespace
  phase: post
  priority: 95
  trigger: {dom: {any: [".sqs-block"]}}
  remove: [".sqs-announcement-bar", ".sqs-cookie-banner", "[data-test='sqs-blocks-newsletter-form']"]
- id: cookie-banners
  phase: pre
  priority: 95
  trigger: {dom: {any: ["[class*='cookie-banner']", "#onetrust-consent-sdk"]}}
  remove: ["[class*='cookie-banner']", "#onetrust-consent-sdk", "[id*='cookie-notice']"]
- id: chat-widgets
  phase: pre
  priority: 90
  trigger: {dom: {any: ["#intercom-container", "[id*='drift-widget']"]}}
  remove: ["#intercom-container", "[id*='drift-widget']", .crisp-client]
- id: theguardian
  phase: post
  priority: 90
  trigger: {host: {equals: "theguardian.com"}}
  remove: ["aside", ".submeta", "[data-component='nav3']"]
  actions:
    - {op: retag, selector: .dcr-immersive-article-header__headline, tag: h2}
  metadata:
    author: {selector: "[rel='author']", attr: null}
    published: {selector: time, attr: datetime}
- id: nytimes
  phase: post
  priority: 90
  trigger: {host: {ends_with: nytimes.com}}
  remove: [.ad, "#story-footer", .supplemental]
- id: wsj-paywall
  phase: pre
  priority: 90
  trigger: {host: {ends_with: "wsj.com"}}
  selector_overrides: {wrapper: "#main-content", article: "[itemprop='articleBody']"}
  remove: [.snippet, .wsj-snippet-login]
- id: medium
  phase: post
  priority: 95
  trigger: {dom: {any: [".metabar", "[data-test='post-sidebar']"]}}
  remove: [.metabar, aside, .pw-responses]
- id: devto
  phase: post
  priority: 90
  trigger: {host: {equals: dev.to}}
  remove: [.crayons-article__aside, "#comments-container"]
- id: react-docs
  phase: pre
  priority: 85
  trigger: {host: {equals: react.dev}}
  rendering: {mode: force, wait_for: .main-content, timeout: 45000}
- id: amp-detector
  phase: pre
  trigger: {dom: {any_text_contains: ["⚡ AMP", "Accelerated Mobile Page"]}}
  remove: [.amp-notice]
"""
BOOK = Rulebook(read(RULES, "examples.yaml").rules)

PROSE = "".join(
    f"<p>In year {year} the orchard gave more pears than the village could carry, and the carts went out by night.</p>"
    for year in range(1901, 1913)
)
UNWANTED = "This sentence stands in the way of the orchard and nobody wants to read it again."


def page(extra: str, url: str = "https://orchard.example/pears") -> Page:
    html = f"<!doctype html><title>Pears</title><main id=main-content><article><h1>Pears</h1>{PROSE}{extra}</article></main>"
    return extract(html, url, rules=BOOK)


def test_all_of_them_load() -> None:
    assert read(RULES, "examples.yaml").faults == ()
    assert len(BOOK.rules) == 11


@pytest.mark.parametrize(
    ("rule", "url", "extra"),
    [
        ("swiper-carousel", None, f"<div class='swiper-slide swiper-slide-duplicate'><p>{UNWANTED}</p></div>"),
        ("squarespace", None, f"<div class=sqs-block><p>A pear.</p><div class=sqs-announcement-bar><p>{UNWANTED}</p></div></div>"),
        ("cookie-banners", None, f"<div class='site-cookie-banner-big'><p>{UNWANTED}</p></div>"),
        ("cookie-banners", None, f"<div id=onetrust-consent-sdk><p>{UNWANTED}</p></div>"),
        ("chat-widgets", None, f"<div id=my-drift-widget-1><p>{UNWANTED}</p></div>"),
        ("theguardian", "https://www.theguardian.com/a", f"<div class=submeta><p>{UNWANTED}</p></div>"),
        ("nytimes", "https://www.nytimes.com/a", f"<div class=supplemental><p>{UNWANTED}</p></div>"),
        ("wsj-paywall", "https://www.wsj.com/a", f"<div class=wsj-snippet-login><p>{UNWANTED}</p></div>"),
        ("medium", None, f"<div class=metabar><p>{UNWANTED}</p></div>"),
        ("devto", "https://dev.to/a", f"<div class=crayons-article__aside><p>{UNWANTED}</p></div>"),
        ("amp-detector", None, f"<p>An Accelerated Mobile Page.</p><div class=amp-notice><p>{UNWANTED}</p></div>"),
    ],
)  # fmt: skip
def test_it_matches_and_takes_away_what_it_names(rule: str, url: str | None, extra: str) -> None:
    read_page = page(extra, url or "https://orchard.example/pears")
    assert rule in [match.id for match in read_page.trace.rules]
    assert UNWANTED not in read_page.markdown
    assert "In year 1901 the orchard gave" in read_page.markdown


def test_guardian_headline_is_a_heading_and_author_and_date_are_the_rule_s() -> None:
    extra = (
        "<div class=dcr-immersive-article-header__headline>The year of the late frost</div><p>It froze in May, twice.</p>"
        "<p>By <a rel=author href=/p>Nora Quince</a>, <time datetime=2024-05-02>in May</time></p>"
    )
    read_page = page(extra, "https://theguardian.com/a")
    assert "## The year of the late frost" in read_page.markdown
    assert (read_page.metadata.author, read_page.metadata.published) == ("Nora Quince", "2024-05-02")


def test_wsj_article_is_all_that_is_seen() -> None:
    body = f"<div itemprop=articleBody><p>The frost came late.</p>{PROSE}</div>"
    html = f"<!doctype html><title>Frost</title><main id=main-content><p>{UNWANTED}</p>{body}<p>{UNWANTED}</p></main>"
    read_page = extract(html, "https://www.wsj.com/frost", rules=BOOK)
    assert "The frost came late." in read_page.markdown
    assert UNWANTED not in read_page.markdown


def test_react_dev_is_rendered() -> None:
    rendering = BOOK.rendering("https://react.dev/learn")
    assert rendering is not None
    assert (rendering.mode, rendering.wait_for, rendering.timeout) == ("force", ".main-content", 45000)
    assert BOOK.rendering("https://notreact.dev/learn") is None
