"""Read the document type that a page declares."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.model import DocumentType

_SEARCHED_CHARS: Final = 2_000
"""Comments and an XML prolog may come before the doctype; a browser ignores one further down."""
_PROLOG_CHARS: Final = 200
"""Where an XML prolog must start: at the beginning, after white space at most."""
_DOCTYPE: Final = re.compile(r"<!doctype\s+([^>]{0,400})", re.IGNORECASE)

_CONTENT_TYPE: Final = 'meta[http-equiv="content-type" i]'
"""How pages before HTML5 declare their encoding."""


def document_type(html_head: str, document: dom.Document) -> DocumentType:
    """Return the document type declared at the start of the source; without one go by how the encoding is declared.

    `quirks` when nothing says what it is.
    """
    match = _DOCTYPE.search(html_head[:_SEARCHED_CHARS])
    if match is None:
        return _type_without_doctype(html_head, document)
    declared = " ".join(match[1].lower().split())
    if "xhtml" in declared:
        return "xhtml"
    if "html 4" in declared:
        return "html4-transitional" if "transitional" in declared or "frameset" in declared else "html4-strict"
    return "html5" if declared == "html" or "about:legacy-compat" in declared else "quirks"


def _type_without_doctype(html_head: str, document: dom.Document) -> DocumentType:
    """Recognise XHTML served as XML, which needs no doctype, by its prolog and namespace; else go by the `<meta>`."""
    root = dom.first(document, "html")
    has_namespace = root is not None and (root.attr("xmlns") or "").endswith("/xhtml")
    has_prolog = html_head[:_PROLOG_CHARS].lstrip("\ufeff \t\r\n").startswith("<?xml")
    if has_namespace and has_prolog:
        return "xhtml"
    if dom.first(document, "meta[charset]") is not None:  # HTML5 introduced the short form
        return "html5"
    return "quirks" if dom.first(document, _CONTENT_TYPE) is None else "html4-transitional"
