-- Ids as uuid, times as timestamptz, flags as boolean. Text stay: user_id, which is a name; published_at, which a page writes as
-- a year, a day or a time; last_modified, which is compared as the server sent it.
-- Whatever is not a UUID or a time, as only a damaged or crafted library has it, becomes one: an id always the same, so that rows
-- that refer to each other still do.
CREATE FUNCTION to_uuid(value TEXT) RETURNS UUID LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN value ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN value ELSE md5(value) END::UUID
$$;

CREATE FUNCTION to_time(value TEXT) RETURNS TIMESTAMPTZ LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN CASE WHEN value ~ '(Z|[+-]\d\d:?\d\d)$' THEN value ELSE value || 'Z' END::TIMESTAMPTZ;
EXCEPTION WHEN data_exception THEN
    RETURN TIMESTAMPTZ '1970-01-01T00:00:00Z';
END
$$;

DO $$
DECLARE
    shelf TEXT;
BEGIN
    -- Foreign keys are checked on all rows, also if the owner is not a superuser.
    FOREACH shelf IN ARRAY ARRAY['items', 'item_tags', 'raw_bodies', 'raw_pages', 'jobs', 'domain_memory', 'answers', 'annotations']
    LOOP
        EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', shelf);
    END LOOP;
END
$$;

ALTER TABLE item_tags DROP CONSTRAINT item_tags_user_id_item_id_fkey;
ALTER TABLE raw_pages DROP CONSTRAINT raw_pages_user_id_item_id_fkey;
ALTER TABLE annotations DROP CONSTRAINT annotations_user_id_item_id_fkey;
DROP INDEX items_opened, items_pinned, items_fetch_again;

ALTER TABLE items
    DROP COLUMN pinned,
    DROP COLUMN archived,
    DROP COLUMN fetch_again;
ALTER TABLE items
    ALTER COLUMN id TYPE UUID USING to_uuid(id),
    ALTER COLUMN saved_at TYPE TIMESTAMPTZ USING to_time(saved_at),
    ALTER COLUMN created_at TYPE TIMESTAMPTZ USING to_time(created_at),
    ALTER COLUMN updated_at TYPE TIMESTAMPTZ USING to_time(updated_at),
    ALTER COLUMN last_opened_at TYPE TIMESTAMPTZ USING to_time(last_opened_at),
    ALTER COLUMN deleted_at TYPE TIMESTAMPTZ USING to_time(deleted_at),
    ADD COLUMN pinned BOOLEAN NOT NULL GENERATED ALWAYS AS (COALESCE(metadata -> 'pinned' = 'true', FALSE)) STORED,
    ADD COLUMN archived BOOLEAN NOT NULL GENERATED ALWAYS AS (COALESCE(metadata -> 'archived' = 'true', FALSE)) STORED,
    ADD COLUMN fetch_again BOOLEAN NOT NULL GENERATED ALWAYS AS (COALESCE(metadata -> 'fetch_again' = 'true', FALSE)) STORED;
CREATE INDEX items_opened ON items (user_id, COALESCE(last_opened_at, '-infinity'), id);
CREATE INDEX items_pinned ON items (user_id, saved_at, id) WHERE pinned;
CREATE INDEX items_fetch_again ON items (user_id, saved_at, id) WHERE fetch_again;

ALTER TABLE item_tags ALTER COLUMN item_id TYPE UUID USING to_uuid(item_id);

ALTER TABLE raw_pages
    ALTER COLUMN item_id TYPE UUID USING to_uuid(item_id),
    ALTER COLUMN rendered TYPE BOOLEAN USING rendered <> 0,
    ALTER COLUMN fetched_at TYPE TIMESTAMPTZ USING to_time(fetched_at);

ALTER TABLE jobs
    ALTER COLUMN id TYPE UUID USING to_uuid(id),
    ALTER COLUMN run_after TYPE TIMESTAMPTZ USING to_time(run_after),
    ALTER COLUMN due_at TYPE TIMESTAMPTZ USING to_time(due_at),
    ALTER COLUMN leased_until TYPE TIMESTAMPTZ USING to_time(leased_until),
    ALTER COLUMN created_at TYPE TIMESTAMPTZ USING to_time(created_at);

ALTER TABLE domain_memory ALTER COLUMN updated_at TYPE TIMESTAMPTZ USING to_time(updated_at);

ALTER TABLE annotations
    ALTER COLUMN id TYPE UUID USING to_uuid(id),
    ALTER COLUMN item_id TYPE UUID USING to_uuid(item_id),
    ALTER COLUMN created_at TYPE TIMESTAMPTZ USING to_time(created_at),
    ALTER COLUMN updated_at TYPE TIMESTAMPTZ USING to_time(updated_at);

ALTER TABLE answers ALTER COLUMN created_at TYPE TIMESTAMPTZ USING to_time(created_at);

ALTER TABLE users
    ALTER COLUMN disabled DROP DEFAULT,
    ALTER COLUMN disabled TYPE BOOLEAN USING disabled <> 0,
    ALTER COLUMN disabled SET DEFAULT FALSE,
    ALTER COLUMN created_at TYPE TIMESTAMPTZ USING to_time(created_at);

ALTER TABLE sessions
    ALTER COLUMN created_at TYPE TIMESTAMPTZ USING to_time(created_at),
    ALTER COLUMN expires_at TYPE TIMESTAMPTZ USING to_time(expires_at);

ALTER TABLE tokens
    ALTER COLUMN id TYPE UUID USING to_uuid(id),
    ALTER COLUMN created_at TYPE TIMESTAMPTZ USING to_time(created_at),
    ALTER COLUMN last_used_at TYPE TIMESTAMPTZ USING to_time(last_used_at),
    ALTER COLUMN expires_at TYPE TIMESTAMPTZ USING to_time(expires_at);

ALTER TABLE sign_in_failures ALTER COLUMN since TYPE TIMESTAMPTZ USING to_time(since);

ALTER TABLE item_tags ADD FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE;
ALTER TABLE raw_pages ADD FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE;
ALTER TABLE annotations ADD FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE;

DROP FUNCTION to_uuid, to_time;

-- Files that wait for a job, such as an import: in parts, so that no part is large in memory.
CREATE TABLE uploads (
    user_id TEXT COLLATE "C" NOT NULL,
    id UUID NOT NULL,
    part INTEGER NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (user_id, id, part)
);
ALTER TABLE uploads ALTER COLUMN body SET STORAGE EXTERNAL;

DO $$
DECLARE
    shelf TEXT;
BEGIN
    GRANT SELECT, INSERT, UPDATE, DELETE ON uploads TO pagekeep_app;
    ALTER TABLE uploads ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own_rows ON uploads
        USING (user_id = (SELECT NULLIF(current_setting('app.user_id', true), '')))
        WITH CHECK (user_id = (SELECT NULLIF(current_setting('app.user_id', true), '')));
    FOREACH shelf IN ARRAY ARRAY[
        'items', 'item_tags', 'raw_bodies', 'raw_pages', 'jobs', 'domain_memory', 'answers', 'annotations', 'uploads'
    ] LOOP
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', shelf);
    END LOOP;
END
$$;
