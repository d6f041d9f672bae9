"""The functions that work on content of others (pages, texts, rules of a caller): only worker processes may call them (H1)."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import pytest

FOREIGN = {
    "pagekeep.dom": ("parse", "parse_bounded", "parse_fragment", "html_of", "inner_html"),
    "pagekeep.extraction.input.decode": ("decode",),
    "pagekeep.extraction.output.sanitise": ("sanitise",),
    "pagekeep.pipeline": ("extract",),
    "pagekeep.markdown": ("to_markdown", "to_text"),
    "pagekeep.rules.loading": ("check",),
    "pagekeep.capture.active_rules": ("parse_draft",),
    "pagekeep.capture.extract": ("extract_page",),
    "pagekeep.capture.view": ("view_page",),
    "pagekeep.capture.remote_page": ("make_remote_page",),
    "pagekeep.capture.plain_text": ("keep_text",),
    "pagekeep.capture.modes": ("split_markdown", "compare"),
    "pagekeep.present.markdown_html": ("render", "highlight_code", "to_mathml", "sanitise"),
    "pagekeep.present.explain": ("explain",),
    "pagekeep.capture.pictures": ("decode_picture", "scale_picture", "clean_svg"),
    "pagekeep.library.archive.noise": ("judge",),
    "pagekeep.present.diff": ("compare_words", "split_blocks", "difference", "match_lines"),
    "pagekeep.present.sections": ("outline", "section", "estimate_tokens"),
    "pagekeep.library.feeds.parse.document": ("parse_feed", "clean_entries", "to_markdown"),
    "pagekeep.library.feeds.parse.opml": ("find_links", "read_opml"),
    "pagekeep.library.imports.rows": ("read_stream", "read_folder", "check_row", "limit_item", "skip_reason"),
    "pagekeep.library.imports.detect": ("detect_format", "detect_tree_format"),
    "pagekeep.library.imports.formats.bookmark_files": ("read_anchors",),
    "pagekeep.library.imports.input.source": ("Archive", "is_archive", "read_lines", "source_from_stream"),
    "pagekeep.library.imports.input.records": (
        "read_columns",
        "read_records",
        "read_elements",
        "read_groups",
        "read_objects",
    ),
    "pagekeep.library.imports.input.row": ("parse_text", "parse_time", "parse_names", "parse_annotations"),
}
"""By module. Everything in `pagekeep.extraction` counts too."""

ALLOWED_IN_THE_SERVER = {
    "json.loads, pydantic, multipart": "request bodies, after authentication and up to the limit of the route",
    "pagekeep.fetch.decoders": "transfer encodings, decoded piece by piece up to the limit of a page",
    "pagekeep.fetch.urls.split_url": "URLs of up to 8 KB",
    "pagekeep.fetch.remote_reader.parse_answer": "the first lines of an answer, in one pass",
    "pagekeep.doors.http.image_proxy.check_image": "headers of pictures, up to 20,000 parts; nothing is decoded",
    "pagekeep.present.sections.body_of, split_part": "find one line and cut there",
    "pagekeep.library.archive.pictures.find_picture_urls": "patterns of linear time on a text of limited size",
    "pagekeep.present.sections.count_tokens": "counts characters in one pass",
    "pagekeep.present.renderer.render_source": "escapes a text in one pass",
    "pagekeep.present.json_shapes": "copies fields",
    "pagekeep.store.query, layout.formatting.excerpt": "up to 6,000 and 200,000 characters, with patterns of linear time",
    "pagekeep.markdown.write_document, join_document": "joins a text and its metadata, with patterns of linear time",
    "pagekeep.markdown.frontmatter": "up to 100,000 characters, without aliases; when items are mirrored and imported",
    "pagekeep.library.imports.build, merge": "copies fields of rows that a worker has read, checked and shortened",
    "jinja2": "templates with escaped values",
}
"""What the server does itself with content of others, and why it may: it takes time and memory in proportion to an input
whose size is limited before."""


def forbid(patch: pytest.MonkeyPatch) -> None:
    """Let these functions fail in this process, which is the server's; the workers are other processes."""
    patch.setattr(sys.modules[__name__], "_forbids", True)
    for module_name, names in FOREIGN.items():
        module = import_module(module_name)
        for name in names:
            original = getattr(module, name)
            for holder_name, holder in list(sys.modules.items()):
                if holder_name.startswith("pagekeep") and getattr(holder, name, None) is original:
                    patch.setattr(holder, name, _failing(f"{module_name}.{name}", original))


_forbids = False
"""Whether they fail now: a module that is imported meanwhile keeps the function that it found."""


def _failing(name: str, original: Any) -> Any:
    def fail(*arguments: object, **named: object) -> Any:
        if not _forbids:
            return original(*arguments, **named)
        raise AssertionError(f"{name} was called in the server's process")

    return fail
