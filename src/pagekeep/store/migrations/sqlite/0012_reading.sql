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
