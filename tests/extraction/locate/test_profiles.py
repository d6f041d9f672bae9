"""Each kind of page is read in its own way."""

from __future__ import annotations

from pagekeep.extraction.locate.profiles import PROFILES
from pagekeep.extraction.locate.survey import Sign
from pagekeep.model import KINDS


def test_every_kind_has_a_profile() -> None:
    assert set(PROFILES) == set(KINDS)


def test_comments_are_content_only_in_a_forum() -> None:
    ignoring = [kind for kind, profile in PROFILES.items() if profile.ignored & int(Sign.COMMENTS)]
    assert ignoring == ["forum"]


def test_pages_of_links_are_given_more_links_than_an_article() -> None:
    article = PROFILES["article"].max_link_density
    assert PROFILES["listing"].max_link_density > article
    assert PROFILES["collection"].max_link_density > article


def test_only_prose_votes_on_pages_made_of_prose() -> None:
    assert not PROFILES["article"].all_text
    assert not PROFILES["documentation"].all_text
    assert PROFILES["listing"].all_text
    assert PROFILES["product"].all_text
