"""Which items have a word, or words in a row, newest first: the one query of similar pages that differs between engines."""

from __future__ import annotations

from typing import Final

SQLITE: Final = (
    "SELECT i.seq FROM item_search s CROSS JOIN items i ON i.seq = s.rowid WHERE item_search MATCH '\"' || :word || '\"' "
    "AND i.user_id = :user AND i.deleted_at IS NULL ORDER BY s.rowid DESC LIMIT :limit"
)
POSTGRES: Final = (
    "SELECT f.seq FROM matches(CAST('''' || REPLACE(CAST(:word AS TEXT), ' ', ''' & ''') || '''' AS tsquery), "
    "9223372036854775807, 0) AS f (seq) WHERE CAST(:user AS TEXT) IS NOT NULL ORDER BY f.seq DESC LIMIT :limit"
)
"""Of several words all must occur, in any order: the caller compares the texts. Search words contain only letters and digits:
none can end the quotation. `matches` returns the user's own items."""
