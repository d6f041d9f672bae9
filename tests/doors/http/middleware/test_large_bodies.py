"""Large bodies of one user wait for each other; small ones, and those of others, do not."""

from __future__ import annotations

import asyncio

from pagekeep.doors.http.middleware.body_limits import LARGE_BYTES, LargeBodies


def test_a_second_large_body_of_a_user_waits_and_others_do_not() -> None:
    async def play() -> list[str]:
        bodies, seen, release = LargeBodies(2 * LARGE_BYTES), [], asyncio.Event()

        async def send(name: str, user: str, length: int) -> None:
            async with bodies.take(user, length):
                seen.append(name)
                await release.wait()

        tasks = [
            asyncio.create_task(send(*each))
            for each in (
                ("first", "ann", 9 * LARGE_BYTES),
                ("second", "ann", LARGE_BYTES),
                ("small", "ann", LARGE_BYTES - 1),
                ("other", "bob", 2 * LARGE_BYTES),
            )
        ]
        for _ in range(5):
            await asyncio.sleep(0)
        seen.append("released")
        release.set()
        await asyncio.gather(*tasks)
        return seen

    assert asyncio.run(play()) == ["first", "small", "other", "released", "second"]


def test_a_body_that_is_given_up_while_it_waits_leaves_its_room_to_the_next() -> None:
    async def play() -> None:
        bodies = LargeBodies(2 * LARGE_BYTES)

        async def send() -> None:
            async with bodies.take("ann", 2 * LARGE_BYTES):
                pass

        async with bodies.take("ann", 2 * LARGE_BYTES):
            gone, next_one = asyncio.create_task(send()), asyncio.create_task(send())
            await asyncio.sleep(0)
            gone.cancel()
            await asyncio.sleep(0)
        await next_one
        await send()

    asyncio.run(play())
