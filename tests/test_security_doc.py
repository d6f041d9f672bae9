"""The limits in docs/security.md are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pagekeep import workers
from pagekeep.config import Settings
from pagekeep.doors.http import image_proxy, user_limits
from pagekeep.doors.http.middleware import arrivals, body_limits, connections, refusals
from pagekeep.doors.http.middleware import arrivals as body_shapes
from pagekeep.identity import accounts
from pagekeep.workers import room

DOC = " ".join((Path(__file__).parents[1] / "docs" / "security.md").read_text().split())
STATED = (
    f"{workers.PAGE.cpu_seconds:g} s of CPU and {workers.PAGE.wall_seconds:g} s for a page",
    f"{workers.TEXT.cpu_seconds:g} s and {workers.TEXT.wall_seconds:g} s for a text",
    f"{workers.PAGE.megabytes:,} and {workers.TEXT.megabytes:,} MB of memory",
    f"at most {room.MAX_WAITING} tasks of a client wait",
    f"{Settings().render_timeout:g} s per page",
    f"{Settings().max_bytes // 10**6} MB, {Settings().timeout:g} s, {Settings().max_redirects} redirects",
    f"16 KB, {connections.HEAD_SECONDS:g} s",
    f"{connections.READ_SECONDS:g} s without progress",
    f"{connections.MAX_CONNECTIONS:,}, at most half of the allowed files",
    f"{connections.MAX_ADDRESS_CONNECTIONS} from one address, except trusted proxies",
    f"the sign-in form: {body_limits.MAX_SIGN_IN_BYTES // 1000} KB, {body_limits.MAX_SIGN_IN_SECONDS:g} s",
    f"{body_limits.MAX_ANONYMOUS_BODIES}, {body_limits.MAX_ADDRESS_BODIES} from one address",
    f"{Settings().token_requests:,} in a minute (`token_requests`)",
    f"{user_limits.MAX_RUNNING} at once, two of them checking a password",
    f"{user_limits.MAX_WAITING} wait, {user_limits.MAX_ADDRESS_WAITING} from one address",
    f"refusals ({', '.join(map(str, sorted(refusals.STATUSES)))})",
    f"{refusals.MAX_REFUSALS} in {refusals.WINDOW_SECONDS:g} s",
    f"waits 1 s for each {refusals.MAX_REFUSALS}, at most {refusals.MAX_WAIT_SECONDS:g} s",
    f"{accounts.MAX_FAILURES_BY_ADDRESS_AND_NAME} for a name from an address",
    f"{accounts.MAX_FAILURES_BY_ADDRESS} from an address, {accounts.MAX_FAILURES_BY_NAME} for a name",
    f"{body_limits.MAX_PAGE_BYTES // 10**6} MB, {body_limits.MAX_BODY_SECONDS:g} s",
    f"{body_limits.MAX_OTHER_BYTES // 10**6} MB, {body_limits.MAX_BODY_SECONDS:g} s",
    f"{arrivals.MIN_BYTES_PER_SECOND // 1000} KB/s after {arrivals.GRACE_SECONDS:g} s",
    f"{arrivals.MAX_PAUSE_SECONDS:g} s without a byte",
    f"{body_shapes.MAX_STRINGS:,} strings and {body_shapes.MAX_OTHER_BYTES // 1000} KB outside strings",
    f"{body_shapes.MAX_FIELDS:,} fields",
    f"{body_limits.MAX_TOTAL_BYTES // 10**6} MB, {body_limits.USER_SHARE * 100:g} % of it for one user",
    f"{body_limits.MAX_BODIES} arriving at once, {body_limits.MAX_USER_BODIES} of one user",
    f"{body_limits.MAX_FILES} at once, {body_limits.MAX_USER_FILES} of one user",
    f"{image_proxy.MAX_IMAGE_BYTES // 10**6} MB, {image_proxy.MAX_PIXELS // 10**6} megapixels",
    f"ends after {accounts.SESSION_SECONDS / 86_400:g} days",
)


@pytest.mark.parametrize("text", STATED)
def test_the_document_states_the_limits_of_the_code(text: str) -> None:
    assert text in DOC


def test_every_script_it_names_exists() -> None:
    folder = Path(__file__).parent / "hostile"
    named = DOC.partition("## What is tested")[2].split("`")[1::2]
    scripts = [name for name in named if name.isidentifier() and "_" in name]
    assert len(scripts) > 10
    assert [name for name in scripts if not (folder / f"{name}.py").exists()] == []


def test_every_attack_of_our_list_has_a_row_with_its_result() -> None:
    lines = (
        (Path(__file__).parents[1] / "docs" / "security.md").read_text().partition("## What is tested")[2].splitlines()
    )
    rows = [line.split(" | ") for line in lines if re.match(r"\| [HKP]\d", line)]
    shown = {one for row in rows for one in row[0].strip("| ").split(", ")}
    assert {f"H{n}" for n in range(1, 14)} | {f"K{n}" for n in range(1, 6)} | {f"P{n}" for n in range(1, 13)} <= shown
    assert [row[0] for row in rows if not re.search(r"2026-\d\d-\d\d|see P\d", row[2])] == []
