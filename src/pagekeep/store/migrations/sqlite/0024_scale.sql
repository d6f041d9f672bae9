-- The words of the heads alone: in the index of all words, those few items with the words in their heads are found only by
-- passing all that have them in their bodies.
CREATE VIRTUAL TABLE head_search USING fts5 (head, content = '', tokenize = 'ascii');

INSERT INTO head_search (head_search, rank) VALUES ('pgsz', 2000);

INSERT INTO head_search (rowid, head) SELECT seq, head FROM item_words;

CREATE TRIGGER item_words_head_new AFTER INSERT ON item_words BEGIN
    INSERT INTO head_search (rowid, head) VALUES (NEW.seq, NEW.head);
END;

CREATE TRIGGER item_words_head_changed AFTER UPDATE OF seq, head ON item_words BEGIN
    INSERT INTO head_search (head_search, rowid, head) VALUES ('delete', OLD.seq, OLD.head);
    INSERT INTO head_search (rowid, head) VALUES (NEW.seq, NEW.head);
END;

CREATE TRIGGER item_words_head_gone AFTER DELETE ON item_words BEGIN
    INSERT INTO head_search (head_search, rowid, head) VALUES ('delete', OLD.seq, OLD.head);
END;

-- The items of a tag, last saved first, without looking at all others or sorting all that have it.
ALTER TABLE item_tags ADD COLUMN saved_at TEXT NOT NULL DEFAULT '';

UPDATE item_tags SET saved_at =
    COALESCE((SELECT i.saved_at FROM items i WHERE i.user_id = item_tags.user_id AND i.id = item_tags.item_id), '');

CREATE INDEX item_tags_saved ON item_tags (user_id, tag, saved_at, item_id);

CREATE TRIGGER item_tags_saved_new AFTER INSERT ON item_tags BEGIN
    UPDATE item_tags SET saved_at =
        COALESCE((SELECT i.saved_at FROM items i WHERE i.user_id = NEW.user_id AND i.id = NEW.item_id), '')
    WHERE user_id = NEW.user_id AND tag = NEW.tag AND item_id = NEW.item_id;
END;

CREATE TRIGGER items_saved_changed AFTER UPDATE OF saved_at ON items WHEN OLD.saved_at <> NEW.saved_at BEGIN
    UPDATE item_tags SET saved_at = NEW.saved_at WHERE user_id = NEW.user_id AND item_id = NEW.id;
END;

-- What the library takes on the disk, kept by triggers in item_counts, so that no page adds up a large library: numbers of files
-- (`files`), bytes (`bytes`), and bytes by site (`site_bytes`). `raw` are all bodies of pages, `current` those that the newest
-- version of an item has, `used` the kept files that an item has. A file counts once for each role and each site that has it.
CREATE VIEW stored_facets (user_id, kind, key, count) AS
SELECT user_id, kind, key, count FROM (
    SELECT i.user_id AS user_id, 'words' AS kind, 'all' AS key, SUM(w.words) AS count
    FROM items i JOIN item_words w ON w.seq = i.seq WHERE i.deleted_at IS NULL AND NOT i.failed GROUP BY i.user_id
    UNION ALL
    SELECT user_id, 'bytes', 'text', SUM(LENGTH(content)) FROM items GROUP BY user_id
    UNION ALL
    SELECT b.user_id, f.column1, f.column2, SUM(CASE f.column3 WHEN 'packed' THEN b.packed WHEN 'size' THEN b.size ELSE 1 END)
    FROM raw_bodies b
    CROSS JOIN (VALUES ('files', 'raw', ''), ('bytes', 'raw', 'packed'), ('bytes', 'raw_unpacked', 'size')) f
    GROUP BY b.user_id, f.column1, f.column2
    UNION ALL
    SELECT b.user_id, f.column1, 'current', SUM(CASE f.column1 WHEN 'bytes' THEN b.packed ELSE 1 END)
    FROM raw_bodies b CROSS JOIN (VALUES ('files'), ('bytes')) f
    WHERE EXISTS (SELECT 1 FROM raw_pages p WHERE p.user_id = b.user_id AND p.hash = b.hash)
    GROUP BY b.user_id, f.column1
    UNION ALL
    SELECT b.user_id, f.column1, 'blobs', SUM(CASE f.column1 WHEN 'bytes' THEN b.stored ELSE 1 END)
    FROM blobs b CROSS JOIN (VALUES ('files'), ('bytes')) f GROUP BY b.user_id, f.column1
    UNION ALL
    SELECT b.user_id, f.column1, 'used', SUM(CASE f.column1 WHEN 'bytes' THEN b.stored ELSE 1 END)
    FROM blobs b CROSS JOIN (VALUES ('files'), ('bytes')) f
    WHERE EXISTS (SELECT 1 FROM item_blobs l WHERE l.user_id = b.user_id AND l.hash = b.hash)
    GROUP BY b.user_id, f.column1
    UNION ALL
    SELECT user_id, 'files', 'left_out', COUNT(*) FROM item_blobs WHERE state = 'left_out' GROUP BY user_id
    UNION ALL
    SELECT r.user_id, f.column1, 'role ' || r.role, SUM(CASE f.column1 WHEN 'bytes' THEN r.stored ELSE 1 END)
    FROM (
        SELECT DISTINCT l.user_id AS user_id, l.role AS role, b.hash AS hash, b.stored AS stored
        FROM item_blobs l JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash
    ) r CROSS JOIN (VALUES ('files'), ('bytes')) f
    GROUP BY r.user_id, f.column1, r.role
    UNION ALL
    SELECT s.user_id, 'site_bytes', s.site, SUM(s.bytes) FROM (
        SELECT DISTINCT i.user_id AS user_id, substr(i.domain, 1, 255) AS site, b.hash AS hash, b.stored AS bytes, 0 AS raw
        FROM item_blobs l JOIN items i ON i.user_id = l.user_id AND i.id = l.item_id
        JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash
        UNION ALL
        SELECT DISTINCT i.user_id, substr(i.domain, 1, 255), b.hash, b.packed, 1
        FROM raw_pages p JOIN items i ON i.user_id = p.user_id AND i.id = p.item_id
        JOIN raw_bodies b ON b.user_id = p.user_id AND b.hash = p.hash
    ) s GROUP BY s.user_id, s.site
)
WHERE count <> 0;

INSERT INTO item_counts (user_id, kind, key, count) SELECT user_id, kind, key, count FROM stored_facets;

-- Adds to the counts what is inserted here.
CREATE VIEW count_changes (user_id, kind, key, change) AS SELECT user_id, kind, key, count FROM item_counts;

CREATE TRIGGER count_changes_add INSTEAD OF INSERT ON count_changes WHEN NEW.change <> 0 BEGIN
    INSERT INTO item_counts (user_id, kind, key, count) VALUES (NEW.user_id, NEW.kind, NEW.key, NEW.change)
    ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count;
END;

CREATE TRIGGER items_stored_new AFTER INSERT ON items BEGIN
    INSERT INTO count_changes VALUES (NEW.user_id, 'bytes', 'text', LENGTH(NEW.content));
END;

CREATE TRIGGER items_stored_changed AFTER UPDATE OF content ON items BEGIN
    INSERT INTO count_changes VALUES (NEW.user_id, 'bytes', 'text', LENGTH(NEW.content) - LENGTH(OLD.content));
END;

CREATE TRIGGER items_words_changed AFTER UPDATE OF metadata, deleted_at ON items
WHEN (OLD.deleted_at IS NULL AND NOT OLD.failed) <> (NEW.deleted_at IS NULL AND NOT NEW.failed) BEGIN
    INSERT INTO count_changes
    SELECT NEW.user_id, 'words', 'all', CASE WHEN NEW.deleted_at IS NULL AND NOT NEW.failed THEN w.words ELSE -w.words END
    FROM item_words w WHERE w.seq = NEW.seq;
END;

-- While the item is there: what goes with it no longer knows its site, or whether it was deleted.
CREATE TRIGGER items_stored_gone BEFORE DELETE ON items BEGIN
    INSERT INTO count_changes VALUES (OLD.user_id, 'bytes', 'text', -LENGTH(OLD.content));
    INSERT INTO count_changes SELECT OLD.user_id, 'words', 'all', -w.words FROM item_words w
    WHERE w.seq = OLD.seq AND OLD.deleted_at IS NULL AND NOT OLD.failed;
    INSERT INTO count_changes SELECT u.user_id, 'site_bytes', substr(OLD.domain, 1, 255), -u.bytes FROM only_uses u
    WHERE u.user_id = OLD.user_id AND u.item_id = OLD.id;
END;

-- The files that an item, but no other item of its site, has. `raw` is 1 for bodies of pages, 0 for kept files.
CREATE VIEW only_uses (user_id, item_id, hash, bytes, raw) AS
SELECT p.user_id, p.item_id, p.hash, b.packed, 1 FROM raw_pages p
JOIN items i ON i.user_id = p.user_id AND i.id = p.item_id
JOIN raw_bodies b ON b.user_id = p.user_id AND b.hash = p.hash
WHERE NOT EXISTS (
    SELECT 1 FROM raw_pages o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
    WHERE o.user_id = p.user_id AND o.hash = p.hash AND o.item_id <> p.item_id
        AND substr(n.domain, 1, 255) = substr(i.domain, 1, 255)
)
UNION ALL
SELECT DISTINCT l.user_id, l.item_id, l.hash, b.stored, 0 FROM item_blobs l
JOIN items i ON i.user_id = l.user_id AND i.id = l.item_id
JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash
WHERE NOT EXISTS (
    SELECT 1 FROM item_blobs o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
    WHERE o.user_id = l.user_id AND o.hash = l.hash AND o.item_id <> l.item_id
        AND substr(n.domain, 1, 255) = substr(i.domain, 1, 255)
);

CREATE TRIGGER items_site_before BEFORE UPDATE OF domain ON items WHEN OLD.domain <> NEW.domain BEGIN
    INSERT INTO count_changes SELECT u.user_id, 'site_bytes', substr(OLD.domain, 1, 255), -u.bytes FROM only_uses u
    WHERE u.user_id = OLD.user_id AND u.item_id = OLD.id;
END;

CREATE TRIGGER items_site_after AFTER UPDATE OF domain ON items WHEN OLD.domain <> NEW.domain BEGIN
    INSERT INTO count_changes SELECT u.user_id, 'site_bytes', substr(NEW.domain, 1, 255), u.bytes FROM only_uses u
    WHERE u.user_id = NEW.user_id AND u.item_id = NEW.id;
END;

CREATE TRIGGER item_words_count_new AFTER INSERT ON item_words BEGIN
    INSERT INTO count_changes SELECT i.user_id, 'words', 'all', NEW.words FROM items i
    WHERE i.seq = NEW.seq AND i.deleted_at IS NULL AND NOT i.failed;
END;

CREATE TRIGGER item_words_count_changed AFTER UPDATE OF words ON item_words BEGIN
    INSERT INTO count_changes SELECT i.user_id, 'words', 'all', NEW.words - OLD.words FROM items i
    WHERE i.seq = NEW.seq AND i.deleted_at IS NULL AND NOT i.failed;
END;

CREATE TRIGGER item_words_count_gone AFTER DELETE ON item_words BEGIN
    INSERT INTO count_changes SELECT i.user_id, 'words', 'all', -OLD.words FROM items i
    WHERE i.seq = OLD.seq AND i.deleted_at IS NULL AND NOT i.failed;
END;

CREATE TRIGGER raw_bodies_count_new AFTER INSERT ON raw_bodies BEGIN
    INSERT INTO count_changes VALUES (NEW.user_id, 'files', 'raw', 1), (NEW.user_id, 'bytes', 'raw', NEW.packed),
        (NEW.user_id, 'bytes', 'raw_unpacked', NEW.size);
END;

CREATE TRIGGER raw_bodies_count_gone AFTER DELETE ON raw_bodies BEGIN
    INSERT INTO count_changes VALUES (OLD.user_id, 'files', 'raw', -1), (OLD.user_id, 'bytes', 'raw', -OLD.packed),
        (OLD.user_id, 'bytes', 'raw_unpacked', -OLD.size);
END;

CREATE TRIGGER raw_pages_count_new AFTER INSERT ON raw_pages BEGIN
    INSERT INTO count_changes
    SELECT NEW.user_id, f.column1, 'current', CASE f.column1 WHEN 'bytes' THEN b.packed ELSE 1 END
    FROM raw_bodies b CROSS JOIN (VALUES ('files'), ('bytes')) f
    WHERE b.user_id = NEW.user_id AND b.hash = NEW.hash AND NOT EXISTS (
        SELECT 1 FROM raw_pages o WHERE o.user_id = NEW.user_id AND o.hash = NEW.hash AND o.item_id <> NEW.item_id
    );
    INSERT INTO count_changes SELECT u.user_id, 'site_bytes', substr(i.domain, 1, 255), u.bytes
    FROM only_uses u JOIN items i ON i.user_id = u.user_id AND i.id = u.item_id
    WHERE u.user_id = NEW.user_id AND u.item_id = NEW.item_id AND u.raw = 1;
END;

CREATE TRIGGER raw_pages_count_gone BEFORE DELETE ON raw_pages BEGIN
    INSERT INTO count_changes
    SELECT OLD.user_id, f.column1, 'current', CASE f.column1 WHEN 'bytes' THEN -b.packed ELSE -1 END
    FROM raw_bodies b CROSS JOIN (VALUES ('files'), ('bytes')) f
    WHERE b.user_id = OLD.user_id AND b.hash = OLD.hash AND NOT EXISTS (
        SELECT 1 FROM raw_pages o WHERE o.user_id = OLD.user_id AND o.hash = OLD.hash AND o.item_id <> OLD.item_id
    );
    INSERT INTO count_changes SELECT u.user_id, 'site_bytes', substr(i.domain, 1, 255), -u.bytes
    FROM only_uses u JOIN items i ON i.user_id = u.user_id AND i.id = u.item_id
    WHERE u.user_id = OLD.user_id AND u.item_id = OLD.item_id AND u.raw = 1;
END;

CREATE TRIGGER blobs_count_new AFTER INSERT ON blobs BEGIN
    INSERT INTO count_changes VALUES (NEW.user_id, 'files', 'blobs', 1), (NEW.user_id, 'bytes', 'blobs', NEW.stored);
END;

CREATE TRIGGER blobs_count_gone AFTER DELETE ON blobs BEGIN
    INSERT INTO count_changes VALUES (OLD.user_id, 'files', 'blobs', -1), (OLD.user_id, 'bytes', 'blobs', -OLD.stored);
END;

-- What one row of item_blobs alone counts for: nothing else has the file at all, in this role, or on this site.
CREATE VIEW link_facets (seq, user_id, kind, key, count) AS
SELECT l.seq, l.user_id, 'files', 'left_out', 1 FROM item_blobs l WHERE l.state = 'left_out'
UNION ALL
SELECT l.seq, l.user_id, f.column1, f.column2 || CASE f.column2 WHEN 'used' THEN '' ELSE l.role END,
    CASE f.column1 WHEN 'bytes' THEN b.stored ELSE 1 END
FROM item_blobs l JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash
CROSS JOIN (VALUES ('files', 'used'), ('bytes', 'used'), ('files', 'role '), ('bytes', 'role ')) f
WHERE NOT EXISTS (
    SELECT 1 FROM item_blobs o WHERE o.user_id = l.user_id AND o.hash = l.hash AND o.seq <> l.seq
        AND (f.column2 = 'used' OR o.role = l.role)
)
UNION ALL
SELECT l.seq, l.user_id, 'site_bytes', substr(i.domain, 1, 255), b.stored
FROM item_blobs l JOIN items i ON i.user_id = l.user_id AND i.id = l.item_id
JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash
WHERE NOT EXISTS (
    SELECT 1 FROM item_blobs o JOIN items n ON n.user_id = o.user_id AND n.id = o.item_id
    WHERE o.user_id = l.user_id AND o.hash = l.hash AND o.seq <> l.seq
        AND substr(n.domain, 1, 255) = substr(i.domain, 1, 255)
);

CREATE TRIGGER item_blobs_count_new AFTER INSERT ON item_blobs BEGIN
    INSERT INTO count_changes SELECT user_id, kind, key, count FROM link_facets WHERE seq = NEW.seq;
END;

CREATE TRIGGER item_blobs_count_before BEFORE UPDATE OF hash, role, state ON item_blobs BEGIN
    INSERT INTO count_changes SELECT user_id, kind, key, -count FROM link_facets WHERE seq = OLD.seq;
END;

CREATE TRIGGER item_blobs_count_after AFTER UPDATE OF hash, role, state ON item_blobs BEGIN
    INSERT INTO count_changes SELECT user_id, kind, key, count FROM link_facets WHERE seq = NEW.seq;
END;

CREATE TRIGGER item_blobs_count_gone BEFORE DELETE ON item_blobs BEGIN
    INSERT INTO count_changes SELECT user_id, kind, key, -count FROM link_facets WHERE seq = OLD.seq;
END;
