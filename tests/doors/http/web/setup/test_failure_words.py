"""Every failure has words for readers."""

from __future__ import annotations

import inspect
import re

import pytest

from pagekeep import errors
from pagekeep.config import Settings
from pagekeep.doors.http.web.formatting import _BY_STATUS, WORDS, describe_failure, reason_words
from pagekeep.errors import PagekeepError
from pagekeep.model import ItemMetadata

TREE = [item.__name__ for item in vars(errors).values() if inspect.isclass(item) and issubclass(item, PagekeepError)]
KEYS = re.compile(rf"\b(?:{'|'.join(name for name in Settings.__slots__ if '_' in name)})\b")


@pytest.mark.parametrize("name", [*TREE, "Interrupted"])
def test_every_error_that_can_end_a_save_has_words(name: str) -> None:
    assert describe_failure({"type": name}) is WORDS[name]


@pytest.mark.parametrize("words", [*WORDS.values(), *_BY_STATUS.values()])
def test_words_are_for_readers(words: object) -> None:
    text = str(words)
    assert "`" not in text
    assert "pagekeep " not in text
    assert not re.search(r"--[a-z]", text)
    assert not KEYS.search(text)


def test_statuses_have_their_own_words() -> None:
    failure = {"type": "FetchHttpError", "message": "x"}
    assert describe_failure({**failure, "status": 403}).reason == "The site refused to send the page to this server."
    assert describe_failure({**failure, "status": 502}).try_again
    assert describe_failure({**failure, "status": 418}) is WORDS["FetchHttpError"]
    assert describe_failure(None).try_again


def test_a_bookmark_shows_the_words_of_its_failure_and_no_backticks() -> None:
    failed = ItemMetadata(
        reason="`a.example` sent 404.", last_error={"type": "FetchTimeout", "message": "`a.example` sent 404."}
    )
    assert reason_words(failed) == "The site did not answer in time. Try again later: it may be busy."
    assert reason_words(ItemMetadata(reason="A `wall`.", suggestion="Sign in.")) == "A wall. Sign in."
