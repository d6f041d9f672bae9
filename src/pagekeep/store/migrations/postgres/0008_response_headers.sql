-- Headers of the response that a raw page came with; NULL where there was none, or an older version saved it.
ALTER TABLE raw_pages ADD COLUMN headers JSONB;
