-- The words of a user's library, of which the nearest is offered for one that is not found. Words of items that were removed stay:
-- what is offered is searched for first. `reindex` fills it after the last migration.
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
