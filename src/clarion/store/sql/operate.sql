-- Operating Clarion: what doors look up by a name, and how the server is.

-- name: find_person_named
-- A person by key or by folded handle; the key wins.
SELECT id, handle, name FROM clarion.people
WHERE id = %(key)s::clarion.person_key OR handle_folded = %(handle)s
ORDER BY id = %(key)s::clarion.person_key DESC NULLS LAST LIMIT 1

-- name: find_space_named
-- A space by key or by name; the key wins, and of several with one name the oldest key.
SELECT id, name FROM clarion.content_space
WHERE deleted_at IS NULL AND (id = %(key)s::clarion.space_key OR name = %(name)s)
ORDER BY id = %(key)s::clarion.space_key DESC NULLS LAST, id LIMIT 1

-- name: get_space_role
-- A member's role in a space.
SELECT role FROM clarion.space_member
WHERE space = %(space)s::clarion.space_key AND person = %(person)s::clarion.person_key

-- name: remember_payload
-- Mark a payload as applied, beside the answers to repeated requests, and forgotten with them (O11). No row where it
-- was applied before; another transaction that is applying it is waited for.
INSERT INTO clarion.request (key, digest, status, body) VALUES (%(key)s, %(digest)s, 200, '{}')
ON CONFLICT (key) DO NOTHING RETURNING key

-- name: find_event_of
-- The first event of a type about a thread, or about one post of it.
SELECT id FROM clarion.outbox_event
WHERE type = %(type)s AND thread_key = %(thread)s AND (%(post)s::text IS NULL OR post_key = %(post)s)
ORDER BY id LIMIT 1

-- name: show_everybody
-- Every notification, with its person and thread in words; for a look at a small database.
SELECT p.handle, n.person, t.key AS thread, t.title, n.reason::text AS reason,
       NOT n.hidden AND clarion.is_unread(n, s.read_seq) AS unread, n.hidden,
       CASE WHEN n.hidden THEN 0 ELSE (SELECT count(*) FROM clarion.shown_posts(n)) END AS posts
FROM clarion.notification n
JOIN clarion.people p ON p.id = n.person
JOIN clarion.thread t ON t.id = n.thread
JOIN clarion.inbox_state s ON s.person = n.person
ORDER BY p.handle, n.seq DESC, n.thread

-- name: count_settled
-- How many events are through, and how many of them to nothing.
SELECT count(*) AS events, count(*) FILTER (WHERE state = 'skipped') AS skipped,
       count(*) FILTER (WHERE state = 'set_aside') AS set_aside
FROM clarion.outbox_event WHERE state <> 'waiting'

-- name: describe_server
-- How the server is, and who we are on it. Needs none of our tables.
SELECT current_setting('server_version') AS version, current_setting('server_version_num')::integer AS version_number,
       current_user AS role, r.rolsuper AS superuser, pg_is_in_recovery() AS standby, clock_timestamp() AS at,
       (SELECT count(*) FROM pg_stat_activity a
        WHERE a.datname = current_database() AND a.application_name ~ ' relay$') AS relays
FROM pg_roles r WHERE r.rolname = current_user
