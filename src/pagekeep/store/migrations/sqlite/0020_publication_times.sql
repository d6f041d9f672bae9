-- When a page was published, as an instant that sorts: the page's own text may be a year, a month, a day, or a time in any zone.
-- A year, a month or a day begins at midnight UTC, and so does a day whose time cannot be read; empty without a date.
ALTER TABLE items ADD COLUMN published_sort TEXT NOT NULL AS (
    CASE
        WHEN published_at GLOB '[1-9][0-9][0-9][0-9]' AND published_at < '9999' THEN published_at || '-01-01T00:00:00.000000Z'
        WHEN published_at GLOB '[1-9][0-9][0-9][0-9]-[01][0-9]' AND published_at < '9999'
            AND substr(published_at, 6) BETWEEN '01' AND '12'
        THEN published_at || '-01T00:00:00.000000Z'
        WHEN published_at GLOB '[1-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]*' AND published_at < '9999'
            AND date(substr(published_at, 1, 10)) = substr(published_at, 1, 10)
        THEN COALESCE(
            CASE WHEN substr(published_at, 11) GLOB '[T ][01][0-9]:*' OR substr(published_at, 11) GLOB '[T ]2[0-3]:*'
                THEN strftime('%Y-%m-%dT%H:%M:%f', published_at) || '000Z' END,
            substr(published_at, 1, 10) || 'T00:00:00.000000Z'
        )
        ELSE ''
    END
) VIRTUAL;

DROP INDEX items_published;
CREATE INDEX items_published ON items (user_id, published_sort, id);
