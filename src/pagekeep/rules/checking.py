"""A closer look at rule files than loading takes: also what is well-formed but can never be of use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pagekeep.model import RuleFault
from pagekeep.rules import hosts
from pagekeep.rules.loading import Loaded, read_files
from pagekeep.rules.rule import Rule


def check_files(paths: Iterable[Path]) -> Loaded:
    """The good rules of the files, and all that is wrong with the others."""
    loaded = read_files(paths)
    useless = [fault for rule in loaded.rules for fault in _useless(rule)]
    named = {fault.rule for fault in useless}
    good = tuple(rule for rule in loaded.rules if rule.id not in named)
    return Loaded(good, tuple(sorted((*loaded.faults, *useless), key=lambda fault: (fault.file, fault.line))))


def _useless(rule: Rule) -> Iterator[RuleFault]:
    """Registered domains that nobody can have registered. Told here alone: the list of suffixes takes 50 ms to read."""
    where = rule.source
    for domain in rule.trigger.host.etld_plus_one if rule.trigger.host and where else ():
        registered = hosts.registrable(domain)
        if where and registered != domain:
            advice = f"Did you mean `{registered}`?" if registered else "Write a domain below it, or use `ends_with`."
            said = f"`{domain}` is no registered domain, so the rule never matches."
            yield RuleFault(where.name, where.line, "trigger.host.etld_plus_one", said, advice, rule.id)
