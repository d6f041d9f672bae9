"""What is kept with items over time: pictures, copies, versions, receipts, and whether their addresses still work."""

from __future__ import annotations
