"""Signed receipts: what the key signed is recognised, whatever happens to it later, and nothing else is."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pagekeep.config import Settings
from pagekeep.errors import InvalidQuery, StoreError
from pagekeep.library.archive.receipts import Verdict
from pagekeep.library.exports.run import ExportOptions, export
from pagekeep.library.imports.run import ImportPlan, import_stream
from pagekeep.library.signatures import Signer, read_key
from pagekeep.library.verify import select, verify
from pagekeep.model import Item
from pagekeep.model.lists import edit
from pagekeep.store import Store, open_store
from pagekeep.store.backup import backup_folder
from tests.hostile.receipt_mutations import rewrite, write
from tests.library.receipts.making import RULES, keep, page
from tests.store.making import NOW


@pytest.fixture
def signing(library: Store, where: str, tmp_path: Path) -> Iterator[Store]:
    """The library, opened with a key."""
    with closing(open_store(where, library.user_id, sign=Signer(tmp_path / "receipts.key"))) as store:
        yield store


def only(store: Store, item: Item) -> Verdict:
    (verdict,) = verify(store, select(store, [item.id]), RULES)
    return verdict


def public_key(store: Store, item: Item) -> str:
    return str((store.items.get(item.id).metadata.signature or {})["key"])


def test_signed_receipt_names_the_public_key_and_its_file_is_private(signing: Store, tmp_path: Path) -> None:
    verdict = only(signing, item := keep(signing, 1))
    assert (verdict.state, verdict.signed_by) == ("verified", public_key(signing, item))
    assert verdict.compared[0] == "signature"
    file = tmp_path / "receipts.key"
    assert file.read_text().strip() != verdict.signed_by
    if os.name != "nt":
        assert file.stat().st_mode & 0o777 == 0o600


def test_library_without_the_setting_signs_nothing(library: Store) -> None:
    item = keep(library, 1)
    assert item.metadata.signature is None
    assert only(library, item).signed_by is None


CHANGES: dict[str, Callable[[Store, Item], object]] = {
    "tag": lambda store, item: store.items.set_metadata(item.id, NOW, tags=("new",)),
    "title": lambda store, item: store.items.save(edit(item, {"title": "Mine"}), store.items.raw(item.id)),
    "deleted": lambda store, item: store.items.delete(item.id, NOW),
    "changed page": lambda store, item: keep(store, 1, page(2)),
    "edited text": lambda store, item: rewrite(store, item, "My own words.", edited=True),
}


@pytest.mark.parametrize("name", CHANGES)
def test_item_stays_signed(signing: Store, name: str) -> None:
    item = keep(signing, 1)
    CHANGES[name](signing, item)
    verdict = only(signing, item)
    assert verdict.signed_by == public_key(signing, item)
    assert not verdict.is_fault


def test_text_that_is_stored_without_the_key_is_not_signed(signing: Store, library: Store) -> None:
    item = keep(signing, 1)
    keep(library, 1, page(2))
    verdict = only(signing, item)
    assert (verdict.state, verdict.signed_by) == ("verified", None)


FORGERIES: dict[str, Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]] = {
    "another statement": lambda own, _: {**own, "statement": own["statement"].replace("7", "8", 1)},
    "another key": lambda own, other: {**own, "key": "A" * 43 + "="},
    "no signature": lambda own, _: {**own, "signature": ""},
    "nothing": lambda own, _: {},
    "numbers": lambda own, _: {"statement": 1, "key": 2, "signature": 3},
    "not JSON": lambda own, _: {**own, "statement": "[" * 10_000},
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_signature_is_damage(signing: Store, where: str, name: str) -> None:
    item = keep(signing, 1)
    own = dict(item.metadata.signature or {})
    write(where, {item.id: (item.content, {"signature": FORGERIES[name](own, {})})}, signing.user_id)
    verdict = only(signing, item)
    assert (verdict.state, verdict.reason, verdict.signed_by) == ("damaged", "signature", None)


def test_signature_of_another_page_is_worth_nothing(signing: Store, where: str) -> None:
    item, other = keep(signing, 1), keep(signing, 2)
    write(where, {item.id: (item.content, {"signature": dict(other.metadata.signature or {})})}, signing.user_id)
    assert only(signing, item).signed_by is None


def test_damaged_text_is_not_shown_as_signed(signing: Store, where: str) -> None:
    item = keep(signing, 1)
    write(where, {item.id: (f"{item.content}Forged.\n", {})}, signing.user_id)
    verdict = only(signing, item)
    assert (verdict.state, verdict.signed_by) == ("damaged", None)


def test_import_keeps_the_signature_unless_the_library_signs(signing: Store, tmp_path: Path) -> None:
    item = keep(signing, 1)
    out = io.BytesIO()
    asyncio.run(export(signing, out, ExportOptions("warc"), Settings()))
    own = open_store(tmp_path / "own.db", sign=Signer(tmp_path / "own.key"))
    with closing(own), closing(open_store(tmp_path / "plain.db")) as plain:
        for store in (plain, own):
            import_stream(io.BytesIO(out.getvalue()), "a.warc.gz", store, ImportPlan(RULES))
        assert only(plain, item).signed_by == public_key(signing, item)
        assert only(own, item).signed_by == public_key(own, item) != public_key(signing, item)


def test_backup_has_the_signatures_and_not_the_key(signing: Store, tmp_path: Path) -> None:
    item = keep(signing, 1)
    folder = tmp_path / "backup"
    signing.backup_folder(folder, NOW, {})
    secret = (tmp_path / "receipts.key").read_bytes().strip()
    assert not [file for file in folder.rglob("*") if file.is_file() and secret in file.read_bytes()]
    with closing(open_store(tmp_path / "restored.db", signing.user_id)) as copy:
        copy.restore_folder(folder, backup_folder.read_state(folder))
        assert only(copy, item).signed_by == public_key(signing, item)


def test_key_that_cannot_be_used_is_an_error_that_says_so(library: Store, where: str, tmp_path: Path) -> None:
    (tmp_path / "receipts.key").write_text("not a key")
    with closing(open_store(where, library.user_id, sign=Signer(tmp_path / "receipts.key"))) as store:
        with pytest.raises(StoreError, match="receipts"):
            keep(store, 1)
        assert list(store.items.all_ids()) == []


@pytest.mark.parametrize("text", ["", "abc", "A" * 44, "A" * 100])
def test_what_is_not_a_public_key_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuery):
        read_key(text)
