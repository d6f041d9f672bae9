"""Count the places where words were cut out of a paragraph, and the paragraphs that a result has more often than its page.

Usage: python bench/whole_text.py [FOLDER ...] [--list] [--edges]
Without folders: every folder of the shared corpora, and our own corpus. Both counts must be 0. What the page hides does not
count, and neither do code and what is replaced (a formula by its source). Exits with 1 when there is a cut or a repeat.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path

from digest import ROOT, SHARED, address_of, find_pages, name_of, read_page

import pagekeep
from pagekeep import dom
from pagekeep.extraction.input.decode import decode
from pagekeep.model import Options
from pagekeep.text import normalise_tokens

MIN_REPEATED_WORDS = 12
"""Words of a paragraph that is not said twice by chance."""
MIN_WORDS = 6
"""Words of a paragraph that can be found in its page."""
SHINGLE = 4
"""Words in a row by which a paragraph is found."""
MAX_CUT_WORDS = 60
"""Words of the longest cut; more are another part of the page in between."""
INLINE = frozenset(
    "a abbr acronym b bdi bdo big button cite code data del dfn em font i img ins kbd label mark nobr q rp rt ruby s samp"
    " small span strike strong sub sup time tt u var wbr".split()
)
NOT_TEXT = frozenset(
    "script style template noscript svg math head iframe select textarea object audio video canvas title option pre".split()
)
HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
HIDING_NAMES = re.compile(
    r"(?:^|\s)(?:sr-only|visually-?hidden|screen-reader\S*|u-visually-hidden|a11y-hidden|is-hidden|hidden|hide|d-none|noprint"
    r"|no-print|clipped|assistive-text|show-for-sr|material-icons\S*|material-symbols\S*|elementor-screen-only)(?:\s|$)",
    re.I,
)
HIDING_ROLES = frozenset({"tooltip", "listbox"})
MAX_TERM_CHARS = 100
"""Characters of the longest term with a tooltip; a longer text of that name is the tooltip, which the page hides."""


@dataclass
class Counts:
    """What was found on one page."""

    name: str
    cuts: list[tuple[str, str]] = field(default_factory=list)
    """Words that are missing within a paragraph, and the words before them."""
    edges: list[tuple[str, str]] = field(default_factory=list)
    """Words that are missing at the beginning or end of a line, and the line's words."""
    repeats: list[str] = field(default_factory=list)
    """Paragraphs that the result has more often than the page."""


def main() -> int:
    """Count over all pages and print the sums."""
    parser = argparse.ArgumentParser(description="Count words cut out of paragraphs, and repeated paragraphs.")
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--list", action="store_true", help="print every place")
    parser.add_argument("--edges", action="store_true", help="print also words missing at the edge of a line")
    options = parser.parse_args()
    folders = options.folders or [
        *sorted(path for path in SHARED.glob("*") if path.is_dir()),
        ROOT / "tests" / "corpus",
    ]
    pages = sorted({path for folder in folders for path in find_pages(folder)})
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(partial(check, edges=options.edges), pages, chunksize=10))
    for counts in found if options.list or options.edges else ():
        for words, before in counts.cuts:
            print(f"{counts.name}: cut {words!r} after {before!r}")
        for words, line in counts.edges:
            print(f"{counts.name}: edge {words!r} of {line!r}")
        for paragraph in counts.repeats:
            print(f"{counts.name}: repeated {paragraph[:100]!r}")
    cuts, repeats = sum(len(page.cuts) for page in found), sum(len(page.repeats) for page in found)
    print(f"{len(found)} pages")
    print(f"{cuts} places on {sum(bool(page.cuts) for page in found)} pages where words are cut out of a paragraph")
    print(f"{repeats} paragraphs on {sum(bool(page.repeats) for page in found)} pages that the page has less often")
    return int(bool(cuts or repeats))


def check(path: Path, *, edges: bool) -> Counts:
    """Compare the paragraphs of one page's result with those of the page."""
    counts = Counts(name_of(path))
    body = read_page(path)
    try:
        page = pagekeep.extract(body, address_of(path))
    except pagekeep.PagekeepError:
        return counts
    source = [line for line in read_lines(dom.parse(decode(body, Options())[0])) if line]
    result = [line for line in read_lines(dom.parse(page.html)) if line]
    _count_repeats(source, result, counts)
    index: dict[tuple[str, ...], list[int]] = {}
    for number, line in enumerate(source):
        for shingle in set(zip(*(line[start:] for start in range(SHINGLE)), strict=False)):
            index.setdefault(shingle, []).append(number)
    texts = [f" {' '.join(line)} " for line in source]
    for line in result:
        if len(line) >= MIN_WORDS:
            _compare(line, source, texts, index, counts, edges)
    # Words that are in another line of the result are not lost: two lines of the page may begin and end alike.
    shown = f" {' '.join(word for line in result for word in line)} "
    counts.cuts = [cut for cut in counts.cuts if f" {cut[0]} " not in shown]
    return counts


def _count_repeats(source: list[list[str]], result: list[list[str]], counts: Counts) -> None:
    shown = " ".join(word for line in source for word in line)
    times = Counter(" ".join(line) for line in result if len(line) >= MIN_REPEATED_WORDS)
    counts.repeats += [text for text, count in times.items() if count > 1 and count > shown.count(text)]


def _compare(
    line: list[str],
    source: list[list[str]],
    texts: list[str],
    index: dict[tuple[str, ...], list[int]],
    counts: Counts,
    edges: bool,
) -> None:
    """Compare a line of the result with the line of the page that has most of its words."""
    text = f" {' '.join(line)} "
    shingles = list(zip(*(line[start:] for start in range(SHINGLE)), strict=False))
    votes = Counter(number for shingle in shingles for number in index.get(shingle, ())[:50])
    if not votes:
        return
    most = max(votes.values())
    best = [number for number, count in votes.items() if count == most]
    if any(text in texts[number] for number in best):
        if edges and not any(text == texts[number] for number in best):
            number = min(best, key=lambda number: len(texts[number]))
            missing = texts[number].replace(text, " [...] ", 1).strip()
            if len(missing.split()) <= MAX_CUT_WORDS:
                counts.edges.append((missing, text.strip()[:80]))
        return
    if most < 0.4 * len(shingles):
        return
    smallest = [_find_cuts(source[number], line) for number in best[:5]]
    counts.cuts += min(smallest, key=len)


def _find_cuts(source: list[str], line: list[str]) -> list[tuple[str, str]]:
    """Find the words of the page's line between words of the result's line."""
    codes = SequenceMatcher(None, source, line, autojunk=False).get_opcodes()
    cuts = []
    for place, (code, first, end, _, _) in enumerate(codes):
        is_inside = 0 < place < len(codes) - 1
        words = source[first:end]
        if code == "delete" and is_inside and len(words) <= MAX_CUT_WORDS and any(word.isalpha() for word in words):
            cuts.append((" ".join(words), " ".join(source[max(0, first - 6) : first])))
    return cuts


def read_lines(root: dom.Node) -> Iterator[list[str]]:
    """Yield the words of each line of text that is shown: of each block, and between line breaks."""
    texts: list[str] = []
    pending: list[dom.Node | None] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, dom.Text):
            texts.append(node.data)
        elif node is None or (isinstance(node, dom.Element) and node.tag == "br"):
            yield normalise_tokens("".join(texts))
            texts = []
        elif isinstance(node, dom.Element) and (node.tag in NOT_TEXT or _is_hidden(node)):
            continue
        elif isinstance(node, (dom.Element, dom.Document)):
            is_inline = isinstance(node, dom.Element) and (node.tag in INLINE or "-" in node.tag)
            if not is_inline:
                yield normalise_tokens("".join(texts))
                texts = []
                pending.append(None)
            pending.extend(reversed(node.children))
    yield normalise_tokens("".join(texts))


def _is_hidden(node: dom.Element) -> bool:
    return (
        node.attr("hidden") is not None
        or node.attr("aria-hidden") == "true"
        or (node.attr("role") or "") in HIDING_ROLES
        or bool(HIDING_STYLE.search(node.attr("style") or ""))
        or bool(HIDING_NAMES.search(node.attr("class") or ""))
        or ("tooltip" in (node.attr("class") or "") and len(dom.text_of(node)) > MAX_TERM_CHARS)
    )


if __name__ == "__main__":
    sys.exit(main())
