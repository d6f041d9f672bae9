"""Read the structure tree of a page of a tagged PDF as plain values, bounded in depth and count."""

from __future__ import annotations

import ctypes
from typing import Any, Final

import pypdfium2.raw as raw

from pagekeep.capture.documents.pdf.values import Node

_MAX_NODES: Final = 30_000
_MAX_DEPTH: Final = 60


def read_tree(page: Any) -> Node | None:
    """Return the structure tree of a page; `None` when it has none."""
    tree = raw.FPDF_StructTree_GetForPage(page)
    if not tree:
        return None
    try:
        reader = _Reader()
        count = max(0, raw.FPDF_StructTree_CountChildren(tree))
        children: list[Node | int] = []
        for number in range(min(count, _MAX_NODES)):
            child = raw.FPDF_StructTree_GetChildAtIndex(tree, number)
            if child:
                children.append(reader.read(child, 0))
        return Node("Root", children) if children else None
    finally:
        raw.FPDF_StructTree_Close(tree)


class _Reader:
    """Reads elements until there are too many."""

    def __init__(self) -> None:
        self._left = _MAX_NODES

    def read(self, element: Any, depth: int) -> Node:
        """Return the element with its children."""
        self._left -= 1
        tag = _string(element, raw.FPDF_StructElement_GetType, 100)
        node = Node(tag, [])
        if tag in ("Figure", "Formula"):
            node.alt = _string(element, raw.FPDF_StructElement_GetAltText, 2_000)
        if tag in ("TD", "TH"):
            node.spans = _spans(element)
        if depth >= _MAX_DEPTH:
            return node
        count = max(0, raw.FPDF_StructElement_CountChildren(element))
        for number in range(min(count, max(0, self._left))):
            child = raw.FPDF_StructElement_GetChildAtIndex(element, number)
            if child:
                node.children.append(self.read(child, depth + 1))
            else:
                mcid = raw.FPDF_StructElement_GetChildMarkedContentID(element, number)
                if mcid >= 0:
                    node.children.append(mcid)
        return node


def _string(element: Any, read: Any, limit: int) -> str:
    buffer = ctypes.create_string_buffer(limit * 2)
    size = read(element, buffer, limit * 2)
    return buffer.raw[: max(0, min(size, limit * 2) - 2)].decode("utf-16-le", "replace").strip("\0 ")


def _spans(element: Any) -> tuple[int, int]:
    found = {"ColSpan": 1, "RowSpan": 1}
    for number in range(min(8, max(0, raw.FPDF_StructElement_GetAttributeCount(element)))):
        attributes = raw.FPDF_StructElement_GetAttributeAtIndex(element, number)
        for name in found:
            value = raw.FPDF_StructElement_Attr_GetValue(attributes, name.encode())
            out = ctypes.c_float()
            if value and raw.FPDF_StructElement_Attr_GetNumberValue(value, ctypes.byref(out)):
                found[name] = max(1, min(100, int(out.value))) if out.value == out.value else 1
    return found["ColSpan"], found["RowSpan"]
