"""The clean-up: the many ways the web writes a thing become the one way of clean HTML (docs/clean-html.md)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean import (
    callouts,
    code,
    containers,
    embeds,
    footnotes,
    formulas,
    images,
    inline,
    non_text,
    paragraphs,
)
from pagekeep.extraction.clean.state import Changes, CleanState
from pagekeep.extraction.steps import Step, run_steps
from pagekeep.model import Removal

__all__ = ["STEPS", "Changes", "clean"]

# What later steps would destroy comes first: sources in scripts, frames, fallbacks and controls. Attributes outside of
# clean HTML are left to the sanitiser, which drops them at no further cost.
STEPS: Final[list[Step[CleanState]]] = [
    Step("scripts", non_text.drop_scripts),
    Step("math", formulas.mark_formulas),
    Step("typed-math", formulas.mark_typed_formulas),
    Step("code-blocks", code.normalise_code_blocks),
    Step("footnotes", footnotes.collect_footnotes),
    Step("note-structures", non_text.note_structures),
    Step("callouts", callouts.mark_callouts),
    Step("embeds", embeds.link_embeds),
    Step("images", images.resolve_images),
    Step("text-alternatives", non_text.write_alternatives),
    Step("invisible-characters", non_text.drop_invisible_characters),
    Step("roles", containers.write_roles),
    Step("heading-anchors", inline.drop_heading_anchors),
    Step("task-lists", containers.mark_tasks),
    Step("non-text", non_text.drop_non_text),
    Step("screen-reader-text", non_text.drop_screen_reader_text),
    Step("hidden", non_text.drop_hidden),
    Step("buttons", non_text.drop_buttons),
    Step("layout-tables", containers.unwrap_layout_tables),
    Step("tables", containers.normalise_tables),
    Step("figures", images.join_figures),
    Step("old-tags", inline.rename_old_tags),
    Step("code-spans", inline.leave_text_in_code),
    Step("links", inline.resolve_links),
    Step("paragraphs", paragraphs.shape_paragraphs),
    Step("bullet-lists", containers.make_bullet_lists),
    Step("link-spacing", inline.separate_links),
    Step("image-spacing", inline.separate_images),
    Step("containers", containers.normalise_containers),
    Step("edge-rules", containers.drop_edge_rules),
]


def clean(
    root: dom.Element, base_url: str | None, *, skip: Collection[str] = (), changes: Changes | None = None
) -> tuple[dom.Element, list[Removal]]:
    """Turn the content below the root into clean HTML, in place; return the root and what was removed.

    `skip` names the steps to leave out; `changes` collects what steps did on purpose.
    """
    return root, run_steps(STEPS, CleanState(root, base_url, changes or Changes()), skip=skip)
