-- Lists of the user: saved searches, and manual lists, whose items are in list_items. name_key: the name as it is compared.
CREATE TABLE lists (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    name_key TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, name_key)
);

-- position: places with gaps between them, so that an item can be moved without touching the others.
CREATE TABLE list_items (
    user_id TEXT NOT NULL,
    list_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    added_at TEXT NOT NULL,
    PRIMARY KEY (user_id, list_id, item_id),
    FOREIGN KEY (user_id, list_id) REFERENCES lists (user_id, id) ON DELETE CASCADE,
    FOREIGN KEY (user_id, item_id) REFERENCES items (user_id, id) ON DELETE CASCADE
);

CREATE INDEX list_items_order ON list_items (user_id, list_id, position, item_id);

CREATE INDEX list_items_item ON list_items (user_id, item_id);

-- What happens to new items that a search finds.
CREATE TABLE save_rules (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    position INTEGER NOT NULL,
    enabled INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    actions TEXT NOT NULL,
    PRIMARY KEY (user_id, id)
);

-- Changes of items that can be undone. A row of action_items without a change waits to be changed; it goes when it is undone.
CREATE TABLE actions (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    undone_at TEXT,
    changed INTEGER NOT NULL,
    label TEXT NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE INDEX actions_newest ON actions (user_id, created_at, id);

CREATE TABLE action_items (
    user_id TEXT NOT NULL,
    action_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    change TEXT,
    PRIMARY KEY (user_id, action_id, item_id),
    FOREIGN KEY (user_id, action_id) REFERENCES actions (user_id, id) ON DELETE CASCADE
);

CREATE INDEX action_items_waiting ON action_items (user_id, action_id, item_id) WHERE change IS NULL;
