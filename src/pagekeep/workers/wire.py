"""Results as they come from a worker process: plain data, read by the type that was declared, never as objects of its choice.

A worker reads content of others, so a fault in a parser could let that content write whatever it likes to the pipe. A result is
therefore JSON, with long texts and bytes behind it, and each value of it is checked against the return type of the task: the
parent makes only objects of the classes that this type names, whatever it is sent. Errors come the same way.
"""

from __future__ import annotations

import io
import json
import struct
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields as dataclass_fields
from functools import lru_cache
from threading import RLock
from types import MappingProxyType, NoneType, UnionType
from typing import IO, Any, Final, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from pagekeep import errors
from pagekeep.errors import PagekeepError
from pagekeep.model.on_demand import NotMade, OnDemand, made_fields
from pagekeep.model.page import RuleFault
from pagekeep.values import dataclass

Parts = list[Any]
"""Long texts and bytes, to which the JSON refers by number."""
Encode = Callable[[Any, Parts], Any]
Decode = Callable[[Any, Parts], Any]

_HEAD: Final = struct.Struct("<4sIQ")
"""The mark of a message, the number of its parts, and its size without this head."""
_MARK: Final = b"pkr1"
_SIZE: Final = struct.Struct("<Q")
_LONG_CHARS: Final = 1_000
"""A longer text is sent as a part, which need not be escaped."""
_MAX_PARTS: Final = 1_000_000
_LOCK: Final = RLock()
"""Held while a codec is made: the threads of a room may need the same one."""


class Malformed(Exception):
    """What came is not a result of the declared type."""


class Codec(NamedTuple):
    """How values of one type are sent: as JSON and parts."""

    encode: Encode
    decode: Decode


def dumps(value: Any, codec: Codec) -> list[bytes]:
    """Return a value as it is sent, with its size and those of its pieces before them."""
    pieces = to_pieces(value, codec)
    sizes = b"".join(_SIZE.pack(len(piece)) for piece in pieces)
    total = len(sizes) + sum(map(len, pieces))
    return [_HEAD.pack(_MARK, len(pieces), total) + sizes, *pieces]


def to_pieces(value: Any, codec: Codec) -> list[bytes]:
    """Return a value as its JSON, and the parts to which that refers."""
    parts: Parts = []
    head = json.dumps(codec.encode(value, parts), separators=(",", ":")).encode()
    return [head, *(part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part for part in parts)]


def from_pieces(pieces: Parts, codec: Codec) -> Any:
    """Return the value; raise `Malformed` if it is not one of this type.

    Each part is taken out of the list when it is read, so that a page is never in memory as bytes and as text as a whole.
    """
    try:
        return codec.decode(json.loads(bytes(pieces.pop(0))), pieces)
    except (ValueError, TypeError, LookupError, RecursionError, AttributeError) as fault:
        raise Malformed(f"{type(fault).__name__}: {fault!s:.200}") from None


def loads(data: bytes, codec: Codec) -> Any:
    """Return the value that was sent; raise `Malformed` if it is not one of this type."""
    _, size = _read_head(data[: _HEAD.size])
    if size != len(data) - _HEAD.size:
        raise Malformed("its size is wrong")
    return read(io.BytesIO(data), codec, size)


def write(stream: IO[bytes], value: Any, codec: Codec) -> None:
    """Send a value."""
    for piece in dumps(value, codec):
        stream.write(piece)
    stream.flush()


def read(stream: IO[bytes], codec: Codec, max_bytes: int) -> Any:
    """Return the next value; raise `EOFError` at the end, `Malformed` for anything that is not a value of this type."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        raise EOFError
    count, size = _read_head(head)
    if size > max_bytes:
        raise Malformed("it is too large")
    sizes = [one for (one,) in _SIZE.iter_unpack(_read_all(stream, count * _SIZE.size))]
    if count * _SIZE.size + sum(sizes) != size:
        raise Malformed("its parts have another size")
    return from_pieces([_read_all(stream, one) for one in sizes], codec)


def _read_all(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _read_head(head: bytes) -> tuple[int, int]:
    if len(head) < _HEAD.size:
        raise Malformed("it is too short")
    mark, count, size = _HEAD.unpack(head)
    if mark != _MARK or not 1 <= count <= _MAX_PARTS or size < count * _SIZE.size:
        raise Malformed("it has another form")
    return count, size


@lru_cache(maxsize=256)
def codec_of(kind: Any) -> Codec:
    """Return how values of a type are sent; raise `TypeError` for a type that cannot be."""
    with _LOCK:
        return _KNOWN.get(kind) or _make_codec(kind)


def _make_codec(kind: Any) -> Codec:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _one_of(arguments)
    if origin in (Union, UnionType):
        return _union(arguments)
    if origin is tuple:
        return _sequence(arguments[0], tuple) if arguments[1:] == (...,) else _row(arguments, tuple)
    if origin is list:
        return _sequence(arguments[0], list)
    if origin in (set, frozenset):
        return _sequence(arguments[0], origin)
    if origin in (dict, Mapping):
        return _mapping(*arguments)
    if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__"):
        return _record(kind)
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        make: Any = kind
        return _row(tuple(get_type_hints(kind).values()), make._make)
    raise TypeError(f"Values of {kind} cannot be sent by a worker.")


@lru_cache(maxsize=256)
def returned_by(function: Callable[..., Any]) -> Codec:
    """Return how the results of a function are sent, by the type that it declares."""
    return codec_of(get_type_hints(function)["return"])


def _check(value: Any, *kinds: type) -> Any:
    if type(value) not in kinds:
        raise TypeError(f"{type(value).__name__} instead of {kinds[0].__name__}")
    return value


def _encode_text(value: Any, parts: Parts) -> Any:
    if len(value) <= _LONG_CHARS:
        return str(value)
    parts.append(value)
    return len(parts) - 1


def _decode_text(value: Any, parts: Parts) -> str:
    return value if type(value) is str else str(_take(value, parts), "utf-8", "surrogatepass")


def _encode_bytes(value: Any, parts: Parts) -> int:
    parts.append(value)
    return len(parts) - 1


def _take(value: Any, parts: Parts) -> bytes:
    """Take out a part: none is read twice, so a small result cannot become a large one."""
    part, parts[value] = parts[_index(value)], None
    if part is None:
        raise TypeError("a part that was read before")
    return bytes(part)  # the same object, if it is one


def _index(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError("not the number of a part")
    return value


def _encode_any(value: Any, parts: Parts) -> Any:
    """Return plain data of any type; lists are sent as they are, everything that JSON does not have as an object."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return _encode_text(value, parts) if len(value) <= _LONG_CHARS else {"s": _encode_text(value, parts)}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"b": _encode_bytes(value, parts)}
    if isinstance(value, list):
        return [_encode_any(one, parts) for one in value]
    if isinstance(value, tuple):
        return {"t": [_encode_any(one, parts) for one in value]}
    if isinstance(value, Mapping):
        return {"m": [[_encode_any(key, parts), _encode_any(one, parts)] for key, one in value.items()]}
    raise TypeError(f"A {type(value).__name__} is not plain data.")


def _decode_any(value: Any, parts: Parts) -> Any:
    if isinstance(value, list):
        return [_decode_any(one, parts) for one in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "s":
        return _decode_text(content, parts)
    if kind == "b":
        return _take(content, parts)
    if kind == "t":
        return tuple(_decode_any(one, parts) for one in _check(content, list))
    if kind == "m":
        return {_decode_any(key, parts): _decode_any(one, parts) for key, one in _check(content, list)}
    raise TypeError("an unknown kind of data")


def _as_it_is(value: Any, _parts: Parts) -> Any:
    return value


_KNOWN: Final[dict[Any, Codec]] = {
    str: Codec(_encode_text, _decode_text),
    bytes: Codec(_encode_bytes, _take),
    bool: Codec(_as_it_is, lambda value, _: _check(value, bool)),
    int: Codec(_as_it_is, lambda value, _: _check(value, int, bool)),
    float: Codec(_as_it_is, lambda value, _: _check(value, float, int)),
    NoneType: Codec(_as_it_is, lambda value, _: _check(value, NoneType)),
    Any: Codec(_encode_any, _decode_any),
    object: Codec(_encode_any, _decode_any),
}


def _one_of(values: tuple[Any, ...]) -> Codec:
    def decode(value: Any, _parts: Parts) -> Any:
        if value not in values:
            raise ValueError("not one of the values")
        return value

    return Codec(_as_it_is, decode)


def _union(kinds: tuple[Any, ...]) -> Codec:
    """Return the codec of a union: with `None`, of what else it may be; else with the number of the type."""
    others = tuple(kind for kind in kinds if kind is not NoneType)
    if len(others) == 1:
        some = codec_of(others[0])
        encode_some, decode_some = some
        return Codec(
            lambda value, parts: None if value is None else encode_some(value, parts),
            lambda value, parts: None if value is None else decode_some(value, parts),
        )
    kinds = tuple(sorted(kinds, key=repr))  # `A | B` equals `B | A`, and both sides must count them alike
    codecs = [codec_of(kind) for kind in kinds]
    classes = [get_origin(kind) or kind for kind in kinds]

    def encode(value: Any, parts: Parts) -> list[Any]:
        for number, one in enumerate(classes):
            if (value in get_args(kinds[number])) if one is Literal else isinstance(value, one):
                return [number, codecs[number].encode(value, parts)]
        raise TypeError(f"A {type(value).__name__} is not declared.")

    def decode(value: Any, parts: Parts) -> Any:
        number, content = _check(value, list)
        return codecs[_index(number)].decode(content, parts)

    return Codec(encode, decode)


def _sequence(kind: Any, make: Callable[[Iterable[Any]], Any]) -> Codec:
    encode_one, decode_one = codec_of(kind)
    return Codec(
        lambda value, parts: [encode_one(one, parts) for one in value],
        lambda value, parts: make([decode_one(one, parts) for one in _check(value, list)]),
    )


def _row(kinds: tuple[Any, ...], make: Callable[[Iterable[Any]], Any]) -> Codec:
    """Return the codec of a tuple whose entries have their own types."""
    codecs = [codec_of(kind) for kind in kinds]
    encoders, decoders = [one.encode for one in codecs], [one.decode for one in codecs]
    return Codec(
        lambda value, parts: [encode(one, parts) for encode, one in zip(encoders, value, strict=True)],
        lambda value, parts: make(
            [decode(one, parts) for decode, one in zip(decoders, _check(value, list), strict=True)]
        ),
    )


def _mapping(key: Any, kind: Any) -> Codec:
    """Return the codec of a mapping; one that is read-only stays so."""
    (encode_key, decode_key), (encode_one, decode_one) = codec_of(key), codec_of(kind)

    def encode(value: Any, parts: Parts) -> list[Any]:
        pairs = [[encode_key(name, parts), encode_one(one, parts)] for name, one in value.items()]
        return [isinstance(value, MappingProxyType), pairs]

    def decode(value: Any, parts: Parts) -> Any:
        is_view, pairs = _check(value, list)
        made = {decode_key(name, parts): decode_one(one, parts) for name, one in _check(pairs, list)}
        return MappingProxyType(made) if is_view is True else made

    return Codec(encode, decode)


def _evaluate(annotation: Any, names: dict[str, Any]) -> Any:
    """Return the type that an annotation of ours names; `get_type_hints` takes five times as long, at every start."""
    if not isinstance(annotation, str):
        return annotation
    return _USUAL.get(annotation) or eval(annotation, names)


_USUAL: Final[dict[str, Any]] = {
    "str": str,
    "int": int,
    "bool": bool,
    "str | None": str | None,
    "int | None": int | None,
    "tuple[str, ...]": tuple[str, ...],
}
_NOT_MADE: Final = {"not": "made"}


def _record(cls: Any) -> Codec:
    """Return the codec of a data class: its fields in their order."""
    names, lazy = vars(sys.modules[cls.__module__]), made_fields(cls)
    fields: list[tuple[str, Encode, Decode]] = []

    def encode(value: Any, parts: Parts) -> list[Any]:
        if type(value) is not cls:
            raise TypeError(f"A {type(value).__name__} instead of a {cls.__name__}.")
        if not lazy:
            return [encode_one(getattr(value, name), parts) for name, encode_one, _ in fields]
        row = []
        for name, encode_one, _ in fields:
            one = lazy[name].slot.__get__(value) if name in lazy else getattr(value, name)
            row.append(_NOT_MADE if isinstance(one, OnDemand) else encode_one(one, parts))
        return row

    def decode(value: Any, parts: Parts) -> Any:
        made = object.__new__(cls)
        for (name, _, decode_one), one in zip(fields, _check(value, list), strict=True):
            is_left_out = name in lazy and one == _NOT_MADE
            object.__setattr__(made, name, NotMade() if is_left_out else decode_one(one, parts))
        return made

    codec = _KNOWN[cls] = Codec(encode, decode)  # before its fields, because one may be of the same class
    fields += [(one.name, *codec_of(_evaluate(one.type, names))) for one in dataclass_fields(cls)]
    return codec


@dataclass(frozen=True, slots=True)
class SentError:
    """An error of ours, as it is sent."""

    type: str
    message: str
    suggestions: tuple[str, ...]
    item_id: str | None = None
    status: int | None = None
    seconds: int | None = None
    host: str | None = None
    unknown_host: bool = False
    faults: tuple[RuleFault, ...] = ()

    @classmethod
    def of(cls, error: PagekeepError) -> SentError:
        """Return an error as it is sent; one of a class that not all know as the nearest that they do."""
        name = next(one.__name__ for one in type(error).__mro__ if getattr(errors, one.__name__, None) is one)
        more = {one: getattr(error, one) for one in _MORE if getattr(error, one, None) is not None}
        return cls(name, error.message, error.suggestions, **more)

    def restore(self) -> PagekeepError:
        """Return the error; a name that is not one of an error is a `Malformed` result."""
        kind = getattr(errors, self.type, None)
        if not (isinstance(kind, type) and issubclass(kind, PagekeepError)):
            raise Malformed("an unknown error")
        error: PagekeepError
        if kind is errors.FetchHttpError:
            error = errors.FetchHttpError(self.message, status=self.status or 0, suggestions=self.suggestions)
        else:
            error = kind(self.message, suggestions=self.suggestions)
        for name in _MORE:
            value = getattr(self, name)
            if value is not None and getattr(error, name, value) != value:
                setattr(error, name, value)
        return error


_MORE: Final = ("item_id", "status", "seconds", "host", "unknown_host", "faults")
"""Fields that some errors have."""
