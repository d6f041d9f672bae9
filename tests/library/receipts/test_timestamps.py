"""Time stamps of receipts: a token is kept only if it is about the receipt, and no service can fail or delay a save."""

from __future__ import annotations

import asyncio
import base64
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.x509.oid import ExtendedKeyUsageOID

from pagekeep import clock
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.errors import BlockedAddress, FetchError, PagekeepError, ParseError
from pagekeep.library.archive import timestamps
from pagekeep.library.archive.receipts import Verdict
from pagekeep.library.archive.timestamps import check_token, make_query, read_answer, stamped_digest
from pagekeep.library.open import open_library
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.save import save
from pagekeep.library.signatures import Signer
from pagekeep.library.verify import select, verify, verify_one
from pagekeep.model import Item, Job
from pagekeep.store import Store, open_store
from tests.hostile.receipt_mutations import write
from tests.library.receipts.making import RULES, keep, page
from tests.library.receipts.time_service import OPENSSL, Authority, service
from tests.site.fixtures import Shore
from tests.store.making import NOW

pytestmark = pytest.mark.skipif(OPENSSL is None, reason="openssl makes the tokens")
DIGEST = bytes(range(32))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def signing(library: Store, where: str, tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(where, library.user_id, sign=Signer(tmp_path / "receipts.key"))) as store:
        yield store


def stamp(store: Store, item: Item, settings: Settings) -> dict[str, Any] | None:
    """Run the job that requests a time stamp."""

    async def go() -> Any:
        async with Retrieval(settings) as retrieval:
            job = Job("1", store.user_id, "", "", {"task": "timestamp", "subject": item.id}, "running", 1, None, NOW, None, None, NOW)  # fmt: skip
            return (await timestamps.timestamp_job(job, store, retrieval, lambda _text: None)).report

    return asyncio.run(go())  # type: ignore[no-any-return]


def with_service(settings: Settings, address: str) -> Settings:
    return replace(settings, timestamp_service=address, allow_hosts=("127.0.0.1",), retries=0)


def only(store: Store, item: Item) -> Verdict:
    (verdict,) = verify(store, select(store, [item.id]), RULES)
    return verdict


def token_of(store: Store, item: Item) -> str | None:
    return (store.items.get(item.id).metadata.signature or {}).get("timestamp")


@pytest.mark.parametrize(("kind", "ess"), [("rsa", "sha256"), ("rsa", "sha1"), ("ec", "sha256"), ("ec", "sha512")])
def test_receipt_is_stamped_and_another_program_accepts_the_token(
    signing: Store, settings: Settings, tmp_path: Path, kind: str, ess: str
) -> None:
    clock_house, item = Authority(tmp_path / "authority", kind=kind, ess=ess), keep(signing, 1)
    before = clock.to_the_second(clock.now())
    with service(clock_house.answer) as address:
        assert stamp(signing, item, with_service(settings, address)) == {"stamped": 1}
    verdict = only(signing, item)
    assert (verdict.state, verdict.compared[:2]) == ("verified", ("signature", "timestamp"))
    assert verdict.timestamp is not None
    assert verdict.timestamp.certificate == clock_house.fingerprint
    assert verdict.timestamp.authority == f"CN=Harbour clock {kind}"
    assert before <= verdict.timestamp.time <= clock.to_the_second(clock.now())
    signed = signing.items.get(item.id).metadata.signature or {}
    assert clock_house.proves(base64.b64decode(signed["timestamp"]), stamped_digest(signed))
    assert signing.items.get(item.id).updated_at == item.updated_at


def wrong_hash(query: bytes, authority: Authority) -> bytes:
    return authority.answer(make_query(DIGEST, 7))


def other_nonce(query: bytes, authority: Authority) -> bytes:
    at = query.index(b"\x04\x20") + 2
    return authority.answer(make_query(query[at : at + 32], 7))


def without_certificate(query: bytes, authority: Authority) -> bytes:
    return authority.answer(query.replace(b"\x01\x01\xff", b"\x01\x01\x00"))


HOSTILE: dict[str, Callable[[bytes, Authority], bytes]] = {
    "another hash": wrong_hash,
    "another request": other_nonce,
    "no certificate": without_certificate,
    "nothing": lambda _query, _authority: b"",
    "text": lambda _query, _authority: b"<html>Please sign in</html>",
    "the request": lambda query, _authority: query,
    "refusal": lambda _query, _authority: bytes.fromhex("30053003020102"),
    "granted without a token": lambda _query, _authority: bytes.fromhex("30053003020100"),
    "endless lengths": lambda _query, _authority: b"\x30\x80" * 10_000,
    "deep": lambda _query, _authority: b"\x30\x83\x00\xff\xff" * 12_000,
    "long number": lambda _query, _authority: b"\x30\xff" + b"\xff" * 200,
    "huge": lambda _query, _authority: b"\x30\x84\x7f\xff\xff\xff" + b"\x00" * 2_000_000,
    "garbage": lambda query, _authority: random.Random(1).randbytes(5_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answer_is_refused_and_the_item_stays_as_it_is(
    tmp_path: Path, settings: Settings, authority: Authority, name: str
) -> None:
    with closing(open_store(tmp_path / "own.db", sign=Signer(tmp_path / "receipts.key"))) as store:
        item = keep(store, 1)
        with service(lambda query: HOSTILE[name](query, authority)) as address, pytest.raises(PagekeepError):
            stamp(store, item, with_service(settings, address))
        assert store.items.get(item.id) == item
        assert only(store, item).state == "verified"


@pytest.mark.parametrize("how", ["slow", "drip", "refused", "gone"])
def test_service_that_does_not_answer_ends_the_job_and_not_the_item(
    tmp_path: Path, settings: Settings, authority: Authority, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(timestamps, "_DEADLINE", 0.5)
    options: dict[str, Any] = {"slow": {"seconds": 60}, "drip": {"drip": True}, "refused": {"status": 500}}.get(how, {})
    with closing(open_store(tmp_path / "own.db", sign=Signer(tmp_path / "receipts.key"))) as store:
        item = keep(store, 1)
        with service(authority.answer, **options) as address:
            own = with_service(settings, "http://127.0.0.1:9/" if how == "gone" else address)
            with pytest.raises(FetchError):
                stamp(store, item, own)
        assert token_of(store, item) is None


def test_service_passes_the_address_guard(tmp_path: Path, settings: Settings, authority: Authority) -> None:
    asked: list[bytes] = []
    with closing(open_store(tmp_path / "own.db", sign=Signer(tmp_path / "receipts.key"))) as store:
        item = keep(store, 1)

        def answer(query: bytes) -> bytes:
            asked.append(query)
            return b""

        with service(answer) as address, pytest.raises(BlockedAddress):
            stamp(store, item, replace(with_service(settings, address), allow_hosts=()))
    assert asked == []


def test_every_changed_byte_of_a_token_is_found(authority: Authority) -> None:
    """Also in parts that are not signed: a token is accepted as it came, or not at all, or says the same."""
    answer = authority.answer(make_query(DIGEST, 7))
    token = read_answer(answer, DIGEST, 7)
    whole, dice = check_token(token, DIGEST), random.Random(4)
    for _ in range(1_500):
        changed = bytearray(token)
        kind, at = dice.randrange(3), dice.randrange(len(token))
        if kind == 0:
            changed[at] ^= 1 << dice.randrange(8)
        elif kind == 1:
            del changed[at : at + dice.randrange(1, 20)]
        else:
            changed[at:at] = dice.randbytes(dice.randrange(1, 20))
        try:
            found = check_token(bytes(changed), DIGEST)
        except ParseError:
            continue
        assert found == whole


def test_token_with_another_certificate_in_it_is_refused(tmp_path: Path, authority: Authority) -> None:
    token = read_answer(authority.answer(make_query(DIGEST, 7)), DIGEST, 7)
    own = authority.certificate.public_bytes(timestamps._der_encoding())
    other = Authority(tmp_path / "other", usage=ExtendedKeyUsageOID.SERVER_AUTH)
    forged = token.replace(own, other.certificate.public_bytes(timestamps._der_encoding()))
    with pytest.raises(ParseError):
        check_token(forged, DIGEST)


def test_token_of_another_receipt_is_damage(
    signing: Store, where: str, settings: Settings, authority: Authority
) -> None:
    item, other = keep(signing, 1), keep(signing, 2)
    with service(authority.answer) as address:
        stamp(signing, other, with_service(settings, address))
    forged = {**(item.metadata.signature or {}), "timestamp": token_of(signing, other)}
    write(where, {item.id: (item.content, {"signature": forged})}, signing.user_id)
    verdict = only(signing, item)
    assert (verdict.state, verdict.reason, verdict.signed_by) == ("damaged", "timestamp", None)


def test_receipt_that_was_signed_again_meanwhile_is_not_given_the_token(signing: Store) -> None:
    item = keep(signing, 1)
    statement = (item.metadata.signature or {})["statement"]
    keep(signing, 1, page(2))
    assert not signing.items.add_timestamp(item.id, statement, "AAAA")
    assert token_of(signing, item) is None


def test_save_does_not_wait_for_the_service(
    shore: Shore, settings: Settings, tmp_path: Path, authority: Authority
) -> None:
    shore.bodies["a"] = page(1).decode()
    own = replace(
        settings, library=str(tmp_path / "own.db"), sign_receipts=True, timestamp_service="http://127.0.0.1:9/"
    )

    async def go(store: Store) -> tuple[Item, Verdict]:
        async with Retrieval(replace(own, render="never"), RULES) as retrieval:
            saved = await save(SaveRequest(Request(shore.site.url("/page/a"))), store, retrieval)
            return saved.item, await verify_one(saved.item.id, store, retrieval)

    with closing(open_library(own)) as store:
        item, verdict = asyncio.run(go(store))
        assert (verdict.state, verdict.signed_by is not None, verdict.timestamp) == ("verified", True, None)
        job = store.jobs.lease("worker", clock.now(), clock.add_seconds(clock.now(), 60.0))
        assert job is not None
        assert (job.options["task"], job.options["subject"]) == ("timestamp", item.id)
