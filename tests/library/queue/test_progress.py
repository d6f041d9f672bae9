"""The board that shows what is being done for jobs."""

from __future__ import annotations

import asyncio

from pagekeep.library.queue import ProgressBoard


def test_a_watcher_is_woken_by_a_change_of_its_job_alone() -> None:
    async def watch() -> tuple[list[str | None], bool]:
        board = ProgressBoard()
        reported: list[str | None] = []
        waiting = asyncio.ensure_future(board.change("a", 30))
        await asyncio.sleep(0)
        board.put("b", "Fetching")
        await asyncio.sleep(0.01)
        early = waiting.done()
        for stage in ("Fetching", "Storing"):
            waiting = asyncio.ensure_future(board.change("a", 30)) if waiting.done() else waiting
            await asyncio.sleep(0)
            board.put("a", stage)
            await asyncio.wait_for(waiting, 5)
            reported.append(board.stage("a"))
        board.drop("a")
        reported.append(board.stage("a"))
        return reported, early

    assert asyncio.run(watch()) == (["Fetching", "Storing", None], False)


def test_no_caller_waits_for_ever() -> None:
    asyncio.run(asyncio.wait_for(ProgressBoard().change("a", 0.01), 5))
