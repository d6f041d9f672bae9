-- Pages of a list, and their number, are read from an index alone: a program that synchronises a whole library asks for both at
-- every page.
DROP INDEX items_saved;
CREATE INDEX items_saved ON items (user_id, saved_at, id) WHERE deleted_at IS NULL;
CREATE INDEX items_archived ON items (user_id, archived, saved_at, id) WHERE deleted_at IS NULL;
