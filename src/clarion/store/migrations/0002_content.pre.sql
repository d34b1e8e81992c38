-- Clarion's own content: people, places and posts of hosts that keep them with us.

CREATE TABLE clarion.person (
    id                  clarion.person_key PRIMARY KEY,
    handle              text NOT NULL CHECK (length(handle) BETWEEN 1 AND 100),
    handle_folded       text UNIQUE,
    name                text NOT NULL DEFAULT '' CHECK (length(name) <= 200),
    address             text CHECK (length(address) BETWEEN 3 AND 320),
    address_verified_at timestamptz,
    locale              text NOT NULL DEFAULT 'en' CHECK (length(locale) <= 35),
    zone                text NOT NULL DEFAULT 'UTC' CHECK (length(zone) <= 64),
    active              boolean NOT NULL DEFAULT true,
    created_at          timestamptz NOT NULL DEFAULT clarion.now(),
    forgotten_at        timestamptz,
    CHECK (address_verified_at IS NULL OR address IS NOT NULL),
    CHECK (forgotten_at IS NULL OR (handle_folded IS NULL AND name = '' AND address IS NULL AND NOT active))
);
COMMENT ON COLUMN clarion.person.handle_folded IS 'What mentions are looked up by; null: no mention names this person, who gave the handle up or was forgotten.';
COMMENT ON COLUMN clarion.person.forgotten_at IS 'Erased; the row stays as a placeholder where the person acted (K5).';

CREATE TABLE clarion.former_handle (
    handle_folded text NOT NULL,
    person        clarion.person_key NOT NULL REFERENCES clarion.person ON DELETE CASCADE,
    given_up_at   timestamptz NOT NULL DEFAULT clarion.now(),
    PRIMARY KEY (handle_folded, person)
);
COMMENT ON TABLE clarion.former_handle IS 'A handle still names the person who gave it up within 30 days (W17).';

CREATE TABLE clarion.organisation (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key           text NOT NULL UNIQUE CHECK (length(key) BETWEEN 1 AND 200),
    handle        text NOT NULL CHECK (length(handle) BETWEEN 1 AND 100),
    handle_folded text NOT NULL UNIQUE,
    name          text NOT NULL DEFAULT '' CHECK (length(name) <= 200)
);

CREATE TABLE clarion.organisation_member (
    organisation bigint NOT NULL REFERENCES clarion.organisation ON DELETE CASCADE,
    person       clarion.person_key NOT NULL,
    PRIMARY KEY (organisation, person)
);
CREATE INDEX organisation_member_person ON clarion.organisation_member (person);

CREATE TABLE clarion.team (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key           text NOT NULL UNIQUE CHECK (length(key) BETWEEN 1 AND 200),
    organisation  bigint NOT NULL REFERENCES clarion.organisation ON DELETE CASCADE,
    handle        text NOT NULL CHECK (length(handle) BETWEEN 1 AND 100),
    handle_folded text,
    name          text NOT NULL DEFAULT '' CHECK (length(name) <= 200),
    deleted_at    timestamptz,
    UNIQUE (organisation, handle_folded),
    CHECK ((deleted_at IS NULL) = (handle_folded IS NOT NULL))
);
COMMENT ON COLUMN clarion.team.deleted_at IS 'The key stays gone (O11); no mention names the team, and it has no members.';

CREATE TABLE clarion.team_member (
    team   bigint NOT NULL REFERENCES clarion.team ON DELETE CASCADE,
    person clarion.person_key NOT NULL,
    PRIMARY KEY (team, person)
);
CREATE INDEX team_member_person ON clarion.team_member (person);

CREATE TABLE clarion.content_space (
    id           clarion.space_key PRIMARY KEY,
    name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    organisation bigint REFERENCES clarion.organisation,
    visibility   text NOT NULL CHECK (visibility IN ('public', 'private', 'members')),
    deleted_at   timestamptz,
    CHECK (visibility <> 'members' OR organisation IS NOT NULL),
    CHECK (deleted_at IS NULL OR visibility = 'private')
);
COMMENT ON COLUMN clarion.content_space.visibility IS 'public: everybody; members: its organisation, and whom it was opened to; private: only whom it was opened to.';
CREATE INDEX content_space_organisation ON clarion.content_space (organisation);

CREATE TABLE clarion.space_member (
    space  clarion.space_key NOT NULL REFERENCES clarion.content_space ON DELETE CASCADE,
    person clarion.person_key NOT NULL,
    role   text NOT NULL DEFAULT 'read' CHECK (length(role) BETWEEN 1 AND 40),
    PRIMARY KEY (space, person)
);
CREATE INDEX space_member_person ON clarion.space_member (person);

CREATE TABLE clarion.space_team (
    space clarion.space_key NOT NULL REFERENCES clarion.content_space ON DELETE CASCADE,
    team  bigint NOT NULL REFERENCES clarion.team ON DELETE CASCADE,
    PRIMARY KEY (space, team)
);
CREATE INDEX space_team_team ON clarion.space_team (team);

CREATE TABLE clarion.content_thread (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key        text NOT NULL UNIQUE CHECK (length(key) BETWEEN 1 AND 200),
    space      clarion.space_key REFERENCES clarion.content_space,
    kind       text NOT NULL CHECK (kind IN ('issue', 'pull_request', 'discussion', 'forum_thread', 'message')),
    title      text NOT NULL CHECK (length(title) <= 1000),
    link       text NOT NULL DEFAULT '' CHECK (length(link) <= 2000),
    author     clarion.person_key,
    state      text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed', 'merged')),
    created_at timestamptz NOT NULL DEFAULT clarion.now(),
    deleted_at timestamptz,
    CHECK (space IS NOT NULL OR kind = 'message'),
    CHECK (state <> 'merged' OR kind = 'pull_request')
);
CREATE INDEX content_thread_space ON clarion.content_thread (space) WHERE deleted_at IS NULL;

CREATE TABLE clarion.thread_alias (
    key    text PRIMARY KEY CHECK (length(key) BETWEEN 1 AND 200),
    thread bigint NOT NULL REFERENCES clarion.content_thread ON DELETE CASCADE
);
COMMENT ON TABLE clarion.thread_alias IS 'Another key of a thread, which it was given when it moved; events carry the first one (W17).';

CREATE TABLE clarion.content_post (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key        text NOT NULL UNIQUE CHECK (length(key) BETWEEN 1 AND 200),
    thread     bigint NOT NULL REFERENCES clarion.content_thread,
    part_of    bigint REFERENCES clarion.content_post,
    kind       text NOT NULL CHECK (kind IN ('opening', 'comment', 'review', 'review_comment', 'message')),
    verdict    text CHECK (verdict IN ('approved', 'changes_requested', 'commented', 'dismissed')),
    author     clarion.person_key,
    body       text NOT NULL CHECK (octet_length(body) <= 65536),
    link       text NOT NULL DEFAULT '' CHECK (length(link) <= 2000),
    created_at timestamptz NOT NULL DEFAULT clarion.now(),
    edited_at  timestamptz,
    deleted_at timestamptz,
    CHECK (part_of IS NULL OR kind = 'review_comment'),
    CHECK ((kind = 'review') = (verdict IS NOT NULL)),
    CHECK (deleted_at IS NULL OR body = '')
);
CREATE INDEX content_post_thread ON clarion.content_post (thread, id);
CREATE INDEX content_post_part_of ON clarion.content_post (part_of) WHERE part_of IS NOT NULL;
CREATE UNIQUE INDEX content_post_opening ON clarion.content_post (thread) WHERE kind IN ('opening', 'message');

CREATE TABLE clarion.thread_role (
    thread bigint NOT NULL REFERENCES clarion.content_thread ON DELETE CASCADE,
    person clarion.person_key NOT NULL,
    role   clarion.reason NOT NULL CHECK (role IN ('assigned', 'review_requested', 'addressed')),
    team   bigint REFERENCES clarion.team,
    UNIQUE NULLS NOT DISTINCT (thread, role, person, team),
    CHECK (team IS NULL OR role = 'review_requested')
);
CREATE INDEX thread_role_person ON clarion.thread_role (person);
COMMENT ON TABLE clarion.thread_role IS 'Who is assigned, asked for review, or addressed by notify.';
COMMENT ON COLUMN clarion.thread_role.team IS 'The team through which the person was asked; taking the team''s request back leaves one of their own.';

-- A thread that moved may have got another key; events and stubs go on naming it by its first.
CREATE FUNCTION clarion.first_key(key text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce((SELECT t.key FROM clarion.thread_alias a JOIN clarion.content_thread t ON t.id = a.thread
                     WHERE a.key = first_key.key), first_key.key)
$$;

-- The judgement reads people and rights through these two views only. They stand over our own
-- tables until a host points them at its own.

CREATE VIEW clarion.people AS
    SELECT id, handle, handle_folded, name, active FROM clarion.person;

CREATE VIEW clarion.readers AS
    SELECT s.id AS space, p.id AS person
    FROM clarion.content_space s CROSS JOIN clarion.person p
    WHERE s.visibility = 'public'
    UNION ALL
    SELECT s.id, m.person
    FROM clarion.content_space s JOIN clarion.space_member m ON m.space = s.id
    WHERE s.visibility <> 'public'
    UNION ALL
    SELECT s.id, m.person
    FROM clarion.content_space s
    JOIN clarion.space_team t ON t.space = s.id
    JOIN clarion.team_member m ON m.team = t.team
    WHERE s.visibility <> 'public'
    UNION ALL
    SELECT s.id, m.person
    FROM clarion.content_space s JOIN clarion.organisation_member m ON m.organisation = s.organisation
    WHERE s.visibility = 'members';

------------------------------------------------------------------------------------------------
-- Doors

CREATE TABLE clarion.credential (
    id         bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    digest     bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    kind       text NOT NULL CHECK (kind IN ('host', 'person')),
    person     clarion.person_key,
    label      text NOT NULL DEFAULT '' CHECK (length(label) <= 200),
    created_at timestamptz NOT NULL DEFAULT clarion.now(),
    expires_at timestamptz,
    CHECK ((kind = 'person') = (person IS NOT NULL))
);
CREATE INDEX credential_person ON clarion.credential (person) WHERE person IS NOT NULL;
COMMENT ON TABLE clarion.credential IS 'SHA-256 of an API key of the host, or of a person''s token; the secret itself is shown once.';

CREATE TABLE clarion.request (
    key        text PRIMARY KEY CHECK (length(key) <= 300),
    digest     bytea NOT NULL CHECK (octet_length(digest) = 32),
    status     smallint NOT NULL,
    body       text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clarion.now()
);
CREATE INDEX request_created ON clarion.request (created_at);
COMMENT ON TABLE clarion.request IS 'Answers to POSTs that carried an Idempotency-Key (O11).';

