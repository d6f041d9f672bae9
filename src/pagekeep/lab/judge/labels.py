"""Labels: which blocks of a page are content, by aligning them with the reference."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

Label = bool | None
"""Whether a block is content; `None` when the reference does not say."""

_WORD: Final = re.compile(r"\w+")
_MAX_CELLS: Final = 3_000_000_000
"""Words of the page times words of the reference, beyond which they are not aligned."""
_MIN_SHARE: Final = 0.5
"""Share of a block's words that the reference must have in this place."""
_MIN_PART_CHARS: Final = 25
"""Characters from which on a block that is only a part of a snippet is labelled by it."""


def label_by_text(texts: Sequence[str], reference: str) -> list[Label]:
    """Label every block with words by the longest common subsequence of the page's words and the reference's."""
    from rapidfuzz.distance import LCSseq

    words = [_WORD.findall(text.lower()) for text in texts]
    numbers: dict[str, int] = {}
    page = [numbers.setdefault(word, len(numbers)) for block in words for word in block]
    gold = [numbers.setdefault(word, len(numbers)) for word in _WORD.findall(reference.lower())]
    if len(page) * len(gold) > _MAX_CELLS:
        return [None] * len(texts)
    is_shared = bytearray(len(page))
    for operation in LCSseq.opcodes(page, gold):
        if operation.tag == "equal":
            size = operation.src_end - operation.src_start
            is_shared[operation.src_start : operation.src_end] = b"\1" * size
    labels: list[Label] = []
    place = 0
    for block in words:
        shared = sum(is_shared[place : place + len(block)])
        labels.append(shared >= _MIN_SHARE * len(block) if block else None)
        place += len(block)
    return labels


def label_by_snippets(texts: Sequence[str], wanted: Sequence[str], unwanted: Sequence[str]) -> list[Label]:
    """Label the blocks that have a snippet, or are a part of one; what must not be there wins."""
    blocks = ["".join(text.split()) for text in texts]
    labels: list[Label] = [None] * len(texts)
    for is_content, snippets in ((True, wanted), (False, unwanted)):
        for snippet in ("".join(snippet.split()) for snippet in snippets):
            for index, block in enumerate(blocks):
                if snippet in block or (len(block) > _MIN_PART_CHARS and block in snippet):
                    labels[index] = is_content
    return labels
