from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("b", "strong"),
        ("i", "em"),
        ("strike", "s"),
        ("tt", "code"),
        ("samp", "code"),
        ("acronym", "abbr"),
        ("var", "em"),
    ],
)
def test_old_names_become_modern_ones(cleaned, old, new):
    assert cleaned(f"<p>a <{old}>tea</{old}></p>") == f"<p>a <{new}>tea</{new}></p>"


@pytest.mark.parametrize("tag", ["font", "big", "u", "nobr", "label", "time", "bdi", "tea-word"])
def test_elements_that_say_nothing_leave_their_text(cleaned, tag):
    assert cleaned(f"<p>a <{tag}>tea</{tag}> b</p>") == "<p>a tea b</p>"


@pytest.mark.parametrize("tag", ["sub", "sup", "mark", "kbd", "q", "cite", "small", "del", "ins", "s"])
def test_elements_of_the_contract_stay(cleaned, tag):
    assert cleaned(f"<p>a <{tag} class='x'>tea</{tag}></p>") == f"<p>a <{tag}>tea</{tag}></p>"


def test_a_cite_around_a_whole_reference_is_opened(cleaned):
    html = '<p><cite class="citation">Quist, Ada. <i>Tea</i>. 1924.</cite> and <cite>Leaves</cite></p>'
    assert cleaned(html) == "<p>Quist, Ada. <em>Tea</em>. 1924. and <cite>Leaves</cite></p>"
