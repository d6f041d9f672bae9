-- One text index for all words, with those of the head a second time, marked with ^, and with the blocks that an item is in: of
-- 2^10, 2^13, 2^16 and 2^19 numbers in a row, and the user's whole library. A search for common words asks for the newest blocks
-- first, and ends when it has enough: without them it would collect every item that has the words, in any library.
-- No search word has a mark or a #.
DROP FUNCTION matches, head_matches;
DROP INDEX item_words_all, item_words_head;

CREATE FUNCTION search_lexemes(owner TEXT, seq BIGINT, head TEXT, body TEXT) RETURNS TSVECTOR
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_to_tsvector(
        string_to_array(btrim(head || ' ' || body), ' ')
        || string_to_array('^' || replace(btrim(head), ' ', ' ^'), ' ')
        || ARRAY[
            '#' || to_hex(hashtextextended(owner, 0)),
            '#' || to_hex(hashtextextended(owner, 0)) || '.10.' || (seq >> 10),
            '#' || to_hex(hashtextextended(owner, 0)) || '.13.' || (seq >> 13),
            '#' || to_hex(hashtextextended(owner, 0)) || '.16.' || (seq >> 16),
            '#' || to_hex(hashtextextended(owner, 0)) || '.19.' || (seq >> 19)
        ]
    )
$$;

CREATE INDEX item_words_all ON item_words USING GIN (search_lexemes(user_id, seq, head, body));

-- Returns a condition for the blocks that the numbers from `bottom` to before `top` are in.
CREATE FUNCTION search_blocks(owner TEXT, top BIGINT, bottom BIGINT) RETURNS TSQUERY LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    name TEXT := '#' || to_hex(hashtextextended(owner, 0));
    blocks TEXT[];
    last BIGINT := top - 1;
    bits INTEGER;
BEGIN
    IF top::NUMERIC - bottom > 2097152 THEN
        RETURN ('''' || name || '''')::TSQUERY;
    END IF;
    WHILE last >= bottom LOOP
        -- The largest block that ends here and begins in the range; else the smallest, which may reach beyond it.
        bits := CASE
            WHEN (last + 1) % 524288 = 0 AND last - 524287 >= bottom THEN 19
            WHEN (last + 1) % 65536 = 0 AND last - 65535 >= bottom THEN 16
            WHEN (last + 1) % 8192 = 0 AND last - 8191 >= bottom THEN 13
            ELSE 10
        END;
        blocks := blocks || ('''' || name || '.' || bits || '.' || (last >> bits) || '''');
        last := ((last >> bits) << bits) - 1;
    END LOOP;
    RETURN COALESCE(array_to_string(blocks, ' | '), '''' || name || '''')::TSQUERY;
END
$$;

-- Under row security PostgreSQL may use no text index, since its operator could leak. This runs as the owner, who is let past the
-- policies on this one table, and names the user itself; it returns numbers of this user's items only.
CREATE FUNCTION matches(wanted TSQUERY, top BIGINT, bottom BIGINT) RETURNS SETOF BIGINT
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 500 SET enable_seqscan = off AS $$
DECLARE
    owner TEXT := NULLIF(current_setting('app.user_id', true), '');
    scope TSQUERY := wanted && search_blocks(owner, top, bottom);
BEGIN
    -- Materialized: no other way to the rows than the text index is to be thought of.
    RETURN QUERY WITH found AS MATERIALIZED (
        SELECT w.seq, w.user_id FROM item_words w WHERE search_lexemes(w.user_id, w.seq, w.head, w.body) @@ scope
    )
    SELECT f.seq FROM found f WHERE f.user_id = owner AND f.seq < top AND f.seq >= bottom;
END
$$;

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION matches SET search_path = %I, pg_temp', current_schema());
END
$$;
REVOKE ALL ON FUNCTION matches FROM PUBLIC;
GRANT EXECUTE ON FUNCTION matches TO pagekeep_app;

-- The newest items of a site, without sorting all of them.
DROP INDEX items_domain;
CREATE INDEX items_domain ON items (user_id, domain_key, seq);
-- The user's newest item, without looking at those of others.
CREATE INDEX items_seq ON items (user_id, seq);

-- The owner sees the rows of all users only without the policies.
DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['items', 'item_tags', 'item_counts', 'raw_bodies', 'raw_pages', 'blobs', 'item_blobs'] LOOP
        EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', name);
    END LOOP;
END
$$;

-- The items of a tag, last saved first, without looking at all others or sorting all that have it.
ALTER TABLE item_tags ADD COLUMN saved_at TIMESTAMPTZ;
UPDATE item_tags t SET saved_at = i.saved_at FROM items i WHERE i.user_id = t.user_id AND i.id = t.item_id;
CREATE INDEX item_tags_saved ON item_tags (user_id, tag, saved_at, item_id);

CREATE FUNCTION date_tag() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    NEW.saved_at := (SELECT i.saved_at FROM items i WHERE i.user_id = NEW.user_id AND i.id = NEW.item_id);
    RETURN NEW;
END
$$;
CREATE TRIGGER item_tags_saved_new BEFORE INSERT ON item_tags FOR EACH ROW EXECUTE FUNCTION date_tag();

CREATE FUNCTION date_tags() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE item_tags SET saved_at = NEW.saved_at WHERE user_id = NEW.user_id AND item_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER items_saved_changed AFTER UPDATE OF saved_at ON items
    FOR EACH ROW WHEN (OLD.saved_at <> NEW.saved_at) EXECUTE FUNCTION date_tags();

-- What the library takes on the disk, kept by triggers in item_counts, so that no page adds up a large library: numbers of files
-- (`files`), bytes (`bytes`), and bytes by site (`site_bytes`). `raw` are all bodies of pages, `current` those that the newest
-- version of an item has, `used` the kept files that an item has. A file counts once for each role and each site that has it.
-- A function, which becomes part of the query that calls it: views do not apply the policies of their reader.
CREATE FUNCTION stored_facets() RETURNS TABLE (user_id TEXT, kind TEXT, key TEXT, count BIGINT) LANGUAGE sql STABLE AS $$
SELECT facets.user_id, facets.kind, facets.key, facets.count FROM (
    SELECT i.user_id, 'words' AS kind, 'all' AS key, SUM(w.words)::BIGINT AS count
    FROM items i JOIN item_words w ON w.seq = i.seq WHERE i.deleted_at IS NULL AND NOT i.failed GROUP BY i.user_id
    UNION ALL
    SELECT i.user_id, 'bytes', 'text', SUM(LENGTH(i.content))::BIGINT FROM items i GROUP BY i.user_id
    UNION ALL
    SELECT b.user_id, f.kind, f.key, SUM(CASE f.measure WHEN 'packed' THEN b.packed WHEN 'size' THEN b.size ELSE 1 END)::BIGINT
    FROM raw_bodies b
    CROSS JOIN (
        VALUES ('files', 'raw', ''), ('bytes', 'raw', 'packed'), ('bytes', 'raw_unpacked', 'size')
    ) f (kind, key, measure)
    GROUP BY b.user_id, f.kind, f.key
    UNION ALL
    SELECT b.user_id, f.kind, 'current', SUM(CASE f.kind WHEN 'bytes' THEN b.packed ELSE 1 END)::BIGINT
    FROM raw_bodies b CROSS JOIN (VALUES ('files'), ('bytes')) f (kind)
    WHERE EXISTS (SELECT FROM raw_pages p WHERE p.user_id = b.user_id AND p.hash = b.hash)
    GROUP BY b.user_id, f.kind
    UNION ALL
    SELECT b.user_id, f.kind, 'blobs', SUM(CASE f.kind WHEN 'bytes' THEN b.stored ELSE 1 END)::BIGINT
    FROM blobs b CROSS JOIN (VALUES ('files'), ('bytes')) f (kind) GROUP BY b.user_id, f.kind
    UNION ALL
    SELECT b.user_id, f.kind, 'used', SUM(CASE f.kind WHEN 'bytes' THEN b.stored ELSE 1 END)::BIGINT
    FROM blobs b CROSS JOIN (VALUES ('files'), ('bytes')) f (kind)
    WHERE EXISTS (SELECT FROM item_blobs l WHERE l.user_id = b.user_id AND l.hash = b.hash)
    GROUP BY b.user_id, f.kind
    UNION ALL
    SELECT l.user_id, 'files', 'left_out', COUNT(*) FROM item_blobs l WHERE l.state = 'left_out' GROUP BY l.user_id
    UNION ALL
    SELECT r.user_id, f.kind, 'role ' || r.role, SUM(CASE f.kind WHEN 'bytes' THEN r.stored ELSE 1 END)::BIGINT
    FROM (
        SELECT DISTINCT l.user_id, l.role, b.hash, b.stored
        FROM item_blobs l JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash
    ) r CROSS JOIN (VALUES ('files'), ('bytes')) f (kind)
    GROUP BY r.user_id, f.kind, r.role
    UNION ALL
    SELECT s.user_id, 'site_bytes', s.site, SUM(s.bytes)::BIGINT FROM (
        SELECT DISTINCT i.user_id, substr(i.domain, 1, 255) AS site, b.hash, b.stored AS bytes, FALSE
        FROM item_blobs l JOIN items i ON i.user_id = l.user_id AND i.id = l.item_id
        JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash
        UNION ALL
        SELECT DISTINCT i.user_id, substr(i.domain, 1, 255), b.hash, b.packed, TRUE
        FROM raw_pages p JOIN items i ON i.user_id = p.user_id AND i.id = p.item_id
        JOIN raw_bodies b ON b.user_id = p.user_id AND b.hash = p.hash
    ) s GROUP BY s.user_id, s.site
) facets
WHERE facets.count <> 0
$$;

INSERT INTO item_counts (user_id, kind, key, count) SELECT f.user_id, f.kind, f.key, f.count FROM stored_facets() f;

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['items', 'item_tags', 'item_counts', 'raw_bodies', 'raw_pages', 'blobs', 'item_blobs'] LOOP
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    END LOOP;
END
$$;

CREATE FUNCTION note_stored(owner TEXT, facet TEXT, name TEXT, number BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    IF number <> 0 THEN
        INSERT INTO item_count_changes (transaction, user_id, kind, key, change)
        VALUES (txid_current(), owner, facet, name, number);
        INSERT INTO item_count_transactions VALUES (txid_current(), owner) ON CONFLICT DO NOTHING;
    END IF;
END
$$;

-- The bytes, of the files that an item has, that no other item of its site has. The files are locked: of two transactions that
-- begin or end to use one, the second sees what the first did.
CREATE FUNCTION note_only_uses(owner TEXT, item UUID, site TEXT, sign INTEGER, raw BOOLEAN, kept BOOLEAN) RETURNS VOID
LANGUAGE plpgsql AS $$
DECLARE
    total BIGINT := 0;
BEGIN
    IF raw THEN
        PERFORM 1 FROM raw_bodies b WHERE b.user_id = owner
            AND b.hash IN (SELECT p.hash FROM raw_pages p WHERE p.user_id = owner AND p.item_id = item)
            ORDER BY b.hash FOR NO KEY UPDATE;
        total := total + COALESCE((
            SELECT SUM(b.packed) FROM raw_pages p JOIN raw_bodies b ON b.user_id = p.user_id AND b.hash = p.hash
            WHERE p.user_id = owner AND p.item_id = item AND NOT EXISTS (
                SELECT FROM raw_pages o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
                WHERE o.user_id = owner AND o.hash = p.hash AND o.item_id <> item AND substr(n.domain, 1, 255) = site
            )
        ), 0);
    END IF;
    IF kept THEN
        PERFORM 1 FROM blobs b WHERE b.user_id = owner
            AND b.hash IN (SELECT l.hash FROM item_blobs l WHERE l.user_id = owner AND l.item_id = item)
            ORDER BY b.hash FOR NO KEY UPDATE;
        total := total + COALESCE((
            SELECT SUM(b.stored) FROM blobs b WHERE b.user_id = owner
            AND b.hash IN (SELECT l.hash FROM item_blobs l WHERE l.user_id = owner AND l.item_id = item)
            AND NOT EXISTS (
                SELECT FROM item_blobs o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
                WHERE o.user_id = owner AND o.hash = b.hash AND o.item_id <> item AND substr(n.domain, 1, 255) = site
            )
        ), 0);
    END IF;
    PERFORM note_stored(owner, 'site_bytes', site, sign * total);
END
$$;

CREATE FUNCTION count_stored_item() RETURNS TRIGGER LANGUAGE plpgsql AS $$
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
    PERFORM note_only_uses(OLD.user_id, OLD.id, substr(OLD.domain, 1, 255), -1, TRUE, TRUE);
    IF OLD.deleted_at IS NULL AND NOT OLD.failed THEN
        PERFORM note_stored(OLD.user_id, 'words', 'all', -w.words::BIGINT) FROM item_words w WHERE w.seq = OLD.seq;
    END IF;
    RETURN OLD;
END
$$;
CREATE TRIGGER items_stored_new AFTER INSERT ON items FOR EACH ROW EXECUTE FUNCTION count_stored_item();
CREATE TRIGGER items_stored_changed AFTER UPDATE OF content ON items FOR EACH ROW EXECUTE FUNCTION count_stored_item();
CREATE TRIGGER items_stored_gone BEFORE DELETE ON items FOR EACH ROW EXECUTE FUNCTION count_stored_item();

CREATE FUNCTION count_site() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_WHEN = 'BEFORE' THEN
        PERFORM note_only_uses(OLD.user_id, OLD.id, substr(OLD.domain, 1, 255), -1, TRUE, TRUE);
        RETURN NEW;
    END IF;
    PERFORM note_only_uses(NEW.user_id, NEW.id, substr(NEW.domain, 1, 255), 1, TRUE, TRUE);
    RETURN NULL;
END
$$;
CREATE TRIGGER items_site_before BEFORE UPDATE OF domain ON items
    FOR EACH ROW WHEN (OLD.domain <> NEW.domain) EXECUTE FUNCTION count_site();
CREATE TRIGGER items_site_after AFTER UPDATE OF domain ON items
    FOR EACH ROW WHEN (OLD.domain <> NEW.domain) EXECUTE FUNCTION count_site();

CREATE FUNCTION count_words() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    change BIGINT := 0;
    number BIGINT;
BEGIN
    IF TG_TABLE_NAME = 'items' THEN
        PERFORM note_stored(
            NEW.user_id, 'words', 'all',
            CASE WHEN NEW.deleted_at IS NULL AND NOT NEW.failed THEN w.words ELSE -w.words END::BIGINT
        ) FROM item_words w WHERE w.seq = NEW.seq;
        RETURN NULL;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        change := change + NEW.words;
        number := NEW.seq;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        change := change - OLD.words;
        number := OLD.seq;
    END IF;
    IF change <> 0 THEN
        -- The item is locked, so that it is not deleted at the same time.
        PERFORM note_stored(i.user_id, 'words', 'all', change)
        FROM (SELECT * FROM items WHERE seq = number FOR NO KEY UPDATE) i WHERE i.deleted_at IS NULL AND NOT i.failed;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER items_words_changed AFTER UPDATE OF metadata, deleted_at ON items FOR EACH ROW
    WHEN ((OLD.deleted_at IS NULL AND NOT OLD.failed) <> (NEW.deleted_at IS NULL AND NOT NEW.failed))
    EXECUTE FUNCTION count_words();
CREATE TRIGGER item_words_count AFTER INSERT OR UPDATE OF words OR DELETE ON item_words
    FOR EACH ROW EXECUTE FUNCTION count_words();

CREATE FUNCTION count_raw_body() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM note_stored(NEW.user_id, 'files', 'raw', 1);
        PERFORM note_stored(NEW.user_id, 'bytes', 'raw', NEW.packed);
        PERFORM note_stored(NEW.user_id, 'bytes', 'raw_unpacked', NEW.size);
    ELSE
        PERFORM note_stored(OLD.user_id, 'files', 'raw', -1);
        PERFORM note_stored(OLD.user_id, 'bytes', 'raw', -OLD.packed);
        PERFORM note_stored(OLD.user_id, 'bytes', 'raw_unpacked', -OLD.size);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER raw_bodies_count AFTER INSERT OR DELETE ON raw_bodies FOR EACH ROW EXECUTE FUNCTION count_raw_body();

CREATE FUNCTION note_raw_page(owner TEXT, item UUID, name TEXT, sign INTEGER) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    own_bytes BIGINT;
BEGIN
    SELECT b.packed INTO own_bytes FROM raw_bodies b WHERE b.user_id = owner AND b.hash = name FOR NO KEY UPDATE;
    IF NOT EXISTS (SELECT FROM raw_pages o WHERE o.user_id = owner AND o.hash = name AND o.item_id <> item) THEN
        PERFORM note_stored(owner, 'files', 'current', sign);
        PERFORM note_stored(owner, 'bytes', 'current', sign * own_bytes);
    END IF;
    PERFORM note_only_uses(owner, item, substr(i.domain, 1, 255), sign, TRUE, FALSE)
    FROM items i WHERE i.user_id = owner AND i.id = item;
END
$$;

CREATE FUNCTION count_raw_page() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM note_raw_page(NEW.user_id, NEW.item_id, NEW.hash, 1);
        RETURN NULL;
    END IF;
    PERFORM note_raw_page(OLD.user_id, OLD.item_id, OLD.hash, -1);
    RETURN OLD;
END
$$;
CREATE TRIGGER raw_pages_count_new AFTER INSERT ON raw_pages FOR EACH ROW EXECUTE FUNCTION count_raw_page();
CREATE TRIGGER raw_pages_count_gone BEFORE DELETE ON raw_pages FOR EACH ROW EXECUTE FUNCTION count_raw_page();

CREATE FUNCTION count_blob() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM note_stored(NEW.user_id, 'files', 'blobs', 1);
        PERFORM note_stored(NEW.user_id, 'bytes', 'blobs', NEW.stored);
    ELSE
        PERFORM note_stored(OLD.user_id, 'files', 'blobs', -1);
        PERFORM note_stored(OLD.user_id, 'bytes', 'blobs', -OLD.stored);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER blobs_count AFTER INSERT OR DELETE ON blobs FOR EACH ROW EXECUTE FUNCTION count_blob();

-- What one row of item_blobs alone counts for: nothing else has the file at all, in this role, or on this site.
CREATE FUNCTION note_link(link item_blobs, sign INTEGER) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    own_bytes BIGINT;
BEGIN
    IF link.state = 'left_out' THEN
        PERFORM note_stored(link.user_id, 'files', 'left_out', sign);
    END IF;
    IF link.hash IS NULL THEN
        RETURN;
    END IF;
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

CREATE FUNCTION count_link() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_WHEN = 'AFTER' THEN
        PERFORM note_link(NEW, 1);
        RETURN NULL;
    END IF;
    PERFORM note_link(OLD, -1);
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER item_blobs_count_new AFTER INSERT ON item_blobs FOR EACH ROW EXECUTE FUNCTION count_link();
CREATE TRIGGER item_blobs_count_before BEFORE UPDATE OF hash, role, state OR DELETE ON item_blobs
    FOR EACH ROW EXECUTE FUNCTION count_link();
CREATE TRIGGER item_blobs_count_after AFTER UPDATE OF hash, role, state ON item_blobs
    FOR EACH ROW EXECUTE FUNCTION count_link();
