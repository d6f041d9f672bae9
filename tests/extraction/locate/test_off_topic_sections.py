"""Sections of a product page that are about something else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pagekeep import dom
from pagekeep.extraction.locate import boilerplate
from pagekeep.extraction.locate.page_facts import PageFacts
from pagekeep.extraction.locate.survey import Survey

Surveyed = Callable[[str], Survey]
FactsOf = Callable[..., PageFacts]

STORY = "<p>A millstone of hard granite, cut by hand, balanced, and ready to grind a winter's worth of rye.</p>"
PRODUCT = f"<h1>Millstone</h1><h2>Description</h2>{STORY * 6}"
OTHERS = "<div>Sieve 12.00</div><div>Sack 3.00</div>"


def reasons(facts: PageFacts) -> set[str]:
    return {exclusion.reason for exclusion in facts.excluded.values()}


def cut(found: Survey) -> dict[str, str]:
    """The text of each section and why it goes."""
    named = boilerplate.find_sections(found, 0, {})
    return {" ".join(dom.text_of(found.nodes[index]).split()): reason for index, reason in named.items()}


@pytest.mark.parametrize(
    "heading",
    [
        "You may also like",
        "You might also like these",
        "Customers who bought this also bought",
        "Similar items",
        "Related products",
        "Frequently bought together",
        "Das könnte Ihnen auch gefallen",
        "Produits similaires",
        "También te puede gustar",
        "猜你喜欢",
    ],
)
def test_other_products_are_known_by_their_heading(surveyed: Surveyed, heading: str) -> None:
    found = surveyed(f"{PRODUCT}<section><div><h2>{heading}</h2></div>{OTHERS}</section>")
    assert cut(found) == {f"{heading} Sieve 12.00Sack 3.00".replace(" Sieve", "Sieve"): "other products"}


@pytest.mark.parametrize(
    "heading", ["Reviews", "Customer reviews (12)", "Kundenbewertungen", "Avis clients", "レビュー"]
)
def test_opinions_are_known_by_their_heading(surveyed: Surveyed, heading: str) -> None:
    found = surveyed(f"{PRODUCT}<section><h3>{heading}</h3><p>It grinds.</p></section>")
    assert list(cut(found).values()) == ["reviews"]


@pytest.mark.parametrize(
    "heading", ["Specifications", "Related standards", "Reviewed settings", "What you get", "Avistamientos"]
)
def test_sections_about_the_product_stay(surveyed: Surveyed, heading: str) -> None:
    assert cut(surveyed(f"{PRODUCT}<section><h2>{heading}</h2>{OTHERS}</section>")) == {}


def test_the_section_ends_where_text_precedes_its_heading(surveyed: Surveyed) -> None:
    inner = f"<div id='others'><h2>Similar items</h2>{OTHERS}</div>"
    found = surveyed(f"{PRODUCT}<div><p>Weighs 80 kg.</p>{inner}</div>")
    (index,) = boilerplate.find_sections(found, 0, {})
    assert found.nodes[index].attr("id") == "others"  # type: ignore[attr-defined]


def test_an_excluded_part_before_the_heading_does_not_end_the_section(surveyed: Surveyed) -> None:
    found = surveyed(f"{PRODUCT}<div id='all'><nav>Up</nav><div><h2>Similar items</h2>{OTHERS}</div></div>")
    (index,) = boilerplate.find_sections(found, 0, {found.tag.index("nav"): "navigation"})
    assert found.nodes[index].attr("id") == "all"  # type: ignore[attr-defined]


def test_a_heading_without_its_own_text_takes_nothing_along(surveyed: Surveyed) -> None:
    assert cut(surveyed(f"{PRODUCT}<h2>Reviews</h2>{STORY}")) == {}


def test_the_better_part_of_the_page_is_not_removed_for_its_heading(surveyed: Surveyed) -> None:
    assert cut(surveyed(f"<div><h2>More from the mill</h2>{STORY * 9}</div><p>Short.</p>")) == {}


def test_only_product_pages_are_read_so(facts_of: FactsOf) -> None:
    html = f"{PRODUCT}<section><h2>Similar items</h2>{OTHERS}</section>"
    assert "other products" in reasons(facts_of(html, "product"))
    assert "other products" not in reasons(facts_of(html, "listing"))
