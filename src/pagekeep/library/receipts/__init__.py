"""Receipts: prove that the text of an item is what its raw page gives, and find what was damaged since."""
