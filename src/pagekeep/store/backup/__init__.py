"""Backups: a folder that each backup adds to, or one file of rows."""
