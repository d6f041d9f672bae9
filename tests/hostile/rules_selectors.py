"""Ten thousand selectors grown at random: each is refused with the rule's name or answers in time (U3).

`python -m tests.hostile.rules_selectors [COUNT]`
"""

from __future__ import annotations

import random
import sys
import time
from typing import NamedTuple

from pagekeep import dom
from pagekeep.rules.loading import read

LIMIT = 0.5
"""Seconds of processor time that a selector may take on the big page."""
_TAGS = ("*", "div", "p", "li", "b", "a", "zz", "")
_SIMPLE = (
    ".a",
    ".c1",
    ".zz",
    "#x3",
    "#zz",
    "[href]",
    '[class*="c"]',
    "[data-zz]",
    ":first-child",
    ":empty",
    ":lang(en)",
)
_SIMPLE += (":nth-child(2n+1)", ":nth-last-of-type(3)", ":only-of-type", ":root", ":scope", ":hover", ":dir(ltr)")
_FUNCTIONS = (":not", ":is", ":where", ":has", ":has", ":nth-child(2n of ", ":nth-last-child(odd of ", ":nope")
_BETWEEN = (" ", " ", " > ", " + ", " ~ ", " ~ ", ", ")
_NOISE = ("[", ")", "(", "::", "\\", '"', "'", "\x00", "\ud800", "|", "é", ":", "]", "\n", "@", "{", "💥", "--")


def big_page() -> str:
    """Nearly half a megabyte: a deep nest, many paragraphs, and three thousand siblings."""
    line = "".join(f'<p class="c{n % 5} d">text <a href="/x{n}">l</a> <b>x</b></p>' for n in range(22))
    sections = "".join(f'<section class="s{n % 7}" id=x{n}><h2>t</h2>{line}</section>' for n in range(300))
    items = "".join(f"<li class=i{n}>k</li>" for n in range(3_000))
    nest = "<div class=a>" * 200
    return f"<!doctype html><html lang=en><body>{nest}{sections}{'</div>' * 200}<ul>{items}</ul></body></html>"


def compound(chance: random.Random, depth: int) -> str:
    made = chance.choice(_TAGS) + "".join(chance.choice(_SIMPLE) for _ in range(chance.randrange(3)))
    if depth and chance.random() < 0.5:
        name = chance.choice(_FUNCTIONS)
        opened = name if "(" in name else f"{name}("
        made += f"{opened}{chance.choice(['', '~ ', '> ', ''])}{grown(chance, depth - 1)})"
    return made or "*"


def grown(chance: random.Random, depth: int) -> str:
    """A selector, most often a correct one."""
    parts = [compound(chance, depth)]
    for _ in range(chance.randrange(5)):
        parts += [chance.choice(_BETWEEN), compound(chance, depth)]
    return "".join(parts)


def fuzzed(chance: random.Random) -> str:
    """A grown selector, now and then damaged."""
    selector = grown(chance, chance.randrange(4))
    if chance.random() < 0.2:
        at = chance.randrange(len(selector) + 1)
        selector = selector[:at] + chance.choice(_NOISE) + selector[at:]
    return selector


class Tally(NamedTuple):
    """How the selectors fared."""

    refused: int
    answered: int
    slowest: float
    faults: list[str]


def attack(count: int, seed: int = 7) -> Tally:
    """Load each selector as a rule; run on the big page what was accepted."""
    chance = random.Random(seed)
    page = dom.parse(big_page())
    refused = answered = 0
    slowest, faults = 0.0, []
    for number in range(count):
        selector = fuzzed(chance)
        loaded = read(as_rule(selector, number), "fuzz.yaml")
        if loaded.faults:
            refused += 1
            if not all(f"fuzz-{number}" in (fault.rule, fault.message) or fault.path == "" for fault in loaded.faults):
                faults.append(f"{selector!r} was refused without naming its rule: {loaded.faults}")
            continue
        seconds = _seconds(page, loaded.rules[0].remove[0])
        answered += 1
        slowest = max(slowest, seconds)
        if seconds > LIMIT:
            faults.append(f"{selector!r} took {seconds:.2f} s")
    return Tally(refused, answered, slowest, faults)


def as_rule(selector: str, number: int) -> str:
    written = "".join(f"\\U{ord(char):08x}" for char in selector if not 0xD800 <= ord(char) < 0xE000)
    return f'- {{id: fuzz-{number}, phase: pre, trigger: {{host: {{equals: a.example}}}}, remove: "{written}"}}'


def _seconds(page: dom.Document, selector: str) -> float:
    start = time.process_time()
    dom.select(page, selector)
    return time.process_time() - start


if __name__ == "__main__":
    tally = attack(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    print(
        f"{tally.refused} refused, {tally.answered} answered, the slowest in {tally.slowest * 1000:.0f} ms of processor time"
    )
    print("\n".join(tally.faults[:20]))
    sys.exit(bool(tally.faults))
