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
