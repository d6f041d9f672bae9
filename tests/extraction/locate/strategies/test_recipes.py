"""Ingredients and steps of a recipe."""

from __future__ import annotations

import json

import pytest

from pagekeep import Page, extract

INGREDIENTS = ["500 g of flour", "2 spoons of honey", "a pinch of salt", "warm water"]
STEPS = ["Mix it all.", "Let it rest.", "Bake it hot."]
STORY = "".join(
    f"<p>On day {day} the miller baked a loaf of the new flour, and the whole village came to taste it.</p>"
    for day in range(4)
)
LD = {"@context": "https://schema.org", "@type": "Recipe", "name": "Loaf", "recipeIngredient": INGREDIENTS}
STEPS_LD = {"recipeInstructions": [{"@type": "HowToStep", "text": step} for step in STEPS]}


def page(parts: str, data: object = None) -> Page:
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>' if data else ""
    body = f"<div class=shop><p>Sieves</p><p>Bags</p></div><article>{parts}</article>"
    return extract(f"<title>Loaf</title>{script}{body}", "https://mill.example/loaf")


def listed(texts: list[str], attribute: str = "") -> str:
    return "".join(f"<li {attribute}>{text}</li>" for text in texts)


@pytest.mark.parametrize(
    "parts",
    [
        f"<div><ul>{listed(INGREDIENTS)}</ul></div><div>{STORY}</div><ol>{listed(STEPS)}</ol>",
        f"<div>{STORY}</div><section><ul>{listed(INGREDIENTS)}</ul><ol>{listed(STEPS)}</ol></section>",
        "<table>"
        + "".join(f"<tr><td>{text}</td></tr>" for text in INGREDIENTS)
        + f"</table><div>{STORY}</div><ol>{listed(STEPS)}</ol>",
    ],
)
def test_what_json_ld_names_is_part_of_the_recipe(parts: str) -> None:
    text = page(parts, LD | STEPS_LD).text
    assert [part for part in INGREDIENTS + STEPS if part not in text] == []
    assert "Sieves" not in text


def test_what_microdata_names_is_part_of_the_recipe() -> None:
    ingredients, steps = listed(INGREDIENTS, "itemprop=recipeIngredient"), listed(STEPS, "itemprop=recipeInstructions")
    parts = f"<div><ul>{ingredients}</ul></div><div>{STORY}</div><ol>{steps}</ol>"
    text = page(f'<div itemscope itemtype="https://schema.org/Recipe">{parts}</div>').text
    assert [part for part in INGREDIENTS + STEPS if part not in text] == []


def test_a_recipe_far_away_is_of_another_page() -> None:
    far = f"<div>{'<p>Sieves, bags and stones</p>' * 200}</div>"
    story = STORY + STORY.replace("On day", "On evening") + STORY.replace("On day", "On night")
    html = f"<div>{story}</div>{far}<ul>{listed(INGREDIENTS)}</ul>"
    assert INGREDIENTS[0] not in page(html, LD).text
