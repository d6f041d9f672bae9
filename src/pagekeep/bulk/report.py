"""What a run did: how much, how fast, and what failed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from pagekeep.bulk.accounts import Account
from pagekeep.bulk.course import Times


@dataclass(frozen=True, slots=True)
class Report:
    """Of all parts, those of earlier runs that were taken up again included."""

    account: Account
    skipped: Mapping[str, int] = field(default_factory=Counter)
    """Records that are no page by their nature, by type."""
    seconds: float = 0.0
    """Of this run."""
    new_records: int = 0
    """In this run."""
    times: Times = field(default_factory=Times)
    """Of this run."""

    @property
    def rate(self) -> float:
        """Records a second in this run."""
        return self.new_records / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        """As plain JSON types."""
        speed = {"seconds": round(self.seconds, 3), "new_records": self.new_records, "per_second": round(self.rate, 2)}
        return {**self.account.to_json(), "skipped": dict(self.skipped), **speed, **self.times.to_json()}


def write(report: Report, folder: Path) -> None:
    """`report.json` for programs, `report.html` for people."""
    (folder / "report.json").write_text(json.dumps(report.to_json(), indent=1, ensure_ascii=False) + "\n", "utf-8")
    (folder / "report.html").write_text(_page(report), "utf-8")


def _page(report: Report) -> str:
    account = report.account
    summary = [
        ("Records", f"{account.records:,}"),
        ("Rows written", f"{account.rows:,}"),
        ("Words", f"{account.words:,}"),
        ("Failed", f"{sum(account.errors.values()):,}"),
        ("Left out", f"{sum(account.left_out.values()):,}"),
        ("This run", f"{report.new_records:,} records in {report.seconds:,.1f} s: {report.rate:,.1f} a second"),
    ]
    charts = [
        ("Failures by type", account.errors),
        ("Left out, by filter", account.left_out),
        ("No pages by their nature", Counter(report.skipped)),
        ("Kinds", account.kinds),
        ("Levels", account.levels),
        ("Languages", account.languages),
    ]
    rows = "".join(f"<tr><th scope=row>{name}<td>{value}" for name, value in summary)
    shown = "".join(_chart(name, counts) for name, counts in charts if counts)
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>Bulk run</title><style>{_STYLE}</style><h1>Bulk run</h1><table>{rows}</table>{shown}</html>\n"
    )


def _chart(name: str, counts: Counter[str]) -> str:
    """Bars, the longest the most frequent."""
    most = max(counts.values())
    bars = "".join(
        f"<tr><th scope=row>{escape(label)}<td><meter min=0 max={most} value={number}></meter><td>{number:,}"
        for label, number in counts.most_common(30)
    )
    return f"<h2>{name}</h2><table>{bars}</table>"


_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}"
    "th{text-align:left;font-weight:500;padding-right:1.5rem}td{font-variant-numeric:tabular-nums}meter{width:20rem}"
)
