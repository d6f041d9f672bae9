-- Who of an OpenID Connect provider opens which account. A subject is never given to another person.
CREATE TABLE identities (
    issuer TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_user ON identities (user_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON identities TO pagekeep_door;
