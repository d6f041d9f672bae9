"""Many items read again by the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.errors import InvalidQuery, NotFound, ParseError
from pagekeep.library.queue import SaveRequest, enqueue
from pagekeep.library.run_jobs import JobResult, JobRunner
from pagekeep.library.saving import reparse
from pagekeep.library.saving.reparse import ReparseResult, Selection, enqueue_reparse, select_ids
from pagekeep.model import Job, SaveResult
from pagekeep.present import json_shapes
from pagekeep.present.json_shapes import to_json
from pagekeep.rules import Rulebook
from pagekeep.store import Store, open_store
from tests.site.fixtures import Shore, article
from tests.store.making import make_item

Keep = Callable[..., SaveResult]
RULES = Rulebook(())


@pytest.fixture
def three(keep: Keep, shore: Shore) -> list[str]:
    """Ids of three saved pages, oldest first."""
    for name, title in (("a", "The harbour"), ("b", "The lighthouse"), ("c", "The ferry")):
        shore.bodies[name] = article(300, title)
    return [keep(shore.url(name)).item.id for name in ("a", "b", "c")]


def age(library: Store, *ids: str) -> None:
    """As if an older parser had read them, into other words."""
    for item_id in ids:
        item = library.items.get(item_id)
        library.items.replace_content(
            item_id,
            content="Old words.",
            title=item.title,
            author=None,
            published_at=None,
            metadata=replace(item.metadata, parser_version=1),
            now=item.updated_at,
        )


@pytest.fixture
def work(tmp_path: Path, settings: Settings) -> Callable[[], tuple[list[JobResult], list[str]]]:
    """A worker that runs until no job is due; what came of it, and the stages in between."""

    async def run() -> tuple[list[JobResult], list[str]]:
        reported: list[JobResult] = []
        stages: list[str] = []

        def progress(_job: Job, stage: str) -> None:
            stages.append(stage)

        path = tmp_path / "library.db"
        with closing(open_store(path, workers=True)) as jobs:
            async with Retrieval(settings) as retrieval:
                worker = JobRunner(
                    "hand", jobs, lambda user: open_store(path, user), retrieval, reported.append, progress=progress
                )
                await worker.run(at_a_time=1, until_empty=True)
        return reported, stages

    return lambda: asyncio.run(run())


Work = Callable[[], tuple[list[JobResult], list[str]]]


def test_what_an_older_parser_read_is_read_again_and_counted(library: Store, three: list[str], work: Work) -> None:
    age(library, *three[:2])
    job = enqueue_reparse(library, Selection())
    assert enqueue_reparse(library, Selection()).id == job.id
    (worked,), stages = work()
    assert worked.error is None
    assert "Old words." not in {library.items.get(item_id).content for item_id in three}
    done = to_json(json_shapes.Job, library.jobs.get(job.id))
    assert (done["task"], done["state"], done["item_id"]) == ("reparse", "done", None)
    assert done["report"] == {"updated": 2, "unchanged": 0, "kept": 0, "failed": 0, "notes": []}
    assert stages[0] == "Reparsed 0 of 2 pages"


def test_the_items_are_chosen_by_key_domain_or_query(library: Store, three: list[str]) -> None:
    def ids(choice: Selection) -> list[str]:
        return list(select_ids(library, RULES, choice))

    assert ids(Selection(keys=(three[2], three[0]))) == [three[2], three[0]]
    assert ids(Selection(keys=())) == []
    assert ids(Selection(query="lighthouse")) == [three[1]]
    assert ids(Selection(domain="127.0.0.1")) == three
    assert ids(Selection(domain="127.0.0.1", limit=2)) == three[:2]
    assert ids(Selection(domain="elsewhere.example")) == []


def test_a_page_that_was_not_kept_and_one_that_is_the_users_own_are_reported(
    library: Store, three: list[str], work: Work
) -> None:
    owner = library.items.get(three[0])
    library.items.set_metadata(three[0], owner.updated_at, edited=True)
    bare = library.items.save(make_item(user_id=owner.user_id), None).id
    job = enqueue_reparse(library, Selection(keys=(three[0], bare, three[1])), force=True)
    work()
    report = to_json(json_shapes.Job, library.jobs.get(job.id))["report"]
    assert {**report, "notes": None} == {"updated": 0, "unchanged": 1, "kept": 1, "failed": 1, "notes": None}
    assert [(note["id"], note["outcome"], note["note"]) for note in report["notes"]] == [
        (three[0], "kept", "the text is your own version"),
        (bare, "failed", "The downloaded HTML of this page was not stored."),
    ]


def test_items_that_go_meanwhile_are_passed_over(library: Store, three: list[str], work: Work) -> None:
    job = enqueue_reparse(library, Selection(domain="127.0.0.1"))
    library.items.delete(three[0], library.items.get(three[0]).updated_at)
    library.items.purge([three[0]])
    work()
    report = to_json(json_shapes.Job, library.jobs.get(job.id))["report"]
    assert sum(report[outcome] for outcome in ("updated", "unchanged", "kept", "failed")) == 2


def test_items_that_were_named_and_are_gone_are_passed_over(library: Store, three: list[str], work: Work) -> None:
    job = enqueue_reparse(library, Selection(keys=(three[0][:8], library.items.get(three[1]).url, three[2])))
    for gone in three[:2]:
        library.items.delete(gone, library.items.get(gone).updated_at)
    library.items.purge([three[1]])
    (worked,), _ = work()
    assert worked.error is None
    report = to_json(json_shapes.Job, library.jobs.get(job.id))["report"]
    assert sum(report[outcome] for outcome in ("updated", "unchanged", "kept", "failed")) == 2


def test_a_choice_of_nothing_reads_nothing(library: Store, three: list[str], work: Work) -> None:
    age(library, *three)
    job = enqueue_reparse(library, Selection(keys=()))
    assert job.id != enqueue_reparse(library, Selection(limit=1)).id
    work()
    assert sum(library.items.get(item_id).content == "Old words." for item_id in three) == 2
    assert to_json(json_shapes.Job, library.jobs.get(job.id))["report"]["updated"] == 0


@pytest.mark.parametrize(
    "choice",
    [
        Selection(),
        Selection(domain="127.0.0.1"),
        Selection(query="words"),
        Selection(limit=2),
        Selection(keys=("0", "1", "2")),
    ],
)
def test_turn_by_turn_it_comes_to_the_same(
    library: Store, three: list[str], work: Work, monkeypatch: pytest.MonkeyPatch, choice: Selection
) -> None:
    """Of three, the first fails and the second is kept: neither is read twice, though both stay out of date."""
    monkeypatch.setattr(reparse, "SLICE_SECONDS", -60.0)  # one page a turn
    age(library, *three)
    library.items.set_metadata(three[1], library.items.get(three[1]).updated_at, edited=True)
    turns: list[str] = []
    one = reparse.reparse_one

    async def watched(item_id: str, *rest: Any, **more: Any) -> ReparseResult:
        turns.append(item_id)
        if item_id == three[0]:
            raise ParseError("No.")
        return await one(item_id, *rest, **more)

    monkeypatch.setattr(reparse, "reparse_one", watched)
    if choice.keys:
        choice = Selection(keys=tuple(three[int(key)] for key in choice.keys))
    job = enqueue_reparse(library, choice)
    reported, stages = work()
    assert len(reported) == 1
    wanted = three[: choice.limit]
    assert turns == wanted
    assert stages == [f"Reparsed {number} of {len(wanted)} pages" for number in range(len(wanted))]
    done = library.jobs.get(job.id)
    report = to_json(json_shapes.Job, done)["report"]
    counts = {"updated": len(wanted) - 2, "unchanged": 0, "kept": 1, "failed": 1}
    assert {name: report[name] for name in counts} == counts
    assert [note["id"] for note in report["notes"]] == three[:2]
    assert "so_far" not in done.options


def test_others_have_their_turn_in_between(
    library: Store, three: list[str], shore: Shore, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reparse, "SLICE_SECONDS", -60.0)  # one page a turn
    long = enqueue_reparse(library, Selection(domain="127.0.0.1"))
    save = enqueue(SaveRequest(Request(shore.url("a"))), library)
    other = enqueue_reparse(library, Selection(keys=(three[0],)))
    reported, _ = work()
    assert [worked.job.id for worked in reported] == [save.id, other.id, long.id]


def test_what_makes_no_sense_is_not_queued(library: Store, three: list[str]) -> None:
    with pytest.raises(NotFound):
        enqueue_reparse(library, Selection(keys=("nothing",)))
    with pytest.raises(InvalidQuery):
        enqueue_reparse(library, Selection(query="after:never"))
    assert library.jobs.list() == ()
