-- How far each item has been read, and where to go on; an item without a row is unread. Progress and offset are in
-- ten-thousandths.
CREATE TABLE reading_states (
    user_id TEXT COLLATE "C" NOT NULL,
    item_id UUID NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('unread', 'reading', 'read')),
    chosen BOOLEAN NOT NULL,
    progress INTEGER NOT NULL,
    block INTEGER NOT NULL,
    block_offset INTEGER NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    read_at TIMESTAMPTZ,
    PRIMARY KEY (user_id, item_id),
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE
);
CREATE INDEX reading_states_state ON reading_states (user_id, state, updated_at, item_id);

-- All annotations of a library, newest first.
CREATE INDEX annotations_created ON annotations (user_id, created_at, id);

-- The search words of annotations. With the time, those with a word are found newest first, however many have it.
CREATE TABLE annotation_words (
    user_id TEXT COLLATE "C" NOT NULL,
    word TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    annotation_id UUID NOT NULL,
    PRIMARY KEY (user_id, word, created_at, annotation_id),
    FOREIGN KEY (user_id, annotation_id) REFERENCES annotations (user_id, id) ON DELETE CASCADE
);
CREATE INDEX annotation_words_annotation ON annotation_words (user_id, annotation_id, word);

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['reading_states', 'annotation_words'] LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO pagekeep_app', name);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY own_rows ON %I USING (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), ''''))) '
            'WITH CHECK (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), '''')))', name
        );
    END LOOP;
END
$$;
