"""The steps that remove parts before and within the content."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pagekeep import extract
from pagekeep.extraction import clean, locate, prune
from pagekeep.extraction.locate.page_facts import PageFacts
from pagekeep.extraction.locate.strategies import readability
from pagekeep.model import Options

FactsOf = Callable[..., PageFacts]

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still."
STORY = "".join(f"<p>On day {i} it was the same. {SENTENCE}</p>" for i in range(8))
LINKS = "<ul>" + "".join(f'<li><a href="/{i}">Another story {i}</a></li>' for i in range(5)) + "</ul>"
PAGE = f"<body><nav>Home</nav><article><h1>Mill</h1><p>March 5, 2024</p>{STORY}<h2>See also</h2>{LINKS}<p>Loading...</p></article>"


def test_every_step_has_its_own_name_and_a_description() -> None:
    steps = [*locate.STEPS, *prune.STEPS, *clean.STEPS]
    assert len({step.name for step in steps}) == len(steps)
    assert all(step.description for step in steps)


def test_every_removal_has_the_name_of_its_step() -> None:
    removals = extract(PAGE, "https://mill.example/a").trace.removals
    assert {(removal.step, removal.reason) for removal in removals} >= {
        ("boilerplate", "navigation"),
        ("datelines", "date line"),
        ("link-blocks", "link list"),
        ("lone-headings", "heading of a removed section"),
        ("stray-lines", "loading"),
    }


@pytest.mark.parametrize(
    ("step", "text"),
    [
        ("datelines", "March 5, 2024"),
        ("link-blocks", "Another story 3"),
        ("lone-headings", "See also"),
        ("stray-lines", "Loading..."),
    ],
)
def test_a_skipped_step_removes_nothing(step: str, text: str) -> None:
    url = "https://mill.example/a"
    assert text not in extract(PAGE, url).markdown
    page = extract(PAGE, url, options=Options(skip_steps=frozenset({step})))
    assert text in page.markdown
    assert step not in {removal.step for removal in page.trace.removals}


def test_pruning_adds_to_what_is_excluded_and_changes_nothing_else(facts_of: FactsOf) -> None:
    facts = facts_of(PAGE)
    content = readability.locate(facts)
    assert content is not None
    before = dict(content.excluded)
    pruned = prune.prune(facts, content)
    assert content.excluded == before
    assert pruned.root == content.root
    assert pruned.excluded.items() > before.items()
