"""Forged receipts: `verify` proves no text that the raw page does not give, and reports no sound one as damaged (P4).

`python -m tests.hostile.receipt_mutations [--full] [--engine sqlite|postgres]`

A library is filled with pages of many shapes. Each is then changed past the library, as a forger or a bad disk would: text
inserted, deleted, swapped, moved, in another case, with other white space, with letters that look alike; its head edited; hashes
left, dropped, or made again by the forger, who has not the key that signs receipts. `verify` reads the library, then a WACZ that was written from it, whose own hashes
therefore all fit. Archives whose records are dropped, swapped or replaced come last.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import json
import random
import re
import tempfile
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.extract import extract_page
from pagekeep.capture.joined_file import Part, Parts, pack
from pagekeep.config import Settings
from pagekeep.library.archive.receipts import Verdict
from pagekeep.library.exports.run import ExportOptions, export
from pagekeep.library.imports.build import build_from_content, merge_items
from pagekeep.library.imports.input.row import Place, Row
from pagekeep.library.imports.rows import CheckedRow
from pagekeep.library.items import build_item
from pagekeep.library.signatures import Signer
from pagekeep.library.verify import ArchiveCheck, select, verify, verify_archive
from pagekeep.model import PARSER_VERSION, Fetched, Item, NewItem, Options
from pagekeep.model.archive import ItemBlob
from pagekeep.model.lists import edit
from pagekeep.rules import Rulebook
from pagekeep.rules.rule import HostTrigger, Rule, Trigger
from pagekeep.store import Store, open_store
from tests.capture.documents.samples import PDF
from tests.hostile.store_places import USER, run_script
from tests.library.receipts.making import database, keep_file
from tests.site.fixtures import SENTENCE, WALL
from tests.store.making import NOW

DISCARD: Final = Rule("gone", "pre", trigger=Trigger(host=HostTrigger(equals=("discarded.example",))), discard=True)
RULES: Final = Rulebook((DISCARD,))
PICTURE: Final = "https://harbour.example/boat.jpg"


def page(number: int, head: str = "", body: str = "", title: str | None = "Harbour log") -> bytes:
    """A page with its own words, and something more in its head and body."""
    words = random.Random(number)
    paragraphs = "".join(
        f"<p>{SENTENCE} {' '.join(words.choices(('tide', 'gull', 'pier', 'rope', 'lamp', 'salt'), k=20))} {number}.</p>"
        for _ in range(5)
    )
    named = f"<title>{title} {number}</title>" if title else ""
    return f"<html lang=en>{named}{head}<article>{body}{paragraphs}</article>".encode()


HEAD: Final = (
    "<meta name=author content='Ada Reed'><meta property=article:published_time content=2024-02-03>"
    "<meta name=description content=\"Salt: 'a' # history, &quot;of&quot; über — déjà vu\"><meta property=og:site_name content='The Pier'>"
)
HERO: Final = f"<meta property=og:image content='{PICTURE}'>"
BODIES: Final[dict[str, Callable[[int], bytes]]] = {
    "titled": lambda number: page(number, HEAD, f"<h1>Harbour log {number}</h1>"),
    "title above": lambda number: page(number, HEAD),
    "title to escape": lambda number: page(number, title="*Salt* [and] #1 <b>"),
    "no title": lambda number: page(number, title=None),
    "hero": lambda number: page(number, HEAD + HERO),
    "hero shown": lambda number: page(number, HERO, f"<figure><img src={PICTURE} width=800 height=600></figure>"),
    "hero, no title": lambda number: page(number, HERO, title=None),
    "lists": lambda number: page(
        number, "", "<h1>Other</h1><ul><li>One<li>Two</ul><pre>a\n\n\nb</pre><table><tr><th>a<td>b</table>"
    ),
    "line ends": lambda number: page(number, HEAD).replace(b"<p>", b"\r\n<p>\r\n\x00"),
    "scripts": lambda number: page(number, "", "<p>Русский 数学 עברית 🚢 é   ﷺ</p>"),
    "thin": lambda number: f"<title>Soon</title><p>{number}".encode(),
    "wall": lambda number: f"{WALL}<!-- {number} -->".encode(),
    "discarded": lambda number: page(number, HEAD),
}


def fetch(shape: str, number: int) -> Fetched:
    """The page of a shape as if it had been fetched."""
    host = "discarded.example" if shape == "discarded" else "harbour.example"
    url = f"https://{host}/{shape.replace(' ', '-').replace(',', '')}/{number}"
    if shape == "document":
        body = PDF.replace(b"%%EOF", f"%%EOF\n% {number}\n".encode())
        return Fetched(url, url, 200, {}, body, content_type="application/pdf")
    if shape == "joined":
        first = Fetched(url, url, 200, {}, page(number, HEAD), encoding="utf-8")
        second = replace(first, url=f"{url}-2", final_url=f"{url}-2", body=page(number + 10**6, HEAD))
        return pack(Parts((Part(first), Part(second))))
    return Fetched(url, url, 200, {}, BODIES[shape](number), encoding="utf-8")


def keep(store: Store, shape: str, number: int) -> Item:
    """Save a page as `save` does, without a network."""
    fetched = fetch(shape, number)
    item = build_item.new_item(
        extract_page(fetched, Options(), RULES),
        fetched,
        url=fetched.url,
        url_full=fetched.url,
        user_id=store.user_id,
        now=NOW,
        tags=("harbour",),
        rules_hash=fingerprint(RULES),
        options=Options(),
    )
    return store.items.save(item, build_item.to_raw_page(fetched, NOW))


def keep_import(store: Store, number: int, **known: Any) -> Item:
    """Import a page about which the other program knows more than the page says."""
    url = f"https://harbour.example/imported/{number}"
    row = Row(
        Place(0, 0), url, saved_at="2020-02-03T04:05:06.000000Z", content=page(number, title=None).decode(), **known
    )
    entry = build_from_content(
        CheckedRow(row, url, "harbour.example"),
        "matter",
        store.user_id,
        NOW,
        fingerprint(RULES),
        lambda fetched: extract_page(fetched, Options(), RULES),
        options=Options(),
    )
    ((item, _),) = store.items.save_many([entry], merge_items)
    return item


def import_earlier(store: Store, item: Item) -> None:
    """Import a page that the library has, with an earlier time."""
    other = replace(item, id="", saved_at="2019-01-01T00:00:00.000000Z")
    store.items.save_many([NewItem(other, store.items.raw(item.id))], merge_items)


def rewrite(store: Store, item: Item, content: str, **metadata: Any) -> None:
    store.items.replace_content(
        item.id,
        content=content,
        title=item.title,
        author=item.author,
        published_at=item.published_at,
        metadata=replace(item.metadata, **metadata),
        now=NOW,
    )


def refetch(store: Store, item: Item, number: int) -> None:
    """The page has changed."""
    keep(store, "title above", number)
    body = replace(fetch("title above", number), body=page(number + 5 * 10**5, HEAD))
    new = build_item.make_again(item, extract_page(body, Options(), RULES), body, fingerprint(RULES), Options())
    store.items.save(new, build_item.to_raw_page(body, NOW), versions="add")


PROVABLE: Final = (*BODIES, "document", "joined")
"""Shapes whose whole text the raw page gives."""
History = Callable[[Store, Item, int], object]
HISTORIES: Final[dict[str, tuple[History, str]]] = {
    "kept file": (lambda store, item, _: keep_file(store, item), "verified"),
    "fields edited": (
        lambda store, item, _: store.items.save(
            edit(item, {"title": "Mine", "author": "Me"}), store.items.raw(item.id)
        ),
        "verified",
    ),
    "refetched": (refetch, "verified"),
    "deleted": (lambda store, item, _: store.items.delete(item.id, NOW), "verified"),
    "text edited": (lambda store, item, _: rewrite(store, item, f"{item.content}Mine.\n", edited=True), "unproven"),
    "older parser": (
        lambda store, item, _: rewrite(store, item, item.content, parser_version=PARSER_VERSION - 1),
        "unproven",
    ),
    "no raw page": (lambda store, item, _: store.items.save(item, None), "unproven"),
    "earlier import": (lambda store, item, _: import_earlier(store, item), "unproven"),
}
"""What happened to a page, and what can be said about its text then."""


def write(where: str, changes: dict[str, tuple[str, dict[str, Any]]], user: str = USER) -> None:
    """Write texts, and changes of the metadata, past the library."""
    mark = "%s" if where.startswith("postgres") else "?"
    cast = "::jsonb" if where.startswith("postgres") else ""
    with database(where, user) as connection:
        for item_id, (content, about) in changes.items():
            (old,) = connection.execute(f"SELECT metadata FROM items WHERE id = {mark}", (item_id,)).fetchone()
            metadata = {**(json.loads(old) if isinstance(old, str) else old), **about}
            known = json.dumps({name: value for name, value in metadata.items() if value is not None})
            sql = f"UPDATE items SET content = {mark}, metadata = {mark}{cast} WHERE id = {mark}"
            connection.execute(sql, (content, known, item_id))


OLD: Final[dict[str, tuple[str, ...]]] = {
    "no text hash": ("text_hash",),
    "first receipts": ("text_hash", "raw_hash", "rules_hash", "options", "parser_version"),
    "no receipt": ("text_hash", "content_hash", "raw_hash", "rules_hash", "options", "parser_version"),
}
"""What items of older versions lack: nothing is wrong with them, and they are not proven."""


# Changes of texts.

Change = Callable[[str, random.Random], str]
LOOK_ALIKES: Final = {"a": "а", "e": "е", "o": "о", "p": "р", "i": "і", "-": "‐", " ": " ", "l": "ӏ", "0": "О", "'": "’"}  # fmt: skip
INVISIBLE: Final = ("​", "­", "﻿", "⁠", "‍", "‮", "́", "️")
INVENTED: Final = (
    "The mayor has resigned.",
    "# The mayor has resigned",
    "![](https://forger.example/x.png)",
    f"[![]({PICTURE}?x)]({PICTURE}?x)",
    "> The mayor has resigned.",
    "---\ntitle: The mayor\n---",
    "[Content discarded by parsing rule]",
    "",
)


def at_block(change: Callable[[list[str], random.Random], list[str]]) -> Change:
    return lambda text, dice: "\n\n".join(change(text.split("\n\n"), dice))


def insert_block(blocks: list[str], dice: random.Random) -> list[str]:
    at = dice.randrange(min(5, len(blocks)) + 1) if dice.random() < 0.7 else dice.randrange(len(blocks) + 1)
    return [*blocks[:at], dice.choice(INVENTED), *blocks[at:]]


def move_block(blocks: list[str], dice: random.Random) -> list[str]:
    rest = list(blocks)
    moved = rest.pop(dice.randrange(len(rest)))
    rest.insert(dice.randrange(len(rest) + 1), moved)
    return rest


def delete_block(blocks: list[str], dice: random.Random) -> list[str]:
    at = dice.randrange(len(blocks))
    return blocks[:at] + blocks[at + 1 :]


def double_block(blocks: list[str], dice: random.Random) -> list[str]:
    at = dice.randrange(len(blocks))
    return [*blocks[:at], blocks[at], *blocks[at:]]


def at_char(change: Callable[[str, random.Random], str]) -> Change:
    def apply(text: str, dice: random.Random) -> str:
        at = dice.randrange(len(text))
        return text[:at] + change(text[at], dice) + text[at + 1 :]

    return apply


def swap_words(text: str, dice: random.Random) -> str:
    found = list(re.finditer(r"\S+", text))
    first, second = sorted(dice.sample(found, 2), key=re.Match.start)
    return text[: first.start()] + second[0] + text[first.end() : second.start()] + first[0] + text[second.end() :]


def look_alike(text: str, dice: random.Random) -> str:
    places = [at for at, char in enumerate(text) if char in LOOK_ALIKES]
    at = dice.choice(places)
    return text[:at] + LOOK_ALIKES[text[at]] + text[at + 1 :]


def change_case(text: str, dice: random.Random) -> str:
    places = [at for at, char in enumerate(text) if char.swapcase() != char]
    at = dice.choice(places)
    return text[:at] + text[at].swapcase() + text[at + 1 :]


def change_space(text: str, dice: random.Random) -> str:
    kind = dice.randrange(7)
    if kind == 0:
        return text.replace("\n", "\r\n")
    if kind == 1:
        return f"{text}{dice.choice((' ', chr(10), chr(9)))}"
    if kind == 2:
        return f"{dice.choice((' ', chr(10), chr(9), chr(0xFEFF)))}{text}"
    if kind == 3:
        return text.rstrip("\n")
    places = [at for at, char in enumerate(text) if char in " \n"]
    at = dice.choice(places)
    return text[:at] + dice.choice(("", "  ", "\n", "\t", "\u2003", " \n")) + text[at + 1 :]


def normalise(text: str, dice: random.Random) -> str:
    return unicodedata.normalize(dice.choice(("NFD", "NFKC", "NFKD", "NFC")), text)


def edit_head(text: str, dice: random.Random) -> str:
    """Change one field of the frontmatter, add one, remove one, change their order, or end the block elsewhere."""
    end = text.find("\n---\n", 3)
    lines = text[4:end].split("\n")
    at, kind = dice.randrange(len(lines)), dice.randrange(7)
    if kind == 0:
        lines[at] += " (forged)"
    elif kind == 1:
        lines.insert(
            at, dice.choice(("note: The mayor has resigned", "author: A Forger", "# comment", "title: Forged", ""))
        )
    elif kind == 2:
        del lines[at]
    elif kind == 3:
        dice.shuffle(lines)
    elif kind == 4:
        lines[at] = f"{lines[at].partition(':')[0]}: 'Forged: {at}'"
    elif kind == 5:
        lines.insert(at, "---")
    else:
        lines[at] = lines[at].replace(": ", ":  ", 1)
    return f"---\n{chr(10).join(lines)}{text[end:]}"


CHANGES: Final[dict[str, Change]] = {
    "insert a block": at_block(insert_block),
    "insert above": lambda text, dice: f"{dice.choice(INVENTED[:-1])}\n\n{text}",
    "insert below the head": lambda text, dice: text.replace(
        "\n---\n\n", f"\n---\n\n{dice.choice(INVENTED[:-1])}\n\n", 1
    ),
    "move a block": at_block(move_block),
    "delete a block": at_block(delete_block),
    "double a block": at_block(double_block),
    "insert a character": at_char(lambda char, dice: char + dice.choice("x.7 \n")),
    "insert an invisible character": at_char(lambda char, dice: char + dice.choice(INVISIBLE)),
    "delete a character": at_char(lambda _char, _dice: ""),
    "swap words": swap_words,
    "look-alike": look_alike,
    "case": change_case,
    "white space": change_space,
    "Unicode form": normalise,
    "edit the head": edit_head,
    "cut": lambda text, dice: text[: dice.randrange(len(text))],
}


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def body_hash(text: str) -> str:
    """The hash of the Markdown as a forger makes it: of all below the frontmatter."""
    return sha(re.sub(r"\A---\n.*?\n---\n\n*", "", text, count=1, flags=re.DOTALL).rstrip("\n"))


Receipt = Callable[[str], dict[str, Any]]
RECEIPTS: Final[dict[str, Receipt]] = {
    "hash kept": lambda _: {},
    "hash dropped": lambda _: {"text_hash": None},
    "hash made again": lambda text: {"text_hash": sha(text)},
    "all hashes made again": lambda text: {"text_hash": sha(text), "content_hash": body_hash(text)},
    "one dropped, one made again": lambda text: {"text_hash": None, "content_hash": body_hash(text)},
    "all dropped": lambda _: {"text_hash": None, "content_hash": None},
    "said to be imported": lambda text: {"text_hash": sha(text), "imported": True},
    "said to be by other rules": lambda text: {"text_hash": sha(text), "rules_hash": "0123456789abcdef"},
    "said to be by an older parser": lambda text: {"text_hash": sha(text), "parser_version": PARSER_VERSION - 1},
    "said to be edited": lambda text: {"text_hash": sha(text), "edited": True},
}
"""What a forger does to the receipt."""
HIDING: Final = frozenset(
    {"all dropped", "said to be by other rules", "said to be by an older parser", "said to be edited"}
)
"""Receipts by which the text cannot be derived: it is not proven, and not all changes show."""
TAMPERED: Final[dict[str, dict[str, Any]]] = {
    "text hash dropped": {"text_hash": None},
    "Markdown hash dropped": {"content_hash": None},
    "raw hash dropped": {"raw_hash": None},
    "text hash forged": {"text_hash": "0" * 64},
    "Markdown hash forged": {"content_hash": "0" * 64},
    "raw hash forged": {"raw_hash": "0" * 64},
    "options dropped": {"options": None},
    "parser dropped": {"parser_version": None},
    "rules dropped": {"rules_hash": None},
}
"""Changes of the receipt alone: the text is not proven by what is left."""


@dataclass(frozen=True)
class Forged:
    """What was done to one item."""

    name: str
    must_be_fault: bool
    """Whether it must be reported as wrong; else it must not be reported as proven."""


def forge(item: Item, shape: str, dice: random.Random) -> tuple[str, dict[str, Any], Forged]:
    """Return the forged text, the changes of the metadata, and what was done."""
    if dice.random() < 0.05:
        name = dice.choice(list(TAMPERED))
        return item.content, TAMPERED[name], Forged(f"{shape}: {name}", name.endswith("forged"))
    while True:
        change, receipt = dice.choice(list(CHANGES)), dice.choice(list(RECEIPTS))
        text = CHANGES[change](item.content, dice)
        if text != item.content:
            break
    same_time = "saved_at:" not in "".join(set(text.splitlines()) ^ set(item.content.splitlines()))
    must = receipt == "hash kept" or (receipt not in HIDING and same_time)
    return text, RECEIPTS[receipt](text), Forged(f"{shape}: {change}, {receipt}", must)


def compare(forged: dict[str, Forged], verdicts: Iterator[Verdict], where: str) -> list[str]:
    """What `verify` says that it must not."""
    faults, seen = [], set()
    for verdict in verdicts:
        seen.add(verdict.item_id)
        done = forged.get(verdict.item_id)
        if done is not None and (
            verdict.state == "verified"
            or verdict.signed_by is not None
            or (done.must_be_fault and not verdict.is_fault)
        ):
            faults.append(f"{where}: {done.name}: {verdict.state} {verdict.reason} {verdict.compared}")
    return faults


def export_all(store: Store, path: Path) -> Path:
    asyncio.run(export(store, path, ExportOptions("wacz"), Settings()))
    return path


def open_signing(where: str, folder: Path) -> Store:
    """Open a library that signs its receipts."""
    return open_store(where, USER, sign=Signer(folder / "receipts.key"))


def attack(where: str, count: int) -> list[str]:
    """Forge this many items in a library and in archives, and look for each."""
    dice = random.Random(count)
    with tempfile.TemporaryDirectory() as folder, closing(open_signing(where, Path(folder))) as store:
        faults = check_sound(store, where, Path(folder))
        forged: dict[str, Forged] = {}
        changes: dict[str, tuple[str, dict[str, Any]]] = {}
        for number in range(count // 2):
            shape = PROVABLE[number % len(PROVABLE)] if number % 100 else "document"
            item = keep(store, shape, 1_000 + number)
            text, about, done = forge(item, shape, dice)
            changes[item.id], forged[item.id] = (text, about), done
        write(where, changes)
        faults += compare(forged, verify(store, select(store, ()), RULES), "library")
        check = ArchiveCheck()
        path = export_all(store, Path(folder) / "forged.wacz")
        found = list(verify_archive(path, RULES, check))
        faults += compare(forged, iter(found), "archive")
        lost = forged.keys() - {verdict.item_id for verdict in found}
        if len(check.faults) != len(lost):
            faults.append(f"archive: {len(lost)} items could not be read, {len(check.faults)} reported")
        print(Counter(verdict.state for verdict in found), len(check.faults), "not read")
    return faults if where.startswith("postgres") else faults + attack_archives(count // 50)


def check_sound(store: Store, where: str, folder: Path) -> list[str]:
    """Pages of all shapes and histories: nothing is reported that is not there."""
    expected = {keep(store, shape, 1).id: (shape, "verified") for shape in PROVABLE}
    for number, (name, (change, state)) in enumerate(HISTORIES.items()):
        item = keep(store, "title above", 100 + number)
        change(store, item, 100 + number)
        expected[item.id] = name, state
    for number, known in enumerate(
        ({"author": "The Importer"}, {"title": "An import"}, {"published_at": "2019-03-04"})
    ):
        expected[keep_import(store, 200 + number, **known).id] = f"import with {known}", "unproven"
    expected[keep_import(store, 210).id] = "import", "verified"
    check = ArchiveCheck()
    sources = {
        "library": verify(store, select(store, ()), RULES),
        "archive": verify_archive(export_all(store, folder / "sound.wacz"), RULES, check),
    }
    faults = []
    for source, verdicts in sources.items():
        found = {verdict.item_id: verdict for verdict in verdicts}
        for item_id, (name, state) in expected.items():
            verdict = found.get(item_id)
            if source == "archive" and name == "deleted":
                continue
            unsigned = state == "verified" and verdict is not None and verdict.signed_by is None
            if verdict is None or verdict.state != state or unsigned:
                faults.append(f"{source}: {name} is not {state}: {verdict}")
    for item_id in list(store.items.all_ids()):
        store.items.delete(item_id, NOW)
    store.items.purge()
    return faults + [f"archive: {fault}" for fault in check.faults]


# Changes of archives.


def read_records(wacz: bytes) -> tuple[dict[str, bytes], list[bytes]]:
    """Return the files of a WACZ, and the records of its WARC."""
    with ZipFile(io.BytesIO(wacz)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    data, records = files["archive/data.warc.gz"], []
    while data:
        member = zlib.decompressobj(16 + zlib.MAX_WBITS)
        records.append(member.decompress(data) + member.flush())
        data = member.unused_data
    return files, records


def write_archive(files: dict[str, bytes], records: list[bytes], path: Path) -> None:
    """Write a WACZ with these records; the hashes of all files are made again."""
    files = {**files, "archive/data.warc.gz": b"".join(gzip.compress(record) for record in records)}
    package = json.loads(files["datapackage.json"])
    package["resources"] = [
        {
            **entry,
            "hash": f"sha256:{hashlib.sha256(files[entry['path']]).hexdigest()}",
            "bytes": len(files[entry["path"]]),
        }
        for entry in package["resources"]
        if entry["path"] in files
    ]
    listed = json.dumps(package).encode()
    digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(listed).hexdigest()}"}
    files |= {"datapackage.json": listed, "datapackage-digest.json": json.dumps(digest).encode()}
    with ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def with_body(record: bytes, body: bytes) -> bytes:
    """The record with another body, and the lengths and digests that fit it."""
    head, _, content = record.partition(b"\r\n\r\n")
    content = content.removesuffix(b"\r\n\r\n")
    if b"WARC-Type: response" in head:
        http, _, _ = content.partition(b"\r\n\r\n")
        body = re.sub(rb"(?im)^content-length: \d+", b"content-length: %d" % len(body), http) + b"\r\n\r\n" + body
    head = re.sub(rb"\r\nWARC-(?:Block|Payload)-Digest: [^\r]+", b"", head)
    return re.sub(rb"Content-Length: \d+", b"Content-Length: %d" % len(body), head) + b"\r\n\r\n" + body + b"\r\n\r\n"


def body_of(record: bytes) -> bytes:
    head, _, content = record.partition(b"\r\n\r\n")
    content = content.removesuffix(b"\r\n\r\n")
    return content.partition(b"\r\n\r\n")[2] if b"WARC-Type: response" in head else content


KINDS: Final = (b"response", b"conversion", b"metadata", b"resource")


def forge_records(records: list[bytes], dice: random.Random) -> tuple[str, list[bytes]]:
    """Return the records after one change of a forger, and what it was."""
    kind = dice.choice(KINDS)
    places = [at for at, record in enumerate(records) if b"WARC-Type: " + kind in record.partition(b"\r\n\r\n")[0]]
    at, forged, name = dice.choice(places), list(records), dice.randrange(5)
    if name == 0:
        del forged[at]
        return f"a {kind.decode()} dropped", forged
    if name == 1 and len(places) > 1:
        other = dice.choice([place for place in places if place != at])
        forged[at], forged[other] = (
            with_body(records[at], body_of(records[other])),
            with_body(records[other], body_of(records[at])),
        )
        return f"bodies of two of {kind.decode()} swapped", forged
    if name == 2:
        forged[at] = with_body(records[at], b"")
        return f"a {kind.decode()} emptied", forged
    if name == 3 and kind == b"metadata":
        entry = json.loads(body_of(records[at]))
        part = dice.choice([part for part in ("raw", "text") if part in entry])
        del entry[part]
        forged[at] = with_body(records[at], json.dumps(entry).encode())
        return f"{part} no longer named", forged
    body = body_of(records[at])
    changed = body.replace(b"harbour", b"herbour", 1) if b"harbour" in body else body + b"x"
    if kind == b"metadata":  # all of it is a hash or comes after it
        entry = json.loads(body)
        entry["metadata"]["raw_hash" if "raw" in entry else "text_hash"] = "0" * 64
        changed = json.dumps(entry).encode()
    forged[at] = with_body(records[at], changed)
    return f"a {kind.decode()} changed", forged


def attack_archives(count: int) -> list[str]:
    """Change this many archives, with hashes that fit."""
    dice, faults = random.Random(count), []
    with tempfile.TemporaryDirectory() as folder, closing(open_store(Path(folder) / "library.db", USER)) as store:
        for number in range(3):
            keep_picture(store, keep(store, "title above", number))
        files, records = read_records(export_all(store, Path(folder) / "sound.wacz").read_bytes())
        path = Path(folder) / "forged.wacz"
        write_archive(files, records, path)
        if name := trusted(path, 3):
            faults.append(f"archive that was only packed again: {name}")
        for _ in range(count):
            name, forged = forge_records(records, dice)
            write_archive(files, forged, path)
            if not trusted(path, 3):
                faults.append(f"archive: {name}: everything is verified")
        for name in files.keys() - {"datapackage.json"}:
            path.write_bytes(b"")
            with ZipFile(path, "w") as archive:
                for other, data in files.items():
                    if other != name:
                        archive.writestr(other, data)
            if not trusted(path, 3):
                faults.append(f"archive without {name}: everything is verified")
    return faults


def keep_picture(store: Store, item: Item) -> None:
    """Keep a picture with an item that no other has."""
    source = f"https://harbour.example/{item.id}.png"
    body = b"\x89PNG\r\n\x1a\n" + item.id.encode()
    link = ItemBlob("picture", source, "kept", NOW, "image/png", store.blobs.put(body, NOW), len(body), 1, 1)
    store.blobs.link(item.id, [link])


def trusted(path: Path, count: int) -> str:
    """Why an archive is not one in which everything is verified; empty when it is."""
    check = ArchiveCheck()
    verdicts = list(verify_archive(path, RULES, check, processes=1))
    wrong = [f"{verdict.state} {verdict.reason}" for verdict in verdicts if verdict.state != "verified"]
    return "; ".join((*check.faults, *wrong, *(["items are missing"] if len(verdicts) != count else [])))


if __name__ == "__main__":
    run_script(attack, 200, 10_000)
