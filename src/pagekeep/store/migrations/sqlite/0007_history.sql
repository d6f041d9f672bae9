-- Versions of a page, from its second on; the newest is also in raw_pages. Bodies are in raw_bodies, once per content.
CREATE TABLE snapshots (
    user_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    hash TEXT NOT NULL,
    encoding TEXT,
    content_type TEXT NOT NULL,
    final_url TEXT NOT NULL,
    status INTEGER NOT NULL,
    rendered INTEGER NOT NULL,
    fetched_at TEXT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    headers TEXT,
    source TEXT NOT NULL,
    pinned INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, item_id, number),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE,
    FOREIGN KEY (user_id, hash) REFERENCES raw_bodies (user_id, hash)
);

CREATE INDEX snapshots_hash ON snapshots (user_id, hash);

-- What is done regularly. When it is due it becomes a job, which is leased, repeated after a crash, and deleted when done.
CREATE TABLE schedules (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    task TEXT NOT NULL,
    subject TEXT NOT NULL,
    address TEXT NOT NULL,
    every INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at TEXT NOT NULL,
    last_run_at TEXT,
    created_at TEXT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, task, subject)
);

CREATE INDEX schedules_due ON schedules (next_at);

-- Changes of watched pages.
CREATE TABLE changes (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    before INTEGER NOT NULL,
    after INTEGER NOT NULL,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    excerpt TEXT NOT NULL,
    found_at TEXT NOT NULL,
    seen_at TEXT,
    PRIMARY KEY (user_id, id),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE
);

CREATE INDEX changes_found ON changes (user_id, found_at, id);

CREATE INDEX changes_item ON changes (user_id, item_id);

-- When each page was last asked for, and whether its address still works.
CREATE TABLE page_checks (
    user_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    checked_at TEXT NOT NULL,
    next_at TEXT NOT NULL,
    state TEXT NOT NULL,
    failures INTEGER NOT NULL,
    first_failed_at TEXT,
    reason TEXT,
    PRIMARY KEY (user_id, item_id),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE INDEX page_checks_next ON page_checks (user_id, next_at);

-- Pages that have gone from the web.
ALTER TABLE items ADD COLUMN gone INTEGER NOT NULL
    AS (CASE WHEN json_extract(metadata, '$.link.state') = 'gone' THEN 1 ELSE 0 END) VIRTUAL;
CREATE INDEX items_gone ON items (user_id, saved_at, id) WHERE gone;
