-- A library as version 26 made it: its schema, and one of everything.
CREATE SCHEMA pagekeep;
SET search_path = pagekeep;
CREATE TABLE schema_version (version INTEGER NOT NULL);

-- Run by the owner. The application acts as pagekeep_app, which owns nothing and sees the rows of one user alone;
-- workers act as pagekeep_worker, which besides sees the jobs of all.
-- Texts compare by their bytes ("C"), as in SQLite, so that both engines sort alike.
CREATE TABLE items (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    url_hash TEXT COLLATE "C" NOT NULL,
    domain_key TEXT COLLATE "C" NOT NULL,
    title_key TEXT COLLATE "C" NOT NULL,
    saved_at TEXT COLLATE "C" NOT NULL,
    published_at TEXT COLLATE "C",
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    last_opened_at TEXT COLLATE "C",
    deleted_at TEXT COLLATE "C",
    metadata JSONB NOT NULL,
    source TEXT NOT NULL,
    domain TEXT COLLATE "C" NOT NULL,
    url TEXT NOT NULL,
    url_full TEXT NOT NULL,
    title TEXT NOT NULL,
    author TEXT,
    content TEXT NOT NULL,
    pinned INTEGER NOT NULL GENERATED ALWAYS AS (CASE WHEN metadata -> 'pinned' = 'true' THEN 1 ELSE 0 END) STORED,
    archived INTEGER NOT NULL GENERATED ALWAYS AS (CASE WHEN metadata -> 'archived' = 'true' THEN 1 ELSE 0 END) STORED,
    quality TEXT COLLATE "C" GENERATED ALWAYS AS (
        CASE jsonb_typeof(metadata -> 'quality')
            WHEN 'object' THEN metadata -> 'quality' ->> 'level'
            WHEN 'string' THEN metadata ->> 'quality'
        END
    ) STORED,
    parser_version NUMERIC GENERATED ALWAYS AS (
        CASE jsonb_typeof(metadata -> 'parser_version') WHEN 'number' THEN (metadata ->> 'parser_version')::NUMERIC END
    ) STORED,
    rules_hash TEXT COLLATE "C" GENERATED ALWAYS AS (
        CASE jsonb_typeof(metadata -> 'rules_hash') WHEN 'string' THEN metadata ->> 'rules_hash' END
    ) STORED,
    UNIQUE (user_id, id),
    UNIQUE (user_id, url_hash)
);

CREATE INDEX items_saved ON items (user_id, saved_at, id);
CREATE INDEX items_opened ON items (user_id, COALESCE(last_opened_at, ''), id);
CREATE INDEX items_published ON items (user_id, COALESCE(published_at, ''), id);
CREATE INDEX items_title ON items (user_id, title_key, id);
CREATE INDEX items_domain ON items (user_id, domain_key);
CREATE INDEX items_pinned ON items (user_id, saved_at, id) WHERE pinned = 1;
CREATE INDEX items_deleted ON items (user_id, deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE item_tags (
    user_id TEXT COLLATE "C" NOT NULL,
    tag TEXT COLLATE "C" NOT NULL,
    item_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, tag, item_id),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE
);
CREATE INDEX item_tags_item ON item_tags (user_id, item_id);

-- Words come split and folded. The index is over their lexemes, which are kept nowhere else; they have no positions, since
-- those end at 16,383: phrases are looked for in the texts.
CREATE TABLE item_words (
    seq BIGINT PRIMARY KEY REFERENCES items (seq) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL,
    words INTEGER NOT NULL,
    head TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL
);
CREATE INDEX item_words_all ON item_words
    USING GIN (array_to_tsvector(string_to_array(btrim(head || ' ' || body), ' ')));
CREATE INDEX item_words_head ON item_words USING GIN (array_to_tsvector(string_to_array(head, ' ')));

CREATE TABLE raw_bodies (
    user_id TEXT COLLATE "C" NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    size BIGINT NOT NULL,
    packed BIGINT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (user_id, hash)
);
-- They are packed already.
ALTER TABLE raw_bodies ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE raw_pages (
    user_id TEXT COLLATE "C" NOT NULL,
    item_id TEXT COLLATE "C" NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    encoding TEXT,
    content_type TEXT NOT NULL,
    final_url TEXT NOT NULL,
    status INTEGER NOT NULL,
    rendered INTEGER NOT NULL,
    fetched_at TEXT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    PRIMARY KEY (user_id, item_id),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE,
    FOREIGN KEY (user_id, hash) REFERENCES raw_bodies (user_id, hash)
);
CREATE INDEX raw_pages_hash ON raw_pages (user_id, hash);

CREATE TABLE jobs (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    url_hash TEXT COLLATE "C" NOT NULL,
    url TEXT NOT NULL,
    url_full TEXT NOT NULL,
    options JSONB NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('queued', 'running', 'done', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    error JSONB,
    run_after TEXT COLLATE "C" NOT NULL,
    due_at TEXT COLLATE "C",
    leased_by TEXT COLLATE "C",
    leased_until TEXT COLLATE "C",
    created_at TEXT COLLATE "C" NOT NULL,
    UNIQUE (id, user_id)
);
CREATE UNIQUE INDEX jobs_unfinished ON jobs (user_id, url_hash) WHERE state IN ('queued', 'running');
CREATE INDEX jobs_due ON jobs (due_at, seq) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_state ON jobs (user_id, state, seq);

CREATE TABLE domain_memory (
    user_id TEXT COLLATE "C" NOT NULL,
    domain TEXT COLLATE "C" NOT NULL,
    memory JSONB NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (user_id, domain)
);

DO $$
DECLARE
    shelf TEXT;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pagekeep_app') THEN
        CREATE ROLE pagekeep_app NOLOGIN NOSUPERUSER NOBYPASSRLS;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pagekeep_worker') THEN
        CREATE ROLE pagekeep_worker NOLOGIN NOSUPERUSER NOBYPASSRLS;
        GRANT pagekeep_app TO pagekeep_worker;
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO pagekeep_app', current_schema());
    FOREACH shelf IN ARRAY ARRAY[
        'items', 'item_tags', 'item_words', 'raw_bodies', 'raw_pages', 'jobs', 'domain_memory'
    ] LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO pagekeep_app', shelf);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', shelf);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', shelf);
        -- The sub-select is worked out once a query, not once a row.
        EXECUTE format(
            'CREATE POLICY own_rows ON %I USING (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), ''''))) '
            'WITH CHECK (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), '''')))', shelf
        );
    END LOOP;
END
$$;

CREATE POLICY all_jobs ON jobs TO pagekeep_worker USING (true) WITH CHECK (true);

-- Under row security PostgreSQL may use no text index, since its operator could leak. These two run as the owner, who is
-- let past the policies on this one table, and name the user themselves; they give out numbers of his own items only.
ALTER TABLE item_words NO FORCE ROW LEVEL SECURITY;

CREATE FUNCTION matches(wanted TSQUERY, top BIGINT, bottom BIGINT) RETURNS SETOF BIGINT
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 500 SET enable_seqscan = off AS $$
BEGIN
    -- Materialized: no other way to the rows than the text index is to be thought of.
    RETURN QUERY WITH found AS MATERIALIZED (
        SELECT w.seq, w.user_id FROM item_words w
        WHERE array_to_tsvector(string_to_array(btrim(w.head || ' ' || w.body), ' ')) @@ wanted
    )
    SELECT f.seq FROM found f
    WHERE f.user_id = NULLIF(current_setting('app.user_id', true), '') AND f.seq < top AND f.seq >= bottom;
END
$$;

CREATE FUNCTION head_matches(wanted TSQUERY, top BIGINT, bottom BIGINT) RETURNS SETOF BIGINT
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 500 SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY WITH found AS MATERIALIZED (
        SELECT w.seq, w.user_id FROM item_words w
        WHERE array_to_tsvector(string_to_array(w.head, ' ')) @@ wanted
    )
    SELECT f.seq FROM found f
    WHERE f.user_id = NULLIF(current_setting('app.user_id', true), '') AND f.seq < top AND f.seq >= bottom;
END
$$;

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION matches SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION head_matches SET search_path = %I, pg_temp', current_schema());
END
$$;
REVOKE ALL ON FUNCTION matches, head_matches FROM PUBLIC;
GRANT EXECUTE ON FUNCTION matches, head_matches TO pagekeep_app;

-- Who may use a shared server. Passwords, session keys and tokens are kept as digests alone. The application's role, under
-- which everything about items is done, has no way to these tables: only pagekeep_door has, which has no way to items.
CREATE TABLE users (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    password TEXT,
    disabled INTEGER NOT NULL DEFAULT 0,
    created_at TEXT COLLATE "C" NOT NULL
);

CREATE TABLE sessions (
    digest TEXT COLLATE "C" PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C" NOT NULL
);
CREATE INDEX sessions_user ON sessions (user_id);

CREATE TABLE tokens (
    id TEXT COLLATE "C" PRIMARY KEY,
    digest TEXT COLLATE "C" NOT NULL UNIQUE,
    user_id TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    last_used_at TEXT COLLATE "C",
    expires_at TEXT COLLATE "C"
);
CREATE INDEX tokens_user ON tokens (user_id);

CREATE TABLE sign_in_failures (
    key TEXT COLLATE "C" PRIMARY KEY,
    failures INTEGER NOT NULL,
    since TEXT COLLATE "C" NOT NULL
);

-- Answers to requests that carried an idempotency key.
CREATE TABLE answers (
    user_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    request TEXT COLLATE "C" NOT NULL,
    answer JSONB,
    created_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, key)
);

CREATE TABLE annotations (
    user_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    item_id TEXT COLLATE "C" NOT NULL,
    quote TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    note TEXT NOT NULL,
    colour TEXT,
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, id),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE
);
CREATE INDEX annotations_item ON annotations (user_id, item_id, created_at, id);

DO $$
DECLARE
    shelf TEXT;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pagekeep_door') THEN
        CREATE ROLE pagekeep_door NOLOGIN NOSUPERUSER NOBYPASSRLS;
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO pagekeep_door', current_schema());
    FOREACH shelf IN ARRAY ARRAY['users', 'sessions', 'tokens', 'sign_in_failures'] LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO pagekeep_door', shelf);
    END LOOP;
    FOREACH shelf IN ARRAY ARRAY['answers', 'annotations'] LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO pagekeep_app', shelf);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', shelf);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', shelf);
        EXECUTE format(
            'CREATE POLICY own_rows ON %I USING (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), ''''))) '
            'WITH CHECK (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), '''')))', shelf
        );
    END LOOP;
END
$$;

-- Addresses that are kept without content and are to be fetched again.
ALTER TABLE items ADD COLUMN fetch_again INTEGER NOT NULL
    GENERATED ALWAYS AS (CASE WHEN metadata -> 'fetch_again' = 'true' THEN 1 ELSE 0 END) STORED;
CREATE INDEX items_fetch_again ON items (user_id, saved_at, id) WHERE fetch_again = 1;

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

-- Versions of a page, from its second on; the newest is also in raw_pages. Bodies are in raw_bodies, once per content.
CREATE TABLE snapshots (
    user_id TEXT COLLATE "C" NOT NULL,
    item_id UUID NOT NULL,
    number INTEGER NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    encoding TEXT,
    content_type TEXT NOT NULL,
    final_url TEXT NOT NULL,
    status INTEGER NOT NULL,
    rendered BOOLEAN NOT NULL,
    fetched_at TIMESTAMPTZ NOT NULL,
    etag TEXT,
    last_modified TEXT,
    headers JSONB,
    source TEXT NOT NULL,
    pinned BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (user_id, item_id, number),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE,
    FOREIGN KEY (user_id, hash) REFERENCES raw_bodies (user_id, hash)
);
CREATE INDEX snapshots_hash ON snapshots (user_id, hash);

-- What is done regularly. When it is due it becomes a job, which is leased, repeated after a crash, and deleted when done.
CREATE TABLE schedules (
    user_id TEXT COLLATE "C" NOT NULL,
    id UUID NOT NULL,
    task TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    address TEXT NOT NULL,
    every INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at TIMESTAMPTZ NOT NULL,
    last_run_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    state JSONB NOT NULL,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, task, subject)
);
CREATE INDEX schedules_due ON schedules (next_at);

-- Changes of watched pages.
CREATE TABLE changes (
    user_id TEXT COLLATE "C" NOT NULL,
    id UUID NOT NULL,
    item_id UUID NOT NULL,
    before INTEGER NOT NULL,
    after INTEGER NOT NULL,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    excerpt TEXT NOT NULL,
    found_at TIMESTAMPTZ NOT NULL,
    seen_at TIMESTAMPTZ,
    PRIMARY KEY (user_id, id),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE
);
CREATE INDEX changes_found ON changes (user_id, found_at, id);
CREATE INDEX changes_item ON changes (user_id, item_id);

-- When each page was last asked for, and whether its address still works.
CREATE TABLE page_checks (
    user_id TEXT COLLATE "C" NOT NULL,
    item_id UUID NOT NULL,
    checked_at TIMESTAMPTZ NOT NULL,
    next_at TIMESTAMPTZ NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    failures INTEGER NOT NULL,
    first_failed_at TIMESTAMPTZ,
    reason TEXT,
    PRIMARY KEY (user_id, item_id),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE
);
CREATE INDEX page_checks_next ON page_checks (user_id, next_at);

-- Pages that have gone from the web.
ALTER TABLE items ADD COLUMN gone BOOLEAN NOT NULL
    GENERATED ALWAYS AS (COALESCE(metadata -> 'link' ->> 'state' = 'gone', FALSE)) STORED;
CREATE INDEX items_gone ON items (user_id, saved_at, id) WHERE gone;

DO $$
DECLARE
    shelf TEXT;
BEGIN
    FOREACH shelf IN ARRAY ARRAY['snapshots', 'schedules', 'changes', 'page_checks'] LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO pagekeep_app', shelf);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', shelf);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', shelf);
        EXECUTE format(
            'CREATE POLICY own_rows ON %I USING (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), ''''))) '
            'WITH CHECK (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), '''')))', shelf
        );
    END LOOP;
END
$$;

-- Workers turn the due schedules of all users into jobs.
CREATE POLICY all_schedules ON schedules TO pagekeep_worker USING (true) WITH CHECK (true);

-- Crawls of whole sites. A crawl that is run again has the next number of `run`; the frontier of each run is its own.
-- admitted: pages in the frontier. settled: those that are decided, in their order. kept, size: pages kept and their bytes.
-- counts: pages by outcome and addresses by the reason why they were left out.
CREATE TABLE crawls (
    user_id TEXT COLLATE "C" NOT NULL,
    id UUID NOT NULL,
    name_hash TEXT COLLATE "C" NOT NULL,
    url TEXT NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('running', 'done', 'cancelled')),
    reason TEXT,
    run INTEGER NOT NULL,
    admitted BIGINT NOT NULL,
    settled BIGINT NOT NULL,
    kept BIGINT NOT NULL,
    size BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    started_at TIMESTAMPTZ NOT NULL,
    finished_at TIMESTAMPTZ,
    options JSONB NOT NULL,
    counts JSONB NOT NULL,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, name_hash)
);

CREATE INDEX crawls_running ON crawls (created_at) WHERE state = 'running';

-- The frontier: every address once, numbered in the order of discovery.
CREATE TABLE crawl_pages (
    user_id TEXT COLLATE "C" NOT NULL,
    crawl_id UUID NOT NULL,
    run INTEGER NOT NULL,
    position BIGINT NOT NULL,
    url_hash TEXT COLLATE "C" NOT NULL,
    page_hash TEXT COLLATE "C",
    content_hash TEXT COLLATE "C",
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('page', 'robots', 'sitemap')),
    via TEXT COLLATE "C" NOT NULL,
    depth INTEGER NOT NULL,
    parent BIGINT,
    hops INTEGER NOT NULL,
    chain INTEGER NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('queued', 'leased', 'fetched', 'settled')),
    outcome TEXT COLLATE "C",
    attempts INTEGER NOT NULL,
    due_at TIMESTAMPTZ NOT NULL,
    leased_by TEXT COLLATE "C",
    leased_until TIMESTAMPTZ,
    host TEXT COLLATE "C" NOT NULL,
    url TEXT NOT NULL,
    lastmod TEXT,
    PRIMARY KEY (user_id, crawl_id, run, position),
    UNIQUE (user_id, crawl_id, run, url_hash),
    FOREIGN KEY (user_id, crawl_id) REFERENCES crawls (user_id, id) ON DELETE CASCADE
);

CREATE INDEX crawl_pages_open ON crawl_pages (user_id, crawl_id, run, host, state, position)
    WHERE state IN ('queued', 'leased');

CREATE INDEX crawl_pages_page ON crawl_pages (user_id, crawl_id, run, page_hash) WHERE page_hash IS NOT NULL;

CREATE INDEX crawl_pages_content ON crawl_pages (user_id, crawl_id, run, content_hash) WHERE content_hash IS NOT NULL;

-- What was fetched and read at an address of the frontier; written once.
CREATE TABLE crawl_results (
    user_id TEXT COLLATE "C" NOT NULL,
    crawl_id UUID NOT NULL,
    run INTEGER NOT NULL,
    position BIGINT NOT NULL,
    body_hash TEXT COLLATE "C",
    status INTEGER NOT NULL,
    size BIGINT NOT NULL,
    rendered BOOLEAN NOT NULL,
    fetched_at TIMESTAMPTZ NOT NULL,
    encoding TEXT,
    content_type TEXT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    made_by TEXT COLLATE "C" NOT NULL,
    headers JSONB,
    facts TEXT NOT NULL,
    links TEXT NOT NULL,
    page TEXT NOT NULL,
    PRIMARY KEY (user_id, crawl_id, run, position),
    FOREIGN KEY (user_id, crawl_id, run, position) REFERENCES crawl_pages (user_id, crawl_id, run, position) ON DELETE CASCADE,
    FOREIGN KEY (user_id, body_hash) REFERENCES raw_bodies (user_id, hash)
);

CREATE INDEX crawl_results_body ON crawl_results (user_id, body_hash) WHERE body_hash IS NOT NULL;

-- When a host may be asked again, and the pause between requests that it bears.
CREATE TABLE crawl_hosts (
    user_id TEXT COLLATE "C" NOT NULL,
    host TEXT COLLATE "C" NOT NULL,
    next_at TIMESTAMPTZ NOT NULL,
    delay DOUBLE PRECISION NOT NULL,
    streak INTEGER NOT NULL,
    PRIMARY KEY (user_id, host)
);

-- How many addresses of one pattern were admitted.
CREATE TABLE crawl_counts (
    user_id TEXT COLLATE "C" NOT NULL,
    crawl_id UUID NOT NULL,
    run INTEGER NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (user_id, crawl_id, run, name),
    FOREIGN KEY (user_id, crawl_id) REFERENCES crawls (user_id, id) ON DELETE CASCADE
);

DO $$
DECLARE
    shelf TEXT;
BEGIN
    FOREACH shelf IN ARRAY ARRAY['crawls', 'crawl_pages', 'crawl_results', 'crawl_hosts', 'crawl_counts'] LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO pagekeep_app', shelf);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', shelf);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', shelf);
        EXECUTE format(
            'CREATE POLICY own_rows ON %I USING (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), ''''))) '
            'WITH CHECK (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), '''')))', shelf
        );
    END LOOP;
END
$$;

-- Workers look for running crawls of all users; they work on each as its user.
CREATE POLICY all_crawls ON crawls FOR SELECT TO pagekeep_worker USING (state = 'running');

INSERT INTO crawls (user_id, id, name_hash, url, state, run, admitted, settled, kept, size, created_at, started_at, options, counts)
VALUES ('local', '0b54e1a7-3c0f-4d54-8f4e-52e1d1c61c11', 'x', 'https://example.com/', 'done', 1, 1, 1, 0, 0, '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', '{"seeds": ["https://example.com/"]}', '{}');

INSERT INTO schema_version VALUES (26);
GRANT SELECT ON schema_version TO pagekeep_app, pagekeep_door;

-- Headers of the response that a raw page came with; NULL where there was none, or an older version saved it.
ALTER TABLE raw_pages ADD COLUMN headers JSONB;

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

-- A number for each item, for programs that know only numbers of 32 bits. It stays when the item is purged, so that no other item
-- ever gets it, and it is in backups: the same item has the same number in a restored library.
CREATE TABLE item_numbers (
    user_id TEXT COLLATE "C" NOT NULL,
    item_id UUID NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (user_id, number),
    UNIQUE (user_id, item_id)
);

-- The owner sees the rows of all users only without the policies.
ALTER TABLE items NO FORCE ROW LEVEL SECURITY;
INSERT INTO item_numbers (user_id, item_id, number)
SELECT user_id, id, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY seq) FROM items;
ALTER TABLE items FORCE ROW LEVEL SECURITY;

GRANT SELECT, INSERT, UPDATE, DELETE ON item_numbers TO pagekeep_app;
ALTER TABLE item_numbers ENABLE ROW LEVEL SECURITY;
ALTER TABLE item_numbers FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON item_numbers
    USING (user_id = (SELECT NULLIF(current_setting('app.user_id', true), '')))
    WITH CHECK (user_id = (SELECT NULLIF(current_setting('app.user_id', true), '')));

-- Programs that synchronise ask for what has changed since.
CREATE INDEX items_updated ON items (user_id, updated_at, id);

INSERT INTO items (user_id, id, url_hash, domain_key, title_key, saved_at, published_at, created_at, updated_at, last_opened_at, deleted_at, metadata, source, domain, url, url_full, title, author, content)
VALUES ('local', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', '815d893c70891e4e22038191822f55e7f767ad80400aeaf33454a3f6e28057e0', 'com.example.', 'an old page', '2025-03-19T10:30:00.000000Z', NULL, '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', NULL, NULL, '{"tags":["old"],"parser_version":1}', 'web', 'example.com', 'https://example.com/old', 'https://example.com/old?utm_source=mail', 'An old page', NULL, replace('---~title: An old page~---~~Old words~', '~', chr(10)));

INSERT INTO item_tags (user_id, tag, item_id)
VALUES ('local', 'old', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11');

INSERT INTO item_words (seq, user_id, words, head, body)
VALUES (1, 'local', 2, 'an old page ¶ ¶ old', 'old words');

INSERT INTO raw_bodies (user_id, hash, size, packed, body)
VALUES ('local', 'df5b040cafe3eab5d50f3463bb9b518edb19bf47f9488f715b2850adb262708a', 16, 25, '\x28b52ffd20108100003c703e4f6c6420776f7264733c2f703e');

INSERT INTO raw_pages (user_id, item_id, hash, encoding, content_type, final_url, status, rendered, fetched_at, etag, last_modified)
VALUES ('local', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', 'df5b040cafe3eab5d50f3463bb9b518edb19bf47f9488f715b2850adb262708a', 'utf-8', 'text/html', 'https://example.com/page', 200, FALSE, '2025-03-19T10:30:00.000000Z', '"1"', NULL);

INSERT INTO jobs (user_id, id, url_hash, url, url_full, options, state, attempts, error, run_after, due_at, leased_by, leased_until, created_at)
VALUES ('local', '222f5659-a968-41ed-a756-48c4b803fffb', 'a33cc10fe2a38be5f7acfe9117f1d6e5cafa19df0d39aaa925bf5592bee1a460', 'https://example.com/waits', 'https://example.com/waits', '{"tags":["old"]}', 'queued', 0, NULL, '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', NULL, NULL, '2025-03-19T10:30:00.000000Z');

INSERT INTO users (id, name, password, created_at) VALUES ('local', 'ada', NULL, '2025-03-19T10:30:00.000000Z');

INSERT INTO annotations (user_id, id, item_id, quote, before, after, note, colour, created_at, updated_at)
VALUES ('local', '7d3a1c52-0b8e-4a77-8f5e-0d6f9f7c2b10', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', 'Old', '', 'words', 'so it was', NULL, '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z');

INSERT INTO item_blobs (user_id, item_id, role, source_hash, variant, position, state, reason, created_at, media_type, source)
VALUES ('local', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', 'picture', 'ec4d3a14', '', 0, 'left_out', 'not_found', '2025-03-19T10:30:00.000000Z', '', 'https://example.com/gone.png');

INSERT INTO snapshots (user_id, item_id, number, hash, encoding, content_type, final_url, status, rendered, fetched_at, source)
SELECT user_id, item_id, 1, hash, encoding, content_type, final_url, status, rendered, fetched_at, 'web' FROM raw_pages;

INSERT INTO schedules (user_id, id, task, subject, address, every, next_at, created_at, state)
VALUES ('local', '5b0e64a2-77c5-4a52-8a43-3d0c9b6b1f20', 'watch', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', 'https://example.com/old', 86400, '2099-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', '{}');

INSERT INTO feeds (user_id, id, kind, address_hash, status, next_at, created_at, updated_at, folder, settings, state, address, title)
VALUES ('local', '3a1f0b7e-52c4-4f0e-9d3a-7f8f0c1d2e3f', 'web', 'f00d', 'active', '2099-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', 'Old', '{"tags":["old"]}', '{}', 'https://example.com/feed', 'An old feed');

INSERT INTO feed_entries (user_id, id, feed_id, guid_hash, fingerprint, sorted_at, found_at, updated_at, extra, guid, title, words, content)
VALUES ('local', '4b2f0b7e-52c4-4f0e-9d3a-7f8f0c1d2e3f', '3a1f0b7e-52c4-4f0e-9d3a-7f8f0c1d2e3f', 'beef', 'cafe', '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', '{}', 'one', 'An old entry', ' an old entry ', 'Old words.');

INSERT INTO item_numbers (user_id, item_id, number)
VALUES ('local', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', 7);

-- How far each item has been read, and where to go on; an item without a row is unread. Progress and offset are in
-- ten-thousandths.
CREATE TABLE reading_states (
    user_id TEXT COLLATE "C" NOT NULL,
    item_id UUID NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('unread', 'reading', 'read')),
    chosen BOOLEAN NOT NULL,
    progress INTEGER NOT NULL,
    block INTEGER NOT NULL,
    block_offset INTEGER NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    read_at TIMESTAMPTZ,
    PRIMARY KEY (user_id, item_id),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE
);
CREATE INDEX reading_states_state ON reading_states (user_id, state, updated_at, item_id);

-- All annotations of a library, newest first.
CREATE INDEX annotations_created ON annotations (user_id, created_at, id);

-- The search words of annotations. With the time, those with a word are found newest first, however many have it.
CREATE TABLE annotation_words (
    user_id TEXT COLLATE "C" NOT NULL,
    word TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    annotation_id UUID NOT NULL,
    PRIMARY KEY (user_id, word, created_at, annotation_id),
    FOREIGN KEY (user_id, annotation_id) REFERENCES annotations (user_id, id) ON DELETE CASCADE
);
CREATE INDEX annotation_words_annotation ON annotation_words (user_id, annotation_id, word);

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['reading_states', 'annotation_words'] LOOP
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

INSERT INTO reading_states (user_id, item_id, state, chosen, progress, block, block_offset, updated_at, read_at)
VALUES ('local', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', 'reading', FALSE, 2500, 3, 0, '2025-03-19T10:30:00.000000Z', NULL);

INSERT INTO annotation_words (user_id, word, created_at, annotation_id)
VALUES ('local', 'old', '2025-03-19T10:30:00.000000Z', '7d3a1c52-0b8e-4a77-8f5e-0d6f9f7c2b10');

-- Lists of the user: saved searches, and manual lists, whose items are in list_items. name_key: the name as it is compared.
CREATE TABLE lists (
    user_id TEXT COLLATE "C" NOT NULL,
    id UUID NOT NULL,
    name_key TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, name_key)
);

-- position: places with gaps between them, so that an item can be moved without touching the others.
CREATE TABLE list_items (
    user_id TEXT COLLATE "C" NOT NULL,
    list_id UUID NOT NULL,
    item_id UUID NOT NULL,
    position BIGINT NOT NULL,
    added_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (user_id, list_id, item_id),
    FOREIGN KEY (user_id, list_id) REFERENCES lists (user_id, id) ON DELETE CASCADE,
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE
);

CREATE INDEX list_items_order ON list_items (user_id, list_id, position, item_id);

CREATE INDEX list_items_item ON list_items (user_id, item_id);

-- What happens to new items that a search finds.
CREATE TABLE save_rules (
    user_id TEXT COLLATE "C" NOT NULL,
    id UUID NOT NULL,
    position BIGINT NOT NULL,
    enabled INTEGER NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    actions JSONB NOT NULL,
    PRIMARY KEY (user_id, id)
);

-- Changes of items that can be undone. A row of action_items without a change waits to be changed; it goes when it is undone.
CREATE TABLE actions (
    user_id TEXT COLLATE "C" NOT NULL,
    id UUID NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    undone_at TIMESTAMPTZ,
    changed BIGINT NOT NULL,
    label TEXT NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE INDEX actions_newest ON actions (user_id, created_at, id);

CREATE TABLE action_items (
    user_id TEXT COLLATE "C" NOT NULL,
    action_id UUID NOT NULL,
    item_id UUID NOT NULL,
    change JSONB,
    PRIMARY KEY (user_id, action_id, item_id),
    FOREIGN KEY (user_id, action_id) REFERENCES actions (user_id, id) ON DELETE CASCADE
);

CREATE INDEX action_items_waiting ON action_items (user_id, action_id, item_id) WHERE change IS NULL;

DO $$
DECLARE
    shelf TEXT;
BEGIN
    FOREACH shelf IN ARRAY ARRAY['lists', 'list_items', 'save_rules', 'actions', 'action_items'] LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO pagekeep_app', shelf);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', shelf);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', shelf);
        EXECUTE format(
            'CREATE POLICY own_rows ON %I USING (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), ''''))) '
            'WITH CHECK (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), '''')))', shelf
        );
    END LOOP;
END
$$;

INSERT INTO lists (user_id, id, name_key, kind, created_at, updated_at, name, query)
VALUES ('local', '5f3c1f0a-6a51-4a2b-9a0e-7d1f3a9b2c11', 'reading', 'manual', '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', 'Reading', '');

INSERT INTO list_items (user_id, list_id, item_id, position, added_at)
VALUES ('local', '5f3c1f0a-6a51-4a2b-9a0e-7d1f3a9b2c11', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', 1048576, '2025-03-19T10:30:00.000000Z');

INSERT INTO save_rules (user_id, id, position, enabled, created_at, updated_at, name, query, actions)
VALUES ('local', '6a1d2e3f-1b2c-4d5e-8f90-a1b2c3d4e511', 1, 0, '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', 'Harbour', 'harbour', '{"tags": ["harbour"]}');

INSERT INTO actions (user_id, id, created_at, changed, label)
VALUES ('local', '7b2e3f40-2c3d-4e5f-9a01-b2c3d4e5f611', '2025-03-19T10:30:00.000000Z', 1, 'Archived');

INSERT INTO action_items (user_id, action_id, item_id, change)
VALUES ('local', '7b2e3f40-2c3d-4e5f-9a01-b2c3d4e5f611', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', '{"archived": [null, true]}');

-- Pages of a list, and their number, are read from an index alone: a program that synchronises a whole library asks for both at
-- every page.
DROP INDEX items_saved;
CREATE INDEX items_saved ON items (user_id, saved_at, id) WHERE deleted_at IS NULL;
CREATE INDEX items_archived ON items (user_id, archived, saved_at, id) WHERE deleted_at IS NULL;

-- Where items are sent on to. options: the settings of its kind and the rules, which are searches; secret: encrypted.
-- due_at: when there is something to deliver, or until when another process has it; nothing is due without it.
CREATE TABLE sinks (
    user_id TEXT COLLATE "C" NOT NULL,
    id UUID NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    address TEXT NOT NULL,
    options JSONB NOT NULL,
    secret TEXT,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('active', 'off')),
    takes_items BOOLEAN NOT NULL,
    hidden BOOLEAN NOT NULL,
    error TEXT,
    sent BIGINT NOT NULL,
    sent_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    due_at TIMESTAMPTZ,
    leased_by TEXT COLLATE "C",
    leased_until TIMESTAMPTZ,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, name)
);

CREATE INDEX sinks_due ON sinks (due_at) WHERE due_at IS NOT NULL;

-- Items that have changed since the rules were last applied to them, in the order of the changes. Triggers fill it, in the
-- transaction that changes the item, where the user has sinks.
CREATE TABLE changed_items (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    item_id UUID NOT NULL,
    UNIQUE (user_id, item_id)
);

-- It runs with the rights of the caller, so that the policies hold.
CREATE FUNCTION note_changed_item() RETURNS trigger LANGUAGE plpgsql SET search_path = pagekeep AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM sinks s WHERE s.user_id = NEW.user_id AND s.takes_items) THEN
        DELETE FROM changed_items WHERE user_id = NEW.user_id AND item_id = NEW.id;
        INSERT INTO changed_items (user_id, item_id) VALUES (NEW.user_id, NEW.id);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER item_added AFTER INSERT ON items FOR EACH ROW EXECUTE FUNCTION note_changed_item();

CREATE TRIGGER item_changed AFTER UPDATE OF title, content, author, published_at, url_full, metadata, deleted_at ON items
    FOR EACH ROW EXECUTE FUNCTION note_changed_item();

-- What waits to be delivered, in the order of its delivery: an item as it is then, or an event with its own body.
CREATE TABLE outbox (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    sink_id UUID NOT NULL,
    item_id UUID,
    event TEXT COLLATE "C",
    body JSONB,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('queued', 'dead')),
    attempts INTEGER NOT NULL,
    error JSONB,
    created_at TIMESTAMPTZ NOT NULL,
    tried_at TIMESTAMPTZ,
    FOREIGN KEY (user_id, sink_id) REFERENCES sinks (user_id, id) ON DELETE CASCADE,
    UNIQUE (user_id, sink_id, event)
);

CREATE INDEX outbox_next ON outbox (user_id, sink_id, state, position);

-- The version of each item that a sink has, and its name there.
CREATE TABLE sent_items (
    user_id TEXT COLLATE "C" NOT NULL,
    sink_id UUID NOT NULL,
    item_id UUID NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    remote_id TEXT,
    sent_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (user_id, sink_id, item_id),
    FOREIGN KEY (user_id, sink_id) REFERENCES sinks (user_id, id) ON DELETE CASCADE
);

DO $$
DECLARE
    shelf TEXT;
BEGIN
    FOREACH shelf IN ARRAY ARRAY['sinks', 'changed_items', 'outbox', 'sent_items'] LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO pagekeep_app', shelf);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', shelf);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', shelf);
        EXECUTE format(
            'CREATE POLICY own_rows ON %I USING (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), ''''))) '
            'WITH CHECK (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), '''')))', shelf
        );
    END LOOP;
END
$$;

-- Workers look for what is due of all users; they deliver as each user.
CREATE POLICY all_sinks ON sinks FOR SELECT TO pagekeep_worker USING (due_at IS NOT NULL);
CREATE POLICY all_changed_items ON changed_items FOR SELECT TO pagekeep_worker USING (true);

INSERT INTO sinks (user_id, id, kind, name, address, options, state, takes_items, hidden, sent, created_at)
VALUES ('local', '5c3f0b7e-52c4-4f0e-9d3a-7f8f0c1d2e3f', 'webhook', 'old', 'https://example.com/hook', '{"rules": ["tag:old"]}', 'active', TRUE, FALSE, 0, '2025-03-19T10:30:00.000000Z');

INSERT INTO outbox (user_id, sink_id, item_id, state, attempts, created_at)
VALUES ('local', '5c3f0b7e-52c4-4f0e-9d3a-7f8f0c1d2e3f', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', 'queued', 0, '2025-03-19T10:30:00.000000Z');

-- How many items have a state, tag, site, author, language, quality, or month; kept by triggers, so that no page counts a large
-- library. `words_saved` and `words_read` are words by month.
CREATE TABLE item_counts (
    user_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (user_id, kind, key)
);
CREATE INDEX item_counts_most ON item_counts (user_id, kind, count DESC, key);
CREATE INDEX item_counts_zero ON item_counts (user_id) WHERE count = 0;

-- What a transaction changes. It is added to the counts just before the commit, when all other locks are held: two transactions
-- of a user then never wait for each other in a circle, and no count is locked for long.
CREATE TABLE item_count_changes (
    transaction BIGINT NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    change BIGINT NOT NULL
);
CREATE INDEX item_count_changes_transaction ON item_count_changes (transaction);
CREATE TABLE item_count_transactions (
    transaction BIGINT NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (transaction, user_id)
);

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['item_counts', 'item_count_changes', 'item_count_transactions'] LOOP
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

ALTER TABLE items
    ADD COLUMN author_key TEXT COLLATE "C" GENERATED ALWAYS AS (NULLIF(substr(btrim(author), 1, 200), '')) STORED,
    ADD COLUMN language TEXT COLLATE "C" GENERATED ALWAYS AS (
        CASE WHEN jsonb_typeof(metadata -> 'language') = 'string'
            THEN lower(substring(metadata ->> 'language' FROM '^([A-Za-z]{2,3})(?:[-_]|$)') COLLATE "C") END
    ) STORED,
    ADD COLUMN word_count BIGINT NOT NULL GENERATED ALWAYS AS (
        CASE WHEN jsonb_typeof(metadata -> 'word_count') = 'number'
                AND (metadata ->> 'word_count')::NUMERIC = trunc((metadata ->> 'word_count')::NUMERIC)
            THEN greatest(0, least(100000000, (metadata ->> 'word_count')::NUMERIC))::BIGINT ELSE 0 END
    ) STORED;
CREATE INDEX items_author ON items (user_id, author_key, saved_at, id) WHERE author_key IS NOT NULL;
CREATE INDEX items_language ON items (user_id, language, saved_at, id) WHERE language IS NOT NULL;

-- What each item counts for. A function, which becomes part of the query that calls it: views do not apply the policies of their
-- reader.
CREATE FUNCTION item_facets() RETURNS TABLE (user_id TEXT, item_id UUID, kind TEXT, key TEXT, count BIGINT)
LANGUAGE sql STABLE AS $$
SELECT facets.user_id, facets.item_id, facets.kind, facets.key, facets.count FROM (
    SELECT i.user_id, i.id AS item_id, f.kind,
        CASE WHEN i.deleted_at IS NOT NULL THEN CASE f.part WHEN 'place' THEN 'trash' END ELSE
            CASE f.part
                WHEN 'all' THEN 'all'
                WHEN 'place' THEN CASE WHEN i.archived THEN 'archive' ELSE 'inbox' END
                WHEN 'pinned' THEN CASE WHEN i.pinned THEN 'pinned' END
                WHEN 'reading' THEN CASE
                    WHEN r.state IN ('reading', 'read') THEN r.state
                    WHEN NOT i.archived THEN 'unread'
                END
                WHEN 'site' THEN NULLIF(substr(i.domain, 1, 255), '')
                WHEN 'author' THEN i.author_key
                WHEN 'language' THEN i.language
                WHEN 'quality' THEN i.quality
                WHEN 'saved' THEN to_char(i.saved_at AT TIME ZONE 'UTC', 'YYYY-MM')
                WHEN 'read' THEN CASE WHEN r.state = 'read' THEN to_char(r.read_at AT TIME ZONE 'UTC', 'YYYY-MM') END
            END
        END COLLATE "C" AS key,
        CASE f.measure WHEN 'words' THEN i.word_count ELSE 1::BIGINT END AS count
    FROM items i
    LEFT JOIN reading_states r ON r.user_id = i.user_id AND r.item_id = i.id
    CROSS JOIN (
        VALUES ('state', 'all', ''), ('state', 'place', ''), ('state', 'pinned', ''), ('state', 'reading', ''),
            ('site', 'site', ''), ('author', 'author', ''), ('language', 'language', ''), ('quality', 'quality', ''),
            ('saved', 'saved', ''), ('read', 'read', ''), ('words_saved', 'saved', 'words'), ('words_read', 'read', 'words')
    ) f (kind, part, measure)
) facets
WHERE facets.key IS NOT NULL AND facets.count <> 0
UNION ALL
SELECT t.user_id, t.item_id, 'tag', t.tag, 1::BIGINT
FROM item_tags t JOIN items i ON i.user_id = t.user_id AND i.id = t.item_id
WHERE i.deleted_at IS NULL
$$;

DO $$
DECLARE
    owner TEXT;
BEGIN
    FOR owner IN SELECT DISTINCT user_id FROM item_words LOOP
        PERFORM set_config('app.user_id', owner, true);
        INSERT INTO item_counts (user_id, kind, key, count)
        SELECT f.user_id, f.kind, f.key, SUM(f.count) FROM item_facets() f WHERE f.user_id = owner
        GROUP BY f.user_id, f.kind, f.key;
    END LOOP;
    PERFORM set_config('app.user_id', '', true);
END
$$;

CREATE FUNCTION note_counts(owner TEXT, item UUID, sign INTEGER, reading BOOLEAN) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO item_count_changes (transaction, user_id, kind, key, change)
    SELECT txid_current(), f.user_id, f.kind, f.key, sign * f.count FROM item_facets() f
    WHERE f.user_id = owner AND f.item_id = item AND (
        NOT reading OR f.kind IN ('read', 'words_read')
        OR (f.kind = 'state' AND f.key IN ('unread', 'reading', 'read'))
    );
    INSERT INTO item_count_transactions VALUES (txid_current(), owner) ON CONFLICT DO NOTHING;
END
$$;

CREATE FUNCTION note_count(owner TEXT, item UUID, facet TEXT, name TEXT, number INTEGER) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    -- The item is locked, so that it is not deleted or archived at the same time.
    INSERT INTO item_count_changes (transaction, user_id, kind, key, change)
    SELECT txid_current(), i.user_id, facet, name, number FROM (
        SELECT * FROM items WHERE user_id = owner AND id = item FOR NO KEY UPDATE
    ) i WHERE i.deleted_at IS NULL AND (facet = 'tag' OR NOT i.archived);
    INSERT INTO item_count_transactions VALUES (txid_current(), owner) ON CONFLICT DO NOTHING;
END
$$;

CREATE FUNCTION count_item() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_WHEN = 'AFTER' THEN
        PERFORM note_counts(NEW.user_id, NEW.id, 1, FALSE);
        RETURN NULL;
    END IF;
    PERFORM note_counts(OLD.user_id, OLD.id, -1, FALSE);
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER items_count_new AFTER INSERT ON items FOR EACH ROW EXECUTE FUNCTION count_item();
CREATE TRIGGER items_count_before BEFORE UPDATE OF metadata, deleted_at, domain, author, saved_at ON items
    FOR EACH ROW EXECUTE FUNCTION count_item();
CREATE TRIGGER items_count_after AFTER UPDATE OF metadata, deleted_at, domain, author, saved_at ON items
    FOR EACH ROW EXECUTE FUNCTION count_item();
-- Before the tags and the reading state of the item go with it.
CREATE TRIGGER items_count_gone BEFORE DELETE ON items FOR EACH ROW EXECUTE FUNCTION count_item();

CREATE FUNCTION count_tag() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM note_count(NEW.user_id, NEW.item_id, 'tag', NEW.tag, 1);
    ELSE
        -- With the item gone, its own trigger has counted its tags already.
        PERFORM note_count(OLD.user_id, OLD.item_id, 'tag', OLD.tag, -1);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER item_tags_count AFTER INSERT OR DELETE ON item_tags FOR EACH ROW EXECUTE FUNCTION count_tag();

CREATE FUNCTION count_reading() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM note_count(NEW.user_id, NEW.item_id, 'state', 'unread', -1);
        PERFORM note_counts(NEW.user_id, NEW.item_id, 1, TRUE);
        RETURN NULL;
    ELSIF TG_OP = 'UPDATE' THEN
        IF TG_WHEN = 'AFTER' THEN
            PERFORM note_counts(NEW.user_id, NEW.item_id, 1, TRUE);
            RETURN NULL;
        END IF;
        PERFORM 1 FROM items WHERE user_id = OLD.user_id AND id = OLD.item_id FOR NO KEY UPDATE;
        PERFORM note_counts(OLD.user_id, OLD.item_id, -1, TRUE);
        RETURN NEW;
    ELSIF TG_WHEN = 'BEFORE' THEN
        PERFORM 1 FROM items WHERE user_id = OLD.user_id AND id = OLD.item_id FOR NO KEY UPDATE;
        PERFORM note_counts(OLD.user_id, OLD.item_id, -1, TRUE);
        RETURN OLD;
    END IF;
    PERFORM note_count(OLD.user_id, OLD.item_id, 'state', 'unread', 1);
    RETURN NULL;
END
$$;
CREATE TRIGGER reading_states_count_new AFTER INSERT ON reading_states FOR EACH ROW EXECUTE FUNCTION count_reading();
CREATE TRIGGER reading_states_count_before BEFORE UPDATE OF state, read_at OR DELETE ON reading_states
    FOR EACH ROW EXECUTE FUNCTION count_reading();
CREATE TRIGGER reading_states_count_after AFTER UPDATE OF state, read_at OR DELETE ON reading_states
    FOR EACH ROW EXECUTE FUNCTION count_reading();

CREATE FUNCTION add_counts() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('pagekeep ' || NEW.user_id || ' counts', 0));
    WITH noted AS (
        DELETE FROM item_count_changes c WHERE c.transaction = NEW.transaction AND c.user_id = NEW.user_id
        RETURNING c.kind, c.key, c.change
    )
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT NEW.user_id, n.kind, n.key, SUM(n.change) FROM noted n GROUP BY n.kind, n.key HAVING SUM(n.change) <> 0
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
    DELETE FROM item_counts WHERE user_id = NEW.user_id AND count = 0;
    DELETE FROM item_count_transactions t WHERE t.transaction = NEW.transaction AND t.user_id = NEW.user_id;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER item_counts_add AFTER INSERT ON item_count_transactions DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION add_counts();

-- Who of an OpenID Connect provider opens which account. A subject is never given to another person.
CREATE TABLE identities (
    issuer TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_user ON identities (user_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON identities TO pagekeep_door;

-- The words of a user's library, of which the nearest is offered for one that is not found. Words of items that were removed stay:
-- what is offered is searched for first. See vocabulary.py, which fills it after this.
CREATE TABLE vocabulary (
    user_id TEXT COLLATE "C" NOT NULL,
    word TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, word)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON vocabulary TO pagekeep_app;
ALTER TABLE vocabulary ENABLE ROW LEVEL SECURITY;
ALTER TABLE vocabulary FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON vocabulary
    USING (user_id = (SELECT NULLIF(current_setting('app.user_id', true), '')))
    WITH CHECK (user_id = (SELECT NULLIF(current_setting('app.user_id', true), '')));

CREATE INDEX items_quality ON items (user_id, quality, saved_at, id) WHERE deleted_at IS NULL;

-- When a page was published, as an instant that sorts: the page's own text may be a year, a month, a day, or a time in any zone.
-- A year, a month or a day begins at midnight UTC, and so does a day whose time cannot be read; before all times without a date.
CREATE FUNCTION published_instant(written TEXT) RETURNS TIMESTAMPTZ LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    whole TEXT := CASE length(written) WHEN 4 THEN written || '-01-01' WHEN 7 THEN written || '-01' ELSE written END;
    clock TEXT[];
    begins TIMESTAMP;
BEGIN
    IF whole IS NULL OR whole !~ '^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}' OR whole COLLATE "C" >= '9999' THEN
        RETURN '-infinity';
    END IF;
    begins := make_date(substr(whole, 1, 4)::INT, substr(whole, 6, 2)::INT, substr(whole, 9, 2)::INT);
    clock := regexp_match(
        substr(whole, 11),
        '^[T ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9](?:[.][0-9]{1,3})?)[0-9]*)? ?(?:Z|([+-])(0[0-9]|1[0-4]):([0-5][0-9]))?$'
    );
    IF clock IS NOT NULL THEN
        begins := begins + make_interval(hours => clock[1]::INT, mins => clock[2]::INT, secs => COALESCE(clock[3], '0')::FLOAT8);
        IF clock[4] IS NOT NULL THEN
            begins := begins - (clock[4] || '1')::INT * make_interval(hours => clock[5]::INT, mins => clock[6]::INT);
        END IF;
    END IF;
    RETURN begins AT TIME ZONE 'UTC';
EXCEPTION WHEN data_exception THEN
    RETURN '-infinity';
END
$$;

ALTER TABLE items ADD COLUMN published_sort TIMESTAMPTZ NOT NULL GENERATED ALWAYS AS (published_instant(published_at)) STORED;

DROP INDEX items_published;
CREATE INDEX items_published ON items (user_id, published_sort, id);

-- Pages that could not be saved and that the user has not kept as bookmarks. They are in one list and count in no other.
ALTER TABLE items ADD COLUMN failed BOOLEAN NOT NULL
    GENERATED ALWAYS AS (COALESCE(metadata -> 'failed' = 'true', FALSE)) STORED;
CREATE INDEX items_failed ON items (user_id, saved_at, id) WHERE failed;

DROP INDEX items_saved, items_archived, items_quality;
CREATE INDEX items_saved ON items (user_id, saved_at, id) WHERE deleted_at IS NULL AND NOT failed;
CREATE INDEX items_archived ON items (user_id, archived, saved_at, id) WHERE deleted_at IS NULL AND NOT failed;
CREATE INDEX items_quality ON items (user_id, quality, saved_at, id) WHERE deleted_at IS NULL AND NOT failed;

CREATE OR REPLACE FUNCTION item_facets() RETURNS TABLE (user_id TEXT, item_id UUID, kind TEXT, key TEXT, count BIGINT)
LANGUAGE sql STABLE AS $$
SELECT facets.user_id, facets.item_id, facets.kind, facets.key, facets.count FROM (
    SELECT i.user_id, i.id AS item_id, f.kind,
        CASE
            WHEN i.deleted_at IS NOT NULL THEN CASE f.part WHEN 'place' THEN 'trash' END
            WHEN i.failed THEN CASE f.part WHEN 'place' THEN 'failed' END
            ELSE CASE f.part
                WHEN 'all' THEN 'all'
                WHEN 'place' THEN CASE WHEN i.archived THEN 'archive' ELSE 'inbox' END
                WHEN 'pinned' THEN CASE WHEN i.pinned THEN 'pinned' END
                WHEN 'reading' THEN CASE
                    WHEN r.state IN ('reading', 'read') THEN r.state
                    WHEN NOT i.archived THEN 'unread'
                END
                WHEN 'site' THEN NULLIF(substr(i.domain, 1, 255), '')
                WHEN 'author' THEN i.author_key
                WHEN 'language' THEN i.language
                WHEN 'quality' THEN i.quality
                WHEN 'saved' THEN to_char(i.saved_at AT TIME ZONE 'UTC', 'YYYY-MM')
                WHEN 'read' THEN CASE WHEN r.state = 'read' THEN to_char(r.read_at AT TIME ZONE 'UTC', 'YYYY-MM') END
            END
        END COLLATE "C" AS key,
        CASE f.measure WHEN 'words' THEN i.word_count ELSE 1::BIGINT END AS count
    FROM items i
    LEFT JOIN reading_states r ON r.user_id = i.user_id AND r.item_id = i.id
    CROSS JOIN (
        VALUES ('state', 'all', ''), ('state', 'place', ''), ('state', 'pinned', ''), ('state', 'reading', ''),
            ('site', 'site', ''), ('author', 'author', ''), ('language', 'language', ''), ('quality', 'quality', ''),
            ('saved', 'saved', ''), ('read', 'read', ''), ('words_saved', 'saved', 'words'), ('words_read', 'read', 'words')
    ) f (kind, part, measure)
) facets
WHERE facets.key IS NOT NULL AND facets.count <> 0
UNION ALL
SELECT t.user_id, t.item_id, 'tag', t.tag, 1::BIGINT
FROM item_tags t JOIN items i ON i.user_id = t.user_id AND i.id = t.item_id
WHERE i.deleted_at IS NULL AND NOT i.failed
$$;

CREATE OR REPLACE FUNCTION note_count(owner TEXT, item UUID, facet TEXT, name TEXT, number INTEGER) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    -- The item is locked, so that it is not deleted or archived at the same time.
    INSERT INTO item_count_changes (transaction, user_id, kind, key, change)
    SELECT txid_current(), i.user_id, facet, name, number FROM (
        SELECT * FROM items WHERE user_id = owner AND id = item FOR NO KEY UPDATE
    ) i WHERE i.deleted_at IS NULL AND NOT i.failed AND (facet = 'tag' OR NOT i.archived);
    INSERT INTO item_count_transactions VALUES (txid_current(), owner) ON CONFLICT DO NOTHING;
END
$$;

-- A save that failed before there was an item for it runs again: if it fails again, there is one.
ALTER TABLE items NO FORCE ROW LEVEL SECURITY;
ALTER TABLE jobs NO FORCE ROW LEVEL SECURITY;
UPDATE jobs SET state = 'queued', attempts = 0, run_after = created_at, due_at = created_at
WHERE state = 'dead' AND options -> 'task' IS NULL AND url NOT LIKE 'pagekeep:%'
    AND NOT EXISTS (SELECT 1 FROM items i WHERE i.user_id = jobs.user_id AND i.url_hash = jobs.url_hash)
    AND NOT EXISTS (
        SELECT 1 FROM jobs o WHERE o.user_id = jobs.user_id AND o.url_hash = jobs.url_hash
            AND (o.state IN ('queued', 'running') OR (o.state = 'dead' AND o.seq > jobs.seq))
    );
ALTER TABLE items FORCE ROW LEVEL SECURITY;
ALTER TABLE jobs FORCE ROW LEVEL SECURITY;

-- Earlier versions kept the addresses of failed saves in the inbox. One that nothing has changed since its failure, that was never
-- opened and that the user did not mark in any way is a failed save; every other one was kept. The counts of a user are changed
-- while the policies show the user's rows.
DO $$
DECLARE
    owner TEXT;
BEGIN
    FOR owner IN SELECT DISTINCT user_id FROM item_words LOOP
        PERFORM set_config('app.user_id', owner, true);
        UPDATE items SET metadata = jsonb_set(metadata, '{failed}', 'true')
        WHERE user_id = owner AND quality = 'bookmark' AND deleted_at IS NULL AND last_opened_at IS NULL
            AND NOT pinned AND NOT archived
            AND metadata -> 'content_hash' IS NULL AND metadata -> 'edited' IS DISTINCT FROM 'true'
            AND metadata -> 'notes' IS NULL AND jsonb_typeof(metadata -> 'fetch_again') = 'boolean'
            AND metadata -> 'last_error' ->> 'type' <> 'Worse'
            AND metadata -> 'last_error' ->> 'at' = to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
            AND NOT EXISTS (SELECT 1 FROM list_items l WHERE l.user_id = items.user_id AND l.item_id = items.id)
            AND NOT EXISTS (SELECT 1 FROM annotations a WHERE a.user_id = items.user_id AND a.item_id = items.id);
        SET CONSTRAINTS ALL IMMEDIATE;
        SET CONSTRAINTS ALL DEFERRED;
    END LOOP;
    PERFORM set_config('app.user_id', '', true);
END
$$;

-- The number of the last commit of each connection: when a connection is lost during a commit, it shows whether that happened.
CREATE TABLE commits (
    user_id TEXT COLLATE "C" NOT NULL,
    writer UUID NOT NULL,
    number BIGINT NOT NULL,
    written_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (user_id, writer)
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE, DELETE ON commits TO pagekeep_app, pagekeep_door;
ALTER TABLE commits ENABLE ROW LEVEL SECURITY;
ALTER TABLE commits FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON commits USING (user_id = (SELECT NULLIF(current_setting('app.user_id', true), '')))
    WITH CHECK (user_id = (SELECT NULLIF(current_setting('app.user_id', true), '')));

-- One text index for all words, with those of the head a second time, marked with ^, and with the blocks that an item is in: of
-- 2^10, 2^13, 2^16 and 2^19 numbers in a row, and the user's whole library. A search for common words asks for the newest blocks
-- first, and ends when it has enough: without them it would collect every item that has the words, in any library.
-- No search word has a mark or a #.
DROP FUNCTION matches, head_matches;
DROP INDEX item_words_all, item_words_head;

CREATE FUNCTION search_lexemes(owner TEXT, seq BIGINT, head TEXT, body TEXT) RETURNS TSVECTOR
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_to_tsvector(
        string_to_array(btrim(head || ' ' || body), ' ')
        || string_to_array('^' || replace(btrim(head), ' ', ' ^'), ' ')
        || ARRAY[
            '#' || to_hex(hashtextextended(owner, 0)),
            '#' || to_hex(hashtextextended(owner, 0)) || '.10.' || (seq >> 10),
            '#' || to_hex(hashtextextended(owner, 0)) || '.13.' || (seq >> 13),
            '#' || to_hex(hashtextextended(owner, 0)) || '.16.' || (seq >> 16),
            '#' || to_hex(hashtextextended(owner, 0)) || '.19.' || (seq >> 19)
        ]
    )
$$;

CREATE INDEX item_words_all ON item_words USING GIN (search_lexemes(user_id, seq, head, body));

-- Returns a condition for the blocks that the numbers from `bottom` to before `top` are in.
CREATE FUNCTION search_blocks(owner TEXT, top BIGINT, bottom BIGINT) RETURNS TSQUERY LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    name TEXT := '#' || to_hex(hashtextextended(owner, 0));
    blocks TEXT[];
    last BIGINT := top - 1;
    bits INTEGER;
BEGIN
    IF top::NUMERIC - bottom > 2097152 THEN
        RETURN ('''' || name || '''')::TSQUERY;
    END IF;
    WHILE last >= bottom LOOP
        -- The largest block that ends here and begins in the range; else the smallest, which may reach beyond it.
        bits := CASE
            WHEN (last + 1) % 524288 = 0 AND last - 524287 >= bottom THEN 19
            WHEN (last + 1) % 65536 = 0 AND last - 65535 >= bottom THEN 16
            WHEN (last + 1) % 8192 = 0 AND last - 8191 >= bottom THEN 13
            ELSE 10
        END;
        blocks := blocks || ('''' || name || '.' || bits || '.' || (last >> bits) || '''');
        last := ((last >> bits) << bits) - 1;
    END LOOP;
    RETURN COALESCE(array_to_string(blocks, ' | '), '''' || name || '''')::TSQUERY;
END
$$;

-- Under row security PostgreSQL may use no text index, since its operator could leak. This runs as the owner, who is let past the
-- policies on this one table, and names the user itself; it returns numbers of this user's items only.
CREATE FUNCTION matches(wanted TSQUERY, top BIGINT, bottom BIGINT) RETURNS SETOF BIGINT
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 500 SET enable_seqscan = off AS $$
DECLARE
    owner TEXT := NULLIF(current_setting('app.user_id', true), '');
    scope TSQUERY := wanted && search_blocks(owner, top, bottom);
BEGIN
    -- Materialized: no other way to the rows than the text index is to be thought of.
    RETURN QUERY WITH found AS MATERIALIZED (
        SELECT w.seq, w.user_id FROM item_words w WHERE search_lexemes(w.user_id, w.seq, w.head, w.body) @@ scope
    )
    SELECT f.seq FROM found f WHERE f.user_id = owner AND f.seq < top AND f.seq >= bottom;
END
$$;

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION matches SET search_path = %I, pg_temp', current_schema());
END
$$;
REVOKE ALL ON FUNCTION matches FROM PUBLIC;
GRANT EXECUTE ON FUNCTION matches TO pagekeep_app;

-- The newest items of a site, without sorting all of them.
DROP INDEX items_domain;
CREATE INDEX items_domain ON items (user_id, domain_key, seq);
-- The user's newest item, without looking at those of others.
CREATE INDEX items_seq ON items (user_id, seq);

-- The owner sees the rows of all users only without the policies.
DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['items', 'item_tags', 'item_counts', 'raw_bodies', 'raw_pages', 'blobs', 'item_blobs'] LOOP
        EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', name);
    END LOOP;
END
$$;

-- The items of a tag, last saved first, without looking at all others or sorting all that have it.
ALTER TABLE item_tags ADD COLUMN saved_at TIMESTAMPTZ;
UPDATE item_tags t SET saved_at = i.saved_at FROM items i WHERE i.user_id = t.user_id AND i.id = t.item_id;
CREATE INDEX item_tags_saved ON item_tags (user_id, tag, saved_at, item_id);

CREATE FUNCTION date_tag() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    NEW.saved_at := (SELECT i.saved_at FROM items i WHERE i.user_id = NEW.user_id AND i.id = NEW.item_id);
    RETURN NEW;
END
$$;
CREATE TRIGGER item_tags_saved_new BEFORE INSERT ON item_tags FOR EACH ROW EXECUTE FUNCTION date_tag();

CREATE FUNCTION date_tags() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE item_tags SET saved_at = NEW.saved_at WHERE user_id = NEW.user_id AND item_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER items_saved_changed AFTER UPDATE OF saved_at ON items
    FOR EACH ROW WHEN (OLD.saved_at <> NEW.saved_at) EXECUTE FUNCTION date_tags();

-- What the library takes on the disk, kept by triggers in item_counts, so that no page adds up a large library: numbers of files
-- (`files`), bytes (`bytes`), and bytes by site (`site_bytes`). `raw` are all bodies of pages, `current` those that the newest
-- version of an item has, `used` the kept files that an item has. A file counts once for each role and each site that has it.
-- A function, which becomes part of the query that calls it: views do not apply the policies of their reader.
CREATE FUNCTION stored_facets() RETURNS TABLE (user_id TEXT, kind TEXT, key TEXT, count BIGINT) LANGUAGE sql STABLE AS $$
SELECT facets.user_id, facets.kind, facets.key, facets.count FROM (
    SELECT i.user_id, 'words' AS kind, 'all' AS key, SUM(w.words)::BIGINT AS count
    FROM items i JOIN item_words w ON w.seq = i.seq WHERE i.deleted_at IS NULL AND NOT i.failed GROUP BY i.user_id
    UNION ALL
    SELECT i.user_id, 'bytes', 'text', SUM(LENGTH(i.content))::BIGINT FROM items i GROUP BY i.user_id
    UNION ALL
    SELECT b.user_id, f.kind, f.key, SUM(CASE f.measure WHEN 'packed' THEN b.packed WHEN 'size' THEN b.size ELSE 1 END)::BIGINT
    FROM raw_bodies b
    CROSS JOIN (
        VALUES ('files', 'raw', ''), ('bytes', 'raw', 'packed'), ('bytes', 'raw_unpacked', 'size')
    ) f (kind, key, measure)
    GROUP BY b.user_id, f.kind, f.key
    UNION ALL
    SELECT b.user_id, f.kind, 'current', SUM(CASE f.kind WHEN 'bytes' THEN b.packed ELSE 1 END)::BIGINT
    FROM raw_bodies b CROSS JOIN (VALUES ('files'), ('bytes')) f (kind)
    WHERE EXISTS (SELECT FROM raw_pages p WHERE p.user_id = b.user_id AND p.hash = b.hash)
    GROUP BY b.user_id, f.kind
    UNION ALL
    SELECT b.user_id, f.kind, 'blobs', SUM(CASE f.kind WHEN 'bytes' THEN b.stored ELSE 1 END)::BIGINT
    FROM blobs b CROSS JOIN (VALUES ('files'), ('bytes')) f (kind) GROUP BY b.user_id, f.kind
    UNION ALL
    SELECT b.user_id, f.kind, 'used', SUM(CASE f.kind WHEN 'bytes' THEN b.stored ELSE 1 END)::BIGINT
    FROM blobs b CROSS JOIN (VALUES ('files'), ('bytes')) f (kind)
    WHERE EXISTS (SELECT FROM item_blobs l WHERE l.user_id = b.user_id AND l.hash = b.hash)
    GROUP BY b.user_id, f.kind
    UNION ALL
    SELECT l.user_id, 'files', 'left_out', COUNT(*) FROM item_blobs l WHERE l.state = 'left_out' GROUP BY l.user_id
    UNION ALL
    SELECT r.user_id, f.kind, 'role ' || r.role, SUM(CASE f.kind WHEN 'bytes' THEN r.stored ELSE 1 END)::BIGINT
    FROM (
        SELECT DISTINCT l.user_id, l.role, b.hash, b.stored
        FROM item_blobs l JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash
    ) r CROSS JOIN (VALUES ('files'), ('bytes')) f (kind)
    GROUP BY r.user_id, f.kind, r.role
    UNION ALL
    SELECT s.user_id, 'site_bytes', s.site, SUM(s.bytes)::BIGINT FROM (
        SELECT DISTINCT i.user_id, substr(i.domain, 1, 255) AS site, b.hash, b.stored AS bytes, FALSE
        FROM item_blobs l JOIN items i ON i.user_id = l.user_id AND i.id = l.item_id
        JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash
        UNION ALL
        SELECT DISTINCT i.user_id, substr(i.domain, 1, 255), b.hash, b.packed, TRUE
        FROM raw_pages p JOIN items i ON i.user_id = p.user_id AND i.id = p.item_id
        JOIN raw_bodies b ON b.user_id = p.user_id AND b.hash = p.hash
    ) s GROUP BY s.user_id, s.site
) facets
WHERE facets.count <> 0
$$;

INSERT INTO item_counts (user_id, kind, key, count) SELECT f.user_id, f.kind, f.key, f.count FROM stored_facets() f;

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['items', 'item_tags', 'item_counts', 'raw_bodies', 'raw_pages', 'blobs', 'item_blobs'] LOOP
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    END LOOP;
END
$$;

CREATE FUNCTION note_stored(owner TEXT, facet TEXT, name TEXT, number BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    IF number <> 0 THEN
        INSERT INTO item_count_changes (transaction, user_id, kind, key, change)
        VALUES (txid_current(), owner, facet, name, number);
        INSERT INTO item_count_transactions VALUES (txid_current(), owner) ON CONFLICT DO NOTHING;
    END IF;
END
$$;

-- The bytes, of the files that an item has, that no other item of its site has. The files are locked: of two transactions that
-- begin or end to use one, the second sees what the first did.
CREATE FUNCTION note_only_uses(owner TEXT, item UUID, site TEXT, sign INTEGER, raw BOOLEAN, kept BOOLEAN) RETURNS VOID
LANGUAGE plpgsql AS $$
DECLARE
    total BIGINT := 0;
BEGIN
    IF raw THEN
        PERFORM 1 FROM raw_bodies b WHERE b.user_id = owner
            AND b.hash IN (SELECT p.hash FROM raw_pages p WHERE p.user_id = owner AND p.item_id = item)
            ORDER BY b.hash FOR NO KEY UPDATE;
        total := total + COALESCE((
            SELECT SUM(b.packed) FROM raw_pages p JOIN raw_bodies b ON b.user_id = p.user_id AND b.hash = p.hash
            WHERE p.user_id = owner AND p.item_id = item AND NOT EXISTS (
                SELECT FROM raw_pages o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
                WHERE o.user_id = owner AND o.hash = p.hash AND o.item_id <> item AND substr(n.domain, 1, 255) = site
            )
        ), 0);
    END IF;
    IF kept THEN
        PERFORM 1 FROM blobs b WHERE b.user_id = owner
            AND b.hash IN (SELECT l.hash FROM item_blobs l WHERE l.user_id = owner AND l.item_id = item)
            ORDER BY b.hash FOR NO KEY UPDATE;
        total := total + COALESCE((
            SELECT SUM(b.stored) FROM blobs b WHERE b.user_id = owner
            AND b.hash IN (SELECT l.hash FROM item_blobs l WHERE l.user_id = owner AND l.item_id = item)
            AND NOT EXISTS (
                SELECT FROM item_blobs o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
                WHERE o.user_id = owner AND o.hash = b.hash AND o.item_id <> item AND substr(n.domain, 1, 255) = site
            )
        ), 0);
    END IF;
    PERFORM note_stored(owner, 'site_bytes', site, sign * total);
END
$$;

CREATE FUNCTION count_stored_item() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM note_stored(NEW.user_id, 'bytes', 'text', LENGTH(NEW.content));
        RETURN NULL;
    ELSIF TG_OP = 'UPDATE' THEN
        PERFORM note_stored(NEW.user_id, 'bytes', 'text', (LENGTH(NEW.content) - LENGTH(OLD.content))::BIGINT);
        RETURN NULL;
    END IF;
    -- While the item is there: what goes with it no longer knows its site, or whether it was deleted.
    PERFORM note_stored(OLD.user_id, 'bytes', 'text', -LENGTH(OLD.content)::BIGINT);
    PERFORM note_only_uses(OLD.user_id, OLD.id, substr(OLD.domain, 1, 255), -1, TRUE, TRUE);
    IF OLD.deleted_at IS NULL AND NOT OLD.failed THEN
        PERFORM note_stored(OLD.user_id, 'words', 'all', -w.words::BIGINT) FROM item_words w WHERE w.seq = OLD.seq;
    END IF;
    RETURN OLD;
END
$$;
CREATE TRIGGER items_stored_new AFTER INSERT ON items FOR EACH ROW EXECUTE FUNCTION count_stored_item();
CREATE TRIGGER items_stored_changed AFTER UPDATE OF content ON items FOR EACH ROW EXECUTE FUNCTION count_stored_item();
CREATE TRIGGER items_stored_gone BEFORE DELETE ON items FOR EACH ROW EXECUTE FUNCTION count_stored_item();

CREATE FUNCTION count_site() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_WHEN = 'BEFORE' THEN
        PERFORM note_only_uses(OLD.user_id, OLD.id, substr(OLD.domain, 1, 255), -1, TRUE, TRUE);
        RETURN NEW;
    END IF;
    PERFORM note_only_uses(NEW.user_id, NEW.id, substr(NEW.domain, 1, 255), 1, TRUE, TRUE);
    RETURN NULL;
END
$$;
CREATE TRIGGER items_site_before BEFORE UPDATE OF domain ON items
    FOR EACH ROW WHEN (OLD.domain <> NEW.domain) EXECUTE FUNCTION count_site();
CREATE TRIGGER items_site_after AFTER UPDATE OF domain ON items
    FOR EACH ROW WHEN (OLD.domain <> NEW.domain) EXECUTE FUNCTION count_site();

CREATE FUNCTION count_words() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    change BIGINT := 0;
    number BIGINT;
BEGIN
    IF TG_TABLE_NAME = 'items' THEN
        PERFORM note_stored(
            NEW.user_id, 'words', 'all',
            CASE WHEN NEW.deleted_at IS NULL AND NOT NEW.failed THEN w.words ELSE -w.words END::BIGINT
        ) FROM item_words w WHERE w.seq = NEW.seq;
        RETURN NULL;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        change := change + NEW.words;
        number := NEW.seq;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        change := change - OLD.words;
        number := OLD.seq;
    END IF;
    IF change <> 0 THEN
        -- The item is locked, so that it is not deleted at the same time.
        PERFORM note_stored(i.user_id, 'words', 'all', change)
        FROM (SELECT * FROM items WHERE seq = number FOR NO KEY UPDATE) i WHERE i.deleted_at IS NULL AND NOT i.failed;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER items_words_changed AFTER UPDATE OF metadata, deleted_at ON items FOR EACH ROW
    WHEN ((OLD.deleted_at IS NULL AND NOT OLD.failed) <> (NEW.deleted_at IS NULL AND NOT NEW.failed))
    EXECUTE FUNCTION count_words();
CREATE TRIGGER item_words_count AFTER INSERT OR UPDATE OF words OR DELETE ON item_words
    FOR EACH ROW EXECUTE FUNCTION count_words();

CREATE FUNCTION count_raw_body() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM note_stored(NEW.user_id, 'files', 'raw', 1);
        PERFORM note_stored(NEW.user_id, 'bytes', 'raw', NEW.packed);
        PERFORM note_stored(NEW.user_id, 'bytes', 'raw_unpacked', NEW.size);
    ELSE
        PERFORM note_stored(OLD.user_id, 'files', 'raw', -1);
        PERFORM note_stored(OLD.user_id, 'bytes', 'raw', -OLD.packed);
        PERFORM note_stored(OLD.user_id, 'bytes', 'raw_unpacked', -OLD.size);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER raw_bodies_count AFTER INSERT OR DELETE ON raw_bodies FOR EACH ROW EXECUTE FUNCTION count_raw_body();

CREATE FUNCTION note_raw_page(owner TEXT, item UUID, name TEXT, sign INTEGER) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    own_bytes BIGINT;
BEGIN
    SELECT b.packed INTO own_bytes FROM raw_bodies b WHERE b.user_id = owner AND b.hash = name FOR NO KEY UPDATE;
    IF NOT EXISTS (SELECT FROM raw_pages o WHERE o.user_id = owner AND o.hash = name AND o.item_id <> item) THEN
        PERFORM note_stored(owner, 'files', 'current', sign);
        PERFORM note_stored(owner, 'bytes', 'current', sign * own_bytes);
    END IF;
    PERFORM note_only_uses(owner, item, substr(i.domain, 1, 255), sign, TRUE, FALSE)
    FROM items i WHERE i.user_id = owner AND i.id = item;
END
$$;

CREATE FUNCTION count_raw_page() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM note_raw_page(NEW.user_id, NEW.item_id, NEW.hash, 1);
        RETURN NULL;
    END IF;
    PERFORM note_raw_page(OLD.user_id, OLD.item_id, OLD.hash, -1);
    RETURN OLD;
END
$$;
CREATE TRIGGER raw_pages_count_new AFTER INSERT ON raw_pages FOR EACH ROW EXECUTE FUNCTION count_raw_page();
CREATE TRIGGER raw_pages_count_gone BEFORE DELETE ON raw_pages FOR EACH ROW EXECUTE FUNCTION count_raw_page();

CREATE FUNCTION count_blob() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM note_stored(NEW.user_id, 'files', 'blobs', 1);
        PERFORM note_stored(NEW.user_id, 'bytes', 'blobs', NEW.stored);
    ELSE
        PERFORM note_stored(OLD.user_id, 'files', 'blobs', -1);
        PERFORM note_stored(OLD.user_id, 'bytes', 'blobs', -OLD.stored);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER blobs_count AFTER INSERT OR DELETE ON blobs FOR EACH ROW EXECUTE FUNCTION count_blob();

-- What one row of item_blobs alone counts for: nothing else has the file at all, in this role, or on this site.
CREATE FUNCTION note_link(link item_blobs, sign INTEGER) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    own_bytes BIGINT;
BEGIN
    IF link.state = 'left_out' THEN
        PERFORM note_stored(link.user_id, 'files', 'left_out', sign);
    END IF;
    IF link.hash IS NULL THEN
        RETURN;
    END IF;
    SELECT b.stored INTO own_bytes FROM blobs b WHERE b.user_id = link.user_id AND b.hash = link.hash FOR NO KEY UPDATE;
    IF NOT EXISTS (
        SELECT FROM item_blobs o WHERE o.user_id = link.user_id AND o.hash = link.hash AND o.seq <> link.seq
    ) THEN
        PERFORM note_stored(link.user_id, 'files', 'used', sign);
        PERFORM note_stored(link.user_id, 'bytes', 'used', sign * own_bytes);
    END IF;
    IF NOT EXISTS (
        SELECT FROM item_blobs o
        WHERE o.user_id = link.user_id AND o.hash = link.hash AND o.seq <> link.seq AND o.role = link.role
    ) THEN
        PERFORM note_stored(link.user_id, 'files', 'role ' || link.role, sign);
        PERFORM note_stored(link.user_id, 'bytes', 'role ' || link.role, sign * own_bytes);
    END IF;
    PERFORM note_stored(link.user_id, 'site_bytes', substr(i.domain, 1, 255), sign * own_bytes)
    FROM items i WHERE i.user_id = link.user_id AND i.id = link.item_id AND NOT EXISTS (
        SELECT FROM item_blobs o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
        WHERE o.user_id = link.user_id AND o.hash = link.hash AND o.seq <> link.seq
            AND substr(n.domain, 1, 255) = substr(i.domain, 1, 255)
    );
END
$$;

CREATE FUNCTION count_link() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_WHEN = 'AFTER' THEN
        PERFORM note_link(NEW, 1);
        RETURN NULL;
    END IF;
    PERFORM note_link(OLD, -1);
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER item_blobs_count_new AFTER INSERT ON item_blobs FOR EACH ROW EXECUTE FUNCTION count_link();
CREATE TRIGGER item_blobs_count_before BEFORE UPDATE OF hash, role, state OR DELETE ON item_blobs
    FOR EACH ROW EXECUTE FUNCTION count_link();
CREATE TRIGGER item_blobs_count_after AFTER UPDATE OF hash, role, state ON item_blobs
    FOR EACH ROW EXECUTE FUNCTION count_link();

-- The tags of an item, in a separate column: renaming one on many items then does not count them again. Those in the metadata
-- are a copy from the last change of the item itself.
ALTER TABLE items ADD COLUMN tags JSONB;

DROP TRIGGER item_changed ON items;

-- The owner sees the rows of all users only without the policies.
ALTER TABLE items NO FORCE ROW LEVEL SECURITY;
UPDATE items SET tags = CASE WHEN jsonb_typeof(metadata -> 'tags') = 'array' THEN metadata -> 'tags' ELSE '[]' END;
ALTER TABLE items FORCE ROW LEVEL SECURITY;

CREATE TRIGGER item_changed AFTER UPDATE OF title, content, author, published_at, url_full, metadata, tags, deleted_at ON items
    FOR EACH ROW EXECUTE FUNCTION note_changed_item();

-- Fewer statements to keep the counts of what is stored: a save costs less. And counts that stay right when a file is added to an
-- item while the item gets another site.

-- The bytes, of the files that an item has, that no other item of its site has. The files are locked: of two transactions that
-- begin or end to use one, the second sees what the first did.
CREATE FUNCTION note_only_uses(owner TEXT, item UUID, site TEXT, sign INTEGER) RETURNS VOID
LANGUAGE plpgsql AS $$
DECLARE
    total BIGINT;
BEGIN
    PERFORM 1 FROM raw_bodies b WHERE b.user_id = owner
        AND b.hash IN (SELECT p.hash FROM raw_pages p WHERE p.user_id = owner AND p.item_id = item)
        ORDER BY b.hash FOR NO KEY UPDATE;
    PERFORM 1 FROM blobs b WHERE b.user_id = owner
        AND b.hash IN (SELECT l.hash FROM item_blobs l WHERE l.user_id = owner AND l.item_id = item)
        ORDER BY b.hash FOR NO KEY UPDATE;
    total := COALESCE((
        SELECT SUM(b.packed) FROM raw_pages p JOIN raw_bodies b ON b.user_id = p.user_id AND b.hash = p.hash
        WHERE p.user_id = owner AND p.item_id = item AND NOT EXISTS (
            SELECT FROM raw_pages o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
            WHERE o.user_id = owner AND o.hash = p.hash AND o.item_id <> item AND substr(n.domain, 1, 255) = site
        )
    ), 0) + COALESCE((
        SELECT SUM(b.stored) FROM blobs b WHERE b.user_id = owner
        AND b.hash IN (SELECT l.hash FROM item_blobs l WHERE l.user_id = owner AND l.item_id = item)
        AND NOT EXISTS (
            SELECT FROM item_blobs o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
            WHERE o.user_id = owner AND o.hash = b.hash AND o.item_id <> item AND substr(n.domain, 1, 255) = site
        )
    ), 0);
    PERFORM note_stored(owner, 'site_bytes', site, sign * total);
END
$$;

CREATE OR REPLACE FUNCTION count_stored_item() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM note_stored(NEW.user_id, 'bytes', 'text', LENGTH(NEW.content));
        RETURN NULL;
    ELSIF TG_OP = 'UPDATE' THEN
        PERFORM note_stored(NEW.user_id, 'bytes', 'text', (LENGTH(NEW.content) - LENGTH(OLD.content))::BIGINT);
        RETURN NULL;
    END IF;
    -- While the item is there: what goes with it no longer knows its site, or whether it was deleted.
    PERFORM note_stored(OLD.user_id, 'bytes', 'text', -LENGTH(OLD.content)::BIGINT);
    PERFORM note_only_uses(OLD.user_id, OLD.id, substr(OLD.domain, 1, 255), -1);
    IF OLD.deleted_at IS NULL AND NOT OLD.failed THEN
        PERFORM note_stored(OLD.user_id, 'words', 'all', -w.words::BIGINT) FROM item_words w WHERE w.seq = OLD.seq;
    END IF;
    RETURN OLD;
END
$$;

CREATE OR REPLACE FUNCTION count_site() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_WHEN = 'BEFORE' THEN
        PERFORM note_only_uses(OLD.user_id, OLD.id, substr(OLD.domain, 1, 255), -1);
        RETURN NEW;
    END IF;
    PERFORM note_only_uses(NEW.user_id, NEW.id, substr(NEW.domain, 1, 255), 1);
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION count_raw_body() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    body raw_bodies := CASE TG_OP WHEN 'INSERT' THEN NEW ELSE OLD END;
    sign INTEGER := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    INSERT INTO item_count_changes (transaction, user_id, kind, key, change) VALUES
        (txid_current(), body.user_id, 'files', 'raw', sign),
        (txid_current(), body.user_id, 'bytes', 'raw', sign * body.packed),
        (txid_current(), body.user_id, 'bytes', 'raw_unpacked', sign * body.size);
    INSERT INTO item_count_transactions VALUES (txid_current(), body.user_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION note_raw_page(owner TEXT, item UUID, name TEXT, sign INTEGER) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    own_bytes BIGINT;
BEGIN
    -- Another transaction may be moving the item to another site: it sees this file, or this sees the other site.
    PERFORM 1 FROM items i WHERE i.user_id = owner AND i.id = item FOR NO KEY UPDATE;
    SELECT b.packed INTO own_bytes FROM raw_bodies b WHERE b.user_id = owner AND b.hash = name FOR NO KEY UPDATE;
    INSERT INTO item_count_changes (transaction, user_id, kind, key, change)
    SELECT txid_current(), owner, f.kind, 'current', sign * f.count
    FROM (VALUES ('files', 1::BIGINT), ('bytes', own_bytes)) f (kind, count)
    WHERE NOT EXISTS (SELECT FROM raw_pages o WHERE o.user_id = owner AND o.hash = name AND o.item_id <> item)
    UNION ALL
    SELECT txid_current(), owner, 'site_bytes', substr(i.domain, 1, 255), sign * own_bytes
    FROM items i WHERE i.user_id = owner AND i.id = item AND NOT EXISTS (
        SELECT FROM raw_pages o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
        WHERE o.user_id = owner AND o.hash = name AND o.item_id <> item
            AND substr(n.domain, 1, 255) = substr(i.domain, 1, 255)
    );
    INSERT INTO item_count_transactions VALUES (txid_current(), owner) ON CONFLICT DO NOTHING;
END
$$;

CREATE OR REPLACE FUNCTION note_link(link item_blobs, sign INTEGER) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    own_bytes BIGINT;
BEGIN
    IF link.state = 'left_out' THEN
        PERFORM note_stored(link.user_id, 'files', 'left_out', sign);
    END IF;
    IF link.hash IS NULL THEN
        RETURN;
    END IF;
    -- Another transaction may be moving the item to another site: it sees this file, or this sees the other site.
    PERFORM 1 FROM items i WHERE i.user_id = link.user_id AND i.id = link.item_id FOR NO KEY UPDATE;
    SELECT b.stored INTO own_bytes FROM blobs b WHERE b.user_id = link.user_id AND b.hash = link.hash FOR NO KEY UPDATE;
    IF NOT EXISTS (
        SELECT FROM item_blobs o WHERE o.user_id = link.user_id AND o.hash = link.hash AND o.seq <> link.seq
    ) THEN
        PERFORM note_stored(link.user_id, 'files', 'used', sign);
        PERFORM note_stored(link.user_id, 'bytes', 'used', sign * own_bytes);
    END IF;
    IF NOT EXISTS (
        SELECT FROM item_blobs o
        WHERE o.user_id = link.user_id AND o.hash = link.hash AND o.seq <> link.seq AND o.role = link.role
    ) THEN
        PERFORM note_stored(link.user_id, 'files', 'role ' || link.role, sign);
        PERFORM note_stored(link.user_id, 'bytes', 'role ' || link.role, sign * own_bytes);
    END IF;
    PERFORM note_stored(link.user_id, 'site_bytes', substr(i.domain, 1, 255), sign * own_bytes)
    FROM items i WHERE i.user_id = link.user_id AND i.id = link.item_id AND NOT EXISTS (
        SELECT FROM item_blobs o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
        WHERE o.user_id = link.user_id AND o.hash = link.hash AND o.seq <> link.seq
            AND substr(n.domain, 1, 255) = substr(i.domain, 1, 255)
    );
END
$$;

DROP FUNCTION note_only_uses(TEXT, UUID, TEXT, INTEGER, BOOLEAN, BOOLEAN);
