-- What a person chooses to hear (W5–W10, W14). Always: first lock_inboxes, then the choice; each ends in raise_inbox,
-- with `changed` naming no row, since a choice is about new activity only. In the caller's transaction.

-- name: find_inbox_thread
SELECT id FROM clarion.thread WHERE key = clarion.first_key(%(thread)s)

-- name: look_at_thread
-- Whether the person may read the thread, or else has something in it that they may leave.
SELECT
    -- include: can_read_thread
    AS readable,
    EXISTS (SELECT 1 FROM clarion.notification n WHERE n.thread = t.id AND n.person = %(person)s::clarion.person_key)
        OR EXISTS (SELECT 1 FROM clarion.thread_person p WHERE p.thread = t.id AND p.person = %(person)s::clarion.person_key)
        OR EXISTS (SELECT 1 FROM clarion.hit h WHERE h.thread = t.id AND h.person = %(person)s::clarion.person_key) AS known
FROM clarion.thread t WHERE t.id = %(thread)s

-- name: look_at_space
SELECT 1 AS readable FROM clarion.readers r
WHERE r.space = %(space)s::clarion.space_key AND r.person = %(person)s::clarion.person_key LIMIT 1

-- name: look_at_person
SELECT id FROM clarion.people WHERE id = %(person)s::clarion.person_key

-- name: subscribe
-- Whoever opened the thread is its author again.
WITH changed AS (
    INSERT INTO clarion.thread_person AS p (thread, person, subscribed, why)
    VALUES (%(thread)s, %(person)s::clarion.person_key, true, 'chosen')
    ON CONFLICT (thread, person) DO UPDATE
    SET subscribed = true, why = CASE p.why WHEN 'author' THEN 'author' ELSE 'chosen' END, unsubscribed_at = NULL
    WHERE NOT p.subscribed
    RETURNING NULL::bigint AS thread, false AS was_unread, false AS now_unread
)
-- include: raise_inbox

-- name: unsubscribe
-- Kept as a choice, also of one who was not subscribed: it outlasts watching and what would subscribe (W10).
WITH changed AS (
    INSERT INTO clarion.thread_person AS p (thread, person, subscribed, unsubscribed_at)
    VALUES (%(thread)s, %(person)s::clarion.person_key, false, clarion.now())
    ON CONFLICT (thread, person) DO UPDATE SET subscribed = false, unsubscribed_at = excluded.unsubscribed_at
    WHERE p.unsubscribed_at IS NULL
    RETURNING NULL::bigint AS thread, false AS was_unread, false AS now_unread
)
-- include: raise_inbox

-- name: watch
WITH changed AS (
    INSERT INTO clarion.watch AS w (space, person, level)
    VALUES (%(space)s::clarion.space_key, %(person)s::clarion.person_key, %(level)s)
    ON CONFLICT (space, person) DO UPDATE SET level = excluded.level WHERE w.level <> excluded.level
    RETURNING NULL::bigint AS thread, false AS was_unread, false AS now_unread
)
-- include: raise_inbox

-- name: unwatch
WITH changed AS (
    DELETE FROM clarion.watch WHERE space = %(space)s::clarion.space_key AND person = %(person)s::clarion.person_key
    RETURNING NULL::bigint AS thread, false AS was_unread, false AS now_unread
)
-- include: raise_inbox

-- name: block
WITH changed AS (
    INSERT INTO clarion.block (person, blocked) VALUES (%(person)s::clarion.person_key, %(other)s::clarion.person_key)
    ON CONFLICT DO NOTHING
    RETURNING NULL::bigint AS thread, false AS was_unread, false AS now_unread
)
-- include: raise_inbox

-- name: unblock
WITH changed AS (
    DELETE FROM clarion.block WHERE person = %(person)s::clarion.person_key AND blocked = %(other)s::clarion.person_key
    RETURNING NULL::bigint AS thread, false AS was_unread, false AS now_unread
)
-- include: raise_inbox

-- name: mute
WITH changed AS (
    INSERT INTO clarion.mute (person, muted) VALUES (%(person)s::clarion.person_key, %(other)s::clarion.person_key)
    ON CONFLICT DO NOTHING
    RETURNING NULL::bigint AS thread, false AS was_unread, false AS now_unread
)
-- include: raise_inbox

-- name: unmute
WITH changed AS (
    DELETE FROM clarion.mute WHERE person = %(person)s::clarion.person_key AND muted = %(other)s::clarion.person_key
    RETURNING NULL::bigint AS thread, false AS was_unread, false AS now_unread
)
-- include: raise_inbox

-- name: choose
-- Opt-ins; one that is not named stays.
WITH changed AS (
    INSERT INTO clarion.choice AS c (person, own, housekeeping)
    SELECT %(person)s::clarion.person_key, coalesce(%(own)s::boolean, false), coalesce(%(housekeeping)s::boolean, false)
    WHERE %(own)s::boolean OR %(housekeeping)s::boolean
       OR EXISTS (SELECT 1 FROM clarion.choice WHERE person = %(person)s::clarion.person_key)
    ON CONFLICT (person) DO UPDATE
    SET own = coalesce(%(own)s::boolean, c.own), housekeeping = coalesce(%(housekeeping)s::boolean, c.housekeeping)
    WHERE (coalesce(%(own)s::boolean, c.own), coalesce(%(housekeeping)s::boolean, c.housekeeping)) <> (c.own, c.housekeeping)
    RETURNING NULL::bigint AS thread, false AS was_unread, false AS now_unread
)
-- include: raise_inbox

-- name: show_choices
SELECT own, housekeeping FROM clarion.choice WHERE person = %(person)s::clarion.person_key
