"""Time stamps of signed receipts (RFC 3161): a service, if the settings name one, signs the hash of a receipt and the time."""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
from asyncio import to_thread
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from pagekeep import clock, extras
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.errors import FetchHttpError, NotFound, ParseError
from pagekeep.library.queue import SliceResult
from pagekeep.model import Item, Job
from pagekeep.store import Store

TASK: Final = "timestamp"
MAX_TOKEN_BYTES: Final = 64_000
"""A token with its chain of certificates has 3 to 8 KB."""
_DEADLINE: Final = 30.0
_MAX_RSA_BITS: Final = 8_192
_MAX_PARTS: Final = 1_000

# Tags of DER, and what the standards call the objects.
_INTEGER, _OCTETS, _OBJECT, _TIME, _SEQUENCE, _SET = 0x02, 0x04, 0x06, 0x18, 0x30, 0x31
_FIRST: Final = 0xA0  # [0]
_SIGNED_DATA: Final = "1.2.840.113549.1.7.2"
_TST_INFO: Final = "1.2.840.113549.1.9.16.1.4"
_CONTENT_TYPE: Final = "1.2.840.113549.1.9.3"
_MESSAGE_DIGEST: Final = "1.2.840.113549.1.9.4"
_CERTIFICATE: Final = "1.2.840.113549.1.9.16.2.12"
_CERTIFICATE_2: Final = "1.2.840.113549.1.9.16.2.47"
_SHA256: Final = "2.16.840.1.101.3.4.2.1"
_HASHES: Final = {_SHA256: "sha256", "2.16.840.1.101.3.4.2.2": "sha384", "2.16.840.1.101.3.4.2.3": "sha512"}


@dataclass(frozen=True, slots=True)
class Timestamp:
    """What a time stamp says, and who says it."""

    time: str
    """In UTC."""
    authority: str
    """The name in the certificate that signed it; anyone can choose one."""
    certificate: str
    """SHA-256 of that certificate."""


def is_wanted(item: Item, settings: Settings) -> bool:
    """Return whether a time stamp of the item's receipt is to be requested."""
    signed = item.metadata.signature
    return settings.timestamp_service is not None and signed is not None and "timestamp" not in signed


def request_timestamp(store: Store, item: Item, settings: Settings) -> None:
    """Add a job that requests the time stamp of an item's receipt, if the settings name a service."""
    if is_wanted(item, settings):
        options = {"task": TASK, "subject": item.id}
        store.jobs.add(f"pagekeep:{TASK}/{item.id}", f"pagekeep:{TASK}", options, clock.now())


async def timestamp_job(job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None]) -> SliceResult:
    """Request the time stamp of a receipt, as a job: the queue tries again when that fails."""
    settings = retrieval.settings
    try:
        item = await to_thread(store.items.get, str(job.options.get("subject")))
    except NotFound:  # it was purged
        return SliceResult(report={"stamped": 0})
    if settings.timestamp_service is None or item.metadata.signature is None or not is_wanted(item, settings):
        return SliceResult(report={"stamped": 0})
    progress("Requesting a time stamp")
    digest, nonce = stamped_digest(item.metadata.signature), secrets.randbits(63)
    answer = await retrieval.client.send(
        "POST",
        settings.timestamp_service,
        make_query(digest, nonce),
        headers={"content-type": "application/timestamp-query", "accept": "application/timestamp-reply"},
        max_bytes=MAX_TOKEN_BYTES,
        deadline=_DEADLINE,
    )
    if answer.status != 200:
        raise FetchHttpError("The time stamp service refused the request.", status=answer.status)
    token = read_answer(answer.body, digest, nonce)
    stored = await to_thread(
        store.items.add_timestamp,
        item.id,
        str(item.metadata.signature["statement"]),
        base64.b64encode(token).decode(),
    )
    return SliceResult(report={"stamped": int(stored)})


def stamped_digest(signed: Mapping[str, Any]) -> bytes:
    """Return the hash that is stamped: of the statement and its signature."""
    return hashlib.sha256(
        f"{signed.get('statement')}\n{signed.get('signature')}".encode("utf-8", "surrogatepass")
    ).digest()


def check_timestamp(signed: Mapping[str, Any]) -> Timestamp | None:
    """Return the time stamp of a signed receipt; `None` without one; `ParseError` when it is not one of this receipt."""
    token = signed.get("timestamp")
    if token is None or extras.find_missing("signatures"):
        return None
    try:
        data = base64.b64decode(str(token), validate=True)
    except (binascii.Error, ValueError):
        raise _wrong("it is not Base64") from None
    return check_token(data, stamped_digest(signed))


def make_query(digest: bytes, nonce: int) -> bytes:
    """Return the request for a time stamp of a SHA-256."""
    imprint = _der(_SEQUENCE, _der(_SEQUENCE, _object(_SHA256), b"\x05\x00"), _der(_OCTETS, digest))
    return _der(_SEQUENCE, _integer(1), imprint, _integer(nonce), b"\x01\x01\xff")


def read_answer(data: bytes, digest: bytes, nonce: int) -> bytes:
    """Return the token in the answer of a service, once it is checked; `ParseError` when it is not what was requested."""
    answer = _only(data, _SEQUENCE)
    if not answer or not (status := _parts(answer[0].content)) or status[0].content not in (b"\x00", b"\x01"):
        raise _wrong("the service did not grant it")
    if len(answer) != 2:
        raise _wrong("the answer has no token")
    token = answer[1].whole
    check_token(token, digest)
    if _read_token(token).nonce != nonce:
        raise _wrong("it is the answer to another request")
    return token


def check_token(token: bytes, digest: bytes) -> Timestamp:
    """Return what a token says about this SHA-256; `ParseError` unless the certificate in it signed just that."""
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.x509.oid import ExtendedKeyUsageOID

    invalid = (ValueError, TypeError, LookupError, InvalidSignature, UnsupportedAlgorithm)
    found = _read_token(token)
    if found.digest != digest:
        raise _wrong("it is about something else")
    try:
        certificate = _find_certificate(found)
        usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage)
        if not usage.critical or list(usage.value) != [ExtendedKeyUsageOID.TIME_STAMPING]:
            raise _wrong("its certificate is not one for time stamps")
        if not certificate.not_valid_before_utc <= found.time <= certificate.not_valid_after_utc:
            raise _wrong("its certificate was not valid at that time")
        _check_signature(found, certificate)
        authority = certificate.subject.rfc4514_string()[:500]
        data = certificate.public_bytes(_der_encoding())
    except (*invalid, x509.ExtensionNotFound, x509.DuplicateExtension):
        raise _wrong("its signature or certificate is not valid") from None
    return Timestamp(clock.to_the_second(clock.format_time(found.time)), authority, hashlib.sha256(data).hexdigest())


class _Token(NamedTuple):
    """The parts of a token that are compared."""

    digest: bytes
    time: datetime
    nonce: int | None
    info: bytes
    """What is signed by way of its hash."""
    certificates: list[bytes]
    signer: bytes
    """Which certificate: its issuer and number."""
    hash_name: str
    attributes: bytes
    """The attributes that are signed, as they are signed."""
    algorithm: str
    signature: bytes


def _read_token(token: bytes) -> _Token:
    """Return the parts of a CMS message with one signer and the content that RFC 3161 describes."""
    if len(token) > MAX_TOKEN_BYTES:
        raise _wrong("it is too large")
    try:
        kind, wrapped = _only(token, _SEQUENCE)
        (signed,) = _parts(wrapped.content)
        _version, _hashes, content, *rest, signers = _parts(signed.content)
        (signer,) = _parts(signers.content)
        content_kind, content_wrapped = _parts(content.content)
        (info,) = _parts(content_wrapped.content)
        certificates = [entry.whole for part in rest if part.tag == _FIRST for entry in _parts(part.content)]
        _version, name, hash_kind, attributes, algorithm, signature, *_ = _parts(signer.content)
        if (_oid(kind), _oid(content_kind)) != (_SIGNED_DATA, _TST_INFO) or attributes.tag != _FIRST:
            raise ValueError
        _version, _policy, imprint, _serial, time, *more = _only(info.content, _SEQUENCE)
        imprint_kind, imprint_hash = _parts(imprint.content)
        if _oid(_parts(imprint_kind.content)[0]) != _SHA256 or time.tag != _TIME:
            raise ValueError
        return _Token(
            digest=imprint_hash.content,
            time=_read_time(time.content),
            nonce=next((int.from_bytes(part.content, "big") for part in more if part.tag == _INTEGER), None),
            info=info.content,
            certificates=certificates,
            signer=name.whole,
            hash_name=_HASHES[_oid(_parts(hash_kind.content)[0])],
            attributes=bytes([_SET]) + attributes.whole[1:],
            algorithm=_oid(_parts(algorithm.content)[0]),
            signature=signature.content,
        )
    except (ValueError, IndexError, KeyError):
        raise _wrong("it is not a token of RFC 3161 that this version can read") from None


def _find_certificate(token: _Token) -> Any:
    """Return the certificate of the signer, which the signed attributes must name too."""
    from cryptography import x509

    for data in token.certificates:
        about = [part for part in _parts(_only(data, _SEQUENCE)[0].content) if part.tag != _FIRST]
        serial, _algorithm, issuer = about[:3]
        if token.signer == _der(_SEQUENCE, issuer.whole, serial.whole):
            if not _names_certificate(_attributes(token), data):
                raise _wrong("it was signed for another certificate")
            return x509.load_der_x509_certificate(data)
    raise _wrong("its certificate is not in it")


def _attributes(token: _Token) -> dict[str, _Part]:
    """Return the signed attributes; each has one value."""
    found: dict[str, _Part] = {}
    for attribute in _only(token.attributes, _SET):
        name, values = _parts(attribute.content)
        (value,) = _parts(values.content)
        if _oid(name) in found:
            raise ValueError
        found[_oid(name)] = value
    return found


def _names_certificate(attributes: Mapping[str, _Part], certificate: bytes) -> bool:
    """Return whether the first certificate that the attributes name (RFC 2634, RFC 5035) is this one."""
    for name, usual in ((_CERTIFICATE_2, "sha256"), (_CERTIFICATE, "sha1")):
        if name in attributes:
            first = _parts(_parts(_parts(attributes[name].content)[0].content)[0].content)
            if first[0].tag == _SEQUENCE:
                usual, first = _HASHES[_oid(_parts(first[0].content)[0])], first[1:]
            return first[0].content == hashlib.new(usual, certificate).digest()
    return False


def _check_signature(token: _Token, certificate: Any) -> None:
    """Raise unless the certificate's key signed the attributes, and these have the hash of the content."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

    attributes = _attributes(token)
    digest = hashlib.new(token.hash_name, token.info).digest()
    if _oid(attributes[_CONTENT_TYPE]) != _TST_INFO or attributes[_MESSAGE_DIGEST].content != digest:
        raise ValueError
    kind = {"sha256": hashes.SHA256(), "sha384": hashes.SHA384(), "sha512": hashes.SHA512()}[token.hash_name]
    key = certificate.public_key()
    if isinstance(key, rsa.RSAPublicKey) and token.algorithm in _RSA[token.hash_name] and key.key_size <= _MAX_RSA_BITS:
        key.verify(token.signature, token.attributes, padding.PKCS1v15(), kind)
    elif isinstance(key, ec.EllipticCurvePublicKey) and token.algorithm == _ECDSA[token.hash_name]:
        key.verify(token.signature, token.attributes, ec.ECDSA(kind))
    elif isinstance(key, ed25519.Ed25519PublicKey) and token.algorithm == _ED25519:
        key.verify(token.signature, token.attributes)
    else:
        raise ValueError


_RSA: Final = {
    name: ("1.2.840.113549.1.1.1", f"1.2.840.113549.1.1.{number}")
    for name, number in (("sha256", 11), ("sha384", 12), ("sha512", 13))
}
_ECDSA: Final = {f"sha{size}": f"1.2.840.10045.4.3.{number}" for size, number in ((256, 2), (384, 3), (512, 4))}
_ED25519: Final = "1.3.101.112"


def _der_encoding() -> Any:
    from cryptography.hazmat.primitives.serialization import Encoding

    return Encoding.DER


def _read_time(content: bytes) -> datetime:
    """Return a time in UTC; fractions of a second are left out."""
    whole, _, fraction = content.decode("ascii").removesuffix("Z").partition(".")
    if not content.endswith(b"Z") or (fraction and not fraction.isdigit()):
        raise ValueError
    return datetime.strptime(whole, "%Y%m%d%H%M%S").replace(tzinfo=UTC)


def _wrong(reason: str) -> ParseError:
    return ParseError(
        f"The time stamp cannot be used: {reason}.", suggestions=("Check the setting `timestamp_service`.",)
    )


# DER, as much of it as a token has: definite lengths, one level at a time.


class _Part(NamedTuple):
    """One value: its tag, its content, and both with the length between them."""

    tag: int
    content: bytes
    whole: bytes


def _parts(data: bytes) -> list[_Part]:
    """Return the values that follow each other in some bytes; `ParseError` when they are not DER."""
    found: list[_Part] = []
    at = 0
    while at < len(data):
        start, tag = at, data[at]
        size, at = int.from_bytes(data[at + 1 : at + 2], "big"), at + 2
        count = size & 0x7F if size > 0x7F else 0
        if count:
            size, at = int.from_bytes(data[at : at + count], "big"), at + count
        is_short = size < 0x80 if count else size > 0x7F  # a length is written in as few bytes as possible
        if is_short or count > 3 or tag & 0x1F == 0x1F or at + size > len(data) or len(found) >= _MAX_PARTS:
            raise _wrong("it is not DER")
        found.append(_Part(tag, data[at : at + size], data[start : at + size]))
        at += size
    return found


def _only(data: bytes, tag: int) -> list[_Part]:
    """Return the values inside the one value that some bytes are; `ParseError` when they are not."""
    parts = _parts(data)
    if len(parts) != 1 or parts[0].tag != tag:
        raise _wrong("it is not DER")
    return _parts(parts[0].content)


def _oid(part: _Part) -> str:
    """Return an object identifier in dots."""
    if part.tag != _OBJECT or not part.content or len(part.content) > 40:
        raise ValueError
    numbers, value = [part.content[0] // 40, part.content[0] % 40], 0
    for byte in part.content[1:]:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(value)
            value = 0
    return ".".join(map(str, numbers))


def _object(name: str) -> bytes:
    first, second, *rest = map(int, name.split("."))
    data = bytearray([first * 40 + second])
    for number in rest:
        groups = [number & 0x7F]
        while number := number >> 7:
            groups.append(number & 0x7F | 0x80)
        data += bytes(reversed(groups))
    return _der(_OBJECT, bytes(data))


def _integer(value: int) -> bytes:
    return _der(_INTEGER, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def _der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    size = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(size)]) + size + content
