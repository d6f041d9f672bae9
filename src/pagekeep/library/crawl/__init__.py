"""Crawls: from one page to everything that a site says. The frontier is in the store, so that many workers can share it."""
