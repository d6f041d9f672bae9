"""Decide which addresses a crawl visits, and what becomes of them. Nothing here has an effect or depends on the time."""
