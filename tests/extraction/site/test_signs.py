"""How the pages of a site are made: their selector, their platform, and what a page makes of it."""

from __future__ import annotations

from pagekeep import Options, dom, extract
from pagekeep.extraction.site import fingerprint, learn_signs, read_signs
from pagekeep.model.page import PageSigns, SiteKnowledge
from pagekeep.rules import shipped

LINE = (
    "The keeper of the {} light counted every ship that passed the harbour wall before the storm of that winter came."
)
LETTER = "A reader from {} writes that the lamp of his village was green and that nobody remembers who painted it so."
WORDS = "north south east west upper lower inner outer first second third fourth".split()


def paragraphs(line: str, count: int, seed: int = 0) -> str:
    return "".join(f"<p>{line.format(WORDS[(seed + number) % len(WORDS)])}</p>" for number in range(count))


def make(inner: str, letters: int = 0, frame: str = 'class="k-text"') -> str:
    beside = f'<div class="k-rest">{paragraphs(LETTER, letters)}</div>'
    return (
        f"<html><head><title>The light</title></head><body><div><div {frame}>{inner}</div>{beside}</div></body></html>"
    )


def signs_of(html: str) -> PageSigns:
    text = extract(html, "https://site.example/").text
    return read_signs(dom.parse(html), "https://site.example/", fingerprint(text), SiteKnowledge(), shipped())


def test_the_element_of_the_content_is_named_by_its_class() -> None:
    assert signs_of(make(paragraphs(LINE, 8))).selectors == ("div.k-text",)


def test_an_element_without_a_name_is_found_below_one_that_has_one() -> None:
    assert signs_of(make(f"<div>{paragraphs(LINE, 8)}</div><b>1</b>")).selectors == ("div.k-text > div",)


def test_a_name_that_the_page_has_twice_is_not_one() -> None:
    html = make(paragraphs(LINE, 8)).replace("k-rest", "k-text")
    assert "div.k-text" not in signs_of(html).selectors


def test_most_pages_decide_and_eight_are_needed() -> None:
    usual, other = PageSigns(("div.k-text", "#a1")), PageSigns(("article",))
    site = SiteKnowledge(12)
    assert learn_signs(site, [usual] * 8 + [other] * 4).selector == "#a1"
    assert learn_signs(site, [usual] * 7 + [other] * 4).selector is None
    assert learn_signs(site, [usual] * 8 + [PageSigns((f"#p{number}",)) for number in range(9)]).selector is None


def test_the_order_of_the_pages_does_not_matter() -> None:
    pages = [PageSigns(("b.x",), ("one",)), PageSigns(("a.x",), ("one", "two"))] * 8
    assert learn_signs(SiteKnowledge(), pages) == learn_signs(SiteKnowledge(), reversed(pages))
    assert learn_signs(SiteKnowledge(), pages).rules == ("one", "two")


def test_a_page_with_more_words_beside_its_content_uses_the_selector() -> None:
    html = make(paragraphs(LINE, 8), letters=24)
    assert "A reader from" in extract(html).markdown
    known = extract(html, options=Options(site=SiteKnowledge(9, selector="div.k-text")))
    assert "A reader from" not in known.markdown
    assert known.markdown.count("counted every ship") == 8


def test_a_page_that_does_not_confirm_the_selector_is_read_as_usual() -> None:
    for html in (
        make(paragraphs(LINE, 8), frame=""),  # nothing is found
        make(paragraphs(LINE, 8)).replace("k-rest", "k-text"),  # two are
        make("<p>Letters to the editor of this paper</p>", letters=24),  # it is the heading of a list
    ):
        known = Options(site=SiteKnowledge(9, selector="div.k-text"))
        assert extract(html, options=known).markdown == extract(html).markdown


def test_rules_of_the_platform_apply_to_pages_that_do_not_show_it() -> None:
    bar = '<div class="related"><p>Previous chapter about the lamps of the coast, next chapter about the fog bells.</p></div>'
    text = f'<div role="main"><h1>The light<a class="headerlink" href="#x">¶</a></h1>{paragraphs(LINE, 8)}</div>'
    html = f"<html><head><title>The light</title></head><body>{bar}{text}</body></html>"
    sphinx = html.replace("<body>", '<body><script id="documentation_options"></script>')
    assert "sphinx-page" in signs_of(sphinx).rules
    assert "sphinx-page" not in signs_of(html).rules
    known = extract(html, options=Options(site=SiteKnowledge(9, rules=("sphinx-page", "no-such-rule"))))
    assert [match.trigger for match in known.trace.rules if match.id == "sphinx-page"] == [
        "most pages of the site match it"
    ]
