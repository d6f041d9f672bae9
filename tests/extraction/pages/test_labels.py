"""The labels of links between pages."""

from __future__ import annotations

import pytest

from pagekeep.extraction import pages


@pytest.mark.parametrize(
    "label",
    ["2", "[2]", "Page 2", "2 / 5", "page 2 of 5", "Next", "next page", "Next »", "›", "Continue reading", "Weiter",
     "Nächste Seite", "Page suivante", "Página siguiente", "Pagina successiva", "Volgende pagina", "次のページ", "Next Page →",
     "Continue to page 2", "Page 2: The engine", "Halaman selanjutnya", "Weiter auf Seite 2", "Read more on page 2"],
)  # fmt: skip
def test_labels_of_the_next_page(label: str) -> None:
    assert pages.leads_on(pages.squeeze(label), 2)


@pytest.mark.parametrize(
    "label",
    ["", "1", "3", "Page 3", "Previous", "Weekly Links →", "Next article", "Next post", "Next chapter", "Next photo", "Home",
     "Next: The mill by the tide", "2 comments", "Sails", "Older posts", "x" * 500, "nächster Artikel", "2 for the price of 1"],
)  # fmt: skip
def test_other_labels(label: str) -> None:
    assert not pages.leads_on(pages.squeeze(label), 2)


@pytest.mark.parametrize("label", ["View as a single page", "Print", "Printer friendly version", "Show all", "Full article",
                                   "Alles auf einer Seite", "Druckversion", "Imprimer", "View All"])  # fmt: skip
def test_labels_of_all_on_one_page(label: str) -> None:
    assert pages.shows_all(pages.squeeze(label))


@pytest.mark.parametrize("label", ["View all comments", "Show all photos", "All products", "Next", "Print edition"])
def test_other_labels_that_say_all(label: str) -> None:
    assert not pages.shows_all(pages.squeeze(label))


@pytest.mark.parametrize("text", ["1 2 3 Next", "Page 1 of 3", "« Previous 1 2 Next »", "Next page", "Print", "Weiter"])
def test_blocks_that_only_lead_to_other_pages(text: str) -> None:
    assert pages.is_page_list(text)


@pytest.mark.parametrize("text", ["", "The next page was empty.", "42", "To be continued by the miller", "***"])
def test_blocks_of_text_are_kept(text: str) -> None:
    assert not pages.is_page_list(text)
