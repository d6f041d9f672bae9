"""A page with scripted true changes among noise of every kind, as text: what a site shows at each request."""

from __future__ import annotations

import random

WORDS = (
    "harbour lamp keeper ferry storm bread kettle rope tide gull stone letter market winter bridge garden window violin "
    "copper paper river ladder mirror basket candle orchard meadow thunder blanket pebble saddle barrel anchor chimney"
).split()
MONTHS = "January February March April May June July August September October November December".split()


def sentence(chance: random.Random, words: int = 18) -> str:
    return " ".join(chance.choices(WORDS, k=words)).capitalize() + "."


class ChangingPage:
    """The paragraphs of a page, its noise, and 12 true changes at chosen visits."""

    def __init__(self, seed: int, visits: int = 200) -> None:
        self.chance = random.Random(seed)
        self.body = [sentence(self.chance, 30) for _ in range(14)]
        self.title = "The harbour news"
        self.price = 24
        self.hits = 1_000
        self.ads = [f"Advertisement: {sentence(self.chance, 9)}" for _ in range(5)]
        self.changes = sorted(self.chance.sample(range(6, visits, 3), 12))
        self.kinds = ["edit", "insert", "delete", "price", "title", "edit next to advertisement"] * 2

    def begin_visit(self, number: int) -> bool:
        """Make the page what it is at this visit; return whether it truly changes now."""
        self.day = number
        chance = self.chance
        self.quote = f"Quote of the day: {sentence(chance, 8)}"
        if number not in self.changes:
            return False
        kind = self.kinds[self.changes.index(number)]
        place = chance.randrange(3, len(self.body) - 1)
        if kind == "edit":
            words = self.body[place].split()
            words[chance.randrange(1, len(words) - 1)] = f"changed{number}"
            self.body[place] = " ".join(words)
        elif kind == "edit next to advertisement":
            self.body[2] = f"{sentence(chance, 25)} {number}"
        elif kind == "insert":
            self.body.insert(place, sentence(chance, 25))
        elif kind == "delete":
            del self.body[place]
        elif kind == "price":
            self.price += 5
        else:
            self.title = f"The harbour news {sentence(chance, 2)}"
        return True

    def paragraphs(self) -> list[str]:
        """Return what one request gets: some of the noise differs at every request, some only from day to day."""
        chance = self.chance
        self.hits += chance.randrange(1, 30)
        month, year = MONTHS[self.day // 28 % 12], 2026 + self.day // 336
        related = [f"- Read also: {word} and more" for word in chance.sample(WORDS[:8], 3)]
        return [
            f"Last updated on {self.day % 28 + 1} {month} {year}, {chance.randrange(24)}:{chance.randrange(60):02}",
            f"{self.hits:,} views",
            self.body[0],
            self.body[1],
            chance.choice(self.ads),
            *self.body[2:6],
            f"A ticket costs {self.price} crowns, and children travel free of charge on all boats.",
            *self.body[6:],
            f"There have been {self.hits // 3} visits from {self.hits % 90} towns since the page was opened.",
            self.quote,
            *([chance.choice(self.ads)] if chance.random() < 0.5 else []),
            f"Posted {chance.randrange(2, 20)} hours ago",
            *related,
        ]

    def html(self) -> str:
        """Return the page as HTML."""
        paragraphs = "".join(f"<p>{text}</p>\n" for text in self.paragraphs())
        return f"<html><head><title>{self.title}</title></head><body><article><h1>{self.title}</h1>{paragraphs}</article></body></html>"

    def markdown(self) -> str:
        """Return the page as Markdown."""
        return "\n\n".join([f"# {self.title}", *self.paragraphs()])
