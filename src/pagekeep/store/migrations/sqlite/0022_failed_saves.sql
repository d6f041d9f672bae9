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
