"""Which selectors are allowed."""

from __future__ import annotations

import pytest

from pagekeep.rules.selectors import MAX_SELECTOR_CHARS, SelectorFault, check


@pytest.mark.parametrize(
    "selector",
    [
        ".a > b + c ~ d, #e",
        '[href^="http"]:not(.x, .y z)',
        "figure:has(> img):has(> figcaption)",
        "a b:has(c)",
        "a:has(b), c > d",
        "a:has( > b )",
        "a:has(b > c, d)",
        "li:has(~ li)",
        ":is(a:has(b), c)",
        ":nth-child(2n + 1) b",
        ":nth-child(2n + 1 of .a)",
        'a:has([title="x y"])',
        r"a:has([title='it\'s so'])",
        "p:not([a~=b]) b",
    ],
)
def test_selectors_for_everyday_use_are_allowed(selector: str) -> None:
    check(selector)


@pytest.mark.parametrize(
    ("selector", "advice"),
    [
        (":first-child:has(.x) a", "Move `:has()` and `of` to the end of the selector."),
        (":is(:has(a)) > b", "Move `:has()` and `of` to the end of the selector."),
        (":nth-child(2 of .a) b", "Move `:has()` and `of` to the end of the selector."),
        (":has(:has(a))", "Do not nest `:has()` and `of`."),
        (":has(:nth-child(2 of .a))", "Do not nest `:has()` and `of`."),
        ("a:has(b c)", "Use `>` instead of the space in `:has()`."),
        (":has(a):has(b):has(c):has(d)", "Use a simpler selector."),
        (":not(:not(:not(:not(a))))", "Use a simpler selector."),
        (":lang(en)", "Use a simpler selector."),
        ("p:dir(rtl) a", "Use a simpler selector."),
    ],
)
def test_what_could_take_very_long_is_refused(selector: str, advice: str) -> None:
    with pytest.raises(SelectorFault, match="could be very slow") as caught:
        check(selector)
    assert caught.value.suggestion == advice


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("a[", "is not a valid selector: expected an identifier at position 2."),
        ("a::before", "is not a valid selector"),
        ("p:contains(x)", "unknown pseudo-class"),
        ("a" * (MAX_SELECTOR_CHARS + 1), "longer than"),
        ("a,,b", "is not a valid selector"),
    ],
)
def test_what_is_not_a_selector_is_refused(selector: str, expected: str) -> None:
    with pytest.raises(SelectorFault) as caught:
        check(selector)
    assert expected in str(caught.value)
