-- Where items are sent on to. options: the settings of its kind and the rules, which are searches; secret: encrypted.
-- due_at: when there is something to deliver, or until when another process has it; nothing is due without it.
CREATE TABLE sinks (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    address TEXT NOT NULL,
    options TEXT NOT NULL,
    secret TEXT,
    state TEXT NOT NULL CHECK (state IN ('active', 'off')),
    takes_items INTEGER NOT NULL,
    hidden INTEGER NOT NULL,
    error TEXT,
    sent INTEGER NOT NULL,
    sent_at TEXT,
    created_at TEXT NOT NULL,
    due_at TEXT,
    leased_by TEXT,
    leased_until TEXT,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, name)
);

CREATE INDEX sinks_due ON sinks (due_at) WHERE due_at IS NOT NULL;

-- Items that have changed since the rules were last applied to them, in the order of the changes. Triggers fill it, in the
-- transaction that changes the item, where the user has sinks.
CREATE TABLE changed_items (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    UNIQUE (user_id, item_id)
);

CREATE TRIGGER item_added AFTER INSERT ON items
WHEN EXISTS (SELECT 1 FROM sinks s WHERE s.user_id = NEW.user_id AND s.takes_items)
BEGIN
    INSERT INTO changed_items (user_id, item_id) VALUES (NEW.user_id, NEW.id);
END;

CREATE TRIGGER item_changed AFTER UPDATE OF title, content, author, published_at, url_full, metadata, deleted_at ON items
WHEN EXISTS (SELECT 1 FROM sinks s WHERE s.user_id = NEW.user_id AND s.takes_items)
BEGIN
    DELETE FROM changed_items WHERE user_id = NEW.user_id AND item_id = NEW.id;
    INSERT INTO changed_items (user_id, item_id) VALUES (NEW.user_id, NEW.id);
END;

-- What waits to be delivered, in the order of its delivery: an item as it is then, or an event with its own body.
CREATE TABLE outbox (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    sink_id TEXT NOT NULL,
    item_id TEXT,
    event TEXT,
    body TEXT,
    state TEXT NOT NULL CHECK (state IN ('queued', 'dead')),
    attempts INTEGER NOT NULL,
    error TEXT,
    created_at TEXT NOT NULL,
    tried_at TEXT,
    FOREIGN KEY (user_id, sink_id) REFERENCES sinks (user_id, id) ON DELETE CASCADE,
    UNIQUE (user_id, sink_id, event)
);

CREATE INDEX outbox_next ON outbox (user_id, sink_id, state, position);

-- The version of each item that a sink has, and its name there.
CREATE TABLE sent_items (
    user_id TEXT NOT NULL,
    sink_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    version TEXT NOT NULL,
    remote_id TEXT,
    sent_at TEXT NOT NULL,
    PRIMARY KEY (user_id, sink_id, item_id),
    FOREIGN KEY (user_id, sink_id) REFERENCES sinks (user_id, id) ON DELETE CASCADE
);
