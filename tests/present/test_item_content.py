from __future__ import annotations

from dataclasses import replace

import yaml

from pagekeep.present.item_content import shown_content
from tests.store.making import make_item

STORED = (
    "---\ntitle: T\ndescription: D\nsuggested_tags: [lathe, wood]\nquality: article\nsaved_at: 2025-01-02\n---\n\n# T\n"
)
OLD = "---\ntitle: T\ntags: [lathe, null]\nquality: article\n---\n\ntags: [in the text]\n"


def test_frontmatter_shows_the_tags_of_the_user_and_what_can_be_added() -> None:
    item = make_item(content=STORED, tags=["Wood", "to read: now"])
    item = replace(item, metadata=replace(item.metadata, suggested_tags=("lathe", "wood")))
    shown = shown_content(item)
    fields = yaml.safe_load(shown.split("---\n")[1])
    assert list(fields) == ["title", "description", "tags", "suggested_tags", "quality", "saved_at"]
    assert (fields["tags"], fields["suggested_tags"]) == (["Wood", "to read: now"], ["lathe"])
    assert shown.endswith("---\n\n# T\n")


def test_tags_that_an_earlier_version_wrote_are_not_shown_as_those_of_the_user() -> None:
    shown = shown_content(make_item(content=OLD))
    assert shown == "---\ntitle: T\nquality: article\n---\n\ntags: [in the text]\n"


def test_content_without_frontmatter_is_shown_as_it_is() -> None:
    assert shown_content(make_item(content="Words.\n", tags=["a"])) == "Words.\n"
