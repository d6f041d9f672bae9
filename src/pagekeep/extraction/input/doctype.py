"""Which HTML a page says it is written in."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.model import DocumentType

_HEAD: Final = 2_000
_DOCTYPE: Final = re.compile(r"<!doctype\s+([^>]{0,400})", re.IGNORECASE)


def document_type(html_head: str, document: dom.Document) -> DocumentType:
    """The document type declared in the first characters of the source; `quirks` when none or an unknown one is."""
    found = _DOCTYPE.search(html_head[:_HEAD])
    if found is None:
        return _undeclared(html_head, document)
    declared = " ".join(found[1].lower().split())
    if "xhtml" in declared:
        return "xhtml"
    if "html 4" in declared:
        return "html4-transitional" if "transitional" in declared or "frameset" in declared else "html4-strict"
    return "html5" if declared == "html" or "about:legacy-compat" in declared else "quirks"


def _undeclared(html_head: str, document: dom.Document) -> DocumentType:
    """XHTML served as XML needs no doctype: its prolog and namespace speak for it."""
    root = dom.first(document, "html")
    has_namespace = root is not None and (root.attr("xmlns") or "").endswith("/xhtml")
    return "xhtml" if has_namespace and html_head[:200].lstrip("\ufeff \t\r\n").startswith("<?xml") else "quirks"
