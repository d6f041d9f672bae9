"""Sign-ins take turns by address."""

from __future__ import annotations

import asyncio

import pytest

from pagekeep.doors.http import user_limits
from pagekeep.doors.http.user_limits import MAX_ADDRESS_WAITING, MAX_RUNNING, SignInSlots
from pagekeep.errors import TooManyRequests


async def sign_in(slots: SignInSlots, address: str, order: list[str]) -> None:
    async with slots.take(address):
        order.append(address)
        await asyncio.sleep(0)


def test_an_address_with_many_sign_ins_does_not_make_another_wait_for_all_of_them() -> None:
    async def go() -> list[str]:
        slots, order = SignInSlots(), list[str]()
        many = [asyncio.create_task(sign_in(slots, "192.0.2.1", order)) for _ in range(40)]
        await asyncio.sleep(0)
        await sign_in(slots, "192.0.2.2", order)
        await asyncio.gather(*many)
        return order

    order = asyncio.run(go())
    assert len(order) == 41
    assert order.index("192.0.2.2") <= 3 * MAX_RUNNING


def test_too_many_of_one_address_are_refused_and_others_are_not() -> None:
    async def go() -> int:
        slots, order = SignInSlots(), list[str]()
        many = [
            asyncio.create_task(sign_in(slots, "192.0.2.1", order)) for _ in range(MAX_RUNNING + MAX_ADDRESS_WAITING)
        ]
        await asyncio.sleep(0)
        with pytest.raises(TooManyRequests):
            await sign_in(slots, "192.0.2.1", order)
        await sign_in(slots, "192.0.2.2", order)
        await asyncio.gather(*many)
        return len(order)

    assert asyncio.run(go()) == MAX_RUNNING + MAX_ADDRESS_WAITING + 1


def test_cancelled_sign_ins_keep_no_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_limits, "MAX_RUNNING", 1)

    async def go() -> list[str]:
        slots, order = SignInSlots(), list[str]()
        for round_number in range(30):
            tasks = [asyncio.create_task(sign_in(slots, f"192.0.2.{number}", order)) for number in range(5)]
            for _ in range(round_number % 6):
                await asyncio.sleep(0)
            for task in tasks[round_number % 3 :]:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        order.clear()
        await sign_in(slots, "192.0.2.9", order)
        assert not slots._waiting
        assert slots._running == 0
        return order

    assert asyncio.run(go()) == ["192.0.2.9"]
