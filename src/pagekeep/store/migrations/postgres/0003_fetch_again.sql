-- Addresses that are kept without content and are to be fetched again.
ALTER TABLE items ADD COLUMN fetch_again INTEGER NOT NULL
    GENERATED ALWAYS AS (CASE WHEN metadata -> 'fetch_again' = 'true' THEN 1 ELSE 0 END) STORED;
CREATE INDEX items_fetch_again ON items (user_id, saved_at, id) WHERE fetch_again = 1;
