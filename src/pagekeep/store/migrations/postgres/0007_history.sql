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
