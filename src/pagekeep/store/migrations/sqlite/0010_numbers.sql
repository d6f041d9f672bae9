-- A number for each item, for programs that know only numbers of 32 bits. It stays when the item is purged, so that no other item
-- ever gets it, and it is in backups: the same item has the same number in a restored library.
CREATE TABLE item_numbers (
    user_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (user_id, number),
    UNIQUE (user_id, item_id)
);

INSERT INTO item_numbers (user_id, item_id, number)
SELECT user_id, id, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY seq) FROM items;

-- Programs that synchronise ask for what has changed since.
CREATE INDEX items_updated ON items (user_id, updated_at, id);
