"""XPath as CSS: the selector matches the same elements, or the reason is reported."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.rules import selectors
from pagekeep_lab.rule_importers.xpath import Css, NotCss, to_css

SAID = {
    "//div[@class='x']": 'div[class="x"]',
    "//div[@id='x']": "div#x",
    "//div[@id='x.y']": 'div[id="x.y"]',
    "//*[contains(@class,'x')]": '[class*="x"]',
    "//div[contains(concat(' ',normalize-space(@class),' '),' x ')]": "div.x",
    "//div[contains(concat(' ', @class, ' '), ' x ')]//p": "div.x p",
    "//a[starts-with(@href,'http')]": 'a[href^="http"]',
    "/html/body/div": "html > body > div",
    ".//p": "p",
    "descendant::p": "p",
    "//div/descendant::p": "div p",
    "//div/child::p": "div > p",
    "//div[@id='a' or @id='b']": "div:is(#a, #b)",
    "//a[@href and not(@rel)]": "a[href]:not([rel])",
    "//a[@href != 'x']": 'a[href]:not([href="x"])',
    "//a[@title='say \"so\"']": 'a[title="say \\"so\\""]',
    "//*[self::p or self::div]": ":is(p, div)",
    "//div[self::p]": "div:is(p)",
    "//h1[1]": "h1:nth-of-type(1)",
    "//*[2]": ":nth-child(2)",
    "//p[last()]": "p:nth-last-of-type(1)",
    "//p[position()=last()]": "p:nth-last-of-type(1)",
    "//p[position()<3]": "p:nth-of-type(-n+2)",
    "//p[position()>=3]": "p:nth-of-type(n+3)",
    "//div[@class='a'][1]": ':nth-child(1 of div[class="a"])',
    "//h2/following-sibling::p": "h2 ~ p",
    "//h2/following-sibling::*[1][self::p]": "h2 + :is(p)",
    "//div[@id='x']/..": ":has(> div#x)",
    "//b/parent::p": "p:has(> b)",
    "//b/ancestor::p": "p:has(b)",
    "//p[a/img]": "p:has(> a > img)",
    "//p[.//img]": "p:has(img)",
    "//a | //b": "a, b",
    "//h1/text()": "h1",
    "string(//h1)": "h1",
}

NOT_SAID = {
    "//p[contains(.,'x')]": "text",
    "//p[.='x']": "text",
    "//p[a='x']": "text",
    "substring-after(//h1,'x')": "not supported",
    "//p[text()='x']": "text()",
    "(//p)[1]": "whole page",
    "//p[count(a)>2]": "count()",
    "//p[@width > 3]": "numbers",
    "//p[position() mod 2 = 1]": "positions",
    "//h2/following-sibling::p[1]": "following siblings",
    "//p/preceding-sibling::p": "preceding-sibling",
    "//p[//a]": "another part",
    "//p[../a]": "around",
    "//*[@*='x']": "any name",
    "//a/@href | //b": "different attributes",
    "//svg:g": "not an element",
    "//div[": "not an element",
    "//div[@a='x'": "`]` is missing",
    "//div]": "cannot be parsed",
    "": "not an element",
    "/..": "no parent",
    "//a" + "[b" * 50 + "]" * 50: "levels deep",
    "//a" * 1000: "longer than",
    "//a[@b='\x07']": "control characters",
    "//a#b": "cannot be parsed",
}


@pytest.mark.parametrize("xpath", SAID)
def test_what_css_can_express_is_translated(xpath: str) -> None:
    assert to_css(xpath) == Css(SAID[xpath], None)
    selectors.check(SAID[xpath])


@pytest.mark.parametrize("xpath", NOT_SAID, ids=lambda xpath: xpath[:30])
def test_what_css_cannot_express_is_reported(xpath: str) -> None:
    with pytest.raises(NotCss, match=NOT_SAID[xpath].replace("(", r"\(").replace(")", r"\)")):
        to_css(xpath)


@pytest.mark.parametrize(
    ("xpath", "selector", "attr"),
    [
        ("//meta[@name='a']/@content", 'meta[name="a"][content]', "content"),
        ("//@style", "[style]", "style"),
        ("//div//@style", "div [style]", "style"),
    ],
)
def test_attribute_at_the_end_is_what_is_meant(xpath: str, selector: str, attr: str) -> None:
    assert to_css(xpath) == Css(selector, attr)


@given(st.text(alphabet="/.@*[]()|='\"abp, <>!:-12\n", max_size=60) | st.text(max_size=60))
def test_any_text_is_css_or_reported(text: str) -> None:
    with contextlib.suppress(NotCss):
        assert to_css(text).selector
