-- Feeds that the user subscribed to. A web feed is polled when next_at has come.
CREATE TABLE feeds (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    address_hash TEXT NOT NULL,
    status TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at TEXT NOT NULL,
    polled_at TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    folder TEXT NOT NULL,
    settings TEXT NOT NULL,
    state TEXT NOT NULL,
    address TEXT NOT NULL,
    site TEXT,
    title TEXT NOT NULL,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, address_hash)
);

CREATE INDEX feeds_due ON feeds (user_id, next_at);

-- Entries of feeds wait here, apart from the items, until they are kept or leave by age or number. One that has left while its
-- feed still lists it stays without its text (dropped_at), so that it does not come back.
CREATE TABLE feed_entries (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    feed_id TEXT NOT NULL,
    guid_hash TEXT NOT NULL,
    url_hash TEXT,
    fingerprint TEXT NOT NULL,
    sorted_at TEXT NOT NULL,
    found_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    published_at TEXT,
    read_at TEXT,
    kept_at TEXT,
    dropped_at TEXT,
    item_id TEXT,
    extra TEXT NOT NULL,
    guid TEXT NOT NULL,
    url TEXT,
    title TEXT NOT NULL,
    author TEXT,
    words TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, feed_id, guid_hash),
    FOREIGN KEY (user_id, feed_id) REFERENCES feeds (user_id, id) ON DELETE CASCADE
);

CREATE INDEX feed_entries_url ON feed_entries (user_id, feed_id, url_hash);

CREATE INDEX feed_entries_feed ON feed_entries (user_id, feed_id, sorted_at, id) WHERE dropped_at IS NULL;

CREATE INDEX feed_entries_all ON feed_entries (user_id, sorted_at, id) WHERE dropped_at IS NULL;

CREATE INDEX feed_entries_unread ON feed_entries (user_id, sorted_at, id, feed_id) WHERE read_at IS NULL AND dropped_at IS NULL;

-- What an entry's text was made of, compressed and in base64; its item is made of it when the entry is kept.
CREATE TABLE entry_pages (
    user_id TEXT NOT NULL,
    entry_id TEXT NOT NULL,
    encoding TEXT,
    content_type TEXT NOT NULL,
    final_url TEXT NOT NULL,
    status INTEGER NOT NULL,
    rendered INTEGER NOT NULL,
    fetched_at TEXT NOT NULL,
    page TEXT NOT NULL,
    PRIMARY KEY (user_id, entry_id),
    FOREIGN KEY (user_id, entry_id) REFERENCES feed_entries (user_id, id) ON DELETE CASCADE
);

-- Lists and searches that others read as feeds. The secret of the address is a token with this id.
CREATE TABLE published_feeds (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    title TEXT NOT NULL,
    query TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (user_id, id)
);
