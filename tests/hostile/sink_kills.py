"""Sinks that fail, stall, are busy and die, and processes that are killed while they save and deliver: nothing lost or doubled.

Processes save and change items, others deliver them to fakes of Anytype, Readwise Reader and a receiver of webhooks, and all of
them are killed at random times. In the end, each fake has the last version of every acknowledged item, once: by object, by
address, and by message id; and it first saw the items in the order in which they were saved.

python -m tests.hostile.sink_kills [DELIVERIES] [KILLS] [postgres]
"""

from __future__ import annotations

import asyncio
import base64
import random
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.open import open_library
from pagekeep.library.sinks.manage import NewSink, add_sink, list_sinks
from pagekeep.library.sinks.outbox import Pace, body_of
from pagekeep.library.sinks.runner import SinkRunner
from pagekeep.library.sinks.secret_box import seal
from pagekeep.library.webhooks import new_secret
from pagekeep.model import ItemQuery
from pagekeep.model.sinks import Sink
from pagekeep.store import Store
from tests.library.sinks import fakes
from tests.library.sinks.fakes import AnytypeApp, Fake, Reader, Webhooks, running
from tests.store.making import make_item, postgres_server

PACE = Pace(lease_seconds=1.5, first_pause=0.01, request_seconds=0.5, max_wait=0.05)
HOW = ("500", "lost", "die", "die after", "429", "stall")
CHANGED_EVERY = 7
"""One item in seven is saved again with another text."""
SINKS = 3
KEY = base64.b64encode(b"k" * 32).decode()
SAVE_SECONDS = 0.05
"""Pause after each save, so that saving takes as long as delivering, and is killed too."""


def misbehave(seed: int, share: float) -> Callable[[int], str]:
    """Some requests go wrong, in every way."""
    pick = random.Random(seed)
    return lambda _number: pick.choice(HOW) if pick.random() < share else "ok"


def settings_of(folder: str) -> Settings:
    """Return the settings of a library in this folder, or on the server that a file in it names."""
    server = Path(folder) / "server"
    library = server.read_text() if server.exists() else str(Path(folder) / "library.db")
    return Settings(library=library, allow_hosts=("127.0.0.1",), secrets_key=KEY)


# What is killed.


def save_items(folder: str, first: int, count: int, pause: float = 0.0) -> None:
    """Save items from a number on, and print each when it is stored; some are then changed."""
    with closing(open_library(settings_of(folder))) as store:
        for number in range(first, count):
            _save(store, number, f"Text of page {number}.")
            print(number, flush=True)
            time.sleep(pause)
            if number % CHANGED_EVERY == 0:
                _save(store, number, f"Other text of page {number}.")
                print(f"{number} again", flush=True)


def _save(store: Store, number: int, text: str) -> None:
    item = make_item(number, title=f"Page {number}", content=text, quality="article", word_count=4)
    store.items.save(item, None)


async def deliver(folder: str, *, until_empty: bool = False) -> None:
    """Deliver to the sinks."""
    settings = settings_of(folder)
    with closing(open_library(settings, workers=True)) as queue:
        async with Retrieval(settings) as retrieval:
            runner = SinkRunner(
                f"worker {uuid.uuid4()}",
                queue,
                lambda user: open_library(settings, user),
                retrieval,
                PACE,
                poll_seconds=0.02,
            )
            await runner.run(until_empty=until_empty)


# The run.


@dataclass
class Run:
    """A run of all processes."""

    folder: str
    items: int
    fakes: tuple[AnytypeApp, Reader, Webhooks]
    saved: int = 0
    kills: Counter[str] = field(default_factory=Counter)

    def start(self, *role: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.hostile.sink_kills", *role]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def arrived(self) -> int:
        anytype, reader, webhooks = self.fakes
        return sum(one["versions"] for one in anytype.objects.values()) + len(reader.documents) + len(webhooks.messages)

    def go(self, kills: int) -> None:
        """Save and deliver everything, with this many kills spread over the run."""
        pick = random.Random(11)
        expected = self.items * SINKS
        instants = sorted(pick.randrange(expected) for _ in range(kills))
        children = {"save": self._saver(), "deliver 1": self._deliverer(), "deliver 2": self._deliverer()}
        deadline = time.monotonic() + 60 + 6 * kills + expected * 0.5
        try:
            while time.monotonic() < deadline and (instants or self.arrived() < expected):
                time.sleep(0.01)
                self._restart_saver(children)
                if instants and self.arrived() >= instants[0]:
                    instants.pop(0)
                    name = pick.choice(sorted(name for name, one in children.items() if one.poll() is None))
                    time.sleep(pick.random() * 0.03)
                    self._kill(children, name)
        finally:
            for name in list(children):
                self._end(children.pop(name))

    def _saver(self) -> subprocess.Popen[str]:
        return self.start("save", self.folder, str(self.saved), str(self.items))

    def _deliverer(self) -> subprocess.Popen[str]:
        return self.start("deliver", self.folder)

    def _restart_saver(self, children: dict[str, subprocess.Popen[str]]) -> None:
        if children["save"].poll() is not None and self.saved < self.items:
            self._read_saved(children["save"])
            children["save"] = self._saver()

    def _kill(self, children: dict[str, subprocess.Popen[str]], name: str) -> None:
        process = children[name]
        process.send_signal(signal.SIGKILL)
        self.kills[name.partition(" ")[0]] += 1
        self._read_saved(process)
        children[name] = self._saver() if name == "save" else self._deliverer()

    def _end(self, process: subprocess.Popen[str]) -> None:
        process.kill()
        process.communicate()

    def _read_saved(self, process: subprocess.Popen[str]) -> None:
        done = [int(line) for line in process.communicate()[0].splitlines() if line.isdigit()]
        self.saved = max(self.saved, *(number + 1 for number in done)) if done else self.saved

    def finish(self) -> None:
        """Let everything settle: the fakes behave, and one process works until nothing is left."""
        for fake in self.fakes:
            fake.behave = fakes.behave_well
        save_items(self.folder, self.saved, self.items)
        time.sleep(PACE.lease_seconds)
        for _ in range(3):
            asyncio.run(deliver(self.folder, until_empty=True))
            time.sleep(PACE.max_wait)

    def faults(self) -> list[str]:
        """Return what is lost, doubled or out of order."""
        found = [fault for fake in self.fakes for fault in fake.faults]
        settings = settings_of(self.folder)
        with closing(open_library(settings)) as store:
            for view in list_sinks(store):
                if view.queued or view.dead:
                    found.append(f"{view.sink.name}: {view.queued} waiting, {view.dead} dead: {view.sink.error}")
            query = ItemQuery(limit=1_000)
            items = {item.id: item for item in store.search.find(query).items}
            assert len(items) == self.items, len(items)
        anytype, reader, webhooks = self.fakes
        objects = Counter(one["values"]["pagekeep_id"] for one in anytype.objects.values())
        found += [f"anytype: {count} objects of {key}" for key, count in objects.items() if count != 1]
        texts = {one["values"]["pagekeep_id"]: one["markdown"] for one in anytype.objects.values()}
        last = {message["data"]["id"]: message for message in map(webhooks.messages.__getitem__, webhooks.order)}
        for key, item in items.items():
            if texts.get(key) != body_of(item):
                found.append(f"anytype has {texts.get(key)!r} of {item.title}")
            if item.url_full not in reader.documents:
                found.append(f"reader lacks {item.title}")
            if key not in last or last[key]["data"]["markdown"] != body_of(item):
                found.append(f"the last webhook of {item.title} is {last.get(key)}")
        versions = Counter((m["data"]["id"], m["data"]["version"]) for m in webhooks.messages.values())
        found += [f"webhook: {count} ids of one version {key}" for key, count in versions.items() if count != 1]
        return found + self._disorder()

    def _disorder(self) -> list[str]:
        anytype, reader, webhooks = self.fakes
        seen = {
            "anytype": [one["name"] for one in anytype.objects.values()],
            "reader": [one["title"] for one in reader.documents.values()],
            "webhooks": list(dict.fromkeys(webhooks.messages[name]["data"]["title"] for name in webhooks.order)),
        }
        found = []
        for name, titles in seen.items():
            numbers = [int(title.rpartition(" ")[2]) for title in titles]
            late = [number for number in numbers[1:] if number % CHANGED_EVERY]
            if late != sorted(late):  # an item that is changed while it waits may come later
                found.append(f"{name}: out of order")
        return found


def add_sinks(folder: str, anytype: Fake, reader: Fake, webhooks: Fake, secret: str) -> None:
    settings = settings_of(folder)
    with closing(open_library(settings)) as store:
        new = NewSink("anytype", address=anytype.url, rules=("*",), secret=AnytypeApp.key)
        add_sink(store, settings, new)
        add_sink(store, settings, NewSink("webhook", address=webhooks.url, rules=("*",), secret=secret))
        sink_id = str(uuid.uuid4())
        sealed = seal(settings, store.user_id, sink_id, Reader.token)
        user, now = store.user_id, clock.now()
        sink = Sink(sink_id, user, "readwise", "readwise", reader.url, {"rules": ["*"]}, "active", now, sealed)
        store.sinks.add(sink)


def attack(deliveries: int, kills: int, share: float = 0.1, *, postgres: bool = False) -> tuple[list[str], Run]:
    """Run everything; return what went wrong."""
    fakes.STALL_SECONDS = PACE.request_seconds + 0.3
    secret = new_secret()
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        if postgres:
            Path(folder, "server").write_text(stack.enter_context(postgres_server()).owner)
        anytype = stack.enter_context(running(AnytypeApp(misbehave(1, share))))
        reader = stack.enter_context(running(Reader(misbehave(2, share))))
        webhooks = stack.enter_context(running(Webhooks(secret, misbehave(3, share))))
        add_sinks(folder, anytype, reader, webhooks, secret)
        run = Run(folder, -(-deliveries // SINKS), (anytype, reader, webhooks))
        run.go(kills)
        run.finish()
        return run.faults(), run


def main(arguments: list[str]) -> int:
    """Run a role of a child process, or everything."""
    if arguments[:1] == ["save"]:
        save_items(arguments[1], int(arguments[2]), int(arguments[3]), SAVE_SECONDS)
        return 0
    if arguments[:1] == ["deliver"]:
        asyncio.run(deliver(arguments[1]))
        return 0
    numbers = [int(value) for value in arguments if value.isdigit()]
    deliveries, kills = numbers or (1_000, 50)
    found, run = attack(deliveries, kills, postgres="postgres" in arguments)
    outcomes = sum((fake.outcomes for fake in run.fakes), Counter[str]())
    repeated = sum(run.fakes[2].repeated.values())
    print(
        f"{run.arrived()} deliveries, {sum(run.kills.values())} kills {dict(run.kills)}, requests {dict(outcomes)}, "
        f"{repeated} webhooks repeated with the same id; lost, doubled or out of order: {len(found)}"
    )
    for fault in found[:20]:
        print(f"  {fault}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
