"""Browsing: tags, sites, authors, languages and statistics."""
