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
