"""Crawls: what was crawled, the frontier that workers share, and the pages that were found."""
