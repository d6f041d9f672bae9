-- Pages that could not be saved and that the user has not kept as bookmarks. They are in one list and count in no other.
ALTER TABLE items ADD COLUMN failed BOOLEAN NOT NULL
    GENERATED ALWAYS AS (COALESCE(metadata -> 'failed' = 'true', FALSE)) STORED;
CREATE INDEX items_failed ON items (user_id, saved_at, id) WHERE failed;

DROP INDEX items_saved, items_archived, items_quality;
CREATE INDEX items_saved ON items (user_id, saved_at, id) WHERE deleted_at IS NULL AND NOT failed;
CREATE INDEX items_archived ON items (user_id, archived, saved_at, id) WHERE deleted_at IS NULL AND NOT failed;
CREATE INDEX items_quality ON items (user_id, quality, saved_at, id) WHERE deleted_at IS NULL AND NOT failed;

CREATE OR REPLACE FUNCTION item_facets() RETURNS TABLE (user_id TEXT, item_id UUID, kind TEXT, key TEXT, count BIGINT)
LANGUAGE sql STABLE AS $$
SELECT facets.user_id, facets.item_id, facets.kind, facets.key, facets.count FROM (
    SELECT i.user_id, i.id AS item_id, f.kind,
        CASE
            WHEN i.deleted_at IS NOT NULL THEN CASE f.part WHEN 'place' THEN 'trash' END
            WHEN i.failed THEN CASE f.part WHEN 'place' THEN 'failed' END
            ELSE CASE f.part
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
                WHEN 'saved' THEN to_char(i.saved_at AT TIME ZONE 'UTC', 'YYYY-MM')
                WHEN 'read' THEN CASE WHEN r.state = 'read' THEN to_char(r.read_at AT TIME ZONE 'UTC', 'YYYY-MM') END
            END
        END COLLATE "C" AS key,
        CASE f.measure WHEN 'words' THEN i.word_count ELSE 1::BIGINT END AS count
    FROM items i
    LEFT JOIN reading_states r ON r.user_id = i.user_id AND r.item_id = i.id
    CROSS JOIN (
        VALUES ('state', 'all', ''), ('state', 'place', ''), ('state', 'pinned', ''), ('state', 'reading', ''),
            ('site', 'site', ''), ('author', 'author', ''), ('language', 'language', ''), ('quality', 'quality', ''),
            ('saved', 'saved', ''), ('read', 'read', ''), ('words_saved', 'saved', 'words'), ('words_read', 'read', 'words')
    ) f (kind, part, measure)
) facets
WHERE facets.key IS NOT NULL AND facets.count <> 0
UNION ALL
SELECT t.user_id, t.item_id, 'tag', t.tag, 1::BIGINT
FROM item_tags t JOIN items i ON i.user_id = t.user_id AND i.id = t.item_id
WHERE i.deleted_at IS NULL AND NOT i.failed
$$;

CREATE OR REPLACE FUNCTION note_count(owner TEXT, item UUID, facet TEXT, name TEXT, number INTEGER) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    -- The item is locked, so that it is not deleted or archived at the same time.
    INSERT INTO item_count_changes (transaction, user_id, kind, key, change)
    SELECT txid_current(), i.user_id, facet, name, number FROM (
        SELECT * FROM items WHERE user_id = owner AND id = item FOR NO KEY UPDATE
    ) i WHERE i.deleted_at IS NULL AND NOT i.failed AND (facet = 'tag' OR NOT i.archived);
    INSERT INTO item_count_transactions VALUES (txid_current(), owner) ON CONFLICT DO NOTHING;
END
$$;

-- A save that failed before there was an item for it runs again: if it fails again, there is one.
ALTER TABLE items NO FORCE ROW LEVEL SECURITY;
ALTER TABLE jobs NO FORCE ROW LEVEL SECURITY;
UPDATE jobs SET state = 'queued', attempts = 0, run_after = created_at, due_at = created_at
WHERE state = 'dead' AND options -> 'task' IS NULL AND url NOT LIKE 'pagekeep:%'
    AND NOT EXISTS (SELECT 1 FROM items i WHERE i.user_id = jobs.user_id AND i.url_hash = jobs.url_hash)
    AND NOT EXISTS (
        SELECT 1 FROM jobs o WHERE o.user_id = jobs.user_id AND o.url_hash = jobs.url_hash
            AND (o.state IN ('queued', 'running') OR (o.state = 'dead' AND o.seq > jobs.seq))
    );
ALTER TABLE items FORCE ROW LEVEL SECURITY;
ALTER TABLE jobs FORCE ROW LEVEL SECURITY;

-- Earlier versions kept the addresses of failed saves in the inbox. One that nothing has changed since its failure, that was never
-- opened and that the user did not mark in any way is a failed save; every other one was kept. The counts of a user are changed
-- while the policies show the user's rows.
DO $$
DECLARE
    owner TEXT;
BEGIN
    FOR owner IN SELECT DISTINCT user_id FROM item_words LOOP
        PERFORM set_config('app.user_id', owner, true);
        UPDATE items SET metadata = jsonb_set(metadata, '{failed}', 'true')
        WHERE user_id = owner AND quality = 'bookmark' AND deleted_at IS NULL AND last_opened_at IS NULL
            AND NOT pinned AND NOT archived
            AND metadata -> 'content_hash' IS NULL AND metadata -> 'edited' IS DISTINCT FROM 'true'
            AND metadata -> 'notes' IS NULL AND jsonb_typeof(metadata -> 'fetch_again') = 'boolean'
            AND metadata -> 'last_error' ->> 'type' <> 'Worse'
            AND metadata -> 'last_error' ->> 'at' = to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
            AND NOT EXISTS (SELECT 1 FROM list_items l WHERE l.user_id = items.user_id AND l.item_id = items.id)
            AND NOT EXISTS (SELECT 1 FROM annotations a WHERE a.user_id = items.user_id AND a.item_id = items.id);
        SET CONSTRAINTS ALL IMMEDIATE;
        SET CONSTRAINTS ALL DEFERRED;
    END LOOP;
    PERFORM set_config('app.user_id', '', true);
END
$$;
