-- Taking back exactly one's share: edits, deletions, withdrawals (W12). The people are locked.

-- name: remove_mentions
-- Hits of people whom the posts' texts no longer name. They stay, so that naming them again is silent.
UPDATE clarion.hit h SET removed = true
FROM unnest(%(posts)s::bigint[], %(events)s::bigint[]) AS e(post, event)
WHERE h.post = e.post AND h.kind IN ('mentioned', 'team_mentioned') AND NOT h.removed
  AND h.person = ANY(%(people)s::clarion.person_key[])
  AND NOT EXISTS (
      SELECT 1 FROM unnest(%(named_events)s::bigint[], %(named_people)s::clarion.person_key[]) AS n(event, person)
      WHERE n.event = e.event AND n.person = h.person)
  AND NOT (h.kind = 'team_mentioned' AND EXISTS (
      SELECT 1 FROM unnest(%(team_events)s::bigint[], %(team_ids)s::bigint[]) AS t(event, team)
      JOIN clarion.team_member m ON m.team = t.team
      WHERE t.event = e.event AND m.person = h.person))

-- name: find_hits
-- Whom these posts name or named: an edit may leave their row a weaker reason, a stronger one, or nothing to stand for.
SELECT thread, person FROM clarion.hit WHERE post = ANY(%(posts)s::bigint[]) AND person = ANY(%(people)s::clarion.person_key[])

-- name: remove_roles
-- Assignments and requests of the thread that its rows no longer hold.
UPDATE clarion.hit h SET removed = true
FROM clarion.post p
WHERE p.id = h.post AND p.thread = %(thread)s AND h.kind IN ('assigned', 'review_requested') AND NOT h.removed
  AND h.person = ANY(%(people)s::clarion.person_key[])
  AND NOT (h.kind = 'assigned' AND h.person = ANY(%(assigned)s::clarion.person_key[]))
  AND NOT (h.kind = 'review_requested' AND h.person = ANY(%(review_requested)s::clarion.person_key[]))

-- name: remove_post
-- The post is gone; its stub stays, so that positions keep their meaning.
UPDATE clarion.post SET gone = true WHERE id = %(post)s AND NOT gone

-- name: remove_hits
UPDATE clarion.hit SET removed = true
WHERE post = %(post)s AND NOT removed AND person = ANY(%(people)s::clarion.person_key[])

-- name: settle_rows
-- Look at these people's rows of these threads again: one that stands for nothing goes, unless saved; one that has
-- lost its strongest reason shows the next. Badges follow.
WITH pair AS (
    SELECT DISTINCT * FROM unnest(%(threads)s::bigint[], %(people)s::clarion.person_key[]) AS p(thread, person)
), affected AS MATERIALIZED (
    SELECT n.thread, n.person, n.saved_at IS NOT NULL AS saved, n.reason, clarion.is_unread(n, s.read_seq) AS was_unread,
           EXISTS (SELECT 1 FROM clarion.shown_posts(n)) AS stands,
           (SELECT min(r) FROM (
               SELECT h.kind AS r FROM clarion.shown_posts(n) q
               JOIN clarion.hit h ON h.post = q.id AND h.person = n.person AND NOT h.removed AND NOT h.hidden
               UNION ALL SELECT n.bulk) k) AS now_reason
    FROM pair JOIN clarion.notification n USING (thread, person) JOIN clarion.inbox_state s USING (person)
), dropped AS (
    DELETE FROM clarion.notification n USING affected a
    WHERE n.thread = a.thread AND n.person = a.person AND NOT a.stands AND NOT a.saved
    RETURNING n.person, a.was_unread
), quieted AS (
    UPDATE clarion.notification n SET read_at = clarion.now(), unread_seq = NULL, snoozed_until = NULL FROM affected a
    WHERE n.thread = a.thread AND n.person = a.person AND NOT a.stands AND a.saved AND n.read_at IS NULL
    RETURNING n.person, a.was_unread
), weakened AS (
    UPDATE clarion.notification n SET reason = a.now_reason FROM affected a
    WHERE n.thread = a.thread AND n.person = a.person AND a.stands AND a.now_reason <> a.reason
    RETURNING n.person, false AS was_unread
)
UPDATE clarion.inbox_state s
SET version = s.version + (s.raised_in IS DISTINCT FROM pg_current_xact_id())::integer,
    raised_in = pg_current_xact_id(),
    unread_count = s.unread_count - c.less
FROM (SELECT person, count(*) FILTER (WHERE was_unread) AS less
      FROM (TABLE dropped UNION ALL TABLE quieted UNION ALL TABLE weakened) d GROUP BY person) c
WHERE s.person = c.person

-- name: drop_rows
-- A deleted thread takes its rows along (W15).
WITH dropped AS (
    DELETE FROM clarion.notification n USING clarion.inbox_state s
    WHERE s.person = n.person AND n.thread = %(thread)s AND n.person = ANY(%(people)s::clarion.person_key[])
    RETURNING n.person, clarion.is_unread(n, s.read_seq) AS was_unread
)
UPDATE clarion.inbox_state s
SET version = s.version + (s.raised_in IS DISTINCT FROM pg_current_xact_id())::integer,
    raised_in = pg_current_xact_id(),
    unread_count = s.unread_count - d.was_unread::integer
FROM dropped d WHERE s.person = d.person

-- name: drop_thread
-- The stub of a deleted thread, once nobody has a row in it.
DELETE FROM clarion.thread WHERE id = %(thread)s

-- name: set_hidden
-- `hidden` = may not see: one question, asked again of everything in these threads for these people (ENGINE, 4).
-- What is hidden is read; what comes back comes back as read. A row that stays shows the strongest reason left. One
-- that was saved and has lost its posts is hidden where the thread may not be read, not for want of posts.
WITH pair AS (
    SELECT DISTINCT * FROM unnest(%(threads)s::bigint[], %(people)s::clarion.person_key[]) AS p(thread, person)
), seen AS MATERIALIZED (
    SELECT p.thread, p.person,
           CASE WHEN t.space IS NULL THEN EXISTS (
                    SELECT 1 FROM clarion.hit h WHERE h.person = p.person AND h.thread = p.thread AND NOT h.removed)
                ELSE EXISTS (SELECT 1 FROM clarion.readers r WHERE r.space = t.space AND r.person = p.person) END AS may_read
    FROM pair p JOIN clarion.thread t ON t.id = p.thread
), named AS MATERIALIZED (
    SELECT h.post, h.person, h.kind, h.word, h.thread, h.position, h.removed, h.hidden,
           NOT (seen.may_read
                AND NOT EXISTS (SELECT 1 FROM clarion.block b WHERE b.person = h.person AND b.blocked = h.author)
                AND NOT EXISTS (SELECT 1 FROM clarion.block b WHERE b.person = h.author AND b.blocked = h.person)) AS hide
    FROM seen JOIN clarion.hit h USING (thread, person)
), row AS MATERIALIZED (
    SELECT n.thread, n.person, a.hide, a.hide <> n.hidden AS turns, clarion.is_unread(n, s.read_seq) AS was_unread,
           k.reason
    FROM seen JOIN clarion.notification n USING (thread, person) JOIN clarion.inbox_state s USING (person)
    CROSS JOIN LATERAL (SELECT NOT seen.may_read
        OR NOT EXISTS (SELECT 1 FROM clarion.shown_posts(n)) AND EXISTS (SELECT 1 FROM clarion.shown_posts(n, true)) AS hide) a
    CROSS JOIN LATERAL (
        SELECT CASE WHEN a.hide THEN n.reason ELSE coalesce(least(n.bulk, min(h.kind)), n.reason) END AS reason
        FROM clarion.shown_posts(n) q JOIN named h ON h.post = q.id AND h.person = n.person AND NOT h.removed AND NOT h.hide) k
    WHERE a.hide <> n.hidden OR k.reason <> n.reason
), rows AS (
    UPDATE clarion.notification n
    SET hidden = r.hide, reason = r.reason,
        read_at = CASE WHEN r.turns THEN coalesce(n.read_at, clarion.now()) ELSE n.read_at END,
        unread_seq = CASE WHEN NOT r.turns THEN n.unread_seq END,
        snoozed_until = CASE WHEN NOT r.turns THEN n.snoozed_until END
    FROM row r WHERE n.thread = r.thread AND n.person = r.person
    RETURNING n.person, r.turns AND r.was_unread AS less
), hits AS (
    UPDATE clarion.hit h SET hidden = x.hide, viewed_at = coalesce(h.viewed_at, clarion.now())
    FROM named x
    WHERE (h.post, h.person, h.kind, h.word) = (x.post, x.person, x.kind, x.word) AND h.hidden <> x.hide
    RETURNING h.person
)
UPDATE clarion.inbox_state s
SET version = s.version + (s.raised_in IS DISTINCT FROM pg_current_xact_id())::integer,
    raised_in = pg_current_xact_id(),
    unread_count = s.unread_count - c.less
FROM (SELECT person, count(*) FILTER (WHERE less) AS less
      FROM (TABLE rows UNION ALL SELECT person, false FROM hits) d GROUP BY person) c
WHERE s.person = c.person

-- name: pairs_in_space
-- The threads of a space in which these people have a row or a hit.
SELECT n.thread, n.person FROM clarion.thread t JOIN clarion.notification n ON n.thread = t.id
WHERE t.space = ANY(%(spaces)s::clarion.space_key[]) AND n.person = ANY(%(people)s::clarion.person_key[])
UNION
SELECT h.thread, h.person FROM clarion.hit h JOIN clarion.thread t ON t.id = h.thread
WHERE t.space = ANY(%(spaces)s::clarion.space_key[]) AND h.person = ANY(%(people)s::clarion.person_key[])

-- name: pairs_with_author
-- The threads in which one of two people has a row or a hit and the other has posted.
SELECT n.thread, n.person FROM unnest(%(people)s::clarion.person_key[], %(authors)s::clarion.person_key[]) AS p(person, author)
JOIN clarion.notification n ON n.person = p.person
WHERE EXISTS (SELECT 1 FROM clarion.post q WHERE q.author = p.author AND q.thread = n.thread)
UNION
SELECT h.thread, h.person FROM unnest(%(people)s::clarion.person_key[], %(authors)s::clarion.person_key[]) AS p(person, author)
JOIN clarion.hit h ON h.person = p.person AND h.author = p.author

-- name: move_thread
UPDATE clarion.thread SET space = %(space)s::clarion.space_key WHERE id = %(thread)s AND space IS DISTINCT FROM %(space)s::clarion.space_key
RETURNING id

-- name: end_snooze
-- A snooze that is due ends as unread, on top (I1); one that was put off or done meanwhile does not.
WITH due AS (
    SELECT n.thread, n.person, s.version + (s.raised_in IS DISTINCT FROM pg_current_xact_id())::integer AS seq
    FROM clarion.notification n JOIN clarion.inbox_state s USING (person)
    WHERE n.thread = %(thread)s AND n.person = %(person)s::clarion.person_key AND n.snoozed_until <= clarion.now() AND NOT n.hidden
), woken AS (
    UPDATE clarion.notification n SET snoozed_until = NULL, read_at = NULL, done_at = NULL, unread_seq = NULL, seq = d.seq,
        active_at = clarion.now()
    FROM due d WHERE n.thread = d.thread AND n.person = d.person
)
UPDATE clarion.inbox_state s SET version = d.seq, raised_in = pg_current_xact_id(), unread_count = s.unread_count + 1
FROM due d WHERE s.person = d.person
RETURNING s.person
