"""The site rules in force for an owner, and how to tell two sets of them apart."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache

from pagekeep.config import Settings, rules_folder
from pagekeep.rules import Rulebook, load


def in_force(settings: Settings) -> Rulebook:
    """The shipped rules and the owner's own, read now."""
    return load(rules_folder(settings))


@lru_cache(maxsize=8)
def fingerprint(rules: Rulebook) -> str:
    """Changes when any rule says something else, so that pages read by other rules can be found.

    It is of all rules and not of those that matched: whether a new rule matches a page is known only by reading it.
    """
    said = "\n".join(repr(replace(rule, source=None)) for rule in rules.rules)  # where it is written says nothing
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]
