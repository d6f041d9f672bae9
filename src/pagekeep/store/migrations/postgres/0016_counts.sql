-- How many items have a state, tag, site, author, language, quality, or month; kept by triggers, so that no page counts a large
-- library. `words_saved` and `words_read` are words by month.
CREATE TABLE item_counts (
    user_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (user_id, kind, key)
);
CREATE INDEX item_counts_most ON item_counts (user_id, kind, count DESC, key);
CREATE INDEX item_counts_zero ON item_counts (user_id) WHERE count = 0;

-- What a transaction changes. It is added to the counts just before the commit, when all other locks are held: two transactions
-- of a user then never wait for each other in a circle, and no count is locked for long.
CREATE TABLE item_count_changes (
    transaction BIGINT NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    change BIGINT NOT NULL
);
CREATE INDEX item_count_changes_transaction ON item_count_changes (transaction);
CREATE TABLE item_count_transactions (
    transaction BIGINT NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (transaction, user_id)
);

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['item_counts', 'item_count_changes', 'item_count_transactions'] LOOP
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

ALTER TABLE items
    ADD COLUMN author_key TEXT COLLATE "C" GENERATED ALWAYS AS (NULLIF(substr(btrim(author), 1, 200), '')) STORED,
    ADD COLUMN language TEXT COLLATE "C" GENERATED ALWAYS AS (
        CASE WHEN jsonb_typeof(metadata -> 'language') = 'string'
            THEN lower(substring(metadata ->> 'language' FROM '^([A-Za-z]{2,3})(?:[-_]|$)') COLLATE "C") END
    ) STORED,
    ADD COLUMN word_count BIGINT NOT NULL GENERATED ALWAYS AS (
        CASE WHEN jsonb_typeof(metadata -> 'word_count') = 'number'
                AND (metadata ->> 'word_count')::NUMERIC = trunc((metadata ->> 'word_count')::NUMERIC)
            THEN greatest(0, least(100000000, (metadata ->> 'word_count')::NUMERIC))::BIGINT ELSE 0 END
    ) STORED;
CREATE INDEX items_author ON items (user_id, author_key, saved_at, id) WHERE author_key IS NOT NULL;
CREATE INDEX items_language ON items (user_id, language, saved_at, id) WHERE language IS NOT NULL;

-- What each item counts for. A function, which becomes part of the query that calls it: views do not apply the policies of their
-- reader.
CREATE FUNCTION item_facets() RETURNS TABLE (user_id TEXT, item_id UUID, kind TEXT, key TEXT, count BIGINT)
LANGUAGE sql STABLE AS $$
SELECT facets.user_id, facets.item_id, facets.kind, facets.key, facets.count FROM (
    SELECT i.user_id, i.id AS item_id, f.kind,
        CASE WHEN i.deleted_at IS NOT NULL THEN CASE f.part WHEN 'place' THEN 'trash' END ELSE
            CASE f.part
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
WHERE i.deleted_at IS NULL
$$;

DO $$
DECLARE
    owner TEXT;
BEGIN
    FOR owner IN SELECT DISTINCT user_id FROM item_words LOOP
        PERFORM set_config('app.user_id', owner, true);
        INSERT INTO item_counts (user_id, kind, key, count)
        SELECT f.user_id, f.kind, f.key, SUM(f.count) FROM item_facets() f WHERE f.user_id = owner
        GROUP BY f.user_id, f.kind, f.key;
    END LOOP;
    PERFORM set_config('app.user_id', '', true);
END
$$;

CREATE FUNCTION note_counts(owner TEXT, item UUID, sign INTEGER, reading BOOLEAN) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO item_count_changes (transaction, user_id, kind, key, change)
    SELECT txid_current(), f.user_id, f.kind, f.key, sign * f.count FROM item_facets() f
    WHERE f.user_id = owner AND f.item_id = item AND (
        NOT reading OR f.kind IN ('read', 'words_read')
        OR (f.kind = 'state' AND f.key IN ('unread', 'reading', 'read'))
    );
    INSERT INTO item_count_transactions VALUES (txid_current(), owner) ON CONFLICT DO NOTHING;
END
$$;

CREATE FUNCTION note_count(owner TEXT, item UUID, facet TEXT, name TEXT, number INTEGER) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    -- The item is locked, so that it is not deleted or archived at the same time.
    INSERT INTO item_count_changes (transaction, user_id, kind, key, change)
    SELECT txid_current(), i.user_id, facet, name, number FROM (
        SELECT * FROM items WHERE user_id = owner AND id = item FOR NO KEY UPDATE
    ) i WHERE i.deleted_at IS NULL AND (facet = 'tag' OR NOT i.archived);
    INSERT INTO item_count_transactions VALUES (txid_current(), owner) ON CONFLICT DO NOTHING;
END
$$;

CREATE FUNCTION count_item() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_WHEN = 'AFTER' THEN
        PERFORM note_counts(NEW.user_id, NEW.id, 1, FALSE);
        RETURN NULL;
    END IF;
    PERFORM note_counts(OLD.user_id, OLD.id, -1, FALSE);
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER items_count_new AFTER INSERT ON items FOR EACH ROW EXECUTE FUNCTION count_item();
CREATE TRIGGER items_count_before BEFORE UPDATE OF metadata, deleted_at, domain, author, saved_at ON items
    FOR EACH ROW EXECUTE FUNCTION count_item();
CREATE TRIGGER items_count_after AFTER UPDATE OF metadata, deleted_at, domain, author, saved_at ON items
    FOR EACH ROW EXECUTE FUNCTION count_item();
-- Before the tags and the reading state of the item go with it.
CREATE TRIGGER items_count_gone BEFORE DELETE ON items FOR EACH ROW EXECUTE FUNCTION count_item();

CREATE FUNCTION count_tag() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM note_count(NEW.user_id, NEW.item_id, 'tag', NEW.tag, 1);
    ELSE
        -- With the item gone, its own trigger has counted its tags already.
        PERFORM note_count(OLD.user_id, OLD.item_id, 'tag', OLD.tag, -1);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER item_tags_count AFTER INSERT OR DELETE ON item_tags FOR EACH ROW EXECUTE FUNCTION count_tag();

CREATE FUNCTION count_reading() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM note_count(NEW.user_id, NEW.item_id, 'state', 'unread', -1);
        PERFORM note_counts(NEW.user_id, NEW.item_id, 1, TRUE);
        RETURN NULL;
    ELSIF TG_OP = 'UPDATE' THEN
        IF TG_WHEN = 'AFTER' THEN
            PERFORM note_counts(NEW.user_id, NEW.item_id, 1, TRUE);
            RETURN NULL;
        END IF;
        PERFORM 1 FROM items WHERE user_id = OLD.user_id AND id = OLD.item_id FOR NO KEY UPDATE;
        PERFORM note_counts(OLD.user_id, OLD.item_id, -1, TRUE);
        RETURN NEW;
    ELSIF TG_WHEN = 'BEFORE' THEN
        PERFORM 1 FROM items WHERE user_id = OLD.user_id AND id = OLD.item_id FOR NO KEY UPDATE;
        PERFORM note_counts(OLD.user_id, OLD.item_id, -1, TRUE);
        RETURN OLD;
    END IF;
    PERFORM note_count(OLD.user_id, OLD.item_id, 'state', 'unread', 1);
    RETURN NULL;
END
$$;
CREATE TRIGGER reading_states_count_new AFTER INSERT ON reading_states FOR EACH ROW EXECUTE FUNCTION count_reading();
CREATE TRIGGER reading_states_count_before BEFORE UPDATE OF state, read_at OR DELETE ON reading_states
    FOR EACH ROW EXECUTE FUNCTION count_reading();
CREATE TRIGGER reading_states_count_after AFTER UPDATE OF state, read_at OR DELETE ON reading_states
    FOR EACH ROW EXECUTE FUNCTION count_reading();

CREATE FUNCTION add_counts() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('pagekeep ' || NEW.user_id || ' counts', 0));
    WITH noted AS (
        DELETE FROM item_count_changes c WHERE c.transaction = NEW.transaction AND c.user_id = NEW.user_id
        RETURNING c.kind, c.key, c.change
    )
    INSERT INTO item_counts (user_id, kind, key, count)
    SELECT NEW.user_id, n.kind, n.key, SUM(n.change) FROM noted n GROUP BY n.kind, n.key HAVING SUM(n.change) <> 0
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
    DELETE FROM item_counts WHERE user_id = NEW.user_id AND count = 0;
    DELETE FROM item_count_transactions t WHERE t.transaction = NEW.transaction AND t.user_id = NEW.user_id;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER item_counts_add AFTER INSERT ON item_count_transactions DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION add_counts();
