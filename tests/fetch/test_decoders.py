from __future__ import annotations

import contextlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep import FetchNetworkError, PagekeepError, TooLarge, UnsupportedContent
from pagekeep.fetch import decoders
from pagekeep.fetch.decoders import MAX_PIECE_BYTES, Body
from tests.site.bombs import PACKERS, bomb, name_on_the_wire, packed, zstd

NOISE = random.Random(7).randbytes(700_000)
LAYERS = [
    *[(name,) for name in PACKERS],
    ("gzip", "br"),
    ("br", "zstd"),
    ("deflate", "gzip", "zstd"),
    ("gzip", "gzip", "gzip", "gzip"),
]


def wire(layers: tuple[str, ...]) -> str:
    return ", ".join(map(name_on_the_wire, layers))


def decoded(data: bytes, encoding: str, step: int = 1 << 16, limit: int = 10_000_000) -> bytes:
    body = Body(encoding, limit)
    for start in range(0, len(data), step):
        body.feed(data[start : start + step])
    return body.content()


@pytest.mark.parametrize("layers", LAYERS, ids="+".join)
@pytest.mark.parametrize("step", [1, 7, 1000, 1 << 20])
def test_every_coding_gives_back_what_was_packed(layers: tuple[str, ...], step: int) -> None:
    content = b"<p>" + b"The tide turned. " * 400 + NOISE[:2000]
    assert decoded(packed(content, *layers), wire(layers), step) == content


@pytest.mark.parametrize("layers", LAYERS, ids="+".join)
def test_content_larger_than_a_piece_comes_out_whole(layers: tuple[str, ...]) -> None:
    assert decoded(packed(NOISE, *layers), wire(layers)) == NOISE


@pytest.mark.parametrize("coding", PACKERS)
@pytest.mark.parametrize("beside", [-300, -258, -1, 0, 1, 258])
def test_output_that_just_fills_a_piece_loses_nothing(coding: str, beside: int) -> None:
    content = bytes(2 * MAX_PIECE_BYTES + beside)
    assert decoded(packed(content, coding), name_on_the_wire(coding), 1 << 20) == content


@pytest.mark.parametrize("layers", LAYERS, ids="+".join)
def test_a_page_as_large_as_the_limit_passes_and_one_byte_more_does_not(layers: tuple[str, ...]) -> None:
    data = packed(NOISE, *layers)
    assert len(decoded(data, wire(layers), limit=len(NOISE))) == len(NOISE)
    with pytest.raises(TooLarge):
        decoded(data, wire(layers), limit=len(NOISE) - 1)


@pytest.mark.parametrize("layers", LAYERS, ids="+".join)
def test_a_bomb_is_taken_in_small_pieces_up_to_the_limit_only(
    layers: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    count = Body._count
    monkeypatch.setattr(
        Body, "_count", lambda self, border, piece: (seen.append(len(piece)), count(self, border, piece))
    )
    with pytest.raises(TooLarge):
        decoded(bomb(layers, 64), wire(layers), limit=1_000_000)
    # Brotli's limit is approximate: its ring buffer is handed out whole.
    assert max(seen) <= 300_000
    assert sum(seen) < 1_000_000 * 1.2 * (len(layers) + 1) + 300_000


@pytest.mark.parametrize("filler", ["gzip", "zstd"])
def test_a_layer_that_never_gives_content_ends_at_the_limit_too(filler: str) -> None:
    # An endless file name in a gzip header, an endless run of skippable zstd frames: input without output.
    if filler == "gzip":
        inner = b"\x1f\x8b\x08\x08\0\0\0\0\0\x03" + b"n" * 30_000_000
    else:
        inner = (b"\x50\x2a\x4d\x18" + (1 << 20).to_bytes(4, "little") + bytes(1 << 20)) * 30
    with pytest.raises(TooLarge):
        decoded(packed(inner, "br"), f"{filler}, br")


def test_several_gzip_members_and_zstd_frames_are_one_page() -> None:
    assert decoded(packed(b"one ", "gzip") + packed(b"two", "gzip"), "gzip") == b"one two"
    assert decoded(packed(b"one ", "zstd") + packed(b"two", "zstd"), "zstd", 3) == b"one two"


@pytest.mark.parametrize("coding", ["gzip", "deflate", "raw deflate"])
def test_what_follows_the_packed_page_is_ignored(coding: str) -> None:
    assert decoded(packed(b"page", coding) + b"\0\0trailing", name_on_the_wire(coding), 5) == b"page"


@pytest.mark.parametrize("coding", PACKERS)
def test_a_page_that_breaks_off_is_an_error(coding: str) -> None:
    data = packed(NOISE[:5000], coding)
    with pytest.raises(FetchNetworkError, match="before the page was complete"):
        decoded(data[:-10], name_on_the_wire(coding))


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_damaged_data_is_an_error(coding: str) -> None:
    with pytest.raises(FetchNetworkError, match=r"damaged|before the page was complete"):
        decoded(b"<html>not packed at all, whatever the header says</html>", coding)


@pytest.mark.parametrize("encoding", ["compress", "gzip, rot13", "dcb", ", ".join(["gzip"] * 5)])
def test_unknown_and_endless_codings_are_refused(encoding: str) -> None:
    with pytest.raises(UnsupportedContent):
        Body(encoding, 1000)


@pytest.mark.parametrize("encoding", ["", "identity", "Identity", " , "])
def test_no_coding_leaves_the_bytes_alone(encoding: str) -> None:
    assert decoded(b"as it is", encoding) == b"as it is"


def test_names_are_read_in_any_case() -> None:
    assert decoded(packed(b"page", "gzip"), "X-GZIP") == b"page"


def test_an_empty_body_is_empty_whatever_the_coding() -> None:
    assert Body("gzip, br", 10).content() == b""


def test_a_zstd_window_above_eight_megabytes_is_refused() -> None:
    library = zstd()
    options = {library.CompressionParameter.window_log: 27, library.CompressionParameter.checksum_flag: 0}
    packer = library.ZstdCompressor(options=options)
    data = packer.compress(NOISE) + packer.flush()
    with pytest.raises(FetchNetworkError):
        decoded(data, "zstd")


def test_what_we_say_we_accept_we_can_decode() -> None:
    Body(decoders.ACCEPT_ENCODING, 1)


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "br", "zstd"]), st.integers(1, 50))
def test_any_bytes_give_content_or_our_error(data: bytes, coding: str, step: int) -> None:
    with contextlib.suppress(PagekeepError):
        decoded(data, coding, step, limit=100_000)
