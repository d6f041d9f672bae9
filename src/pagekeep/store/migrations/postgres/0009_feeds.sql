-- Feeds that the user subscribed to. A web feed is polled when next_at has come.
CREATE TABLE feeds (
    user_id TEXT COLLATE "C" NOT NULL,
    id UUID NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    address_hash TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at TIMESTAMPTZ NOT NULL,
    polled_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    folder TEXT NOT NULL,
    settings JSONB NOT NULL,
    state JSONB NOT NULL,
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
    user_id TEXT COLLATE "C" NOT NULL,
    id UUID NOT NULL,
    feed_id UUID NOT NULL,
    guid_hash TEXT COLLATE "C" NOT NULL,
    url_hash TEXT COLLATE "C",
    fingerprint TEXT COLLATE "C" NOT NULL,
    sorted_at TIMESTAMPTZ NOT NULL,
    found_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    published_at TIMESTAMPTZ,
    read_at TIMESTAMPTZ,
    kept_at TIMESTAMPTZ,
    dropped_at TIMESTAMPTZ,
    item_id UUID,
    extra JSONB NOT NULL,
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
    user_id TEXT COLLATE "C" NOT NULL,
    entry_id UUID NOT NULL,
    encoding TEXT,
    content_type TEXT NOT NULL,
    final_url TEXT NOT NULL,
    status INTEGER NOT NULL,
    rendered BOOLEAN NOT NULL,
    fetched_at TIMESTAMPTZ NOT NULL,
    page TEXT NOT NULL,
    PRIMARY KEY (user_id, entry_id),
    FOREIGN KEY (user_id, entry_id) REFERENCES feed_entries (user_id, id) ON DELETE CASCADE
);

-- Lists and searches that others read as feeds. The secret of the address is a token with this id.
CREATE TABLE published_feeds (
    user_id TEXT COLLATE "C" NOT NULL,
    id UUID NOT NULL,
    title TEXT NOT NULL,
    query TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (user_id, id)
);

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['feeds', 'feed_entries', 'entry_pages', 'published_feeds'] LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO pagekeep_app', name);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY own_rows ON %I USING (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), ''''))) '
            'WITH CHECK (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), '''')))', name
        );
    END LOOP;
END
$$;
