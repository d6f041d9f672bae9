"""The demo library: pages that we wrote ourselves, in seven kinds and five languages, saved as any other page is."""

from __future__ import annotations
