-- One person's inbox as it may be shown now (I2, I3, I7). Reads only, one statement and one snapshot each.
-- First the keys of a page, from an index; then what the page's rows say. A LIMIT 1 or OFFSET 0 in a LATERAL keeps it
-- so: every row is looked up by itself, and only when the page has come to it, whatever the planner thinks.

-- name: inbox_now
-- Fragment: the inbox at this moment, asked once; of a person without a state row too.
SELECT coalesce(s.version, 0) AS version, coalesce(s.unread_count, 0) AS unread_count, coalesce(s.read_seq, 0) AS read_seq,
       EXISTS (SELECT 1 FROM clarion.unread(%(person)s::clarion.person_key, at_most => 1) u WHERE u.seq > s.seen_seq) AS unseen
FROM (SELECT %(person)s::clarion.person_key AS person) p LEFT JOIN clarion.inbox_state s USING (person) OFFSET 0

-- name: can_read_thread
-- Fragment: whether the person may read thread t right now (W8); without a space those addressed alone.
CASE WHEN t.space IS NULL THEN coalesce((
         SELECT true FROM clarion.hit h
         WHERE h.person = %(person)s::clarion.person_key AND h.thread = t.id AND NOT h.removed LIMIT 1), false)
     ELSE coalesce((
         SELECT true FROM clarion.readers r
         WHERE r.space = t.space AND r.person = %(person)s::clarion.person_key LIMIT 1), false) END

-- name: shown_row
-- Fragment: what a row shows, of a thing that may not be read nothing (I7): it does not leave the database.
SELECT n.thread, CASE WHEN r.readable THEN t.key END AS key, CASE WHEN r.readable THEN t.space END AS space,
       CASE WHEN r.readable THEN t.kind END AS thread_kind, CASE WHEN r.readable THEN t.title END AS title,
       CASE WHEN r.readable THEN t.link END AS link, n.reason::text AS reason,
       latest.kind AS latest_kind, latest.author AS actor, latest.handle AS actor_handle,
       CASE WHEN u.unread THEN p.first END AS first_unread, CASE WHEN u.unread THEN coalesce(p.count, 0) ELSE 0 END AS posts_unread,
       n.seq, n.active_at, u.unread, n.saved_at IS NOT NULL AS saved, n.done_at IS NOT NULL AS done, n.snoozed_until,
       coalesce((SELECT f.subscribed FROM clarion.thread_person f WHERE f.thread = n.thread AND f.person = n.person), false)
           AS subscribed, NOT r.readable AS placeholder
FROM clarion.notification n
CROSS JOIN LATERAL (SELECT clarion.is_unread(n, i.read_seq) AS unread) u
CROSS JOIN LATERAL (
    SELECT t.key, t.space, t.kind, t.title, t.link FROM clarion.thread t WHERE t.id = n.thread LIMIT 1) t
LEFT JOIN LATERAL (
    SELECT h.kind, h.author, (SELECT a.handle FROM clarion.people a WHERE a.id = h.author LIMIT 1) AS handle FROM (
        SELECT q.kind, q.author FROM clarion.shown_posts(n) q ORDER BY q.position DESC LIMIT 1) h) latest ON r.readable
LEFT JOIN LATERAL (
    SELECT count(*) AS count, (array_agg(h.key ORDER BY h.position))[1] AS first FROM (
        SELECT q.key, q.position FROM clarion.shown_posts(n) q ORDER BY q.position LIMIT %(max_posts)s) h) p ON r.readable AND u.unread
WHERE n.person = %(person)s::clarion.person_key AND NOT n.hidden

-- name: inbox_page
-- Fragment: a page out of `source`, at most a thousand keys of a tab below a place. The last key is handed on even
-- where the filter leaves it out, so that the next page goes on behind it.
-- A filter shows no placeholder: it would say of the thing what the placeholder keeps.
, page AS MATERIALIZED (
    SELECT e.seq, e.thread, e.nth = 1000 AS is_bound, r.readable, t.fits AND (r.readable OR NOT %(filtered)s::boolean) AS matches
    FROM (SELECT s.*, row_number() OVER (ORDER BY s.seq DESC, s.thread DESC) AS nth FROM source s) e
    CROSS JOIN LATERAL (
        SELECT t.id, t.space, e.listed
                   AND (%(reason)s::clarion.reason IS NULL OR e.reason = %(reason)s::clarion.reason)
                   AND (%(space)s::clarion.space_key IS NULL OR t.space = %(space)s::clarion.space_key)
                   AND (%(kind)s::text IS NULL OR t.kind = %(kind)s::text) AS fits
        FROM clarion.thread t WHERE t.id = e.thread LIMIT 1) t
    CROSS JOIN LATERAL (SELECT t.fits AND
        -- include: can_read_thread
        AS readable OFFSET 0) r
    WHERE t.fits AND (r.readable OR NOT %(filtered)s::boolean) OR e.nth = 1000
    ORDER BY e.seq DESC, e.thread DESC LIMIT %(limit)s
)
SELECT i.version, i.unread_count, i.unseen, r.seq AS key_seq, r.thread AS key_thread, r.is_bound,
       coalesce(r.matches, false) AS matches, d.*
FROM (
    -- include: inbox_now
) i
LEFT JOIN page r ON true
LEFT JOIN LATERAL (
    -- include: shown_row
    AND n.thread = r.thread LIMIT 1) d ON r.matches
ORDER BY r.seq DESC, r.thread DESC

-- name: below
-- Fragment: the part of a tab's index that a page may look at.
n.person = %(person)s::clarion.person_key AND (n.seq, n.thread) < (%(before_seq)s::bigint, %(before_thread)s::bigint)
ORDER BY n.seq DESC, n.thread DESC LIMIT 1000

-- name: list_unread
WITH source AS NOT MATERIALIZED (
    SELECT n.seq, n.thread, n.reason, true AS listed
    FROM clarion.unread(%(person)s::clarion.person_key, %(before_seq)s::bigint, %(before_thread)s::bigint, 1000) n
    ORDER BY n.seq DESC, n.thread DESC LIMIT 1000
)
-- include: inbox_page

-- name: list_all
WITH source AS NOT MATERIALIZED (
    SELECT n.seq, n.thread, n.reason, NOT n.hidden AND n.done_at IS NULL AS listed
    FROM clarion.notification n WHERE
    -- include: below
)
-- include: inbox_page

-- name: list_saved
WITH source AS NOT MATERIALIZED (
    SELECT n.seq, n.thread, n.reason, NOT n.hidden AS listed
    FROM clarion.notification n WHERE n.saved_at IS NOT NULL AND
    -- include: below
)
-- include: inbox_page

-- name: list_snoozed
WITH source AS NOT MATERIALIZED (
    SELECT n.seq, n.thread, n.reason, NOT n.hidden AS listed
    FROM clarion.notification n WHERE n.snoozed_until IS NOT NULL AND
    -- include: below
)
-- include: inbox_page

-- name: list_done
WITH source AS NOT MATERIALIZED (
    SELECT n.seq, n.thread, n.reason, NOT n.hidden AS listed
    FROM clarion.notification n WHERE n.done_at IS NOT NULL AND
    -- include: below
)
-- include: inbox_page

-- name: show_row
SELECT d.* FROM (
    -- include: inbox_now
) i
CROSS JOIN LATERAL (
    SELECT r.readable FROM clarion.thread t CROSS JOIN LATERAL (SELECT
        -- include: can_read_thread
        AS readable) r
    WHERE t.id = %(thread)s LIMIT 1) r
CROSS JOIN LATERAL (
    -- include: shown_row
    AND n.thread = %(thread)s LIMIT 1) d

-- name: show_inbox
-- include: inbox_now

-- name: verify_inbox
-- A person's badge against their rows, asked one by one, and against the list (C3).
SELECT coalesce(s.unread_count, 0) AS stored,
       (SELECT count(*) FROM clarion.notification n
        WHERE n.person = p.person AND clarion.is_unread(n, coalesce(s.read_seq, 0))) AS counted,
       (SELECT count(*) FROM clarion.unread(%(person)s::clarion.person_key)) AS listed
FROM (SELECT %(person)s::clarion.person_key AS person) p LEFT JOIN clarion.inbox_state s USING (person)
