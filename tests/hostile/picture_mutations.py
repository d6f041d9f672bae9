"""Mutated pictures of every format are checked in workers: each is kept or refused, and nothing else happens (K1).

`python -m tests.hostile.picture_mutations [COUNT]`: COUNT mutations of each format, 500 by default.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from collections import Counter
from io import BytesIO

from PIL import Image

from pagekeep.capture.pictures import PICTURE, Checked, CheckPicture, Refused
from pagekeep.errors import ParseError
from pagekeep.workers import Room
from tests.site.gallery import SVG, draw

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "AVIF", "ICO", "BMP", "SVG")
MAX_MEGABYTES = 1_500


def sample(form: str, chance: random.Random) -> bytes:
    """Return a whole picture with some noise in it, sometimes animated."""
    if form == "SVG":
        return SVG.encode()
    size = (chance.randrange(8, 120), chance.randrange(8, 120))
    picture = Image.open(BytesIO(draw(chance.randrange(1_000), size=size))).convert("RGB")
    frames = [picture.rotate(90 * turn).resize(size) for turn in range(3)]
    out = BytesIO()
    moves = form in ("GIF", "WEBP", "AVIF") and chance.random() < 0.3
    picture.save(out, form, **({"save_all": True, "append_images": frames} if moves else {}))
    return out.getvalue()


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Return the picture with a few faults, as a disk, a network or an attacker makes them."""
    body = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        at = chance.randrange(max(1, len(body)))
        match chance.randrange(7):
            case 0:
                body[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del body[at:]
            case 2:
                body[at : at + 4] = chance.choice(
                    (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", bytes(4), b"\x00\x01\x00\x00")
                )
            case 3:
                body[at:at] = chance.randbytes(chance.randrange(1, 300))
            case 4:
                body[at:at] = bytes(body[at : at + chance.randrange(1, 200)]) * chance.randrange(1, 50)
            case 5:
                del body[at : at + chance.randrange(1, 100)]
            case _:
                head = min(len(body), 64)
                if head:
                    body[chance.randrange(head)] ^= 1 << chance.randrange(8)
    return bytes(body[:2_000_000])


async def attack(count: int, counts: Counter[str], seed: int = 5) -> list[str]:
    """Check this many mutations of each format; return what is wrong."""
    chance, faults = random.Random(seed), []
    room = Room(1)
    try:
        for form in FORMATS:
            for _ in range(count):
                data = mutate(sample(form, chance), chance)
                task = CheckPicture(data, chance.choice((500, 5_000_000)), thumbnail=chance.random() < 0.5)
                counts[await _check(room, task, faults)] += 1
        whole = await room.run(CheckPicture(draw(1), 5_000_000, thumbnail=True), PICTURE)
        if not isinstance(whole, Checked):
            faults.append("a whole picture is refused after them")
    finally:
        room.close()
    return faults


async def _check(room: Room, task: CheckPicture, faults: list[str]) -> str:
    try:
        found = await room.run(task, PICTURE)
    except ParseError:
        return "given up"
    if isinstance(found, Refused):
        return found.reason
    body = found.replacement or task.data
    if found.replacement is not None and found.media_type != "image/svg+xml":
        Image.open(BytesIO(body)).load()  # what we made ourselves is whole
    if b"<script" in body[:100_000].lower() and found.media_type == "image/svg+xml":
        faults.append("a script is left in a drawing")
    return "kept"


if __name__ == "__main__":
    began, totals, number = time.monotonic(), Counter[str](), int(sys.argv[1]) if len(sys.argv) > 1 else 500
    problems = asyncio.run(attack(number, totals))
    print(
        f"{number} of each of {len(FORMATS)} formats in {time.monotonic() - began:.0f} s: {dict(totals)}, faults: {problems or 'none'}"
    )
    sys.stdout.flush()
    os._exit(bool(problems))
