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
-- let past the policies on this one table, and name the user themselves; they return numbers of this user's items only.
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
