"""Footnotes: numbered references in order of first use, and one list of notes at the end."""

from __future__ import annotations

from pagekeep import dom
from pagekeep.extraction.clean.footnotes.inline import (
    drop_lists,
    drop_margins,
    note_selector,
    take_inline_notes,
    take_latexml_notes,
)
from pagekeep.extraction.clean.footnotes.linked import BACK_LINK, BACK_LINKS, take_linked_notes
from pagekeep.extraction.clean.footnotes.notes import Notes
from pagekeep.extraction.clean.footnotes.section import write_section
from pagekeep.extraction.clean.footnotes.unlinked import take_unlinked_notes
from pagekeep.extraction.clean.state import CleanState, Removals
from pagekeep.model import Removal


def collect_footnotes(state: CleanState) -> list[Removal]:
    """Number footnotes in order of first use, move them to one list at the end, and remove back-links."""
    removals, root = Removals(state.changes), state.root
    notes = Notes(removals)
    if state.index.has_class("ltx_"):
        take_latexml_notes(root, notes)
    if selector := note_selector(state):
        take_inline_notes(root, selector, notes)
        if notes.bodies:
            drop_lists(root, selector, notes)
    has_links = dom.first(root, 'a[href*="#"]') is not None
    if has_links:
        take_linked_notes(root, notes)
        if selector and notes.bodies:
            drop_margins(root, notes)
    if not notes.bodies:
        take_unlinked_notes(state, notes)
    if notes.bodies:
        write_section(root, notes)
    elif has_links:
        for back in dom.select(root, BACK_LINKS):
            removals.drop(back, BACK_LINK)
    return removals
