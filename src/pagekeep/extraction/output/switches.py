"""The switches of `Options` that leave parts of the result out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pagekeep import dom
from pagekeep.errors import RuleError
from pagekeep.model import Options, Page


def find_skipped(options: Options) -> frozenset[str]:
    """Return the steps to skip: those named, and those whose result is switched off. `RuleError` for a bad selector."""
    for selector in options.selectors:
        try:
            dom.select(dom.element("div"), selector)
        except dom.SelectorError:
            hint = "Use a CSS selector, such as `main .story`."
            raise RuleError(f"{selector:.100} is not a CSS selector.", suggestions=(hint,)) from None
    switched_off = {
        "language": not options.detect_language,
        "tags": not options.extract_categories,
        "links-and-media": not (options.extract_links or options.extract_media),
    }
    return options.skip_steps | {step for step, is_off in switched_off.items() if is_off}


def leave_out(page: Page, options: Options) -> Page:
    """Return the page without the parts that are switched off."""
    changes: dict[str, Any] = {}
    if not options.extract_categories:
        changes["metadata"] = replace(page.metadata, categories=(), keywords=(), suggested_tags=())
    if not options.enable_markdown:
        changes["markdown"] = ""
    if not options.extract_links:
        changes["links"] = ()
    if not options.extract_media:
        changes["media"] = ()
    return page.copy_with(**changes) if changes else page
