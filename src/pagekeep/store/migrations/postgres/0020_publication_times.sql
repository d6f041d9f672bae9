-- When a page was published, as an instant that sorts: the page's own text may be a year, a month, a day, or a time in any zone.
-- A year, a month or a day begins at midnight UTC, and so does a day whose time cannot be read; before all times without a date.
CREATE FUNCTION published_instant(written TEXT) RETURNS TIMESTAMPTZ LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    whole TEXT := CASE length(written) WHEN 4 THEN written || '-01-01' WHEN 7 THEN written || '-01' ELSE written END;
    clock TEXT[];
    begins TIMESTAMP;
BEGIN
    IF whole IS NULL OR whole !~ '^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}' OR whole COLLATE "C" >= '9999' THEN
        RETURN '-infinity';
    END IF;
    begins := make_date(substr(whole, 1, 4)::INT, substr(whole, 6, 2)::INT, substr(whole, 9, 2)::INT);
    clock := regexp_match(
        substr(whole, 11),
        '^[T ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9](?:[.][0-9]{1,3})?)[0-9]*)? ?(?:Z|([+-])(0[0-9]|1[0-4]):([0-5][0-9]))?$'
    );
    IF clock IS NOT NULL THEN
        begins := begins + make_interval(hours => clock[1]::INT, mins => clock[2]::INT, secs => COALESCE(clock[3], '0')::FLOAT8);
        IF clock[4] IS NOT NULL THEN
            begins := begins - (clock[4] || '1')::INT * make_interval(hours => clock[5]::INT, mins => clock[6]::INT);
        END IF;
    END IF;
    RETURN begins AT TIME ZONE 'UTC';
EXCEPTION WHEN data_exception THEN
    RETURN '-infinity';
END
$$;

ALTER TABLE items ADD COLUMN published_sort TIMESTAMPTZ NOT NULL GENERATED ALWAYS AS (published_instant(published_at)) STORED;

DROP INDEX items_published;
CREATE INDEX items_published ON items (user_id, published_sort, id);
