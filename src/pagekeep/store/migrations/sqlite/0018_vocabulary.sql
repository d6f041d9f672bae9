-- The words of a user's library, of which the nearest is offered for one that is not found. Words of items that were removed stay:
-- what is offered is searched for first. `reindex` fills it after the last migration.
CREATE TABLE vocabulary (
    user_id TEXT NOT NULL,
    word TEXT NOT NULL,
    PRIMARY KEY (user_id, word)
) WITHOUT ROWID;

CREATE INDEX items_quality ON items (user_id, quality, saved_at, id) WHERE deleted_at IS NULL;
