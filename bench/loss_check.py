"""Cut structures out in the middle of the pipeline and count how often the loss check catches it.

Usage: python bench/loss_check.py [--pages N] [--seed N] [--list] [FOLDER ...]
Without folders: the labelled pages of the shared corpora, or our own corpus where they are missing. On each page one code
block, table, list, image or formula is deleted, in turn after `locate`, between two steps of the clean-up, before the
sanitiser, or for the Markdown writer only. A deletion that changes nothing in the Markdown does not count. All pages are also
extracted as they are: what is reported as lost there is printed, to be looked at. Exits with 1 under 99 %.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pagekeep import PagekeepError, dom, pipeline
from pagekeep.extraction import clean
from pagekeep.extraction.locate.page_facts import find_kept
from pagekeep.extraction.state import State
from pagekeep.model import Page
from pagekeep.model.clean_tree import read_tree

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "corpora"
LABELLED = ("wcxb", "readability", "markdown")
TARGET = 0.99
KINDS = {
    "code blocks": "pre",
    "tables": "table",
    "lists": "ul,ol",
    "images": "img",
    "math": "math,mjx-container,.katex,.math-inline,.math-block",
}
STAGES = ("locate", "clean", "sanitise", "markdown")
TRIES = 6
"""Deletions that are tried on a page until one of them changes the Markdown."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One deletion: where it was made, what was deleted, and whether the loss check reported a loss."""

    page: str
    stage: str
    kind: str
    text: str
    caught: bool


@dataclass(slots=True)
class Deletion:
    """Deletes one structure of a kind at a stage, and remembers what it was."""

    kind: str
    chance: random.Random
    deleted: str | None = None

    def delete(self, tree: dom.Element, nodes: list[dom.Element] | None = None) -> None:
        """Delete one of the tree's structures, or one of these nodes."""
        found = dom.select(tree, KINDS[self.kind]) if nodes is None else nodes
        found = [node for node in found if node.tag == "img" or dom.text_of(node).strip()]
        if found and self.deleted is None:
            node = self.chance.choice(found)
            self.deleted = f"{node.tag}: {' '.join(dom.text_of(node).split())[:80]}"
            dom.drop(node)


def find_pages(folder: Path) -> Iterator[Path]:
    """Yield every page of a corpus, whatever its layout."""
    yield from (path for path in sorted(folder.rglob("*.html*")) if not path.name.startswith("expected"))


def read(path: Path) -> tuple[bytes, str]:
    """Return a page and its address."""
    body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    reference = path.with_name(path.name.split(".html")[0] + ".json")
    url = json.loads(reference.read_text(encoding="utf-8")).get("url") if reference.is_file() else None
    return body, url or "https://pages.example/" + path.name.split(".html")[0]


def find_lost(page: Page) -> str | None:
    """Return what the loss check reports as lost, if anything."""
    check = next((check for check in page.quality.checks if check.name == "nothing_lost"), None)
    return check.reason if check and " lost" in check.reason else None


@contextmanager
def mutated(stage: str, deletion: Deletion) -> Iterator[None]:
    """Make the pipeline delete one structure at a stage."""
    steps, clean_steps = list(pipeline.STEPS), list(clean.STEPS)
    try:
        if stage == "locate":
            _wrap_before(pipeline.STEPS, "report-removals", lambda state: _delete_located(state, deletion))
        elif stage == "clean":
            place = deletion.chance.randrange(len(clean.STEPS))
            _wrap_before(clean.STEPS, clean.STEPS[place].name, lambda state: deletion.delete(state.root))
        elif stage == "sanitise":
            _wrap_before(pipeline.STEPS, "sanitise", lambda state: deletion.delete(state.content))
        else:
            _wrap_before(pipeline.STEPS, "markdown", lambda state: _write_without(state, deletion))
        yield
    finally:
        pipeline.STEPS[:], clean.STEPS[:] = steps, clean_steps


def _wrap_before(steps: list[Any], name: str, act: Callable[[Any], None]) -> None:
    for place, step in enumerate(steps):
        if step.name == name:

            def run(state: Any, run_step: Callable[[Any], Any] = step.run) -> Any:
                act(state)
                return run_step(state)

            steps[place] = replace(step, run=run)


def _delete_located(state: State, deletion: Deletion) -> None:
    """Delete a structure that is kept by the strategy that won."""
    content = state.outcome.content
    if content is not None and content.made is None:
        ranges = find_kept(state.survey, content)
        kept = {id(node) for first, end in ranges for node in state.survey.nodes[first:end]}
        root = state.survey.nodes[content.root]
        assert isinstance(root, dom.Element)
        deletion.delete(root, [node for node in dom.select(root, KINDS[deletion.kind]) if id(node) in kept])


def _write_without(state: State, deletion: Deletion) -> None:
    """Delete a structure from what Markdown is written from."""
    if deletion.deleted is None:
        shorter = dom.copy(state.clean.root)
        deletion.delete(shorter)
        state.clean = state.clean._replace(tree=read_tree(shorter))


def try_page(path: Path, seed: int) -> Attempt | str | None:
    """Return the deletion made on a page; what is lost without one; or `None` when there is nothing to delete."""
    body, url = read(path)
    name = "/".join(path.parts[-2:])
    try:
        whole = pipeline.extract(body, url)
    except PagekeepError:
        return None
    if lost := find_lost(whole):
        return f"{name}: {lost}"
    chance = random.Random(f"{seed} {name}")
    kinds = list(KINDS)
    chance.shuffle(kinds)
    stages = list(STAGES)
    chance.shuffle(stages)
    for number in range(TRIES):
        stage, kind = stages[number % len(stages)], kinds[number % len(kinds)]
        deletion = Deletion(kind, chance)
        with mutated(stage, deletion):
            page = pipeline.extract(body, url)
        if deletion.deleted and page.strategy == whole.strategy and page.markdown.split() != whole.markdown.split():
            return Attempt(name, stage, kind, deletion.deleted, find_lost(page) is not None)
    return None


def main() -> int:
    """Try every page and print how many deletions were caught."""
    parser = argparse.ArgumentParser(description="How often the loss check catches a structure that was cut out.")
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--pages", type=int, default=500, help="deletions to count")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print every deletion that was not caught")
    options = parser.parse_args()
    folders = options.folders or [SHARED / name for name in LABELLED if (SHARED / name).is_dir()]
    paths = [path for folder in folders or [ROOT / "tests" / "corpus"] for path in find_pages(folder)]
    with ProcessPoolExecutor() as pool:
        results = list(pool.map(partial(try_page, seed=options.seed), paths, chunksize=10))
    alarms = [result for result in results if isinstance(result, str)]
    attempts = [result for result in results if isinstance(result, Attempt)]
    random.Random(options.seed).shuffle(attempts)
    return report(len(paths), alarms, attempts[: options.pages], listed=options.list)


def report(pages: int, alarms: list[str], attempts: list[Attempt], *, listed: bool = False) -> int:
    """Print the figures; return 1 when fewer than the target were caught."""
    caught = sum(attempt.caught for attempt in attempts)
    print(f"{pages} pages as they are: {len(alarms)} with a reported loss", *alarms, sep="\n  ")
    print(f"{len(attempts)} structures cut out: {caught} caught, {caught / max(1, len(attempts)):.1%}")
    for field in ("stage", "kind"):
        made = Counter(getattr(attempt, field) for attempt in attempts)
        seen = Counter(getattr(attempt, field) for attempt in attempts if attempt.caught)
        print("  " + ", ".join(f"{name} {seen[name]}/{made[name]}" for name in sorted(made)))
    if listed:
        print(*(attempt for attempt in attempts if not attempt.caught), sep="\n")
    return int(caught < TARGET * len(attempts))


if __name__ == "__main__":
    sys.exit(main())
