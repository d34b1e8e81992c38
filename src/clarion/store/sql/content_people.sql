-- People, organisations, teams and spaces: who is there, and who may read what. In the caller's transaction.
-- Lock order: organisation, team, content_space (FOR KEY SHARE by who only needs them to stay) -> space -> inbox_state -> the rest.

-- name: find_missing_people
-- Those of these people whom nobody knows, by the view that may be the host's own, or who were forgotten.
SELECT p AS person FROM unnest(%(people)s::clarion.person_key[]) AS p
WHERE NOT EXISTS (SELECT 1 FROM clarion.people k WHERE k.id = p)
   OR EXISTS (SELECT 1 FROM clarion.person f WHERE f.id = p AND f.forgotten_at IS NOT NULL)

-- name: insert_person
-- Nothing where the key or the handle is taken: the caller looks which.
INSERT INTO clarion.person (id, handle, handle_folded, name, address, address_verified_at, locale, zone, active)
VALUES (%(person)s::clarion.person_key, %(handle)s, %(handle_folded)s, %(name)s, nullif(%(address)s, ''),
        CASE WHEN %(address_verified)s THEN clarion.now() END, %(locale)s, %(zone)s, %(active)s)
ON CONFLICT DO NOTHING RETURNING id

-- name: find_person
SELECT id, handle, name, coalesce(address, '') AS address, address_verified_at IS NOT NULL AS address_verified,
       locale, zone, active, handle_folded IS NULL AS nameless, forgotten_at IS NOT NULL AS gone
FROM clarion.person WHERE id = %(person)s::clarion.person_key

-- name: find_handle_holder
SELECT id FROM clarion.person WHERE handle_folded = %(handle_folded)s AND id <> %(person)s::clarion.person_key

-- name: free_handle
-- The person who holds this handle gives it up: mentions reach them by it for 30 days yet (W17).
WITH freed AS (
    UPDATE clarion.person SET handle_folded = NULL
    WHERE handle_folded = %(handle_folded)s AND id <> %(person)s::clarion.person_key
    RETURNING id
)
INSERT INTO clarion.former_handle (handle_folded, person) SELECT %(handle_folded)s, id FROM freed
ON CONFLICT (handle_folded, person) DO UPDATE SET given_up_at = excluded.given_up_at

-- name: update_person
-- Null leaves a column as it is, an empty address removes it. The handle before is kept as a former one (W17);
-- an address that changes is unverified unless said otherwise. No row where there is no such person.
WITH old AS MATERIALIZED (
    SELECT id, handle_folded, coalesce(%(handle_folded)s, handle_folded) AS new_handle,
           nullif(coalesce(%(address)s, address), '') AS new_address,
           CASE WHEN coalesce(%(address)s, address) = address THEN address_verified_at END AS verified_at
    FROM clarion.person WHERE id = %(person)s::clarion.person_key AND forgotten_at IS NULL FOR UPDATE
), given_up AS (
    INSERT INTO clarion.former_handle (handle_folded, person)
    SELECT handle_folded, id FROM old WHERE handle_folded <> new_handle
    ON CONFLICT (handle_folded, person) DO UPDATE SET given_up_at = excluded.given_up_at
), taken_again AS (
    DELETE FROM clarion.former_handle f USING old WHERE f.person = old.id AND f.handle_folded = old.new_handle
)
UPDATE clarion.person p
SET handle = coalesce(%(handle)s, p.handle),
    handle_folded = old.new_handle,
    name = coalesce(%(name)s, p.name),
    address = old.new_address,
    address_verified_at = CASE WHEN old.new_address IS NOT NULL AND coalesce(%(address_verified)s, old.verified_at IS NOT NULL)
                               THEN coalesce(old.verified_at, clarion.now()) END,
    locale = coalesce(%(locale)s, p.locale),
    zone = coalesce(%(zone)s, p.zone),
    active = coalesce(%(active)s, p.active)
FROM old WHERE p.id = old.id
RETURNING p.id

-- name: forget_person
-- Everything that is the person's own goes; the row stays as a placeholder where they acted (K5). The inbox is locked.
WITH who AS MATERIALIZED (
    SELECT %(person)s::clarion.person_key AS person
), notifications AS (
    DELETE FROM clarion.notification x USING who w WHERE x.person = w.person
), hits AS (
    DELETE FROM clarion.hit x USING who w WHERE x.person = w.person
), threads AS (
    DELETE FROM clarion.thread_person x USING who w WHERE x.person = w.person
), read_ahead AS (
    DELETE FROM clarion.read_ahead x USING who w WHERE x.person = w.person
), watches AS (
    DELETE FROM clarion.watch x USING who w WHERE x.person = w.person
), blocks AS (
    DELETE FROM clarion.block x USING who w WHERE x.person = w.person OR x.blocked = w.person
), mutes AS (
    DELETE FROM clarion.mute x USING who w WHERE x.person = w.person OR x.muted = w.person
), choices AS (
    DELETE FROM clarion.choice x USING who w WHERE x.person = w.person
), credentials AS (
    DELETE FROM clarion.credential x USING who w WHERE x.person = w.person
), handles AS (
    DELETE FROM clarion.former_handle x USING who w WHERE x.person = w.person
), organisations AS (
    DELETE FROM clarion.organisation_member x USING who w WHERE x.person = w.person
), teams AS (
    DELETE FROM clarion.team_member x USING who w WHERE x.person = w.person
), spaces AS (
    DELETE FROM clarion.space_member x USING who w WHERE x.person = w.person
), roles AS (
    DELETE FROM clarion.thread_role x USING who w WHERE x.person = w.person
), inbox AS (
    DELETE FROM clarion.inbox_state x USING who w WHERE x.person = w.person
)
UPDATE clarion.person p
SET handle = 'ghost', handle_folded = NULL, name = '', address = NULL, address_verified_at = NULL,
    locale = 'en', zone = 'UTC', active = false, forgotten_at = clarion.now()
FROM who w WHERE p.id = w.person AND p.forgotten_at IS NULL
RETURNING p.id

-- name: insert_organisation
INSERT INTO clarion.organisation (key, handle, handle_folded, name)
VALUES (%(key)s, %(handle)s, %(handle_folded)s, %(name)s)
ON CONFLICT DO NOTHING RETURNING id

-- name: share_organisation
-- The organisation, which stays until the end of the transaction.
SELECT id, key, handle, name, false AS gone FROM clarion.organisation WHERE key = %(key)s FOR KEY SHARE

-- name: find_organisation_holder
SELECT key FROM clarion.organisation WHERE handle_folded = %(handle_folded)s AND key <> %(key)s

-- name: update_organisation
UPDATE clarion.organisation SET handle = %(handle)s, handle_folded = %(handle_folded)s, name = %(name)s WHERE id = %(id)s

-- name: insert_team
INSERT INTO clarion.team (key, organisation, handle, handle_folded, name)
VALUES (%(key)s, %(organisation)s, %(handle)s, %(handle_folded)s, %(name)s)
ON CONFLICT DO NOTHING RETURNING id

-- name: share_team
-- The team, which stays until the end of the transaction.
SELECT id, key, organisation, handle, name, deleted_at IS NOT NULL AS gone FROM clarion.team WHERE key = %(key)s FOR KEY SHARE

-- name: find_team_holder
SELECT key FROM clarion.team
WHERE organisation = %(organisation)s AND handle_folded = %(handle_folded)s AND key <> %(key)s

-- name: update_team
UPDATE clarion.team SET handle = %(handle)s, handle_folded = %(handle_folded)s, name = %(name)s WHERE id = %(id)s

-- name: take_team
-- Alone with the team: nobody joins it, and it is given no space, until the end of the transaction.
SELECT id, deleted_at IS NOT NULL AS gone FROM clarion.team WHERE key = %(key)s FOR UPDATE

-- name: delete_team
-- The key stays, so that it stays gone.
WITH members AS (
    DELETE FROM clarion.team_member WHERE team = %(team)s
), spaces AS (
    DELETE FROM clarion.space_team WHERE team = %(team)s
)
UPDATE clarion.team SET handle_folded = NULL, deleted_at = clarion.now() WHERE id = %(team)s

-- name: insert_space
INSERT INTO clarion.content_space (id, name, organisation, visibility)
VALUES (%(space)s::clarion.space_key, %(name)s, %(organisation)s, %(visibility)s)
ON CONFLICT (id) DO NOTHING RETURNING id

-- name: content_space_row
SELECT s.id, s.name, s.visibility, o.key AS organisation, s.deleted_at IS NOT NULL AS gone
FROM clarion.content_space s LEFT JOIN clarion.organisation o ON o.id = s.organisation
WHERE s.id = %(space)s::clarion.space_key

-- name: share_content_space
-- The space, which stays until the end of the transaction.
-- include: content_space_row
FOR KEY SHARE OF s

-- name: lock_content_space
-- The space, which nobody else changes.
-- include: content_space_row
FOR NO KEY UPDATE OF s

-- name: take_content_space
-- Alone with the space: nobody opens a thread in it, and nobody joins.
-- include: content_space_row
FOR UPDATE OF s

-- name: update_space
UPDATE clarion.content_space SET name = %(name)s, visibility = %(visibility)s, organisation = %(organisation)s
WHERE id = %(space)s::clarion.space_key

-- name: delete_space
-- Nobody reads it from now on; its threads are gone with their texts. Returns the threads' keys.
WITH space AS (
    UPDATE clarion.content_space SET visibility = 'private', deleted_at = clarion.now() WHERE id = %(space)s::clarion.space_key
), members AS (
    DELETE FROM clarion.space_member WHERE space = %(space)s::clarion.space_key
), teams AS (
    DELETE FROM clarion.space_team WHERE space = %(space)s::clarion.space_key
), threads AS (
    UPDATE clarion.content_thread SET title = '', link = '', deleted_at = clarion.now()
    WHERE space = %(space)s::clarion.space_key AND deleted_at IS NULL
    RETURNING id, key
), posts AS (
    UPDATE clarion.content_post p SET body = '', link = '', deleted_at = clarion.now()
    FROM threads t WHERE p.thread = t.id AND p.deleted_at IS NULL
), roles AS (
    DELETE FROM clarion.thread_role r USING threads t WHERE r.thread = t.id
)
SELECT key FROM threads ORDER BY id

-- name: add_space_member
-- A row where something changed.
INSERT INTO clarion.space_member AS m (space, person, role)
VALUES (%(space)s::clarion.space_key, %(person)s::clarion.person_key, %(role)s)
ON CONFLICT (space, person) DO UPDATE SET role = excluded.role WHERE m.role <> excluded.role
RETURNING person

-- name: remove_space_member
DELETE FROM clarion.space_member
WHERE space = %(space)s::clarion.space_key AND person = %(person)s::clarion.person_key RETURNING person

-- name: add_team_member
INSERT INTO clarion.team_member (team, person) VALUES (%(team)s, %(person)s::clarion.person_key)
ON CONFLICT DO NOTHING RETURNING person

-- name: remove_team_member
DELETE FROM clarion.team_member WHERE team = %(team)s AND person = %(person)s::clarion.person_key RETURNING person

-- name: add_organisation_member
INSERT INTO clarion.organisation_member (organisation, person) VALUES (%(organisation)s, %(person)s::clarion.person_key)
ON CONFLICT DO NOTHING RETURNING person

-- name: remove_organisation_member
-- Who leaves an organisation leaves its teams. Rows where something changed.
WITH teams AS (
    DELETE FROM clarion.team_member m USING clarion.team t
    WHERE t.id = m.team AND t.organisation = %(organisation)s AND m.person = %(person)s::clarion.person_key
    RETURNING m.person
), organisations AS (
    DELETE FROM clarion.organisation_member
    WHERE organisation = %(organisation)s AND person = %(person)s::clarion.person_key
    RETURNING person
)
SELECT person FROM teams UNION SELECT person FROM organisations

-- name: spaces_of_team
SELECT space FROM clarion.space_team WHERE team = %(team)s ORDER BY space

-- name: spaces_of_organisation
-- The spaces that membership in an organisation or in one of its teams may open.
SELECT id AS space FROM clarion.content_space WHERE organisation = %(organisation)s
UNION
SELECT s.space FROM clarion.space_team s JOIN clarion.team t ON t.id = s.team WHERE t.organisation = %(organisation)s

-- name: add_space_team
INSERT INTO clarion.space_team (space, team) VALUES (%(space)s::clarion.space_key, %(team)s)
ON CONFLICT DO NOTHING RETURNING team

-- name: remove_space_team
DELETE FROM clarion.space_team WHERE space = %(space)s::clarion.space_key AND team = %(team)s RETURNING team
