"""What a user should know about a result: a code for programs and a text for people."""

from __future__ import annotations

from typing import Literal

from pagekeep.values import dataclass

WarningCode = Literal[
    "encoding",
    "flattened",
    "truncated",
    "unknown_address",
    "reduced",
    "step_failed",
    "rule_reverted",
    "not_rendered",
    "not_read_remotely",
    "read_remotely",
    "remote_reader",
    "pages_missing",
]
"""What a warning is about: the page is not UTF-8 (`encoding`), was nested too deep or has too many open
tags (`flattened`), is too large, so that its end was left out (`truncated`), has relative links and no address
(`unknown_address`), or lost elements in the clean-up (`reduced`); a step failed without which the content is complete
(`step_failed`); a part of a rule was not applied, because it would have taken most of the text (`rule_reverted`); no browser
could run (`not_rendered`); the remote reader failed (`not_read_remotely`), was used instead of extraction (`read_remotely`),
or sent a warning itself (`remote_reader`); not all pages of the article could be joined (`pages_missing`)."""


@dataclass(frozen=True, slots=True)
class PageWarning:
    """Something the user should know about a result: a code for programs and a text for people."""

    code: WarningCode
    text: str
