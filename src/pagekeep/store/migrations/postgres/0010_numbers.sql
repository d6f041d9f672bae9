-- A number for each item, for programs that know only numbers of 32 bits. It stays when the item is purged, so that no other item
-- ever gets it, and it is in backups: the same item has the same number in a restored library.
CREATE TABLE item_numbers (
    user_id TEXT COLLATE "C" NOT NULL,
    item_id UUID NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (user_id, number),
    UNIQUE (user_id, item_id)
);

-- The owner sees the rows of all users only without the policies.
ALTER TABLE items NO FORCE ROW LEVEL SECURITY;
INSERT INTO item_numbers (user_id, item_id, number)
SELECT user_id, id, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY seq) FROM items;
ALTER TABLE items FORCE ROW LEVEL SECURITY;

GRANT SELECT, INSERT, UPDATE, DELETE ON item_numbers TO pagekeep_app;
ALTER TABLE item_numbers ENABLE ROW LEVEL SECURITY;
ALTER TABLE item_numbers FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON item_numbers
    USING (user_id = (SELECT NULLIF(current_setting('app.user_id', true), '')))
    WITH CHECK (user_id = (SELECT NULLIF(current_setting('app.user_id', true), '')));

-- Programs that synchronise ask for what has changed since.
CREATE INDEX items_updated ON items (user_id, updated_at, id);
