-- The tags of an item, in a separate column: renaming one on many items then does not count them again. Those in the metadata
-- are a copy from the last change of the item itself.
ALTER TABLE items ADD COLUMN tags JSONB;

DROP TRIGGER item_changed ON items;

-- The owner sees the rows of all users only without the policies.
ALTER TABLE items NO FORCE ROW LEVEL SECURITY;
UPDATE items SET tags = CASE WHEN jsonb_typeof(metadata -> 'tags') = 'array' THEN metadata -> 'tags' ELSE '[]' END;
ALTER TABLE items FORCE ROW LEVEL SECURITY;

CREATE TRIGGER item_changed AFTER UPDATE OF title, content, author, published_at, url_full, metadata, tags, deleted_at ON items
    FOR EACH ROW EXECUTE FUNCTION note_changed_item();
