"""A closer look at rule files than loading takes: also what is well-formed but can never be of use."""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep.model import RuleFault
from pagekeep.rules import hosts
from pagekeep.rules.loading import Loaded
from pagekeep.rules.rule import Rule


def check(loaded: Loaded) -> Loaded:
    """The rules that are of use, and all that is wrong with the others."""
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
