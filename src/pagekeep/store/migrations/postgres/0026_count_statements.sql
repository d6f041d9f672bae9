-- Fewer statements to keep the counts of what is stored: a save costs less. And counts that stay right when a file is added to an
-- item while the item gets another site.

-- The bytes, of the files that an item has, that no other item of its site has. The files are locked: of two transactions that
-- begin or end to use one, the second sees what the first did.
CREATE FUNCTION note_only_uses(owner TEXT, item UUID, site TEXT, sign INTEGER) RETURNS VOID
LANGUAGE plpgsql AS $$
DECLARE
    total BIGINT;
BEGIN
    PERFORM 1 FROM raw_bodies b WHERE b.user_id = owner
        AND b.hash IN (SELECT p.hash FROM raw_pages p WHERE p.user_id = owner AND p.item_id = item)
        ORDER BY b.hash FOR NO KEY UPDATE;
    PERFORM 1 FROM blobs b WHERE b.user_id = owner
        AND b.hash IN (SELECT l.hash FROM item_blobs l WHERE l.user_id = owner AND l.item_id = item)
        ORDER BY b.hash FOR NO KEY UPDATE;
    total := COALESCE((
        SELECT SUM(b.packed) FROM raw_pages p JOIN raw_bodies b ON b.user_id = p.user_id AND b.hash = p.hash
        WHERE p.user_id = owner AND p.item_id = item AND NOT EXISTS (
            SELECT FROM raw_pages o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
            WHERE o.user_id = owner AND o.hash = p.hash AND o.item_id <> item AND substr(n.domain, 1, 255) = site
        )
    ), 0) + COALESCE((
        SELECT SUM(b.stored) FROM blobs b WHERE b.user_id = owner
        AND b.hash IN (SELECT l.hash FROM item_blobs l WHERE l.user_id = owner AND l.item_id = item)
        AND NOT EXISTS (
            SELECT FROM item_blobs o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
            WHERE o.user_id = owner AND o.hash = b.hash AND o.item_id <> item AND substr(n.domain, 1, 255) = site
        )
    ), 0);
    PERFORM note_stored(owner, 'site_bytes', site, sign * total);
END
$$;

CREATE OR REPLACE FUNCTION count_stored_item() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM note_stored(NEW.user_id, 'bytes', 'text', LENGTH(NEW.content));
        RETURN NULL;
    ELSIF TG_OP = 'UPDATE' THEN
        PERFORM note_stored(NEW.user_id, 'bytes', 'text', (LENGTH(NEW.content) - LENGTH(OLD.content))::BIGINT);
        RETURN NULL;
    END IF;
    -- While the item is there: what goes with it no longer knows its site, or whether it was deleted.
    PERFORM note_stored(OLD.user_id, 'bytes', 'text', -LENGTH(OLD.content)::BIGINT);
    PERFORM note_only_uses(OLD.user_id, OLD.id, substr(OLD.domain, 1, 255), -1);
    IF OLD.deleted_at IS NULL AND NOT OLD.failed THEN
        PERFORM note_stored(OLD.user_id, 'words', 'all', -w.words::BIGINT) FROM item_words w WHERE w.seq = OLD.seq;
    END IF;
    RETURN OLD;
END
$$;

CREATE OR REPLACE FUNCTION count_site() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_WHEN = 'BEFORE' THEN
        PERFORM note_only_uses(OLD.user_id, OLD.id, substr(OLD.domain, 1, 255), -1);
        RETURN NEW;
    END IF;
    PERFORM note_only_uses(NEW.user_id, NEW.id, substr(NEW.domain, 1, 255), 1);
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION count_raw_body() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    body raw_bodies := CASE TG_OP WHEN 'INSERT' THEN NEW ELSE OLD END;
    sign INTEGER := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    INSERT INTO item_count_changes (transaction, user_id, kind, key, change) VALUES
        (txid_current(), body.user_id, 'files', 'raw', sign),
        (txid_current(), body.user_id, 'bytes', 'raw', sign * body.packed),
        (txid_current(), body.user_id, 'bytes', 'raw_unpacked', sign * body.size);
    INSERT INTO item_count_transactions VALUES (txid_current(), body.user_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION note_raw_page(owner TEXT, item UUID, name TEXT, sign INTEGER) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    own_bytes BIGINT;
BEGIN
    -- Another transaction may be moving the item to another site: it sees this file, or this sees the other site.
    PERFORM 1 FROM items i WHERE i.user_id = owner AND i.id = item FOR NO KEY UPDATE;
    SELECT b.packed INTO own_bytes FROM raw_bodies b WHERE b.user_id = owner AND b.hash = name FOR NO KEY UPDATE;
    INSERT INTO item_count_changes (transaction, user_id, kind, key, change)
    SELECT txid_current(), owner, f.kind, 'current', sign * f.count
    FROM (VALUES ('files', 1::BIGINT), ('bytes', own_bytes)) f (kind, count)
    WHERE NOT EXISTS (SELECT FROM raw_pages o WHERE o.user_id = owner AND o.hash = name AND o.item_id <> item)
    UNION ALL
    SELECT txid_current(), owner, 'site_bytes', substr(i.domain, 1, 255), sign * own_bytes
    FROM items i WHERE i.user_id = owner AND i.id = item AND NOT EXISTS (
        SELECT FROM raw_pages o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
        WHERE o.user_id = owner AND o.hash = name AND o.item_id <> item
            AND substr(n.domain, 1, 255) = substr(i.domain, 1, 255)
    );
    INSERT INTO item_count_transactions VALUES (txid_current(), owner) ON CONFLICT DO NOTHING;
END
$$;

CREATE OR REPLACE FUNCTION note_link(link item_blobs, sign INTEGER) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    own_bytes BIGINT;
BEGIN
    IF link.state = 'left_out' THEN
        PERFORM note_stored(link.user_id, 'files', 'left_out', sign);
    END IF;
    IF link.hash IS NULL THEN
        RETURN;
    END IF;
    -- Another transaction may be moving the item to another site: it sees this file, or this sees the other site.
    PERFORM 1 FROM items i WHERE i.user_id = link.user_id AND i.id = link.item_id FOR NO KEY UPDATE;
    SELECT b.stored INTO own_bytes FROM blobs b WHERE b.user_id = link.user_id AND b.hash = link.hash FOR NO KEY UPDATE;
    IF NOT EXISTS (
        SELECT FROM item_blobs o WHERE o.user_id = link.user_id AND o.hash = link.hash AND o.seq <> link.seq
    ) THEN
        PERFORM note_stored(link.user_id, 'files', 'used', sign);
        PERFORM note_stored(link.user_id, 'bytes', 'used', sign * own_bytes);
    END IF;
    IF NOT EXISTS (
        SELECT FROM item_blobs o
        WHERE o.user_id = link.user_id AND o.hash = link.hash AND o.seq <> link.seq AND o.role = link.role
    ) THEN
        PERFORM note_stored(link.user_id, 'files', 'role ' || link.role, sign);
        PERFORM note_stored(link.user_id, 'bytes', 'role ' || link.role, sign * own_bytes);
    END IF;
    PERFORM note_stored(link.user_id, 'site_bytes', substr(i.domain, 1, 255), sign * own_bytes)
    FROM items i WHERE i.user_id = link.user_id AND i.id = link.item_id AND NOT EXISTS (
        SELECT FROM item_blobs o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
        WHERE o.user_id = link.user_id AND o.hash = link.hash AND o.seq <> link.seq
            AND substr(n.domain, 1, 255) = substr(i.domain, 1, 255)
    );
END
$$;

DROP FUNCTION note_only_uses(TEXT, UUID, TEXT, INTEGER, BOOLEAN, BOOLEAN);
