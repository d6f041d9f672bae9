"""Text that many pages of a site show, left out of each of them."""

from __future__ import annotations

from pagekeep import Options, extract
from pagekeep.extraction.site import fingerprint, learn
from pagekeep.model.page import SiteKnowledge

PITCH = "Tell a friend about these pages and leave your window open on Fridays."
LABELS = ("Harbour", "Chapel", "Old mill", "Market")
STORY = "The keeper of the light wrote this report, because nobody had asked him for one, in the winter when the ships stayed away"


def _vary(text: str, number: int, part: int) -> str:
    """Return the text in words of this page alone."""
    return " ".join(f"{word.strip(',')}{chr(97 + number)}{chr(97 + part)}" for word in text.split())


def page(number: int, *, extra: str = "", heading: str = "Costs") -> str:
    labels = "".join(f"<div>{label}</div>" for label in LABELS)
    paragraphs = "".join(f"<p>{_vary(STORY, number, part)}.</p>" for part in range(4))
    return (
        f"<title>Report {number}</title><main><h1>Report {'i' * number}</h1>{paragraphs}<p>{PITCH}</p>{extra}<h2>{heading}</h2>"
        f"<p>The bill of report {'z' * (number + 1)} was paid {'very ' * number}late, and by somebody else altogether.</p><div>{labels}</div></main>"
    )


def know(pages: list[str]) -> SiteKnowledge:
    return learn(fingerprint(extract(html).text) for html in pages)


SITE = know([page(number) for number in range(10)])


def read(html: str) -> str:
    return extract(html, options=Options(site=SITE)).markdown


def test_a_pitch_and_a_row_of_labels_are_left_out() -> None:
    assert PITCH in extract(page(3)).markdown
    markdown = read(page(3))
    assert PITCH not in markdown
    assert "Old mill" not in markdown
    assert "The bill of report zzzz" in markdown


def test_a_heading_of_every_page_stays_with_its_text() -> None:
    assert "## Costs" in read(page(3))


def test_a_single_label_stays() -> None:
    assert "Chapel" in read(
        page(2, extra="<p>The vote was close in the end, they say, in</p><p>Chapel</p><p>and nowhere else at all.</p>")
    )


def test_code_and_cells_stay() -> None:
    extra = (
        f"<pre>{PITCH}</pre><table><tr><th>Name</th><th>Text</th></tr><tr><td>pitch</td><td>{PITCH}</td></tr></table>"
    )
    assert read(page(2, extra=extra)).count(PITCH) == 2


def test_the_reason_is_recorded() -> None:
    removals = extract(page(3), options=Options(site=SITE)).trace.removals
    assert {removal.reason for removal in removals if removal.step == "site-repeats"} == {
        "same on other pages of the site"
    }


def test_a_page_that_is_like_others_as_a_whole_stays() -> None:
    alike = f"<title>A</title><main><h1>A</h1><p>{PITCH}</p><p>{PITCH[:-1]}!</p><p>Something new.</p></main>"
    assert PITCH in read(alike)
