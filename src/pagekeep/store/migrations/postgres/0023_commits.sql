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
