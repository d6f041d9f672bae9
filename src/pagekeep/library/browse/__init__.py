"""Browsing the library: counts, tags, sites, authors, suggestions and statistics."""
