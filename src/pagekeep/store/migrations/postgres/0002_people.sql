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
