-- Where items are sent on to. options: the settings of its kind and the rules, which are searches; secret: encrypted.
-- due_at: when there is something to deliver, or until when another process has it; nothing is due without it.
CREATE TABLE sinks (
    user_id TEXT COLLATE "C" NOT NULL,
    id UUID NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    address TEXT NOT NULL,
    options JSONB NOT NULL,
    secret TEXT,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('active', 'off')),
    takes_items BOOLEAN NOT NULL,
    hidden BOOLEAN NOT NULL,
    error TEXT,
    sent BIGINT NOT NULL,
    sent_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    due_at TIMESTAMPTZ,
    leased_by TEXT COLLATE "C",
    leased_until TIMESTAMPTZ,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, name)
);

CREATE INDEX sinks_due ON sinks (due_at) WHERE due_at IS NOT NULL;

-- Items that have changed since the rules were last applied to them, in the order of the changes. Triggers fill it, in the
-- transaction that changes the item, where the user has sinks.
CREATE TABLE changed_items (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    item_id UUID NOT NULL,
    UNIQUE (user_id, item_id)
);

-- It runs with the rights of the caller, so that the policies hold.
CREATE FUNCTION note_changed_item() RETURNS trigger LANGUAGE plpgsql SET search_path = pagekeep AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM sinks s WHERE s.user_id = NEW.user_id AND s.takes_items) THEN
        DELETE FROM changed_items WHERE user_id = NEW.user_id AND item_id = NEW.id;
        INSERT INTO changed_items (user_id, item_id) VALUES (NEW.user_id, NEW.id);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER item_added AFTER INSERT ON items FOR EACH ROW EXECUTE FUNCTION note_changed_item();

CREATE TRIGGER item_changed AFTER UPDATE OF title, content, author, published_at, url_full, metadata, deleted_at ON items
    FOR EACH ROW EXECUTE FUNCTION note_changed_item();

-- What waits to be delivered, in the order of its delivery: an item as it is then, or an event with its own body.
CREATE TABLE outbox (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    sink_id UUID NOT NULL,
    item_id UUID,
    event TEXT COLLATE "C",
    body JSONB,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('queued', 'dead')),
    attempts INTEGER NOT NULL,
    error JSONB,
    created_at TIMESTAMPTZ NOT NULL,
    tried_at TIMESTAMPTZ,
    FOREIGN KEY (user_id, sink_id) REFERENCES sinks (user_id, id) ON DELETE CASCADE,
    UNIQUE (user_id, sink_id, event)
);

CREATE INDEX outbox_next ON outbox (user_id, sink_id, state, position);

-- The version of each item that a sink has, and its name there.
CREATE TABLE sent_items (
    user_id TEXT COLLATE "C" NOT NULL,
    sink_id UUID NOT NULL,
    item_id UUID NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    remote_id TEXT,
    sent_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (user_id, sink_id, item_id),
    FOREIGN KEY (user_id, sink_id) REFERENCES sinks (user_id, id) ON DELETE CASCADE
);

DO $$
DECLARE
    shelf TEXT;
BEGIN
    FOREACH shelf IN ARRAY ARRAY['sinks', 'changed_items', 'outbox', 'sent_items'] LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO pagekeep_app', shelf);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', shelf);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', shelf);
        EXECUTE format(
            'CREATE POLICY own_rows ON %I USING (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), ''''))) '
            'WITH CHECK (user_id = (SELECT NULLIF(current_setting(''app.user_id'', true), '''')))', shelf
        );
    END LOOP;
END
$$;

-- Workers look for what is due of all users; they deliver as each user.
CREATE POLICY all_sinks ON sinks FOR SELECT TO pagekeep_worker USING (due_at IS NOT NULL);
CREATE POLICY all_changed_items ON changed_items FOR SELECT TO pagekeep_worker USING (true);
