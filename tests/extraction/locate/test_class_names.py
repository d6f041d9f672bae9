"""Signs in class names and ids."""

from __future__ import annotations

import pytest

from pagekeep.extraction.locate.survey import Sign, find_signs


def signs(names: str) -> Sign:
    return Sign(find_signs(names))


@pytest.mark.parametrize(
    ("names", "sign"),
    [
        ("nav", Sign.NAVIGATION),
        ("main-nav", Sign.NAVIGATION),
        ("site_menu", Sign.NAVIGATION),
        ("breadcrumbs", Sign.NAVIGATION),
        ("page-footer", Sign.FOOTER),
        ("left-sidebar", Sign.SIDEBAR),
        ("ad", Sign.ADVERT),
        ("top-ad-slot", Sign.ADVERT),
        ("sponsored", Sign.ADVERT),
        ("share-bar", Sign.SHARE),
        ("comments", Sign.COMMENTS),
        ("articles-similaires", Sign.RELATED),
        ("bloque-comentarios", Sign.COMMENTS),
        ("werbung-oben", Sign.ADVERT),
        ("related-posts", Sign.RELATED),
        ("newsletter", Sign.SIGNUP),
        ("cookie-notice", Sign.COOKIES),
        ("sr-only", Sign.HIDDEN),
        ("product-filters", Sign.FILTERS),
        ("contact-form", Sign.FORM),
        ("sticky-bar", Sign.BAR),
        ("offer__disclaimer", Sign.SMALL_PRINT),
        ("lang-dropdown", Sign.NAVIGATION),
        ("entry-content", Sign.CONTENT),
    ],
)
def test_a_known_name_gives_its_sign(names: str, sign: Sign) -> None:
    assert sign in signs(names)


@pytest.mark.parametrize(
    ("names", "sign"),
    [
        ("shadow", Sign.ADVERT),
        ("barley", Sign.BAR),
        ("platform", Sign.FORM),
        ("no-filter", Sign.FILTERS),
        ("shadow-lg", Sign.ADVERT),
        ("download", Sign.ADVERT),
        ("gradient", Sign.ADVERT),
        ("loading", Sign.ADVERT),
        ("heading", Sign.ADVERT),
        ("unavailable", Sign.NAVIGATION),
        ("navy", Sign.NAVIGATION),
        ("commentary", Sign.COMMENTS),
        ("shareholder", Sign.SHARE),
        ("footnote", Sign.FOOTER),
        ("football", Sign.FOOTER),
        ("promontory", Sign.ADVERT),
        ("tablet", Sign.FOLDED),
        ("panelist", Sign.FOLDED),
    ],
)
def test_a_word_inside_another_word_is_ignored(names: str, sign: Sign) -> None:
    assert sign not in signs(names)


@pytest.mark.parametrize("names", ["shareBar", "share_bar", "share-bar", "SHARE-BAR", "Share", "c-share__bar2"])
def test_words_are_parted_by_case_and_by_anything_but_letters(names: str) -> None:
    assert Sign.SHARE in signs(names)


@pytest.mark.parametrize(
    "names", ["has-sidebar", "no-sidebar", "with-sidebar", "without-sidebar", "hasSidebar", "has-left-sidebar"]
)
def test_a_name_that_states_whether_something_exists_is_ignored(names: str) -> None:
    assert Sign.SIDEBAR not in signs(names)


def test_each_of_several_names_is_read() -> None:
    found = signs("wide  nav\n\tfooter-links")
    assert Sign.NAVIGATION in found
    assert Sign.FOOTER in found


def test_a_stating_name_does_not_silence_its_neighbours() -> None:
    assert Sign.NAVIGATION in signs("has-sidebar nav")


@pytest.mark.parametrize("names", ["", " ", "content-x1", "\u5bfc\u822a", "-_-", "123"])
def test_names_without_a_known_word_give_no_sign(names: str) -> None:
    assert signs(names) == Sign.NONE


def test_endless_names_are_not_read_to_the_end() -> None:
    assert signs("nav-" * 100_000) == Sign.NONE
    assert Sign.NAVIGATION in signs("nav " + "x " * 100_000)


@pytest.mark.parametrize("name", ["print:hidden", "md:nav", "w-[ad]", "group/share:block"])
def test_utility_classes_give_no_sign(name: str) -> None:
    assert signs(name) == Sign.NONE


@pytest.mark.parametrize("names", ["d-none", "post hidden", "js-hidden", "hide"])
def test_a_class_that_hides_is_read(names: str) -> None:
    assert find_signs(names) & Sign.CONCEALED


@pytest.mark.parametrize("names", ["hidden md:block", "d-none d-md-flex", "hide show-for-large", "hidden-gem", "post"])
def test_what_is_shown_on_wider_screens_is_not_hidden(names: str) -> None:
    assert not find_signs(names) & Sign.CONCEALED


@pytest.mark.parametrize(
    "name", ["elementor-element-38ad5ea", "column356_b8ce28-ad", "builder-0ad0203ba73a", "sc-ad9d1286-0", "x7print3"]
)
def test_numbers_that_builders_make_up_hold_no_words(name: str) -> None:
    assert signs(name) == Sign.NONE


@pytest.mark.parametrize("name", ["ad1", "ad-300x250", "top10-ads", "2col-ad"])
def test_a_number_beside_a_word_leaves_it_a_word(name: str) -> None:
    assert signs(name) == Sign.ADVERT
