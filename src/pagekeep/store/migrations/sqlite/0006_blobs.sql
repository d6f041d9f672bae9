-- Files that are kept with items, such as pictures, each once per content. The bytes are in a folder beside the library.
-- encoding: NULL, or zstd. unused_at: when no item was first found to use it.
CREATE TABLE blobs (
    user_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    size INTEGER NOT NULL,
    stored INTEGER NOT NULL,
    encoding TEXT,
    unused_at TEXT,
    PRIMARY KEY (user_id, hash)
);

CREATE INDEX blobs_unused ON blobs (user_id, unused_at) WHERE unused_at IS NOT NULL;

-- What is kept with an item, and what was left out and why (then without a hash).
CREATE TABLE item_blobs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    role TEXT NOT NULL,
    source_hash TEXT NOT NULL,
    variant TEXT NOT NULL,
    position INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('kept', 'left_out')),
    reason TEXT,
    hash TEXT,
    size INTEGER,
    width INTEGER,
    height INTEGER,
    created_at TEXT NOT NULL,
    media_type TEXT NOT NULL,
    source TEXT NOT NULL,
    UNIQUE (user_id, item_id, role, source_hash, variant),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE,
    FOREIGN KEY (user_id, hash) REFERENCES blobs (user_id, hash)
);

CREATE INDEX item_blobs_hash ON item_blobs (user_id, hash) WHERE hash IS NOT NULL;

CREATE INDEX item_blobs_source ON item_blobs (user_id, source_hash);
