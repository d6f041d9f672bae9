-- Files that are kept with items, such as pictures, each once per content.
-- encoding: NULL, or zstd. unused_at: when no item was first found to use it.
CREATE TABLE blobs (
    user_id TEXT COLLATE "C" NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    size BIGINT NOT NULL,
    stored BIGINT NOT NULL,
    encoding TEXT,
    unused_at TIMESTAMPTZ,
    body BYTEA NOT NULL,
    PRIMARY KEY (user_id, hash)
);
-- Pictures are compressed already.
ALTER TABLE blobs ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX blobs_unused ON blobs (user_id, unused_at) WHERE unused_at IS NOT NULL;

-- What is kept with an item, and what was left out and why (then without a hash).
CREATE TABLE item_blobs (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    item_id UUID NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    source_hash TEXT COLLATE "C" NOT NULL,
    variant TEXT COLLATE "C" NOT NULL,
    position INTEGER NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('kept', 'left_out')),
    reason TEXT,
    hash TEXT COLLATE "C",
    size BIGINT,
    width INTEGER,
    height INTEGER,
    created_at TIMESTAMPTZ NOT NULL,
    media_type TEXT NOT NULL,
    source TEXT NOT NULL,
    UNIQUE (user_id, item_id, role, source_hash, variant),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE,
    FOREIGN KEY (user_id, hash) REFERENCES blobs (user_id, hash)
);
CREATE INDEX item_blobs_hash ON item_blobs (user_id, hash) WHERE hash IS NOT NULL;
CREATE INDEX item_blobs_source ON item_blobs (user_id, source_hash);

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['blobs', 'item_blobs'] LOOP
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
