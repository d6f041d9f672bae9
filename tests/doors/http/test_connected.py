"""Work ends with the connection of its client."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest
from fastapi import HTTPException, Request

from pagekeep.doors.http.requests import while_connected
from pagekeep.workers import Client, current_client


def make_request(*, closes: bool) -> Request:
    messages = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> MutableMapping[str, Any]:
        if messages:
            return messages.pop()
        if not closes:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    return Request({"type": "http"}, receive)


def test_a_client_that_stays_gets_the_result() -> None:
    async def work() -> Client:
        await asyncio.sleep(0)
        return current_client.get()

    async def run() -> Client:
        current_client.set(Client("ada"))
        return await while_connected(make_request(closes=False), work())

    assert asyncio.run(run()).user == "ada"


def test_errors_are_those_of_the_work() -> None:
    async def work() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        asyncio.run(while_connected(make_request(closes=False), work()))


def test_work_is_cancelled_when_the_client_goes_away() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def run() -> None:
        with pytest.raises(HTTPException):
            await while_connected(make_request(closes=True), work())
        await asyncio.sleep(0)
        assert ended == [True]

    asyncio.run(run())
