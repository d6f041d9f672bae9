-- The tags of an item, in a separate column: renaming one on many items then touches a few bytes of each row. Those in the
-- metadata are a copy from the last change of the item itself, for rows whose end is damaged. Spaces fill it up to 32 bytes, or the
-- next multiple: SQLite writes a row of the same length in place.
ALTER TABLE items ADD COLUMN tags TEXT;

DROP TRIGGER item_changed;

UPDATE items SET tags = (
    SELECT t.list || substr('                                ', 1, (32 - length(CAST(t.list AS BLOB)) % 32) % 32)
    FROM (
        SELECT CASE WHEN json_type(metadata, '$.tags') = 'array' THEN json_extract(metadata, '$.tags') ELSE '[]' END AS list
    ) t
)
WHERE json_valid(metadata);

CREATE TRIGGER item_changed AFTER UPDATE OF title, content, author, published_at, url_full, metadata, tags, deleted_at ON items
WHEN EXISTS (SELECT 1 FROM sinks s WHERE s.user_id = NEW.user_id AND s.takes_items)
BEGIN
    DELETE FROM changed_items WHERE user_id = NEW.user_id AND item_id = NEW.id;
    INSERT INTO changed_items (user_id, item_id) VALUES (NEW.user_id, NEW.id);
END;
