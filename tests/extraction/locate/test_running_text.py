"""Words are never cut out of a sentence because of what the element around them is called."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep import Page, extract

URL = "https://mill.example/blog/the-wheel"
STORY = "".join(
    f"<p>On day {day} the miller counted the sacks, one by one, until the tide turned and the wheel stood still.</p>"
    for day in range(6)
)
NAMES = (
    "btn button popup popover promo cta nav nav-link menu dropdown breadcrumb pagination skip recommendation-inline-link"
    " recommended related trending popular read-more more-stories tooltip tooltip-trigger modal dialog overlay lightbox toast"
    " share social twitter facebook whatsapp rss print comment comments reply respond newsletter subscribe signup signin login"
    " register donate paywall ad ads advert sponsored sponsor promoted taboola byline dateline timestamp published updated"
    " author bio author-box credit badge flair avatar signature karma cart wishlist checkout add-to-cart price toolbar submit"
    " sidebar widget rail footer foot copyright header masthead topbar disclaimer filter facet sort review reviews form bar"
    " cookie consent privacy gdpr tag tags tag-list post-meta entry-date anchor permalink headerlink icon edit caption source"
    " highlight glossary mention hashtag emoji video player gallery image thumbnail panel tab accordion collapse toggle faq"
    " quote callout aside complementary banner navigation search alert status contentinfo menuitem link note term"
    " teaser recirc up-next jump inline-ad autolink js-popup u-link is-active external affiliate product-card buy"
).split()
"""Words that name parts of a layout, their looks, or what a script does with them. What hides an element is not among them."""
HIDING_ROLES = frozenset({"tooltip"})
TAGS = ["a", "a", "a", "span", "span", "em", "strong", "b", "i", "u", "mark", "abbr", "cite", "small", "font", "x-term"]
WORDS = (
    "mill wheel sacks river stone bridge council winter flour barley tide ledger baker harvest lantern orchard".split()
)

names = st.builds(
    lambda pattern, name: pattern.format(name),
    st.sampled_from(["{0}", "{0}", "{0}", "{0}-link", "js-{0}", "x__{0}", "{0}_inline", "article-{0}-text"]),
    st.sampled_from(NAMES),
)


@st.composite
def attributes(draw: st.DrawFn) -> str:
    key = draw(st.sampled_from(["class", "class", "class", "id", "role", "aria-label", "data-testid"]))
    value = draw(names)
    return f'{key}="{"note" if key == "role" and value in HIDING_ROLES else value}"'


@st.composite
def sentence(draw: st.DrawFn) -> tuple[str, str]:
    """Return the HTML of a sentence with some named inline elements in it, and its words."""
    begin, middle, end = (draw(st.lists(st.sampled_from(WORDS), min_size=4, max_size=9)) for _ in range(3))
    words = [*begin, *middle, *end]
    where = draw(st.sampled_from(["middle", "middle", "first", "last", "two"]))
    parts = [" ".join(begin), " ".join(middle), " ".join(end)]
    for place in {"middle": [1], "first": [0], "last": [2], "two": [0, 2]}[where]:
        tag = draw(st.sampled_from(TAGS))
        link = ' href="/x"' if tag == "a" else ""
        parts[place] = f"<{tag} {draw(attributes())}{link}>{parts[place]}</{tag}>"
    return " ".join(parts) + draw(st.sampled_from([".", ", or so.", "?"])), " ".join(words)


@given(st.lists(sentence(), min_size=6, max_size=10))
def test_no_words_are_cut_out_of_a_sentence_by_a_name(sentences: list[tuple[str, str]]) -> None:
    body = "".join(f"<p>{html}</p>" for html, _ in sentences)
    words = " ".join(re.findall(r"\w+", _extract(body).text))
    for html, expected in sentences:
        assert expected in words, html


@pytest.mark.parametrize(
    "html",
    [
        '<p>Press <button class="btn">Save</button> and wait for the tide to turn.</p>',
        '<p>Nobody crossed <span class="tooltip">the weir<span class="tooltip-text">a low dam</span></span> that year.</p>',
        '<p>They <a class="promo" href="/x">pressed</a>, waited and <a class="cta" href="/z">turned the wheel</a></p>',
        '<ul><li>The sacks went to <a class="share-link" href="/x">the baker</a></li><li>The rest was sold.</li></ul>',
    ],
)
def test_words_beside_words_stay(html: str) -> None:
    shown = re.sub(r'<span class="tooltip-text">.*?</span>|<[^>]+>', " ", html)
    text = _extract(html).text
    assert [word for word in re.findall(r"\w+", shown) if word not in text] == []


@pytest.mark.parametrize(
    "html",
    [
        '<p>The sacks were counted until the tide turned. <a class="btn" href="/x">Open the ledger</a></p>',
        '<div><a class="btn" href="/x">Open the ledger</a> <a class="btn" href="/y">Send</a> <a href="/z">Keep</a></div>',
        '<p>Anna Miller | <span class="share">Open the ledger</span> | Sluice</p>',
        '<p>Nobody crossed the weir <span class="popup" style="display:none">Open the ledger</span> that year.</p>',
        '<p>Nobody crossed the weir <span class="visually-hidden">Open the ledger</span> that year.</p>',
    ],
)
def test_what_is_beside_a_sentence_or_hidden_goes(html: str) -> None:
    assert "Open the ledger" not in _extract(html).text


def _extract(html: str) -> Page:
    return extract(f"<title>The wheel</title><article><h1>The wheel</h1>{STORY}{html}{STORY}</article>", URL)
