-- A library as version 25 made it: its schema, and one of everything.
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

-- The words as they were indexed: the index is told them again when an item leaves it. Body is packed with zstd.
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

-- A number for each item, for programs that know only numbers of 32 bits. It stays when the item is purged, so that no other item
-- ever gets it, and it is in backups: the same item has the same number in a restored library.
CREATE TABLE item_numbers (
    user_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (user_id, number),
    UNIQUE (user_id, item_id)
);

INSERT INTO item_numbers (user_id, item_id, number)
SELECT user_id, id, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY seq) FROM items;

-- Programs that synchronise ask for what has changed since.
CREATE INDEX items_updated ON items (user_id, updated_at, id);

INSERT INTO items (seq, user_id, id, url_hash, domain_key, title_key, saved_at, published_at, created_at, updated_at, last_opened_at, deleted_at, metadata, source, domain, url, url_full, title, author, content)
VALUES (1, 'local', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', '815d893c70891e4e22038191822f55e7f767ad80400aeaf33454a3f6e28057e0', 'com.example.', 'an old page', '2025-03-19T10:30:00.000000Z', NULL, '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', NULL, NULL, '{"tags":["old"],"parser_version":1}', 'web', 'example.com', 'https://example.com/old', 'https://example.com/old?utm_source=mail', 'An old page', NULL, replace('---~title: An old page~---~~Old words~', '~', char(10)));

INSERT INTO item_tags (user_id, tag, item_id)
VALUES ('local', 'old', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11');

INSERT INTO item_words (seq, words, head, body)
VALUES (1, 2, 'an old page ¶ ¶ old', x'28b52ffd20094900006f6c6420776f726473');

INSERT INTO raw_bodies (user_id, hash, size, packed, body)
VALUES ('local', 'df5b040cafe3eab5d50f3463bb9b518edb19bf47f9488f715b2850adb262708a', 16, 25, x'28b52ffd20108100003c703e4f6c6420776f7264733c2f703e');

INSERT INTO raw_pages (user_id, item_id, hash, encoding, content_type, final_url, status, rendered, fetched_at, etag, last_modified)
VALUES ('local', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', 'df5b040cafe3eab5d50f3463bb9b518edb19bf47f9488f715b2850adb262708a', 'utf-8', 'text/html', 'https://example.com/page', 200, 0, '2025-03-19T10:30:00.000000Z', '"1"', NULL);

INSERT INTO jobs (seq, user_id, id, url_hash, url, url_full, options, state, attempts, error, run_after, due_at, leased_by, leased_until, created_at)
VALUES (1, 'local', '222f5659-a968-41ed-a756-48c4b803fffb', 'a33cc10fe2a38be5f7acfe9117f1d6e5cafa19df0d39aaa925bf5592bee1a460', 'https://example.com/waits', 'https://example.com/waits', '{"tags":["old"]}', 'queued', 0, NULL, '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', NULL, NULL, '2025-03-19T10:30:00.000000Z');

INSERT INTO item_search (rowid, head, body) SELECT seq, head, 'old words' FROM item_words;

-- Who may use a shared server. Passwords, session keys and tokens are kept as digests alone.
CREATE TABLE users (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    password TEXT,
    disabled INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL
);

CREATE TABLE sessions (
    digest TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
);

CREATE INDEX sessions_user ON sessions (user_id);

CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_used_at TEXT,
    expires_at TEXT
);

CREATE INDEX tokens_user ON tokens (user_id);

-- Failed sign-ins by name and by address, counted within a window.
CREATE TABLE sign_in_failures (
    key TEXT PRIMARY KEY,
    failures INTEGER NOT NULL,
    since TEXT NOT NULL
);

-- Answers to requests that carried an idempotency key.
CREATE TABLE answers (
    user_id TEXT NOT NULL,
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    answer TEXT,
    created_at TEXT NOT NULL,
    PRIMARY KEY (user_id, key)
);

CREATE TABLE annotations (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    quote TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    note TEXT NOT NULL,
    colour TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (user_id, id),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE
);

CREATE INDEX annotations_item ON annotations (user_id, item_id, created_at, id);

INSERT INTO users (id, name, password, created_at) VALUES ('local', 'ada', NULL, '2025-03-19T10:30:00.000000Z');

INSERT INTO annotations (user_id, id, item_id, quote, before, after, note, colour, created_at, updated_at)
VALUES ('local', '7d3a1c52-0b8e-4a77-8f5e-0d6f9f7c2b10', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', 'Old', '', 'words', 'so it was', NULL, '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z');

-- Addresses that are kept without content and are to be fetched again.
ALTER TABLE items ADD COLUMN fetch_again INTEGER NOT NULL
    AS (CASE WHEN json_type(metadata, '$.fetch_again') = 'true' THEN 1 ELSE 0 END) VIRTUAL;
CREATE INDEX items_fetch_again ON items (user_id, saved_at, id) WHERE fetch_again = 1;

-- The conditions are written as on PostgreSQL, whose columns are boolean.
DROP INDEX items_pinned;
CREATE INDEX items_pinned ON items (user_id, saved_at, id) WHERE pinned;
DROP INDEX items_fetch_again;
CREATE INDEX items_fetch_again ON items (user_id, saved_at, id) WHERE fetch_again;

-- Files that wait for a job, such as an import: in parts, so that no part is large in memory.
CREATE TABLE uploads (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    part INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id, part)
);

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

INSERT INTO item_blobs (user_id, item_id, role, source_hash, variant, position, state, reason, created_at, media_type, source)
VALUES ('local', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', 'picture', 'ec4d3a14', '', 0, 'left_out', 'not_found', '2025-03-19T10:30:00.000000Z', '', 'https://example.com/gone.png');

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

INSERT INTO snapshots (user_id, item_id, number, hash, encoding, content_type, final_url, status, rendered, fetched_at, source)
SELECT user_id, item_id, 1, hash, encoding, content_type, final_url, status, rendered, fetched_at, 'web' FROM raw_pages;

INSERT INTO schedules (user_id, id, task, subject, address, every, next_at, created_at, state)
VALUES ('local', '5b0e64a2-77c5-4a52-8a43-3d0c9b6b1f20', 'watch', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', 'https://example.com/old', 86400, '2099-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', '{}');

-- Headers of the response that a raw page came with, as a JSON object; NULL where there was none, or an older version saved it.
ALTER TABLE raw_pages ADD COLUMN headers TEXT;

UPDATE raw_pages SET headers = '{"server":"harbour"}';
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

INSERT INTO feeds (user_id, id, kind, address_hash, status, next_at, created_at, updated_at, folder, settings, state, address, title)
VALUES ('local', '3a1f0b7e-52c4-4f0e-9d3a-7f8f0c1d2e3f', 'web', 'f00d', 'active', '2099-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', 'Old', '{"tags":["old"]}', '{}', 'https://example.com/feed', 'An old feed');

INSERT INTO feed_entries (user_id, id, feed_id, guid_hash, fingerprint, sorted_at, found_at, updated_at, extra, guid, title, words, content)
VALUES ('local', '4b2f0b7e-52c4-4f0e-9d3a-7f8f0c1d2e3f', '3a1f0b7e-52c4-4f0e-9d3a-7f8f0c1d2e3f', 'beef', 'cafe', '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', '{}', 'one', 'An old entry', ' an old entry ', 'Old words.');
-- Crawls of whole sites. A crawl that is run again has the next number of `run`; the frontier of each run is its own.
-- admitted: pages in the frontier. settled: those that are decided, in their order. kept, size: pages kept and their bytes.
-- counts: pages by outcome and addresses by the reason why they were left out.
CREATE TABLE crawls (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    name_hash TEXT NOT NULL,
    url TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'cancelled')),
    reason TEXT,
    run INTEGER NOT NULL,
    admitted INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    kept INTEGER NOT NULL,
    size INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    started_at TEXT NOT NULL,
    finished_at TEXT,
    options TEXT NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, name_hash)
);

CREATE INDEX crawls_running ON crawls (created_at) WHERE state = 'running';

-- The frontier: every address once, numbered in the order of discovery.
CREATE TABLE crawl_pages (
    user_id TEXT NOT NULL,
    crawl_id TEXT NOT NULL,
    run INTEGER NOT NULL,
    position INTEGER NOT NULL,
    url_hash TEXT NOT NULL,
    page_hash TEXT,
    content_hash TEXT,
    kind TEXT NOT NULL CHECK (kind IN ('page', 'robots', 'sitemap')),
    via TEXT NOT NULL,
    depth INTEGER NOT NULL,
    parent INTEGER,
    hops INTEGER NOT NULL,
    chain INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'leased', 'fetched', 'settled')),
    outcome TEXT,
    attempts INTEGER NOT NULL,
    due_at TEXT NOT NULL,
    leased_by TEXT,
    leased_until TEXT,
    host TEXT NOT NULL,
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
    user_id TEXT NOT NULL,
    crawl_id TEXT NOT NULL,
    run INTEGER NOT NULL,
    position INTEGER NOT NULL,
    body_hash TEXT,
    status INTEGER NOT NULL,
    size INTEGER NOT NULL,
    rendered INTEGER NOT NULL,
    fetched_at TEXT NOT NULL,
    encoding TEXT,
    content_type TEXT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    made_by TEXT NOT NULL,
    headers TEXT,
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
    user_id TEXT NOT NULL,
    host TEXT NOT NULL,
    next_at TEXT NOT NULL,
    delay REAL NOT NULL,
    streak INTEGER NOT NULL,
    PRIMARY KEY (user_id, host)
) WITHOUT ROWID;

-- How many addresses of one pattern were admitted.
CREATE TABLE crawl_counts (
    user_id TEXT NOT NULL,
    crawl_id TEXT NOT NULL,
    run INTEGER NOT NULL,
    name TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (user_id, crawl_id, run, name),
    FOREIGN KEY (user_id, crawl_id) REFERENCES crawls (user_id, id) ON DELETE CASCADE
) WITHOUT ROWID;

INSERT INTO crawls (user_id, id, name_hash, url, state, run, admitted, settled, kept, size, created_at, started_at, options, counts)
VALUES ('local', '0b54e1a7-3c0f-4d54-8f4e-52e1d1c61c11', 'x', 'https://example.com/', 'done', 1, 1, 1, 0, 0, '2025-03-19T10:30:00.000000Z', '2025-03-19T10:30:00.000000Z', '{"seeds": ["https://example.com/"]}', '{}');



INSERT INTO item_numbers (user_id, item_id, number)
VALUES ('local', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', 7);

-- How far each item has been read, and where to go on; an item without a row is unread. Apart from `items`, whose wide text would
-- be read over, and because reading does not change an item. Progress and offset are in ten-thousandths.
CREATE TABLE reading_states (
    user_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('unread', 'reading', 'read')),
    chosen INTEGER NOT NULL,
    progress INTEGER NOT NULL,
    block INTEGER NOT NULL,
    block_offset INTEGER NOT NULL,
    updated_at TEXT NOT NULL,
    read_at TEXT,
    PRIMARY KEY (user_id, item_id),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE
);

CREATE INDEX reading_states_state ON reading_states (user_id, state, updated_at, item_id);

-- All annotations of a library, newest first.
CREATE INDEX annotations_created ON annotations (user_id, created_at, id);

-- The search words of annotations. With the time, those with a word are found newest first, however many have it.
CREATE TABLE annotation_words (
    user_id TEXT NOT NULL,
    word TEXT NOT NULL,
    created_at TEXT NOT NULL,
    annotation_id TEXT NOT NULL,
    PRIMARY KEY (user_id, word, created_at, annotation_id),
    FOREIGN KEY (user_id, annotation_id) REFERENCES annotations (user_id, id) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE INDEX annotation_words_annotation ON annotation_words (user_id, annotation_id, word);

INSERT INTO reading_states (user_id, item_id, state, chosen, progress, block, block_offset, updated_at, read_at)
VALUES ('local', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', 'reading', 0, 2500, 3, 0, '2025-03-19T10:30:00.000000Z', NULL);

INSERT INTO annotation_words (user_id, word, created_at, annotation_id)
VALUES ('local', 'old', '2025-03-19T10:30:00.000000Z', '7d3a1c52-0b8e-4a77-8f5e-0d6f9f7c2b10');

-- Lists of the user: saved searches, and manual lists, whose items are in list_items. name_key: the name as it is compared.
CREATE TABLE lists (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    name_key TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, name_key)
);

-- position: places with gaps between them, so that an item can be moved without touching the others.
CREATE TABLE list_items (
    user_id TEXT NOT NULL,
    list_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    added_at TEXT NOT NULL,
    PRIMARY KEY (user_id, list_id, item_id),
    FOREIGN KEY (user_id, list_id) REFERENCES lists (user_id, id) ON DELETE CASCADE,
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE
);

CREATE INDEX list_items_order ON list_items (user_id, list_id, position, item_id);

CREATE INDEX list_items_item ON list_items (user_id, item_id);

-- What happens to new items that a search finds.
CREATE TABLE save_rules (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    position INTEGER NOT NULL,
    enabled INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    actions TEXT NOT NULL,
    PRIMARY KEY (user_id, id)
);

-- Changes of items that can be undone. A row of action_items without a change waits to be changed; it goes when it is undone.
CREATE TABLE actions (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    undone_at TEXT,
    changed INTEGER NOT NULL,
    label TEXT NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE INDEX actions_newest ON actions (user_id, created_at, id);

CREATE TABLE action_items (
    user_id TEXT NOT NULL,
    action_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    change TEXT,
    PRIMARY KEY (user_id, action_id, item_id),
    FOREIGN KEY (user_id, action_id) REFERENCES actions (user_id, id) ON DELETE CASCADE
);

CREATE INDEX action_items_waiting ON action_items (user_id, action_id, item_id) WHERE change IS NULL;

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

-- Who of an OpenID Connect provider opens which account. A subject is never given to another person.
CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (issuer, subject)
);

CREATE INDEX identities_user ON identities (user_id);

PRAGMA user_version = 25;

-- Where items are sent on to. options: the settings of its kind and the rules, which are searches; secret: encrypted.
-- due_at: when there is something to deliver, or until when another process has it; nothing is due without it.
CREATE TABLE sinks (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    address TEXT NOT NULL,
    options TEXT NOT NULL,
    secret TEXT,
    state TEXT NOT NULL CHECK (state IN ('active', 'off')),
    takes_items INTEGER NOT NULL,
    hidden INTEGER NOT NULL,
    error TEXT,
    sent INTEGER NOT NULL,
    sent_at TEXT,
    created_at TEXT NOT NULL,
    due_at TEXT,
    leased_by TEXT,
    leased_until TEXT,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, name)
);

CREATE INDEX sinks_due ON sinks (due_at) WHERE due_at IS NOT NULL;

-- Items that have changed since the rules were last applied to them, in the order of the changes. Triggers fill it, in the
-- transaction that changes the item, where the user has sinks.
CREATE TABLE changed_items (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    UNIQUE (user_id, item_id)
);

CREATE TRIGGER item_added AFTER INSERT ON items
WHEN EXISTS (SELECT 1 FROM sinks s WHERE s.user_id = NEW.user_id AND s.takes_items)
BEGIN
    INSERT INTO changed_items (user_id, item_id) VALUES (NEW.user_id, NEW.id);
END;

CREATE TRIGGER item_changed AFTER UPDATE OF title, content, author, published_at, url_full, metadata, deleted_at ON items
WHEN EXISTS (SELECT 1 FROM sinks s WHERE s.user_id = NEW.user_id AND s.takes_items)
BEGIN
    DELETE FROM changed_items WHERE user_id = NEW.user_id AND item_id = NEW.id;
    INSERT INTO changed_items (user_id, item_id) VALUES (NEW.user_id, NEW.id);
END;

-- What waits to be delivered, in the order of its delivery: an item as it is then, or an event with its own body.
CREATE TABLE outbox (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    sink_id TEXT NOT NULL,
    item_id TEXT,
    event TEXT,
    body TEXT,
    state TEXT NOT NULL CHECK (state IN ('queued', 'dead')),
    attempts INTEGER NOT NULL,
    error TEXT,
    created_at TEXT NOT NULL,
    tried_at TEXT,
    FOREIGN KEY (user_id, sink_id) REFERENCES sinks (user_id, id) ON DELETE CASCADE,
    UNIQUE (user_id, sink_id, event)
);

CREATE INDEX outbox_next ON outbox (user_id, sink_id, state, position);

-- The version of each item that a sink has, and its name there.
CREATE TABLE sent_items (
    user_id TEXT NOT NULL,
    sink_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    version TEXT NOT NULL,
    remote_id TEXT,
    sent_at TEXT NOT NULL,
    PRIMARY KEY (user_id, sink_id, item_id),
    FOREIGN KEY (user_id, sink_id) REFERENCES sinks (user_id, id) ON DELETE CASCADE
);

INSERT INTO sinks (user_id, id, kind, name, address, options, state, takes_items, hidden, sent, created_at)
VALUES ('local', '5c3f0b7e-52c4-4f0e-9d3a-7f8f0c1d2e3f', 'webhook', 'old', 'https://example.com/hook', '{"rules": ["tag:old"]}', 'active', TRUE, FALSE, 0, '2025-03-19T10:30:00.000000Z');

INSERT INTO outbox (user_id, sink_id, item_id, state, attempts, created_at)
VALUES ('local', '5c3f0b7e-52c4-4f0e-9d3a-7f8f0c1d2e3f', '0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11', 'queued', 0, '2025-03-19T10:30:00.000000Z');

-- How many items have a state, tag, site, author, language, quality, or month; kept by triggers, so that no page counts a large
-- library. `words_saved` and `words_read` are words by month.
CREATE TABLE item_counts (
    user_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (user_id, kind, key)
) WITHOUT ROWID;

CREATE INDEX item_counts_most ON item_counts (user_id, kind, count DESC, key);

ALTER TABLE items ADD COLUMN author_key TEXT AS (NULLIF(substr(trim(author), 1, 200), '')) VIRTUAL;

ALTER TABLE items ADD COLUMN language TEXT AS (
    CASE WHEN json_type(metadata, '$.language') = 'text' THEN
        CASE
            WHEN json_extract(metadata, '$.language') GLOB '[A-Za-z][A-Za-z]'
                OR json_extract(metadata, '$.language') GLOB '[A-Za-z][A-Za-z][-_]*'
            THEN lower(substr(json_extract(metadata, '$.language'), 1, 2))
            WHEN json_extract(metadata, '$.language') GLOB '[A-Za-z][A-Za-z][A-Za-z]'
                OR json_extract(metadata, '$.language') GLOB '[A-Za-z][A-Za-z][A-Za-z][-_]*'
            THEN lower(substr(json_extract(metadata, '$.language'), 1, 3))
        END
    END
) VIRTUAL;

ALTER TABLE items ADD COLUMN word_count INTEGER NOT NULL AS (
    CASE json_type(metadata, '$.word_count')
        WHEN 'integer' THEN MAX(0, MIN(100000000, json_extract(metadata, '$.word_count')))
        ELSE 0
    END
) VIRTUAL;

CREATE INDEX items_author ON items (user_id, author_key, saved_at, id) WHERE author_key IS NOT NULL;

CREATE INDEX items_language ON items (user_id, language, saved_at, id) WHERE language IS NOT NULL;

-- What each item counts for.
CREATE VIEW item_facets (user_id, item_id, kind, key, count) AS
SELECT user_id, item_id, kind, key, count FROM (
    SELECT i.user_id AS user_id, i.id AS item_id, f.column1 AS kind,
        CASE WHEN i.deleted_at IS NOT NULL THEN CASE f.column2 WHEN 'place' THEN 'trash' END ELSE
            CASE f.column2
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
                WHEN 'saved' THEN substr(i.saved_at, 1, 7)
                WHEN 'read' THEN CASE WHEN r.state = 'read' THEN substr(r.read_at, 1, 7) END
            END
        END AS key,
        CASE f.column3 WHEN 'words' THEN i.word_count ELSE 1 END AS count
    FROM items i
    LEFT JOIN reading_states r ON r.user_id = i.user_id AND r.item_id = i.id
    CROSS JOIN (
        VALUES ('state', 'all', ''), ('state', 'place', ''), ('state', 'pinned', ''), ('state', 'reading', ''),
            ('site', 'site', ''), ('author', 'author', ''), ('language', 'language', ''), ('quality', 'quality', ''),
            ('saved', 'saved', ''), ('read', 'read', ''), ('words_saved', 'saved', 'words'), ('words_read', 'read', 'words')
    ) f
)
WHERE key IS NOT NULL AND count <> 0
UNION ALL
SELECT t.user_id, t.item_id, 'tag', t.tag, 1
FROM item_tags t JOIN items i ON i.user_id = t.user_id AND i.id = t.item_id
WHERE i.deleted_at IS NULL;

INSERT INTO item_counts (user_id, kind, key, count)
SELECT user_id, kind, key, SUM(count) FROM item_facets GROUP BY user_id, kind, key;

CREATE TRIGGER item_counts_zero AFTER UPDATE ON item_counts WHEN NEW.count = 0 BEGIN
    DELETE FROM item_counts WHERE user_id = NEW.user_id AND kind = NEW.kind AND key = NEW.key;
END;

CREATE TRIGGER items_count_new AFTER INSERT ON items BEGIN
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT user_id, kind, key, count FROM item_facets WHERE user_id = NEW.user_id AND item_id = NEW.id
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

CREATE TRIGGER items_count_before BEFORE UPDATE OF metadata, deleted_at, domain, author, saved_at ON items BEGIN
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT user_id, kind, key, -count FROM item_facets WHERE user_id = OLD.user_id AND item_id = OLD.id
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

CREATE TRIGGER items_count_after AFTER UPDATE OF metadata, deleted_at, domain, author, saved_at ON items BEGIN
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT user_id, kind, key, count FROM item_facets WHERE user_id = NEW.user_id AND item_id = NEW.id
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

-- Before the tags and the reading state of the item go with it.
CREATE TRIGGER items_count_gone BEFORE DELETE ON items BEGIN
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT user_id, kind, key, -count FROM item_facets WHERE user_id = OLD.user_id AND item_id = OLD.id
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

CREATE TRIGGER item_tags_count_new AFTER INSERT ON item_tags BEGIN
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT i.user_id, 'tag', NEW.tag, 1 FROM items i
    WHERE i.user_id = NEW.user_id AND i.id = NEW.item_id AND i.deleted_at IS NULL
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

-- With the item gone, its own trigger has counted its tags already.
CREATE TRIGGER item_tags_count_gone AFTER DELETE ON item_tags BEGIN
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT i.user_id, 'tag', OLD.tag, -1 FROM items i
    WHERE i.user_id = OLD.user_id AND i.id = OLD.item_id AND i.deleted_at IS NULL
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

CREATE TRIGGER reading_states_count_new AFTER INSERT ON reading_states BEGIN
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT i.user_id, 'state', 'unread', -1 FROM items i
    WHERE i.user_id = NEW.user_id AND i.id = NEW.item_id AND i.deleted_at IS NULL AND NOT i.archived
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT user_id, kind, key, count FROM item_facets
    WHERE user_id = NEW.user_id AND item_id = NEW.item_id
        AND (kind IN ('read', 'words_read') OR (kind = 'state' AND key IN ('unread', 'reading', 'read')))
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

CREATE TRIGGER reading_states_count_before BEFORE UPDATE OF state, read_at ON reading_states BEGIN
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT user_id, kind, key, -count FROM item_facets
    WHERE user_id = OLD.user_id AND item_id = OLD.item_id
        AND (kind IN ('read', 'words_read') OR (kind = 'state' AND key IN ('unread', 'reading', 'read')))
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

CREATE TRIGGER reading_states_count_after AFTER UPDATE OF state, read_at ON reading_states BEGIN
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT user_id, kind, key, count FROM item_facets
    WHERE user_id = NEW.user_id AND item_id = NEW.item_id
        AND (kind IN ('read', 'words_read') OR (kind = 'state' AND key IN ('unread', 'reading', 'read')))
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

CREATE TRIGGER reading_states_count_gone BEFORE DELETE ON reading_states BEGIN
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT user_id, kind, key, -count FROM item_facets
    WHERE user_id = OLD.user_id AND item_id = OLD.item_id
        AND (kind IN ('read', 'words_read') OR (kind = 'state' AND key IN ('unread', 'reading', 'read')))
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

CREATE TRIGGER reading_states_count_left AFTER DELETE ON reading_states BEGIN
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT i.user_id, 'state', 'unread', 1 FROM items i
    WHERE i.user_id = OLD.user_id AND i.id = OLD.item_id AND i.deleted_at IS NULL AND NOT i.archived
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

-- The words of a user's library, of which the nearest is offered for one that is not found. Words of items that were removed stay:
-- what is offered is searched for first. See vocabulary.py, which fills it after this.
CREATE TABLE vocabulary (
    user_id TEXT NOT NULL,
    word TEXT NOT NULL,
    PRIMARY KEY (user_id, word)
) WITHOUT ROWID;

CREATE INDEX items_quality ON items (user_id, quality, saved_at, id) WHERE deleted_at IS NULL;

-- When a page was published, as an instant that sorts: the page's own text may be a year, a month, a day, or a time in any zone.
-- A year, a month or a day begins at midnight UTC, and so does a day whose time cannot be read; empty without a date.
ALTER TABLE items ADD COLUMN published_sort TEXT NOT NULL AS (
    CASE
        WHEN published_at GLOB '[1-9][0-9][0-9][0-9]' AND published_at < '9999' THEN published_at || '-01-01T00:00:00.000000Z'
        WHEN published_at GLOB '[1-9][0-9][0-9][0-9]-[01][0-9]' AND published_at < '9999'
            AND substr(published_at, 6) BETWEEN '01' AND '12'
        THEN published_at || '-01T00:00:00.000000Z'
        WHEN published_at GLOB '[1-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]*' AND published_at < '9999'
            AND date(substr(published_at, 1, 10)) = substr(published_at, 1, 10)
        THEN COALESCE(
            CASE WHEN substr(published_at, 11) GLOB '[T ][01][0-9]:*' OR substr(published_at, 11) GLOB '[T ]2[0-3]:*'
                THEN strftime('%Y-%m-%dT%H:%M:%f', published_at) || '000Z' END,
            substr(published_at, 1, 10) || 'T00:00:00.000000Z'
        )
        ELSE ''
    END
) VIRTUAL;

DROP INDEX items_published;
CREATE INDEX items_published ON items (user_id, published_sort, id);

-- Pages that could not be saved and that the user has not kept as bookmarks. They are in one list and count in no other.
ALTER TABLE items ADD COLUMN failed INTEGER NOT NULL
    AS (CASE WHEN json_type(metadata, '$.failed') = 'true' THEN 1 ELSE 0 END) VIRTUAL;

CREATE INDEX items_failed ON items (user_id, saved_at, id) WHERE failed;

DROP INDEX items_saved;
DROP INDEX items_archived;
DROP INDEX items_quality;
CREATE INDEX items_saved ON items (user_id, saved_at, id) WHERE deleted_at IS NULL AND NOT failed;
CREATE INDEX items_archived ON items (user_id, archived, saved_at, id) WHERE deleted_at IS NULL AND NOT failed;
CREATE INDEX items_quality ON items (user_id, quality, saved_at, id) WHERE deleted_at IS NULL AND NOT failed;

DROP VIEW item_facets;
CREATE VIEW item_facets (user_id, item_id, kind, key, count) AS
SELECT user_id, item_id, kind, key, count FROM (
    SELECT i.user_id AS user_id, i.id AS item_id, f.column1 AS kind,
        CASE
            WHEN i.deleted_at IS NOT NULL THEN CASE f.column2 WHEN 'place' THEN 'trash' END
            WHEN i.failed THEN CASE f.column2 WHEN 'place' THEN 'failed' END
            ELSE CASE f.column2
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
                WHEN 'saved' THEN substr(i.saved_at, 1, 7)
                WHEN 'read' THEN CASE WHEN r.state = 'read' THEN substr(r.read_at, 1, 7) END
            END
        END AS key,
        CASE f.column3 WHEN 'words' THEN i.word_count ELSE 1 END AS count
    FROM items i
    LEFT JOIN reading_states r ON r.user_id = i.user_id AND r.item_id = i.id
    CROSS JOIN (
        VALUES ('state', 'all', ''), ('state', 'place', ''), ('state', 'pinned', ''), ('state', 'reading', ''),
            ('site', 'site', ''), ('author', 'author', ''), ('language', 'language', ''), ('quality', 'quality', ''),
            ('saved', 'saved', ''), ('read', 'read', ''), ('words_saved', 'saved', 'words'), ('words_read', 'read', 'words')
    ) f
)
WHERE key IS NOT NULL AND count <> 0
UNION ALL
SELECT t.user_id, t.item_id, 'tag', t.tag, 1
FROM item_tags t JOIN items i ON i.user_id = t.user_id AND i.id = t.item_id
WHERE i.deleted_at IS NULL AND NOT i.failed;

DROP TRIGGER item_tags_count_new;
DROP TRIGGER item_tags_count_gone;
DROP TRIGGER reading_states_count_new;
DROP TRIGGER reading_states_count_left;

CREATE TRIGGER item_tags_count_new AFTER INSERT ON item_tags BEGIN
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT i.user_id, 'tag', NEW.tag, 1 FROM items i
    WHERE i.user_id = NEW.user_id AND i.id = NEW.item_id AND i.deleted_at IS NULL AND NOT i.failed
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

-- With the item gone, its own trigger has counted its tags already.
CREATE TRIGGER item_tags_count_gone AFTER DELETE ON item_tags BEGIN
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT i.user_id, 'tag', OLD.tag, -1 FROM items i
    WHERE i.user_id = OLD.user_id AND i.id = OLD.item_id AND i.deleted_at IS NULL AND NOT i.failed
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

CREATE TRIGGER reading_states_count_new AFTER INSERT ON reading_states BEGIN
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT i.user_id, 'state', 'unread', -1 FROM items i
    WHERE i.user_id = NEW.user_id AND i.id = NEW.item_id AND i.deleted_at IS NULL AND NOT i.failed AND NOT i.archived
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT user_id, kind, key, count FROM item_facets
    WHERE user_id = NEW.user_id AND item_id = NEW.item_id
        AND (kind IN ('read', 'words_read') OR (kind = 'state' AND key IN ('unread', 'reading', 'read')))
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

CREATE TRIGGER reading_states_count_left AFTER DELETE ON reading_states BEGIN
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT i.user_id, 'state', 'unread', 1 FROM items i
    WHERE i.user_id = OLD.user_id AND i.id = OLD.item_id AND i.deleted_at IS NULL AND NOT i.failed AND NOT i.archived
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

-- Earlier versions kept the addresses of failed saves in the inbox. One that nothing has changed since its failure, that was never
-- opened and that the user did not mark in any way is a failed save; every other one was kept.
UPDATE items SET metadata = json_set(metadata, '$.failed', json('true'))
WHERE quality = 'bookmark' AND deleted_at IS NULL AND last_opened_at IS NULL AND NOT pinned AND NOT archived
    AND json_type(metadata, '$.content_hash') IS NULL AND json_type(metadata, '$.edited') IS NOT 'true'
    AND json_type(metadata, '$.notes') IS NULL AND json_type(metadata, '$.fetch_again') IN ('true', 'false')
    AND json_extract(metadata, '$.last_error.type') <> 'Worse' AND json_extract(metadata, '$.last_error.at') = updated_at
    AND NOT EXISTS (SELECT 1 FROM list_items l WHERE l.user_id = items.user_id AND l.item_id = items.id)
    AND NOT EXISTS (SELECT 1 FROM annotations a WHERE a.user_id = items.user_id AND a.item_id = items.id);

-- A save that failed before there was an item for it runs again: if it fails again, there is one.
UPDATE jobs SET state = 'queued', attempts = 0, run_after = created_at, due_at = created_at
WHERE state = 'dead' AND json_type(options, '$.task') IS NULL AND url NOT LIKE 'pagekeep:%'
    AND NOT EXISTS (SELECT 1 FROM items i WHERE i.user_id = jobs.user_id AND i.url_hash = jobs.url_hash)
    AND NOT EXISTS (
        SELECT 1 FROM jobs o WHERE o.user_id = jobs.user_id AND o.url_hash = jobs.url_hash
            AND (o.state IN ('queued', 'running') OR (o.state = 'dead' AND o.seq > jobs.seq))
    );

-- The words of the heads alone: in the index of all words, those few items with the words in their heads are found only by
-- passing all that have them in their bodies.
CREATE VIRTUAL TABLE head_search USING fts5 (head, content = '', tokenize = 'ascii');

INSERT INTO head_search (head_search, rank) VALUES ('pgsz', 2000);

INSERT INTO head_search (rowid, head) SELECT seq, head FROM item_words;

CREATE TRIGGER item_words_head_new AFTER INSERT ON item_words BEGIN
    INSERT INTO head_search (rowid, head) VALUES (NEW.seq, NEW.head);
END;

CREATE TRIGGER item_words_head_changed AFTER UPDATE OF seq, head ON item_words BEGIN
    INSERT INTO head_search (head_search, rowid, head) VALUES ('delete', OLD.seq, OLD.head);
    INSERT INTO head_search (rowid, head) VALUES (NEW.seq, NEW.head);
END;

CREATE TRIGGER item_words_head_gone AFTER DELETE ON item_words BEGIN
    INSERT INTO head_search (head_search, rowid, head) VALUES ('delete', OLD.seq, OLD.head);
END;

-- The items of a tag, last saved first, without looking at all others or sorting all that have it.
ALTER TABLE item_tags ADD COLUMN saved_at TEXT NOT NULL DEFAULT '';

UPDATE item_tags SET saved_at =
    COALESCE((SELECT i.saved_at FROM items i WHERE i.user_id = item_tags.user_id AND i.id = item_tags.item_id), '');

CREATE INDEX item_tags_saved ON item_tags (user_id, tag, saved_at, item_id);

CREATE TRIGGER item_tags_saved_new AFTER INSERT ON item_tags BEGIN
    UPDATE item_tags SET saved_at =
        COALESCE((SELECT i.saved_at FROM items i WHERE i.user_id = NEW.user_id AND i.id = NEW.item_id), '')
    WHERE user_id = NEW.user_id AND tag = NEW.tag AND item_id = NEW.item_id;
END;

CREATE TRIGGER items_saved_changed AFTER UPDATE OF saved_at ON items WHEN OLD.saved_at <> NEW.saved_at BEGIN
    UPDATE item_tags SET saved_at = NEW.saved_at WHERE user_id = NEW.user_id AND item_id = NEW.id;
END;

-- What the library takes on the disk, kept by triggers in item_counts, so that no page adds up a large library: numbers of files
-- (`files`), bytes (`bytes`), and bytes by site (`site_bytes`). `raw` are all bodies of pages, `current` those that the newest
-- version of an item has, `used` the kept files that an item has. A file counts once for each role and each site that has it.
CREATE VIEW stored_facets (user_id, kind, key, count) AS
SELECT user_id, kind, key, count FROM (
    SELECT i.user_id AS user_id, 'words' AS kind, 'all' AS key, SUM(w.words) AS count
    FROM items i JOIN item_words w ON w.seq = i.seq WHERE i.deleted_at IS NULL AND NOT i.failed GROUP BY i.user_id
    UNION ALL
    SELECT user_id, 'bytes', 'text', SUM(LENGTH(content)) FROM items GROUP BY user_id
    UNION ALL
    SELECT b.user_id, f.column1, f.column2, SUM(CASE f.column3 WHEN 'packed' THEN b.packed WHEN 'size' THEN b.size ELSE 1 END)
    FROM raw_bodies b
    CROSS JOIN (VALUES ('files', 'raw', ''), ('bytes', 'raw', 'packed'), ('bytes', 'raw_unpacked', 'size')) f
    GROUP BY b.user_id, f.column1, f.column2
    UNION ALL
    SELECT b.user_id, f.column1, 'current', SUM(CASE f.column1 WHEN 'bytes' THEN b.packed ELSE 1 END)
    FROM raw_bodies b CROSS JOIN (VALUES ('files'), ('bytes')) f
    WHERE EXISTS (SELECT 1 FROM raw_pages p WHERE p.user_id = b.user_id AND p.hash = b.hash)
    GROUP BY b.user_id, f.column1
    UNION ALL
    SELECT b.user_id, f.column1, 'blobs', SUM(CASE f.column1 WHEN 'bytes' THEN b.stored ELSE 1 END)
    FROM blobs b CROSS JOIN (VALUES ('files'), ('bytes')) f GROUP BY b.user_id, f.column1
    UNION ALL
    SELECT b.user_id, f.column1, 'used', SUM(CASE f.column1 WHEN 'bytes' THEN b.stored ELSE 1 END)
    FROM blobs b CROSS JOIN (VALUES ('files'), ('bytes')) f
    WHERE EXISTS (SELECT 1 FROM item_blobs l WHERE l.user_id = b.user_id AND l.hash = b.hash)
    GROUP BY b.user_id, f.column1
    UNION ALL
    SELECT user_id, 'files', 'left_out', COUNT(*) FROM item_blobs WHERE state = 'left_out' GROUP BY user_id
    UNION ALL
    SELECT r.user_id, f.column1, 'role ' || r.role, SUM(CASE f.column1 WHEN 'bytes' THEN r.stored ELSE 1 END)
    FROM (
        SELECT DISTINCT l.user_id AS user_id, l.role AS role, b.hash AS hash, b.stored AS stored
        FROM item_blobs l JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash
    ) r CROSS JOIN (VALUES ('files'), ('bytes')) f
    GROUP BY r.user_id, f.column1, r.role
    UNION ALL
    SELECT s.user_id, 'site_bytes', s.site, SUM(s.bytes) FROM (
        SELECT DISTINCT i.user_id AS user_id, substr(i.domain, 1, 255) AS site, b.hash AS hash, b.stored AS bytes, 0 AS raw
        FROM item_blobs l JOIN items i ON i.user_id = l.user_id AND i.id = l.item_id
        JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash
        UNION ALL
        SELECT DISTINCT i.user_id, substr(i.domain, 1, 255), b.hash, b.packed, 1
        FROM raw_pages p JOIN items i ON i.user_id = p.user_id AND i.id = p.item_id
        JOIN raw_bodies b ON b.user_id = p.user_id AND b.hash = p.hash
    ) s GROUP BY s.user_id, s.site
)
WHERE count <> 0;

INSERT INTO item_counts (user_id, kind, key, count) SELECT user_id, kind, key, count FROM stored_facets;

-- Adds to the counts what is inserted here.
CREATE VIEW count_changes (user_id, kind, key, change) AS SELECT user_id, kind, key, count FROM item_counts;

CREATE TRIGGER count_changes_add INSTEAD OF INSERT ON count_changes WHEN NEW.change <> 0 BEGIN
    INSERT INTO item_counts (user_id, kind, key, count) VALUES (NEW.user_id, NEW.kind, NEW.key, NEW.change)
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

CREATE TRIGGER items_stored_new AFTER INSERT ON items BEGIN
    INSERT INTO count_changes VALUES (NEW.user_id, 'bytes', 'text', LENGTH(NEW.content));
END;

CREATE TRIGGER items_stored_changed AFTER UPDATE OF content ON items BEGIN
    INSERT INTO count_changes VALUES (NEW.user_id, 'bytes', 'text', LENGTH(NEW.content) - LENGTH(OLD.content));
END;

CREATE TRIGGER items_words_changed AFTER UPDATE OF metadata, deleted_at ON items
WHEN (OLD.deleted_at IS NULL AND NOT OLD.failed) <> (NEW.deleted_at IS NULL AND NOT NEW.failed) BEGIN
    INSERT INTO count_changes
    SELECT NEW.user_id, 'words', 'all', CASE WHEN NEW.deleted_at IS NULL AND NOT NEW.failed THEN w.words ELSE -w.words END
    FROM item_words w WHERE w.seq = NEW.seq;
END;

-- While the item is there: what goes with it no longer knows its site, or whether it was deleted.
CREATE TRIGGER items_stored_gone BEFORE DELETE ON items BEGIN
    INSERT INTO count_changes VALUES (OLD.user_id, 'bytes', 'text', -LENGTH(OLD.content));
    INSERT INTO count_changes SELECT OLD.user_id, 'words', 'all', -w.words FROM item_words w
    WHERE w.seq = OLD.seq AND OLD.deleted_at IS NULL AND NOT OLD.failed;
    INSERT INTO count_changes SELECT u.user_id, 'site_bytes', substr(OLD.domain, 1, 255), -u.bytes FROM only_uses u
    WHERE u.user_id = OLD.user_id AND u.item_id = OLD.id;
END;

-- The files that an item, but no other item of its site, has. `raw` is 1 for bodies of pages, 0 for kept files.
CREATE VIEW only_uses (user_id, item_id, hash, bytes, raw) AS
SELECT p.user_id, p.item_id, p.hash, b.packed, 1 FROM raw_pages p
JOIN items i ON i.user_id = p.user_id AND i.id = p.item_id
JOIN raw_bodies b ON b.user_id = p.user_id AND b.hash = p.hash
WHERE NOT EXISTS (
    SELECT 1 FROM raw_pages o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
    WHERE o.user_id = p.user_id AND o.hash = p.hash AND o.item_id <> p.item_id
        AND substr(n.domain, 1, 255) = substr(i.domain, 1, 255)
)
UNION ALL
SELECT DISTINCT l.user_id, l.item_id, l.hash, b.stored, 0 FROM item_blobs l
JOIN items i ON i.user_id = l.user_id AND i.id = l.item_id
JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash
WHERE NOT EXISTS (
    SELECT 1 FROM item_blobs o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
    WHERE o.user_id = l.user_id AND o.hash = l.hash AND o.item_id <> l.item_id
        AND substr(n.domain, 1, 255) = substr(i.domain, 1, 255)
);

CREATE TRIGGER items_site_before BEFORE UPDATE OF domain ON items WHEN OLD.domain <> NEW.domain BEGIN
    INSERT INTO count_changes SELECT u.user_id, 'site_bytes', substr(OLD.domain, 1, 255), -u.bytes FROM only_uses u
    WHERE u.user_id = OLD.user_id AND u.item_id = OLD.id;
END;

CREATE TRIGGER items_site_after AFTER UPDATE OF domain ON items WHEN OLD.domain <> NEW.domain BEGIN
    INSERT INTO count_changes SELECT u.user_id, 'site_bytes', substr(NEW.domain, 1, 255), u.bytes FROM only_uses u
    WHERE u.user_id = NEW.user_id AND u.item_id = NEW.id;
END;

CREATE TRIGGER item_words_count_new AFTER INSERT ON item_words BEGIN
    INSERT INTO count_changes SELECT i.user_id, 'words', 'all', NEW.words FROM items i
    WHERE i.seq = NEW.seq AND i.deleted_at IS NULL AND NOT i.failed;
END;

CREATE TRIGGER item_words_count_changed AFTER UPDATE OF words ON item_words BEGIN
    INSERT INTO count_changes SELECT i.user_id, 'words', 'all', NEW.words - OLD.words FROM items i
    WHERE i.seq = NEW.seq AND i.deleted_at IS NULL AND NOT i.failed;
END;

CREATE TRIGGER item_words_count_gone AFTER DELETE ON item_words BEGIN
    INSERT INTO count_changes SELECT i.user_id, 'words', 'all', -OLD.words FROM items i
    WHERE i.seq = OLD.seq AND i.deleted_at IS NULL AND NOT i.failed;
END;

CREATE TRIGGER raw_bodies_count_new AFTER INSERT ON raw_bodies BEGIN
    INSERT INTO count_changes VALUES (NEW.user_id, 'files', 'raw', 1), (NEW.user_id, 'bytes', 'raw', NEW.packed),
        (NEW.user_id, 'bytes', 'raw_unpacked', NEW.size);
END;

CREATE TRIGGER raw_bodies_count_gone AFTER DELETE ON raw_bodies BEGIN
    INSERT INTO count_changes VALUES (OLD.user_id, 'files', 'raw', -1), (OLD.user_id, 'bytes', 'raw', -OLD.packed),
        (OLD.user_id, 'bytes', 'raw_unpacked', -OLD.size);
END;

CREATE TRIGGER raw_pages_count_new AFTER INSERT ON raw_pages BEGIN
    INSERT INTO count_changes
    SELECT NEW.user_id, f.column1, 'current', CASE f.column1 WHEN 'bytes' THEN b.packed ELSE 1 END
    FROM raw_bodies b CROSS JOIN (VALUES ('files'), ('bytes')) f
    WHERE b.user_id = NEW.user_id AND b.hash = NEW.hash AND NOT EXISTS (
        SELECT 1 FROM raw_pages o WHERE o.user_id = NEW.user_id AND o.hash = NEW.hash AND o.item_id <> NEW.item_id
    );
    INSERT INTO count_changes SELECT u.user_id, 'site_bytes', substr(i.domain, 1, 255), u.bytes
    FROM only_uses u JOIN items i ON i.user_id = u.user_id AND i.id = u.item_id
    WHERE u.user_id = NEW.user_id AND u.item_id = NEW.item_id AND u.raw = 1;
END;

CREATE TRIGGER raw_pages_count_gone BEFORE DELETE ON raw_pages BEGIN
    INSERT INTO count_changes
    SELECT OLD.user_id, f.column1, 'current', CASE f.column1 WHEN 'bytes' THEN -b.packed ELSE -1 END
    FROM raw_bodies b CROSS JOIN (VALUES ('files'), ('bytes')) f
    WHERE b.user_id = OLD.user_id AND b.hash = OLD.hash AND NOT EXISTS (
        SELECT 1 FROM raw_pages o WHERE o.user_id = OLD.user_id AND o.hash = OLD.hash AND o.item_id <> OLD.item_id
    );
    INSERT INTO count_changes SELECT u.user_id, 'site_bytes', substr(i.domain, 1, 255), -u.bytes
    FROM only_uses u JOIN items i ON i.user_id = u.user_id AND i.id = u.item_id
    WHERE u.user_id = OLD.user_id AND u.item_id = OLD.item_id AND u.raw = 1;
END;

CREATE TRIGGER blobs_count_new AFTER INSERT ON blobs BEGIN
    INSERT INTO count_changes VALUES (NEW.user_id, 'files', 'blobs', 1), (NEW.user_id, 'bytes', 'blobs', NEW.stored);
END;

CREATE TRIGGER blobs_count_gone AFTER DELETE ON blobs BEGIN
    INSERT INTO count_changes VALUES (OLD.user_id, 'files', 'blobs', -1), (OLD.user_id, 'bytes', 'blobs', -OLD.stored);
END;

-- What one row of item_blobs alone counts for: nothing else has the file at all, in this role, or on this site.
CREATE VIEW link_facets (seq, user_id, kind, key, count) AS
SELECT l.seq, l.user_id, 'files', 'left_out', 1 FROM item_blobs l WHERE l.state = 'left_out'
UNION ALL
SELECT l.seq, l.user_id, f.column1, f.column2 || CASE f.column2 WHEN 'used' THEN '' ELSE l.role END,
    CASE f.column1 WHEN 'bytes' THEN b.stored ELSE 1 END
FROM item_blobs l JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash
CROSS JOIN (VALUES ('files', 'used'), ('bytes', 'used'), ('files', 'role '), ('bytes', 'role ')) f
WHERE NOT EXISTS (
    SELECT 1 FROM item_blobs o WHERE o.user_id = l.user_id AND o.hash = l.hash AND o.seq <> l.seq
        AND (f.column2 = 'used' OR o.role = l.role)
)
UNION ALL
SELECT l.seq, l.user_id, 'site_bytes', substr(i.domain, 1, 255), b.stored
FROM item_blobs l JOIN items i ON i.user_id = l.user_id AND i.id = l.item_id
JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash
WHERE NOT EXISTS (
    SELECT 1 FROM item_blobs o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
    WHERE o.user_id = l.user_id AND o.hash = l.hash AND o.seq <> l.seq
        AND substr(n.domain, 1, 255) = substr(i.domain, 1, 255)
);

CREATE TRIGGER item_blobs_count_new AFTER INSERT ON item_blobs BEGIN
    INSERT INTO count_changes SELECT user_id, kind, key, count FROM link_facets WHERE seq = NEW.seq;
END;

CREATE TRIGGER item_blobs_count_before BEFORE UPDATE OF hash, role, state ON item_blobs BEGIN
    INSERT INTO count_changes SELECT user_id, kind, key, -count FROM link_facets WHERE seq = OLD.seq;
END;

CREATE TRIGGER item_blobs_count_after AFTER UPDATE OF hash, role, state ON item_blobs BEGIN
    INSERT INTO count_changes SELECT user_id, kind, key, count FROM link_facets WHERE seq = NEW.seq;
END;

CREATE TRIGGER item_blobs_count_gone BEFORE DELETE ON item_blobs BEGIN
    INSERT INTO count_changes SELECT user_id, kind, key, -count FROM link_facets WHERE seq = OLD.seq;
END;

-- The tags of an item, in a separate column: renaming one on many items then touches a few bytes of each row. Those in the
-- metadata are a copy from the last change of the item itself, for rows whose end is damaged. Spaces fill it up to 32 bytes, or the
-- next multiple: SQLite writes a row of the same length in place.
ALTER TABLE items ADD COLUMN tags TEXT;

DROP TRIGGER item_changed;

UPDATE items SET tags = (
    SELECT t.list || substr('                                ', 1, (32 - length(CAST(t.list AS BLOB)) % 32) % 32)
    FROM (
        SELECT CASE WHEN json_type(metadata, '$.tags') = 'array' THEN json_extract(metadata, '$.tags') ELSE '[]' END AS list
    ) t
)
WHERE json_valid(metadata);

CREATE TRIGGER item_changed AFTER UPDATE OF title, content, author, published_at, url_full, metadata, tags, deleted_at ON items
WHEN EXISTS (SELECT 1 FROM sinks s WHERE s.user_id = NEW.user_id AND s.takes_items)
BEGIN
    DELETE FROM changed_items WHERE user_id = NEW.user_id AND item_id = NEW.id;
    INSERT INTO changed_items (user_id, item_id) VALUES (NEW.user_id, NEW.id);
END;
