"""Recipes: ingredients and steps are lines and lists, without a vote on where the content is; the page's data names them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pagekeep import dom
from pagekeep.extraction.input.structured import Structured, types
from pagekeep.extraction.locate.page_facts import PageFacts
from pagekeep.extraction.locate.survey import TEXT, Survey
from pagekeep.text import compile_lazily

_MAX_PARTS: Final = 100
"""Ingredients and steps of a recipe that are looked for."""
_MIN_FOUND: Final = 3
"""Ingredients and steps that must be found on the page."""
_PART_CHARS: Final = 40
"""Characters by which an ingredient or a step is recognised."""
_MIN_PART_CHARS: Final = 3
"""Characters of the shortest ingredient that is recognised."""
_MAX_GROWTH: Final = 2.5
"""How many times the text of root and recipe the element around both may have; with more it is the page's layout."""
_PROPERTIES: Final = "[itemprop~=recipeIngredient], [itemprop~=ingredients], [itemprop~=recipeInstructions]"
_NOT_WORD: Final = compile_lazily(r"[\W_]+")


def widen(facts: PageFacts, root: int) -> int:
    """Return the element around the root and the recipe's ingredients and steps; the root itself on pages without a recipe."""
    if "Recipe" not in types(facts.structured):
        return root
    survey = facts.survey
    parts = [index for index in _find_parts(facts) if not facts.dead[index]]
    outside = [index for index in parts if not root <= index < survey.end[root]]
    if len(parts) < _MIN_FOUND or not outside:
        return root
    wide = root
    while wide > min(outside) or survey.end[wide] <= max(outside):
        wide = survey.parent[wide]
    lists = {survey.parent[index] for index in outside}
    own = survey.chars[root] + sum(survey.chars[index] for index in _iterate_outermost(survey, lists))
    return wide if _measure_kept(facts, wide) <= _MAX_GROWTH * own else root


def _iterate_outermost(survey: Survey, indices: set[int]) -> Iterator[int]:
    end = 0
    for index in sorted(indices):
        if index >= end:
            yield index
            end = survey.end[index]


def _measure_kept(facts: PageFacts, root: int) -> int:
    """Count the characters in an element that are not excluded."""
    survey = facts.survey
    inside = range(root, survey.end[root])
    return sum(survey.chars[index] for index in inside if survey.tag[index] == TEXT and not facts.dead[index])


def _find_parts(facts: PageFacts) -> list[int]:
    """Find the elements of the ingredients and steps, by microdata or by the words that JSON-LD has."""
    survey = facts.survey
    marked = dom.select(survey.nodes[0], _PROPERTIES)[:_MAX_PARTS]
    if marked:
        return sorted(index for index in survey.find_nodes(marked).values() if survey.chars[index])
    wanted = {key for text in _iterate_texts(facts.structured) if len(key := _make_key(text)) >= _MIN_PART_CHARS}
    if not wanted:
        return []
    longest = max(map(len, wanted))
    found: dict[str, int] = {}
    for index in survey.find_tags("li", "p", "tr", "div", "dd"):
        if 0 < survey.chars[index] <= 20 * longest:
            key = _make_key(dom.text_of(survey.nodes[index]))
            if key in wanted:
                found[key] = index  # the innermost element, the last one of the page
    return sorted(found.values())


def _make_key(text: str) -> str:
    return _NOT_WORD.sub("", text.lower())[:_PART_CHARS]


def _iterate_texts(structured: Structured) -> Iterator[str]:
    """Yield the ingredients and steps that JSON-LD has."""
    for item in structured.json_ld:
        pending: list[Any] = [item.get("recipeIngredient"), item.get("recipeInstructions")]
        for _ in range(_MAX_PARTS):
            if not pending:
                break
            value = pending.pop(0)
            if isinstance(value, str):
                yield value
            elif isinstance(value, list):
                pending.extend(value)
            elif isinstance(value, dict):
                pending += [value.get("text"), value.get("itemListElement")]
