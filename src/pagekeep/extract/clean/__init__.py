"""The clean-up: the many ways the web writes a thing become the one way of clean HTML (docs/clean-html.md)."""

from __future__ import annotations

from pagekeep import dom
from pagekeep.extract.clean.bullets import settle_bullets
from pagekeep.extract.clean.callouts import settle_callouts
from pagekeep.extract.clean.census import take_census
from pagekeep.extract.clean.code import settle_code
from pagekeep.extract.clean.containers import settle_containers
from pagekeep.extract.clean.edging import drop_edging
from pagekeep.extract.clean.embeds import settle_embeds
from pagekeep.extract.clean.figures import settle_figures
from pagekeep.extract.clean.footnotes import settle_footnotes
from pagekeep.extract.clean.headings import drop_heading_anchors
from pagekeep.extract.clean.images import part_images, resolve_images
from pagekeep.extract.clean.inline import rename_inline
from pagekeep.extract.clean.leftovers import drop_invisible_characters, drop_leftovers, drop_scripts
from pagekeep.extract.clean.links import part_links, resolve_links, resolver
from pagekeep.extract.clean.math import settle_math
from pagekeep.extract.clean.paragraphs import shape_paragraphs
from pagekeep.extract.clean.tables import settle_tables
from pagekeep.extract.clean.tasks import mark_tasks

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
