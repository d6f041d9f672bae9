"""Examples: the articles of a corpus as the judge sees them, with a label for each block that the reference decides on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import compress
from multiprocessing import get_context
from operator import not_
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from zlib import crc32

from pagekeep.errors import PagekeepError
from pagekeep.extraction.prune import judge
from pagekeep.extraction.prune.judge.blocks import Blocks
from pagekeep.extraction.prune.judge.features import View
from pagekeep.extraction.state import State
from pagekeep.extraction.steps import run_steps
from pagekeep.lab import corpus as corpora
from pagekeep.lab.judge.labels import Label, label_by_snippets, label_by_text
from pagekeep.model import Options
from pagekeep.pipeline import STEPS
from pagekeep.rules import shipped

_BATCH_PAGES: Final = 8
_LAST_STEP: Final = "locate"


@dataclass(frozen=True, slots=True)
class Example:
    """One page."""

    corpus: str
    host: str
    """The site's name, by which pages are kept together: those of one site are alike."""
    tag: list[str]
    parent: list[int]
    chars: list[int]
    linked: list[int]
    names: list[tuple[str, ...]]
    blocks: Blocks
    accused: bytes
    title: str
    labels: list[Label]
    by_snippets: bool
    """Whether the reference is a few snippets rather than the whole text."""

    def view(self) -> View:
        """Return the page as the judge sees it."""
        return View(
            self.tag,
            self.parent,
            self.chars,
            self.linked,
            self.names.__getitem__,
            self.blocks,
            self.accused,
            self.title,
        )


def read_examples(folders: Iterable[Path]) -> list[Example]:
    """Return the labelled articles of the corpora, in the order of their names."""
    cases = [case for folder in folders for case in corpora.find_cases(folder)]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        examples = pool.map(_read_example, cases, chunksize=_BATCH_PAGES)
        return [example for example in examples if example is not None]


def _read_example(case: corpora.Case) -> Example | None:
    """Return a page with labels, or `None` for one that is not an article or has no reference for its text."""
    sample = corpora.read_case(case)
    gold = sample.gold
    if sample.kind != "article" or not (gold.text or gold.with_ or gold.without):
        return None
    state = _locate(sample)
    if state is None or state.kind != "article":
        return None
    view = judge.look(state.facts)
    texts = [view.blocks.text[index] for index in range(len(view.blocks))]
    labels = label_by_text(texts, gold.text) if gold.text else label_by_snippets(texts, gold.with_, gold.without)
    names = [view.names(index) for index in range(len(view.tag))]
    return Example(
        case.reference.parent.name if case.reference.suffix == ".json" else case.reference.parent.parent.name,
        _find_site(sample.url or sample.name), list(view.tag), list(view.parent), list(view.chars), list(view.linked), names,
        replace(view.blocks, text=texts), bytes(view.accused), view.title, labels, gold.text is None,
    )  # fmt: skip


def _locate(sample: corpora.Sample) -> State | None:
    """Run the pipeline until the content is found; return `None` for a page that is refused or discarded."""
    names = [step.name for step in STEPS]
    state = State(sample.html, sample.url, shipped(), Options(skip_steps=frozenset({"judge"})))
    try:
        run_steps(STEPS[: names.index(_LAST_STEP) + 1], state, until=lambda state: bool(state.discarded_by))
    except PagekeepError:
        return None
    return None if state.discarded_by else state


def _find_site(address: str) -> str:
    """Return the last two parts of the host, or the address itself when it has none."""
    return ".".join((urlsplit(address).hostname or address).split(".")[-2:])


def split_by_site(examples: Sequence[Example], parts: int) -> Iterator[tuple[list[Example], list[Example]]]:
    """Yield each part, and all the others, such that pages of one site are in the same part."""
    for part in range(parts):
        is_in = [crc32(example.host.encode()) % parts == part for example in examples]
        yield list(compress(examples, is_in)), list(compress(examples, map(not_, is_in)))


def take_sites(examples: Sequence[Example], sites: str) -> list[Example]:
    """Return the examples of all sites, or of the even or odd half of them."""
    if sites == "all":
        return list(examples)
    return next(halves for halves in split_by_site(examples, 2))[0 if sites == "even" else 1]
