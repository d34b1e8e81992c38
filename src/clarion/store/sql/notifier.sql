-- Who hears, and what is written for them (W). In the relay's transaction, after its claim.
-- Lock order: spaces, threads, people, the rest; each level once a batch (ENGINE, 2).

-- name: find_threads
-- Our stubs of these threads, unlocked: which spaces to lock first.
SELECT key, id, space FROM clarion.thread WHERE key = ANY(%(keys)s::text[])

-- name: ensure_spaces
-- Stubs for spaces met for the first time.
INSERT INTO clarion.space (id)
SELECT DISTINCT s FROM unnest(%(spaces)s::clarion.space_key[]) AS s ORDER BY s
ON CONFLICT DO NOTHING

-- name: share_spaces
-- Fan-outs share a space; what changes it as a whole waits for them, and they for it (W15).
SELECT id FROM clarion.space WHERE id = ANY(%(spaces)s::clarion.space_key[]) ORDER BY id FOR SHARE

-- name: take_spaces
-- Alone with these spaces: no fan-out in them is under way.
SELECT id FROM clarion.space WHERE id = ANY(%(spaces)s::clarion.space_key[]) ORDER BY id FOR UPDATE

-- name: ensure_threads
-- Stubs for threads met for the first time.
INSERT INTO clarion.thread (key, space, kind, title, link)
SELECT t.key, t.space, t.kind, t.title, t.link
FROM unnest(%(keys)s::text[], %(spaces)s::clarion.space_key[], %(kinds)s::text[], %(titles)s::text[], %(links)s::text[])
     AS t(key, space, kind, title, link)
ORDER BY t.key
ON CONFLICT DO NOTHING

-- name: lock_threads
-- Lock the threads of a batch; one that another relay holds is left out, its events go back for a moment.
SELECT id, key, space FROM clarion.thread WHERE key = ANY(%(keys)s::text[])
ORDER BY id FOR NO KEY UPDATE SKIP LOCKED

-- name: find_overtaking
-- Of these events those before which another of their thread still waits elsewhere: whom it subscribes hears of the
-- later ones (W9), so they come after it. One that has failed, or that nobody here knows, is not waited for (O7).
SELECT t.event FROM unnest(%(events)s::bigint[], %(keys)s::text[]) AS t(event, key)
WHERE EXISTS (
    SELECT 1 FROM clarion.outbox_event e
    WHERE e.state = 'waiting' AND e.thread_key = t.key AND e.consumer = %(consumer)s AND e.id < t.event
      AND e.id <> ALL(%(events)s::bigint[]) AND e.attempts = 0 AND e.type = ANY(%(types)s::text[])
      AND e.available_at < clarion.now() + interval '1 second')

-- name: update_threads
-- What a thread is called and where it leads, as its rows say now.
UPDATE clarion.thread t SET title = n.title, link = n.link, kind = n.kind
FROM unnest(%(threads)s::bigint[], %(titles)s::text[], %(links)s::text[], %(kinds)s::text[]) AS n(id, title, link, kind)
WHERE t.id = n.id AND (t.title, t.link, t.kind) IS DISTINCT FROM (n.title, n.link, n.kind)

-- name: record_posts
-- Give each post a position in its thread, in the order given, and mark as announced those whose creation
-- this is. `fresh`: not announced before. The threads are locked, so nobody else gives positions (ENGINE, 4).
WITH given AS (
    SELECT DISTINCT ON (g.key) g.* FROM unnest(%(threads)s::bigint[], %(keys)s::text[], %(kinds)s::text[], %(authors)s::clarion.person_key[],
                           %(announce)s::boolean[], %(written_at)s::timestamptz[])
         WITH ORDINALITY AS g(thread, key, kind, author, announce, at, ordinal)
    ORDER BY g.key, g.announce DESC, g.ordinal
), known AS (
    SELECT p.id, p.key, p.position, p.announced FROM clarion.post p JOIN given g USING (key)
), placed AS (
    INSERT INTO clarion.post (thread, position, key, kind, author, announced, at)
    SELECT g.thread, t.head + row_number() OVER (PARTITION BY g.thread ORDER BY g.ordinal), g.key, g.kind, g.author,
           g.announce, g.at
    FROM given g JOIN clarion.thread t ON t.id = g.thread
    WHERE g.key NOT IN (SELECT key FROM known)
    RETURNING id, thread, key, position, announced
), heads AS (
    UPDATE clarion.thread t SET head = p.head
    FROM (SELECT thread, max(position) AS head FROM placed GROUP BY thread) p WHERE t.id = p.thread
), announced AS (
    UPDATE clarion.post p SET announced = true
    FROM known k JOIN given g USING (key) WHERE p.id = k.id AND g.announce AND NOT k.announced
)
SELECT key, id, position, announced AS fresh FROM placed
UNION ALL
SELECT k.key, k.id, k.position, g.announce AND NOT k.announced FROM known k JOIN given g USING (key)

-- name: find_people
-- People by folded handle, and by one that they gave up within 30 days, with when that was (W17).
SELECT handle_folded AS handle, id AS person, NULL::timestamptz AS until
FROM clarion.people WHERE handle_folded = ANY(%(handles)s::text[])
UNION ALL
SELECT f.handle_folded, f.person, f.given_up_at FROM clarion.former_handle f
WHERE f.handle_folded = ANY(%(handles)s::text[]) AND f.given_up_at > clarion.now() - interval '30 days'
ORDER BY until

-- name: find_teams
-- The teams of a space's own organisation that a member of it may mention (W3).
SELECT i.ordinal, t.id AS team
FROM unnest(%(spaces)s::clarion.space_key[], %(authors)s::clarion.person_key[], %(organisations)s::text[], %(teams)s::text[])
     WITH ORDINALITY AS i(space, author, organisation, team, ordinal)
JOIN clarion.content_space s ON s.id = i.space
JOIN clarion.organisation o ON o.id = s.organisation AND o.handle_folded = i.organisation
JOIN clarion.team t ON t.organisation = o.id AND t.handle_folded = i.team
WHERE EXISTS (SELECT 1 FROM clarion.organisation_member m WHERE m.organisation = o.id AND m.person = i.author)

-- name: happenings
-- The happenings of a batch, and whom their texts and rows name: fragments shared by every statement below.
happening AS MATERIALIZED (
    SELECT * FROM unnest(%(events)s::bigint[], %(threads)s::bigint[], %(spaces)s::clarion.space_key[],
                         %(actors)s::clarion.person_key[], %(posts)s::bigint[], %(positions)s::integer[],
                         %(last_positions)s::integer[], %(bulks)s::boolean[], %(housekeepings)s::boolean[], %(subscribes)s::text[],
                         %(cursors)s::clarion.person_key[])
        AS h(event, thread, space, actor, post, position, last, bulk, housekeeping, subscribes, cursor)
), named AS MATERIALIZED (
    SELECT * FROM unnest(%(named_events)s::bigint[], %(named_people)s::clarion.person_key[],
                         %(named_reasons)s::clarion.reason[], %(named_posts)s::bigint[], %(named_positions)s::integer[])
        AS n(event, person, reason, post, position)
), teams AS MATERIALIZED (
    SELECT * FROM unnest(%(team_events)s::bigint[], %(team_ids)s::bigint[], %(team_posts)s::bigint[], %(team_positions)s::integer[])
        AS t(event, team, post, position)
)

-- name: find_candidates
-- plan: each time
-- A superset of those who may hear, of those whom an edit no longer names, and of those who acted: (event, person)
-- in order of person, behind each event's cursor, at most `limit` an event from each source but the named.
WITH
-- include: happenings
SELECT event, person FROM (
    SELECT h.event, n.person FROM named n JOIN happening h USING (event) WHERE h.cursor IS NULL OR n.person > h.cursor
    UNION
    SELECT h.event, c.person
    FROM happening h CROSS JOIN LATERAL (
        (SELECT m.person FROM teams t JOIN clarion.team_member m ON m.team = t.team
         WHERE t.event = h.event AND (h.cursor IS NULL OR m.person > h.cursor)
         ORDER BY m.person LIMIT %(limit)s)
        UNION
        (SELECT p.person FROM clarion.thread_person p
         WHERE p.thread = h.thread AND p.subscribed AND h.bulk AND (h.cursor IS NULL OR p.person > h.cursor)
         ORDER BY p.person LIMIT %(limit)s)
        UNION
        (SELECT w.person FROM clarion.watch w
         WHERE w.space = h.space AND w.level = 'all' AND h.bulk AND (h.cursor IS NULL OR w.person > h.cursor)
         ORDER BY w.person LIMIT %(limit)s)
        UNION
        (SELECT x.person FROM clarion.hit x
         WHERE x.post = h.post AND (h.cursor IS NULL OR x.person > h.cursor)
         ORDER BY x.person LIMIT %(limit)s)
        UNION
        SELECT h.actor
        WHERE h.subscribes IS NOT NULL AND h.actor IS NOT NULL AND (h.cursor IS NULL OR h.actor > h.cursor)
    ) c
) s
ORDER BY person, event

-- name: ensure_inboxes
-- A state row for people met for the first time, in order.
INSERT INTO clarion.inbox_state (person)
SELECT p FROM unnest(%(people)s::clarion.person_key[]) AS p
WHERE NOT EXISTS (SELECT 1 FROM clarion.inbox_state s WHERE s.person = p)
ORDER BY p
ON CONFLICT DO NOTHING

-- name: lock_people
-- People are locked, in order, before they are judged; what is theirs changes under this lock only.
SELECT person FROM clarion.inbox_state WHERE person = ANY(%(people)s::clarion.person_key[])
ORDER BY person FOR NO KEY UPDATE

-- name: audience
-- THE JUDGEMENT: candidates with their reasons, and every rule a named boolean column. The notifier writes for
-- those where all hold; `why` shows one person's columns. Every source is bounded by `= ANY(people)`, which goes down
-- into the branches of any view: a host's readers are looked up, never read through.
wanted AS MATERIALIZED (
    SELECT p.person, q.id IS NOT NULL AS known, coalesce(q.active, false) AS active, coalesce(o.own, false) AS own,
           coalesce(o.housekeeping, false) AS housekeeping, coalesce(s.read_seq, 0) AS read_seq,
           coalesce(s.version, 0) + (s.raised_in IS DISTINCT FROM pg_current_xact_id_if_assigned())::integer AS next_version
    FROM unnest(%(people)s::clarion.person_key[]) AS p(person)
    LEFT JOIN clarion.people q ON q.id = p.person
        AND q.id = ANY(%(people)s::clarion.person_key[])
    LEFT JOIN clarion.choice o ON o.person = p.person
    LEFT JOIN clarion.inbox_state s ON s.person = p.person
        AND s.person = ANY(%(people)s::clarion.person_key[])
), watching AS MATERIALIZED (
    SELECT h.event, x.person, x.level, h.bulk, h.position
    FROM happening h JOIN clarion.watch x ON x.space = h.space
        AND x.person = ANY(%(people)s::clarion.person_key[])
), following AS MATERIALIZED (
    SELECT h.event, x.person, x.why, x.unsubscribed_at, h.position,
           h.bulk AND x.subscribed AND coalesce(h.position > x.since, true) AS hears
    FROM happening h JOIN clarion.thread_person x ON x.thread = h.thread
        AND x.person = ANY(%(people)s::clarion.person_key[])
), source AS (
    SELECT n.event, n.person, n.reason, n.position FROM named n JOIN wanted USING (person)
    UNION ALL
    SELECT t.event, m.person, 'team_mentioned', t.position
    FROM teams t JOIN clarion.team_member m ON m.team = t.team JOIN wanted USING (person)
    UNION ALL
    SELECT f.event, f.person, CASE f.why WHEN 'author' THEN 'author' ELSE 'subscribed' END::clarion.reason, f.position
    FROM following f WHERE f.hears
    UNION ALL
    SELECT x.event, x.person, 'watching', x.position FROM watching x WHERE x.bulk AND x.level = 'all'
), candidate AS MATERIALIZED (
    SELECT s.event, s.person, min(s.reason) AS reason, min(s.reason) FILTER (WHERE s.reason >= 'author') AS bulk,
           min(s.position) AS first_position,
           greatest(max(s.position), max(h.last) FILTER (WHERE s.reason >= 'author')) AS last_position
    FROM source s JOIN happening h USING (event)
    WHERE h.cursor IS NULL OR s.person > h.cursor  -- another event of the batch may bring those of a chunk before
    GROUP BY s.event, s.person
), reader AS MATERIALIZED (
    SELECT DISTINCT r.space, r.person
    FROM (SELECT DISTINCT space FROM happening) h JOIN clarion.readers r ON r.space = h.space
        AND r.person = ANY(%(people)s::clarion.person_key[])
), stop AS MATERIALIZED (
    SELECT event, person, bool_or(what = 'apart') AS apart, bool_or(what = 'muting') AS muting,
           bool_or(what = 'told') AS told, bool_or(what = 'read') AS read
    FROM (
        SELECT h.event, b.person, 'apart' AS what FROM happening h JOIN clarion.block b ON b.blocked = h.actor
        UNION ALL
        SELECT h.event, b.blocked, 'apart' FROM happening h JOIN clarion.block b ON b.person = h.actor
        UNION ALL
        SELECT h.event, m.person, 'muting' FROM happening h JOIN clarion.mute m ON m.muted = h.actor
        UNION ALL
        SELECT h.event, x.person, 'told' FROM happening h JOIN clarion.hit x ON x.post = h.post
        WHERE x.told_at IS NOT NULL OR NOT h.bulk
        UNION ALL
        SELECT h.event, a.person, 'read' FROM happening h JOIN clarion.read_ahead a ON a.event = h.event
    ) s
    WHERE s.person = ANY(%(people)s::clarion.person_key[])
    GROUP BY event, person
), judged AS MATERIALIZED (
    SELECT c.event, c.person, c.reason, c.bulk, c.first_position, c.last_position, h.thread, h.space, h.actor,
           w.active AS is_active,
           h.actor IS DISTINCT FROM c.person OR w.own AS is_not_own,
           x.level IS DISTINCT FROM 'ignore' AS is_not_ignoring,
           CASE WHEN h.space IS NULL THEN c.reason <= 'addressed' ELSE r.person IS NOT NULL END AS can_read,
           s.apart IS NOT TRUE AS is_not_blocked,
           c.reason <= 'addressed' OR s.muting IS NOT TRUE AS is_not_muted,
           c.reason <= 'addressed' OR f.unsubscribed_at IS NULL AS is_not_unsubscribed,
           NOT h.housekeeping OR w.housekeeping AS wants_housekeeping,
           s.told IS NOT TRUE AS is_news,
           s.read IS NOT TRUE AS is_not_read
    FROM candidate c
    JOIN happening h USING (event)
    JOIN wanted w USING (person)
    LEFT JOIN watching x USING (event, person)
    LEFT JOIN following f USING (event, person)
    LEFT JOIN stop s USING (event, person)
    LEFT JOIN reader r ON r.space = h.space AND r.person = c.person
)

-- name: follow_threads
-- plan: each time
-- Opening, commenting, reviewing, being mentioned, assigned or asked for review subscribes, if the person may hear;
-- an explicit unsubscribe outlasts it (W9, W10). They follow what comes after the event that subscribed them, be it an
-- edit of an old post, so that a batch ends as its events one by one would. Before write_notifications, for those
-- named and those who acted.
WITH
-- include: happenings
,
-- include: audience
INSERT INTO clarion.thread_person AS p (thread, person, subscribed, why, since)
SELECT DISTINCT ON (f.thread, f.person) f.thread, f.person, true, f.why,
       (SELECT max(h.position) FROM happening h WHERE h.thread = f.thread AND h.event <= f.event)
FROM (SELECT j.event, j.thread, j.person, j.reason::text AS why, 2 AS rank FROM judged j
      WHERE j.reason IN ('assigned', 'review_requested', 'mentioned')
        AND j.is_active AND j.can_read AND j.is_not_blocked AND j.is_not_own AND j.space IS NOT NULL
      UNION ALL
      SELECT h.event, h.thread, h.actor, h.subscribes, 1 FROM happening h
      JOIN wanted w ON w.person = h.actor AND w.active
      JOIN reader r ON r.space = h.space AND r.person = h.actor
      WHERE h.subscribes IS NOT NULL) f
ORDER BY f.thread, f.person, f.event, f.rank
ON CONFLICT (thread, person) DO UPDATE SET subscribed = true, why = excluded.why, since = excluded.since
WHERE NOT p.subscribed AND p.unsubscribed_at IS NULL

-- name: write_notifications
-- plan: each time
-- Judge and write, in one snapshot taken after the locks: notifications, badges, versions and hits of one batch.
-- Returns how many notifications were written, by reason.
WITH
-- include: happenings
,
-- include: audience
, told AS MATERIALIZED (
    SELECT event, person, reason, bulk, first_position, last_position, thread FROM judged
    WHERE is_active AND is_not_own AND is_not_ignoring AND can_read AND is_not_blocked AND is_not_muted
      AND is_not_unsubscribed AND wants_housekeeping AND is_news AND is_not_read
), bump AS MATERIALIZED (
    SELECT t.thread, t.person, min(t.reason) AS reason, min(t.bulk) AS bulk,
           min(t.first_position) AS first_position, max(t.last_position) AS last_position
    FROM told t GROUP BY t.thread, t.person
), row AS MATERIALIZED (
    SELECT b.thread, b.person, w.next_version AS seq,
           coalesce(b.bulk, CASE WHEN k.keeps THEN n.bulk END) AS bulk,
           CASE WHEN k.keeps THEN least(b.reason, n.reason) ELSE b.reason END AS reason,
           CASE WHEN k.keeps THEN least(b.first_position, n.first_unread) ELSE b.first_position END AS first_unread,
           greatest(b.last_position, CASE WHEN k.keeps THEN n.last END) AS last,
           n.thread IS NULL AS is_first, u.was_unread
    FROM bump b
    JOIN wanted w USING (person)
    LEFT JOIN clarion.notification n ON n.thread = b.thread AND n.person = b.person
    CROSS JOIN LATERAL (SELECT n.thread IS NOT NULL AND clarion.is_unread(n, w.read_seq) AS was_unread) u
    -- What was snoozed comes back with all that it stood for, whether the snooze or the activity ends it (O12, I1).
    CROSS JOIN LATERAL (SELECT u.was_unread OR n.snoozed_until IS NOT NULL AND NOT n.hidden AS keeps) k
), inserted AS (
    INSERT INTO clarion.notification (thread, person, seq, reason, bulk, first_unread, last)
    SELECT thread, person, seq, reason, bulk, first_unread, last FROM row WHERE is_first ORDER BY person, thread
), bumped AS (
    UPDATE clarion.notification n
    SET seq = r.seq, reason = r.reason, bulk = r.bulk, first_unread = r.first_unread, last = r.last,
        active_at = clarion.now(), unread_seq = NULL, read_at = NULL, done_at = NULL, snoozed_until = NULL, hidden = false
    FROM row r WHERE NOT r.is_first AND n.thread = r.thread AND n.person = r.person
), raised AS (
    UPDATE clarion.inbox_state s
    SET version = r.seq, raised_in = pg_current_xact_id(), unread_count = s.unread_count + r.more
    FROM (SELECT person, seq, count(*) FILTER (WHERE NOT was_unread) AS more FROM row GROUP BY person, seq) r
    WHERE s.person = r.person
), hits AS (
    INSERT INTO clarion.hit AS x (post, person, kind, thread, position, author, told_at, hidden)
    SELECT DISTINCT ON (n.post, n.person, n.reason) n.post, n.person, n.reason, h.thread, n.position, h.actor,
           CASE WHEN t.person IS NOT NULL THEN clarion.now() END,
           NOT coalesce(j.can_read AND j.is_not_blocked, false)
    FROM (SELECT event, person, reason, post, position FROM named
          UNION ALL
          SELECT t.event, m.person, 'team_mentioned', t.post, t.position
          FROM teams t JOIN clarion.team_member m ON m.team = t.team
          WHERE NOT EXISTS (SELECT 1 FROM named n WHERE n.event = t.event AND n.person = m.person)) n
    JOIN (SELECT person FROM wanted WHERE known) w USING (person)
    JOIN happening h USING (event)
    LEFT JOIN judged j USING (event, person)
    LEFT JOIN told t USING (event, person)
    WHERE h.cursor IS NULL OR n.person > h.cursor
    ORDER BY n.post, n.person, n.reason
    ON CONFLICT (post, person, kind, word) DO UPDATE SET removed = false, told_at = coalesce(x.told_at, excluded.told_at)
)
SELECT reason::text, count(*) AS count FROM row GROUP BY reason

-- name: judge_person
-- plan: each time
-- What the rules say now of these happenings and people: the same judgement, shown instead of written (W16).
WITH
-- include: happenings
,
-- include: audience
SELECT * FROM judged ORDER BY event, person

-- name: get_handle
SELECT (SELECT handle FROM clarion.people WHERE id = %(person)s::clarion.person_key) AS handle

-- name: recorded
-- What stands written for a person about a thread and one post of it, in words (W16).
SELECT said FROM (
    SELECT 1 AS rank, format('named in the post as %%s, %%s%%s', h.kind,
               CASE WHEN h.told_at IS NULL THEN 'not told' ELSE 'told at ' || to_char(h.told_at, 'YYYY-MM-DD HH24:MI:SS') END,
               CASE WHEN h.removed THEN ', taken back since' WHEN h.hidden THEN ', hidden since' ELSE '' END) AS said
    FROM clarion.hit h JOIN clarion.post p ON p.id = h.post
    WHERE p.key = %(post)s AND h.person = %(person)s::clarion.person_key
    UNION ALL
    SELECT 2, format('has a notification for the thread as %%s, %%s', n.reason,
               CASE WHEN n.hidden THEN 'hidden' WHEN n.done_at IS NOT NULL THEN 'done'
                    WHEN clarion.is_unread(n, s.read_seq) THEN 'unread' ELSE 'read' END)
    FROM clarion.notification n JOIN clarion.thread t ON t.id = n.thread JOIN clarion.inbox_state s USING (person)
    WHERE t.key = %(thread)s AND n.person = %(person)s::clarion.person_key
    UNION ALL
    SELECT 3, CASE WHEN p.subscribed THEN 'follows the thread: ' || p.why ELSE 'unsubscribed from the thread' END
    FROM clarion.thread_person p JOIN clarion.thread t ON t.id = p.thread
    WHERE t.key = %(thread)s AND p.person = %(person)s::clarion.person_key AND (p.subscribed OR p.unsubscribed_at IS NOT NULL)
) r ORDER BY rank, said
