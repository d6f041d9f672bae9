-- The conditions are written as on PostgreSQL, whose columns are boolean.
DROP INDEX items_pinned;
CREATE INDEX items_pinned ON items (user_id, saved_at, id) WHERE pinned;
DROP INDEX items_fetch_again;
CREATE INDEX items_fetch_again ON items (user_id, saved_at, id) WHERE fetch_again;

-- Files that wait for a job, such as an import: in parts, so that no part is large in memory.
CREATE TABLE uploads (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    part INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id, part)
);
