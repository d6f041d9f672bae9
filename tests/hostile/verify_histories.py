"""Pages with random histories, then some damage: `verify` finds exactly the damage that the test made (Q6).

`python -m tests.hostile.verify_histories [--full] [--engine sqlite|postgres]`

A history saves a few pages of a site that changes, fails, hangs and answers "not modified", and fetches them again, edits,
tags, deletes, purges, exports, imports, mirrors, watches and extracts them again with other rules. After each history `verify` must
find nothing; then the test flips bytes, changes other things about the items, and `verify` must name these items and what
is damaged, no others. The library is backed up, restored and verified too.
"""

from __future__ import annotations

import asyncio
import io
import random
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pagekeep import clock
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.capture.uploads import sent_page
from pagekeep.config import Settings
from pagekeep.errors import Abandoned, FetchTimeout, PagekeepError, Unexpected
from pagekeep.library import watch
from pagekeep.library.archive import dead_links, versions
from pagekeep.library.exports.run import ExportOptions, Format, export
from pagekeep.library.imports.run import ImportPlan, import_stream
from pagekeep.library.items import change as actions
from pagekeep.library.mirror.run import run_pass
from pagekeep.library.open import remove_unused
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.failed_saves import keep_address
from pagekeep.library.saving.reparse import reparse_one
from pagekeep.library.saving.save import refetch_item, retry, save
from pagekeep.library.verify import select, verify, verify_one
from pagekeep.model import PARSER_VERSION, Item
from pagekeep.model.lists import ItemChange
from pagekeep.rules import Rulebook
from pagekeep.store import Store, open_store
from pagekeep.store.backup import backup_folder
from tests.capture.documents.tiny_pdf import TinyPage, make_pdf
from tests.hostile.store_places import USER, run_script
from tests.library.receipts.making import Part, flip, keep_file
from tests.site.fixtures import SENTENCE, WALL, book
from tests.site.server import Reply, Site
from tests.site.server import Request as SiteRequest

GROUP: Final = 25
"""Histories in one library, before it is verified as a whole, backed up and restored."""
RULES: Final = (Rulebook(()), book(remove=("p.second",)), book(discard=True))
TIMEOUTS: Final = (0.4, 0.6)
MODES: Final = (
    "page",
    "page",
    "page",
    "page",
    "same",
    "same",
    "wall",
    "bare",
    "404",
    "500",
    "hang",
    "reset",
    "binary",
    "large",
)
FORMATS: Final[dict[Format, str]] = {"jsonl": "a.jsonl", "warc": "a.warc.gz", "wacz": "a.wacz", "netscape": "a.html"}
_MAX_BYTES: Final = 200_000


@dataclass
class Shown:
    """What the site sends for an address now."""

    mode: str = "page"
    version: int = 0


@dataclass
class Pages:
    """A site whose pages change."""

    shown: dict[str, Shown] = field(default_factory=dict)

    async def show(self, request: SiteRequest, reply: Reply) -> None:
        name = request.path.rpartition("/")[2]
        page = self.shown[name]
        etag = f'"{page.version}"'
        if page.mode == "hang":
            await asyncio.sleep(2)
        elif page.mode == "reset":
            reply.reset()
        elif page.mode in ("404", "500"):
            await reply.send(f"<title>{page.mode}</title>", status=int(page.mode))
        elif page.mode == "binary":
            await reply.send(b"\x00\x01" * 50, content_type="application/octet-stream")
        elif page.mode == "same" and request.headers.get("if-none-match") == etag:
            await reply.send(status=304, etag=etag)
        else:
            kind = "application/pdf" if name.endswith(".pdf") and page.mode != "wall" else "text/html; charset=utf-8"
            await reply.send(make_body(name, page), content_type=kind, etag=etag)


def make_body(name: str, page: Shown) -> bytes:
    """The page of an address in a version; no two addresses have the same."""
    mark = f"{name} state{page.version}"
    if page.mode == "wall":
        return f"{WALL}<!-- {mark} -->".encode()
    if page.mode == "bare":
        return f"<title>Soon</title><p>{mark}".encode()
    if page.mode == "large":
        return f"<p>{mark}</p>{'<p>Long.</p>' * _MAX_BYTES}".encode()
    if name.endswith(".pdf"):
        sheet = TinyPage()
        for line in range(12):
            sheet.write(f"{mark}: {SENTENCE}", 50, 60 + 20 * line)
        return make_pdf([sheet])
    paragraphs = f"<p>{SENTENCE * 3}</p><p class=second>{SENTENCE * 2} {mark}.</p>" * (3 + page.version % 3)
    return (
        f"<html lang=en><title>Log {mark}</title><meta name=author content='Ada &amp; Bo'>"
        f"<meta name=description content='The log: {mark}'><article><h1>Log {mark}</h1>{paragraphs}</article>"
    ).encode()


@dataclass
class World:
    """A library, the site that its pages are from, and what happens to them."""

    where: str
    library: Store
    pages: Pages
    site: Site
    retrievals: list[Retrieval]
    folder: Path
    dice: random.Random
    done: Counter[str] = field(default_factory=Counter)
    exports: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    """The last export of a history, by an address in it."""
    actions: list[str] = field(default_factory=list)

    def url(self, name: str) -> str:
        return self.site.url(f"/page/{name}")

    def item(self, name: str) -> Item | None:
        return self.library.items.by_url(self.url(name))

    def retrieval(self) -> Retrieval:
        return self.dice.choice(self.retrievals)

    def change(self, name: str, **changes: object) -> None:
        item = self.item(name)
        if item is not None:
            done = actions.change_selected(self.library, [item.id], ItemChange(**changes), "Changed")  # type: ignore[arg-type]
            self.actions.append(done.action.id)

    async def live(self, names: list[str]) -> None:
        """One history."""
        self.actions.clear()
        for name in names:
            self.pages.shown[name] = Shown(self.dice.choice(MODES))
        steps = [save_page, *self.dice.choices(STEPS, k=self.dice.randint(4, 20))]
        for step in steps:
            name = self.dice.choice(names)
            try:
                await step(self, name)
                self.done[step.__name__] += 1
            except PagekeepError:
                self.done[f"{step.__name__} refused"] += 1


Step = Callable[[World, str], Awaitable[object]]


async def site_changes(world: World, name: str) -> None:
    shown = world.pages.shown[name]
    shown.mode = world.dice.choice(MODES)
    shown.version += world.dice.randint(0, 1)


async def save_page(world: World, name: str) -> None:
    tags = world.dice.choice(((), ("sea",), ("Sea", "salt")))
    request = Request(world.url(name), render="never")
    await save(SaveRequest(request, tags=tags, force=world.dice.random() < 0.1), world.library, world.retrieval())


async def upload(world: World, name: str) -> None:
    shown = Shown(world.dice.choice(("page", "bare", "wall")), world.dice.randint(0, 9))
    page = sent_page(world.url(name), make_body(f"{name}-sent", shown).decode())
    await save(SaveRequest(Request(world.url(name)), uploaded=page), world.library, world.retrieval())


async def fetch_again(world: World, name: str) -> None:
    if item := world.item(name):
        request = Request("", render="never")
        await refetch_item(item, world.library, world.retrieval(), request=request, force=world.dice.random() < 0.2)


async def retry_page(world: World, name: str) -> None:
    if item := world.item(name):
        await retry(item.id, world.library, world.retrieval(), request=Request("", render="never"))


async def extract_again(world: World, name: str) -> None:
    if item := world.item(name):
        await reparse_one(item.id, world.library, world.retrieval(), force=world.dice.random() < 0.3)


async def extract_undoably(world: World, name: str) -> None:
    """As the job of many pages does."""
    if item := world.item(name):
        action = actions.change_selected(world.library, [item.id], ItemChange(), "Extracted again").action.id
        await reparse_one(item.id, world.library, world.retrieval(), force=True)
        world.library.actions.record_reparse(action, item.id, item)
        world.actions.append(action)


async def update_parser(world: World, name: str) -> None:
    """The item as a newer version finds it."""
    if item := world.item(name):
        world.library.items.set_metadata(item.id, clock.now(), parser_version=PARSER_VERSION - 1)


async def edit(world: World, name: str) -> None:
    fields = {"title": "Mine", "author": "Me", "published_at": "2024-02-03", "site_name": "Here"}
    chosen = world.dice.sample(sorted(fields), 2)
    if world.dice.random() < 0.3:
        world.change(name, reset=tuple(chosen))
    else:
        world.change(name, edits={one: f"{fields[one]} {world.dice.randint(0, 3)}" for one in chosen})


async def tag(world: World, name: str) -> None:
    world.change(name, add_tags=(f"tag{world.dice.randint(0, 3)}",), remove_tags=(f"tag{world.dice.randint(0, 3)}",))


async def trash(world: World, name: str) -> None:
    world.change(name, deleted=world.dice.random() < 0.6)


async def purge(world: World, name: str) -> None:
    item = world.item(name)
    if item is not None and world.dice.random() < 0.4:
        world.library.items.delete(item.id, clock.now())
        world.library.items.purge([item.id])


async def undo(world: World, _name: str) -> None:
    if world.actions:
        actions.undo_whole(world.library, world.actions.pop(world.dice.randrange(len(world.actions))))


async def fail(world: World, name: str) -> None:
    """Another way to fail, as the queue reports it."""
    kind = world.dice.choice((FetchTimeout, Unexpected, Abandoned))
    keep_address(world.library, world.url(name), kind(f"Failed for {world.dice.randint(0, 99)}: it is 'slow' # here"))


async def keep_picture(world: World, name: str) -> None:
    if item := world.item(name):
        keep_file(world.library, item)


async def restore_old_version(world: World, name: str) -> None:
    if item := world.item(name):
        number = world.dice.choice([one.number for one in world.library.snapshots.list(item.id)] or [1])
        await versions.restore_version(world.library, item.id, world.retrieval(), number)


async def pin_version(world: World, name: str) -> None:
    if item := world.item(name):
        versions.pin_version(world.library, item.id, 1, pinned=world.dice.random() < 0.7)


async def visit(world: World, name: str) -> None:
    """A visit of a watched page, whose changes become versions."""
    if item := world.item(name):
        watched = watch.watch(world.library, item.id)
        await watch.visit(item, watched.schedule, world.library, world.retrieval())


async def check_link(world: World, name: str) -> None:
    if item := world.item(name):
        await dead_links.check_one(item, world.library, world.retrieval())


async def write_export(world: World, name: str) -> None:
    if item := world.item(name):
        format = world.dice.choice(list(FORMATS))
        out = io.BytesIO()
        retrieval = world.retrievals[0]
        await export(world.library, out, ExportOptions(format, ids=(item.id,)), retrieval.settings)
        world.exports[name] = FORMATS[format], out.getvalue()


async def read_export(world: World, name: str) -> None:
    """The import of an export that was made before: the page may have changed since, or be gone."""
    if found := world.exports.get(name):
        import_stream(io.BytesIO(found[1]), found[0], world.library, ImportPlan(world.retrieval().rules))


async def edit_mirror(world: World, name: str) -> None:
    """The user edits the text of a page, or gives up an edit, in a mirrored folder."""
    item = world.item(name)
    if item is None or item.deleted_at is not None or world.dice.random() < 0.5:
        return
    run_pass(world.library, world.folder, now=_later)
    for file in world.folder.rglob("*.md"):
        text = file.read_text("utf-8")
        if f"id: {item.id}" in text:
            edited = f"{text}\nMy own words {world.dice.randint(0, 99)}.\n"
            if "edited: true\n" in text and world.dice.random() < 0.7:
                edited = text.replace("edited: true\n", "", 1)
            file.write_text(edited, "utf-8")
    run_pass(world.library, world.folder, now=_later)


def _later() -> int:
    """A time at which no file is being written any more."""
    return time.time_ns() + 3_600 * 10**9


STEPS: Final[tuple[Step, ...]] = (
    *(site_changes, site_changes, site_changes, save_page, save_page, save_page, save_page, fetch_again, fetch_again),
    *(upload, retry_page, extract_again, extract_again, extract_undoably, update_parser, edit, edit, tag, trash, purge),
    *(undo, undo, fail, fail, keep_picture, restore_old_version, pin_version, visit, visit, check_link),
    *(write_export, write_export, read_export, read_export, edit_mirror),
)
HARMLESS: Final[tuple[Step, ...]] = (tag, trash, keep_picture, pin_version, fail)
"""Steps that touch neither text nor raw page: they must not hide damage."""


def damage(world: World, names: list[str]) -> dict[str, str]:
    """Flip bytes of some items; return what is damaged, by item."""
    made: dict[str, str] = {}
    reasons: dict[Part, str] = {"text": "text", "raw": "raw_page", "blob": "file", "version": "version"}
    for item in filter(None, map(world.item, names)):
        parts: list[Part] = ["text"]
        current = world.library.items.raw_hash(item.id)
        if current is not None:
            parts.append("raw")
        if world.library.blobs.of_item(item.id):
            parts.append("blob")
        if any(one.hash != current for one in world.library.snapshots.list(item.id)):
            parts.append("version")
        if world.dice.random() < 0.5:
            part = world.dice.choice(parts)
            flip(world.where, world.library.user_id, item.id, part, world.dice)
            made[item.id] = reasons[part]
    return made


async def find(world: World, names: list[str]) -> tuple[dict[str, str | None], list[str]]:
    """What `verify` finds wrong with the items of a history, and its messages."""
    found, messages = {}, []
    for item in filter(None, map(world.item, names)):
        verdict = await verify_one(item.id, world.library, world.retrieval())
        if verdict.is_fault:
            found[item.id] = verdict.reason
            messages.append(f"{verdict.state}: {verdict.message}")
    return found, messages


async def live_all(world: World, numbers: range) -> tuple[list[str], dict[str, str]]:
    """Some histories in one library; return the faults, and what is damaged at the end."""
    faults, all_made = [], dict[str, str]()
    damaged: list[tuple[list[str], dict[str, str]]] = []
    for number in numbers:
        names = [f"h{number}-{place}{'.pdf' if world.dice.random() < 0.1 else ''}" for place in range(2)]
        await world.live(names)
        found, messages = await find(world, names)
        if found:
            faults.append(f"history {number}: damage that is not there: {messages}")
        damaged.append((names, {}))
    with closing(open_store(world.folder.parent / "restored.db", USER)) as copy:
        back_up(world, copy)
        faults += [f"restored: {one}" for one in compare({}, copy)]
    for names, made in damaged:
        made |= damage(world, names)
        for step in world.dice.choices(HARMLESS, k=2):
            with suppress(PagekeepError):
                await step(world, world.dice.choice(names))
        found, messages = await find(world, names)
        if found != made:
            faults.append(f"{names}: damaged {made}, found {found}: {messages}")
        all_made |= made
    return faults + compare(all_made, world.library), all_made


def back_up(world: World, copy: Store) -> None:
    """Make a backup of the library and restore it."""
    folder = world.folder.parent / "backup"
    world.library.backup_folder(folder, clock.now(), {})
    copy.restore_folder(folder, backup_folder.read_state(folder))


def compare(made: dict[str, str], library: Store) -> list[str]:
    """Verify the whole library in workers."""
    found = {verdict.item_id: verdict for verdict in verify(library, select(library, ()), RULES[0]) if verdict.is_fault}
    if {key: verdict.reason for key, verdict in found.items()} == made:
        return []
    return [f"whole library: {one}" for key, one in found.items() if made.get(key) != one.reason] + [
        f"whole library: not found: {key} {reason}" for key, reason in made.items() if key not in found
    ]


async def _attack(where: str, count: int, seed: int) -> list[str]:
    dice, pages, faults, done = random.Random(seed), Pages(), list[str](), Counter[str]()
    with Site({"page": pages.show}) as site:
        async with AsyncExitStack() as stack:
            retrievals = [
                await stack.enter_async_context(Retrieval(settings(timeout), rules))
                for rules in RULES
                for timeout in TIMEOUTS
            ]
            for group in range(0, count, GROUP):
                with tempfile.TemporaryDirectory() as name, closing(open_store(_place(where, name), USER)) as library:
                    empty(library)
                    folder = Path(name) / "mirror"
                    world = World(_place(where, name), library, pages, site, retrievals, folder, dice, done)
                    new, _ = await live_all(world, range(group, min(count, group + GROUP)))
                    faults += new
    print(dict(sorted(done.items())))
    return faults


def _place(where: str, folder: str) -> str:
    return where if where.startswith("postgres") else f"{folder}/library.db"


def empty(library: Store) -> None:
    """Remove what the histories before have left in a shared database."""
    for item_id in list(library.items.all_ids()):
        library.items.delete(item_id, clock.now())
    library.items.purge()
    remove_unused(library, at_once=True)  # damaged files too: a backup would list them


def settings(timeout: float) -> Settings:
    return Settings(
        allow_hosts=("127.0.0.1",),
        per_host_delay=0,
        timeout=timeout,
        keep_versions=3,
        check_links_days=0,
        keep_pictures="none",
        max_bytes=_MAX_BYTES,
        render="never",
    )


def attack(where: str, count: int, seed: int = 30) -> list[str]:
    """This many histories."""
    watch.CONFIRM_SECONDS = 0.0  # type: ignore[misc]
    return asyncio.run(_attack(where, count, seed))


if __name__ == "__main__":
    run_script(attack, 30, 1_000)
