"""The clean-up: the many ways the web writes a thing become the one way of clean HTML (docs/clean-html.md)."""

from __future__ import annotations

from pagekeep import dom
from pagekeep.extraction.clean.bullets import settle_bullets
from pagekeep.extraction.clean.callouts import settle_callouts
from pagekeep.extraction.clean.census import take_census
from pagekeep.extraction.clean.code import settle_code
from pagekeep.extraction.clean.containers import settle_containers
from pagekeep.extraction.clean.edging import drop_edging
from pagekeep.extraction.clean.embeds import settle_embeds
from pagekeep.extraction.clean.figures import settle_figures
from pagekeep.extraction.clean.footnotes import settle_footnotes
from pagekeep.extraction.clean.headings import drop_heading_anchors
from pagekeep.extraction.clean.images import part_images, resolve_images
from pagekeep.extraction.clean.inline import rename_inline
from pagekeep.extraction.clean.leftovers import drop_invisible_characters, drop_leftovers, drop_scripts
from pagekeep.extraction.clean.links import part_links, resolve_links, resolver
from pagekeep.extraction.clean.math import settle_math
from pagekeep.extraction.clean.paragraphs import shape_paragraphs
from pagekeep.extraction.clean.tables import settle_tables
from pagekeep.extraction.clean.tasks import mark_tasks

__all__ = ["clean"]


def clean(root: dom.Element, base_url: str | None) -> dom.Element:
    """Turn the content below the root into clean HTML, in place, and return the root.

    What later steps would destroy comes first: sources hidden in scripts, frames, fallbacks and controls. Attributes
    outside the contract are left to the sanitiser, which drops them at no further cost.
    """
    resolve = resolver(base_url)
    drop_scripts(root)
    census = take_census(root)
    settle_math(root, census)
    settle_code(root, census)
    settle_footnotes(root)
    settle_callouts(root, census)
    settle_embeds(root, resolve, census)
    resolve_images(root, resolve)
    drop_invisible_characters(root)
    drop_heading_anchors(root)
    mark_tasks(root, census)
    drop_leftovers(root, census)
    settle_tables(root, census)
    settle_figures(root, census)
    rename_inline(root, census)
    resolve_links(root, resolve)
    shape_paragraphs(root)
    settle_bullets(root)
    part_links(root)
    part_images(root)
    settle_containers(root)
    drop_edging(root)
    return root
