"""Which selectors are allowed."""

from __future__ import annotations

import pytest

from pagekeep.rules.selectors import MAX_LENGTH, SelectorFault, check


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
        (":first-child:has(.x) a", "Let `:has()` and `of` stand at the end."),
        (":is(:has(a)) > b", "Let `:has()` and `of` stand at the end."),
        (":nth-child(2 of .a) b", "Let `:has()` and `of` stand at the end."),
        (":has(:has(a))", "Do not put `:has()` or `of` in one another."),
        (":has(:nth-child(2 of .a))", "Do not put `:has()` or `of` in one another."),
        ("a:has(b c)", "Write `>` for the space in `:has()`, or less."),
        (":has(a):has(b):has(c):has(d)", "Say it more simply."),
        (":not(:not(:not(:not(a))))", "Say it more simply."),
        (":lang(en)", "Say it more simply."),
        ("p:dir(rtl) a", "Say it more simply."),
    ],
)
def test_what_could_take_very_long_is_refused(selector: str, advice: str) -> None:
    with pytest.raises(SelectorFault, match="could take very long") as caught:
        check(selector)
    assert caught.value.suggestion == advice


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("a[", "is no selector: expected an identifier at position 2."),
        ("a::before", "is no selector"),
        ("p:contains(x)", "unknown pseudo-class"),
        ("a" * (MAX_LENGTH + 1), "longer than"),
        ("a,,b", "is no selector"),
    ],
)
def test_what_is_no_selector_is_refused(selector: str, said: str) -> None:
    with pytest.raises(SelectorFault) as caught:
        check(selector)
    assert said in str(caught.value)
