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
