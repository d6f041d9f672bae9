-- Who of an OpenID Connect provider opens which account. A subject is never given to another person.
CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (issuer, subject)
);

CREATE INDEX identities_user ON identities (user_id);
