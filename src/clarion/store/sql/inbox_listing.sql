-- One person's inbox as it may be shown now (I2, I3, I7). Reads only, one statement and one snapshot each.
-- First the keys of a page, from an index; then what the page's rows say. The LIMIT 1 in each LATERAL is what keeps
-- it so: every row is looked up by itself, whatever the planner thinks of the numbers.

-- name: inbox_now
-- Fragment: the inbox at this moment; of a person without a state row too.
SELECT coalesce(s.version, 0) AS version, coalesce(s.unread_count, 0) AS unread_count, coalesce(s.read_seq, 0) AS read_seq,
       EXISTS (SELECT 1 FROM clarion.unread(%(person)s::clarion.person_key) u WHERE u.seq > s.seen_seq) AS unseen
FROM (SELECT %(person)s::clarion.person_key AS person) p LEFT JOIN clarion.inbox_state s USING (person)

-- name: can_read_thread
-- Fragment: whether the person may read thread t right now (W8); without a space those addressed alone.
CASE WHEN t.space IS NULL THEN coalesce((
         SELECT true FROM clarion.hit h
         WHERE h.person = %(person)s::clarion.person_key AND h.thread = t.id AND NOT h.removed LIMIT 1), false)
     ELSE coalesce((
         SELECT true FROM clarion.readers r
         WHERE r.space = t.space AND r.person = %(person)s::clarion.person_key LIMIT 1), false) END

-- name: heard_posts
-- Fragment: the posts that notification n stands for, without those of people muted before they wrote them, unless
-- they name the person directly (W8).
SELECT q.key, q.kind, q.author, q.position FROM clarion.shown_posts(n) q
WHERE (NOT EXISTS (SELECT 1 FROM clarion.mute m WHERE m.person = n.person AND m.muted = q.author AND m.at <= q.at)
       OR EXISTS (SELECT 1 FROM clarion.hit h
                  WHERE h.person = n.person AND h.thread = n.thread AND h.position = q.position
                    AND h.kind <= 'addressed' AND NOT h.removed))

-- name: shown_row
-- Fragment: what a row shows. Of a thing that may not be read nothing leaves the database (I7).
SELECT n.thread, CASE WHEN r.readable THEN t.key END AS key, CASE WHEN r.readable THEN t.space END AS space,
       CASE WHEN r.readable THEN t.kind END AS thread_kind, CASE WHEN r.readable THEN t.title END AS title,
       CASE WHEN r.readable THEN t.link END AS link, n.reason::text AS reason,
       latest.kind AS latest_kind, latest.author AS actor, a.handle AS actor_handle,
       first.key AS first_unread, coalesce(posts.count, 0) AS posts_unread,
       n.seq, n.active_at, r.unread, n.saved_at IS NOT NULL AS saved, n.done_at IS NOT NULL AS done, n.snoozed_until,
       coalesce(f.subscribed, false) AS subscribed, NOT r.readable AS placeholder
FROM clarion.notification n
JOIN clarion.thread t ON t.id = n.thread
CROSS JOIN LATERAL (SELECT clarion.is_unread(n, i.read_seq) AS unread,
    -- include: can_read_thread
    AS readable) r
LEFT JOIN LATERAL (
    -- include: heard_posts
    ORDER BY q.position DESC LIMIT 1) latest ON r.readable
LEFT JOIN LATERAL (SELECT p.handle FROM clarion.people p WHERE p.id = latest.author LIMIT 1) a ON true
LEFT JOIN LATERAL (
    -- include: heard_posts
    ORDER BY q.position LIMIT 1) first ON r.readable AND r.unread
LEFT JOIN LATERAL (SELECT count(*) AS count FROM (
    -- include: heard_posts
    LIMIT %(max_posts)s) c) posts ON r.readable AND r.unread
LEFT JOIN clarion.thread_person f ON f.thread = n.thread AND f.person = n.person
WHERE n.person = %(person)s::clarion.person_key AND NOT n.hidden

-- name: inbox_page
-- Fragment: a page out of `source`, the keys of a tab in their order. At most a thousand keys are looked at; the
-- thousandth is handed on even where the filter leaves it out, so that the next page goes on behind it.
-- A filter shows no placeholder: it would say of the thing what the placeholder keeps.
, examined AS NOT MATERIALIZED (
    SELECT n.seq, n.thread, n.reason, n.listed, row_number() OVER (ORDER BY n.seq DESC, n.thread DESC) AS nth
    FROM source n
    WHERE (n.seq, n.thread) < (%(before_seq)s::bigint, %(before_thread)s::bigint)
    ORDER BY n.seq DESC, n.thread DESC LIMIT 1000
), page AS MATERIALIZED (
    SELECT e.seq, e.thread, e.nth = 1000 AS is_bound, m.matches
    FROM examined e
    CROSS JOIN LATERAL (
        SELECT e.listed AND CASE WHEN %(filtered)s::boolean THEN
                   (%(reason)s::clarion.reason IS NULL OR e.reason = %(reason)s::clarion.reason)
                   AND (%(space)s::clarion.space_key IS NULL OR t.space = %(space)s::clarion.space_key)
                   AND (%(kind)s::text IS NULL OR t.kind = %(kind)s::text) AND
                   -- include: can_read_thread
               ELSE true END AS matches
        FROM clarion.thread t WHERE t.id = e.thread LIMIT 1) m
    WHERE m.matches OR e.nth = 1000
    ORDER BY e.seq DESC, e.thread DESC LIMIT %(limit)s
)
SELECT i.version, i.unread_count, i.unseen, k.seq AS key_seq, k.thread AS key_thread, k.is_bound, coalesce(k.matches, false) AS matches,
       d.*
FROM (
    -- include: inbox_now
) i
LEFT JOIN page k ON true
LEFT JOIN LATERAL (
    -- include: shown_row
    AND n.thread = k.thread LIMIT 1) d ON k.matches
ORDER BY k.seq DESC, k.thread DESC

-- name: list_unread
WITH source AS NOT MATERIALIZED (
    SELECT n.seq, n.thread, n.reason, true AS listed FROM clarion.unread(%(person)s::clarion.person_key) n
)
-- include: inbox_page

-- name: list_all
WITH source AS NOT MATERIALIZED (
    SELECT n.seq, n.thread, n.reason, NOT n.hidden AND n.done_at IS NULL AS listed
    FROM clarion.notification n WHERE n.person = %(person)s::clarion.person_key
)
-- include: inbox_page

-- name: list_saved
WITH source AS NOT MATERIALIZED (
    SELECT n.seq, n.thread, n.reason, NOT n.hidden AS listed
    FROM clarion.notification n WHERE n.person = %(person)s::clarion.person_key AND n.saved_at IS NOT NULL
)
-- include: inbox_page

-- name: list_snoozed
WITH source AS NOT MATERIALIZED (
    SELECT n.seq, n.thread, n.reason, NOT n.hidden AS listed
    FROM clarion.notification n WHERE n.person = %(person)s::clarion.person_key AND n.snoozed_until IS NOT NULL
)
-- include: inbox_page

-- name: list_done
WITH source AS NOT MATERIALIZED (
    SELECT n.seq, n.thread, n.reason, NOT n.hidden AS listed
    FROM clarion.notification n WHERE n.person = %(person)s::clarion.person_key AND n.done_at IS NOT NULL
)
-- include: inbox_page

-- name: show_row
SELECT d.* FROM (
    -- include: inbox_now
) i
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
