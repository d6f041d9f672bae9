-- Wide columns stand last: a row is read only as far as it is needed.
CREATE TABLE items (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    url_hash TEXT NOT NULL,
    domain_key TEXT NOT NULL,
    title_key TEXT NOT NULL,
    saved_at TEXT NOT NULL,
    published_at TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    last_opened_at TEXT,
    deleted_at TEXT,
    metadata TEXT NOT NULL,
    source TEXT NOT NULL,
    domain TEXT NOT NULL,
    url TEXT NOT NULL,
    url_full TEXT NOT NULL,
    title TEXT NOT NULL,
    author TEXT,
    pinned INTEGER NOT NULL AS (CASE WHEN json_type(metadata, '$.pinned') = 'true' THEN 1 ELSE 0 END) VIRTUAL,
    archived INTEGER NOT NULL AS (CASE WHEN json_type(metadata, '$.archived') = 'true' THEN 1 ELSE 0 END) VIRTUAL,
    quality TEXT AS (
        CASE json_type(metadata, '$.quality')
            WHEN 'object' THEN json_extract(metadata, '$.quality.level')
            WHEN 'text' THEN json_extract(metadata, '$.quality')
        END
    ) VIRTUAL,
    parser_version INTEGER AS (
        CASE json_type(metadata, '$.parser_version') WHEN 'integer' THEN json_extract(metadata, '$.parser_version') END
    ) VIRTUAL,
    rules_hash TEXT AS (
        CASE json_type(metadata, '$.rules_hash') WHEN 'text' THEN json_extract(metadata, '$.rules_hash') END
    ) VIRTUAL,
    content TEXT NOT NULL,
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
    user_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    item_id TEXT NOT NULL,
    PRIMARY KEY (user_id, tag, item_id),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE INDEX item_tags_item ON item_tags (user_id, item_id);

-- The words as they were indexed: the index needs them again when an item is removed. Body is compressed with zstd.
CREATE TABLE item_words (
    seq INTEGER PRIMARY KEY REFERENCES items (seq) ON DELETE CASCADE,
    words INTEGER NOT NULL,
    head TEXT NOT NULL,
    body BLOB NOT NULL
);

-- The words come split and folded; "ascii" parts them at spaces and takes every other character as it is.
CREATE VIRTUAL TABLE item_search USING fts5 (head, body, content = '', tokenize = 'ascii');

-- Its blocks fit the pages of 2,048 bytes.
INSERT INTO item_search (item_search, rank) VALUES ('pgsz', 2000);

-- Bodies once per content, packed with zstd.
CREATE TABLE raw_bodies (
    user_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    size INTEGER NOT NULL,
    packed INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, hash)
);

CREATE TABLE raw_pages (
    user_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    hash TEXT NOT NULL,
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

-- due_at: when the job may be taken; that is run_after while it waits and the end of the lease while it runs.
CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    url_hash TEXT NOT NULL,
    url TEXT NOT NULL,
    url_full TEXT NOT NULL,
    options TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    run_after TEXT NOT NULL,
    due_at TEXT,
    leased_by TEXT,
    leased_until TEXT,
    created_at TEXT NOT NULL,
    UNIQUE (id, user_id)
);

CREATE UNIQUE INDEX jobs_unfinished ON jobs (user_id, url_hash) WHERE state IN ('queued', 'running');

CREATE INDEX jobs_due ON jobs (due_at, seq) WHERE due_at IS NOT NULL;

CREATE INDEX jobs_state ON jobs (user_id, state, seq);

CREATE TABLE domain_memory (
    user_id TEXT NOT NULL,
    domain TEXT NOT NULL,
    memory TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (user_id, domain)
);
