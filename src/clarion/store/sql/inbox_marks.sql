-- Marks on one person's notifications (I1, I4, I5). Always: first lock_inboxes, then the change in a statement of
-- its own, whose snapshot is taken after the lock. In the caller's transaction.

-- name: lock_inboxes
-- Make sure of these people's state rows and lock them, in order: a row that exists is locked, not written.
INSERT INTO clarion.inbox_state AS s (person)
SELECT p FROM unnest(%(people)s::clarion.person_key[]) AS p ORDER BY p
ON CONFLICT (person) DO UPDATE SET version = s.version WHERE false

-- name: get_inbox
-- What a mark must know of the locked inbox, and the time.
SELECT version, unread_count, read_seq, seen_seq, clarion.now() AS now
FROM clarion.inbox_state WHERE person = %(person)s::clarion.person_key

-- name: own_row
-- Fragment: a row of the person's that they can mark, as it was, and the version that this transaction makes.
SELECT n.thread, n.person, s.read_seq, clarion.is_unread(n, s.read_seq) AS was_unread,
       s.version + (s.raised_in IS DISTINCT FROM pg_current_xact_id())::integer AS next
FROM clarion.inbox_state s JOIN clarion.notification n ON n.person = s.person
WHERE s.person = %(person)s::clarion.person_key AND NOT n.hidden

-- name: is_not_read
-- Fragment: a row that reading changes: an unread one, or one that would be when its snooze is taken back.
n.read_at IS NULL AND (n.snoozed_until IS NOT NULL OR clarion.is_unread(n, s.read_seq))

-- name: raise_inbox
-- Fragment: the end of every change of one person's: the badge moves by what `changed` truly changed, the version
-- by one a transaction, neither where nothing did (I6).
, difference AS MATERIALIZED (
    SELECT count(*) AS changed, coalesce(sum(now_unread::integer - was_unread::integer), 0) AS more,
           coalesce(array_agg(thread), '{}') AS threads
    FROM changed
), raised AS (
    UPDATE clarion.inbox_state s
    SET version = s.version + (s.raised_in IS DISTINCT FROM pg_current_xact_id())::integer,
        raised_in = pg_current_xact_id(),
        unread_count = s.unread_count + d.more
    FROM difference d WHERE s.person = %(person)s::clarion.person_key AND d.changed > 0
    RETURNING s.version, s.unread_count
)
SELECT d.changed, d.threads, coalesce(r.version, s.version) AS version, coalesce(r.unread_count, s.unread_count) AS unread_count
FROM difference d CROSS JOIN clarion.inbox_state s LEFT JOIN raised r ON true
WHERE s.person = %(person)s::clarion.person_key

-- name: mark_read
WITH target AS MATERIALIZED (
    -- include: own_row
    AND n.thread = ANY(%(threads)s::bigint[]) AND
    -- include: is_not_read
), changed AS (
    UPDATE clarion.notification n SET read_at = clarion.now(), unread_seq = NULL
    FROM target t WHERE n.thread = t.thread AND n.person = t.person
    RETURNING n.thread, t.was_unread, clarion.is_unread(n, t.read_seq) AS now_unread
)
-- include: raise_inbox

-- name: mark_unread
-- Unread again: done and snooze are over. The number that it gets is above every watermark so far, and its place
-- in the list stays.
WITH target AS MATERIALIZED (
    -- include: own_row
    AND n.thread = ANY(%(threads)s::bigint[]) AND NOT clarion.is_unread(n, s.read_seq)
), changed AS (
    UPDATE clarion.notification n SET read_at = NULL, done_at = NULL, snoozed_until = NULL, unread_seq = t.next
    FROM target t WHERE n.thread = t.thread AND n.person = t.person
    RETURNING n.thread, t.was_unread, clarion.is_unread(n, t.read_seq) AS now_unread
)
-- include: raise_inbox

-- name: mark_done
-- Done, and so read; what is done does not come back by itself.
WITH target AS MATERIALIZED (
    -- include: own_row
    AND n.thread = ANY(%(threads)s::bigint[]) AND n.done_at IS NULL
), changed AS (
    UPDATE clarion.notification n
    SET done_at = clarion.now(), read_at = coalesce(n.read_at, clarion.now()), unread_seq = NULL, snoozed_until = NULL
    FROM target t WHERE n.thread = t.thread AND n.person = t.person
    RETURNING n.thread, t.was_unread, clarion.is_unread(n, t.read_seq) AS now_unread
)
-- include: raise_inbox

-- name: mark_not_done
-- Back among the others, as read.
WITH target AS MATERIALIZED (
    -- include: own_row
    AND n.thread = ANY(%(threads)s::bigint[]) AND n.done_at IS NOT NULL
), changed AS (
    UPDATE clarion.notification n SET done_at = NULL
    FROM target t WHERE n.thread = t.thread AND n.person = t.person
    RETURNING n.thread, t.was_unread, clarion.is_unread(n, t.read_seq) AS now_unread
)
-- include: raise_inbox

-- name: mark_saved
WITH target AS MATERIALIZED (
    -- include: own_row
    AND n.thread = ANY(%(threads)s::bigint[]) AND n.saved_at IS NULL
), changed AS (
    UPDATE clarion.notification n SET saved_at = clarion.now()
    FROM target t WHERE n.thread = t.thread AND n.person = t.person
    RETURNING n.thread, t.was_unread, clarion.is_unread(n, t.read_seq) AS now_unread
)
-- include: raise_inbox

-- name: mark_unsaved
-- A row that stands for nothing any more stayed only because it was saved: it goes (W12).
WITH target AS MATERIALIZED (
    SELECT o.*, EXISTS (SELECT 1 FROM clarion.shown_posts(n)) AS stands
    FROM (
        -- include: own_row
        AND n.thread = ANY(%(threads)s::bigint[]) AND n.saved_at IS NOT NULL
    ) o JOIN clarion.notification n USING (thread, person)
), kept AS (
    UPDATE clarion.notification n SET saved_at = NULL
    FROM target t WHERE n.thread = t.thread AND n.person = t.person AND t.stands
    RETURNING n.thread, t.was_unread, clarion.is_unread(n, t.read_seq) AS now_unread
), dropped AS (
    DELETE FROM clarion.notification n
    USING target t WHERE n.thread = t.thread AND n.person = t.person AND NOT t.stands
    RETURNING n.thread, t.was_unread, false AS now_unread
), changed AS (
    TABLE kept UNION ALL TABLE dropped
)
-- include: raise_inbox

-- name: mark_snoozed
-- Away until a time; read, done and saved stay what they are.
WITH target AS MATERIALIZED (
    -- include: own_row
    AND n.thread = ANY(%(threads)s::bigint[]) AND n.snoozed_until IS DISTINCT FROM %(until)s::timestamptz
), changed AS (
    UPDATE clarion.notification n SET snoozed_until = %(until)s::timestamptz
    FROM target t WHERE n.thread = t.thread AND n.person = t.person
    RETURNING n.thread, t.was_unread, clarion.is_unread(n, t.read_seq) AS now_unread
)
-- include: raise_inbox

-- name: find_thread_keys
SELECT key FROM clarion.thread WHERE id = ANY(%(threads)s::bigint[]) ORDER BY id

-- name: count_read_through
-- The number that stands for an instant: just below the first row that became active after it; without such a row
-- the version. Rows are numbered as their transactions commit and timed as they start, so the two orders differ by
-- as long as a transaction lasts: the search goes on through an hour before the instant, and reads nothing older.
WITH old AS MATERIALIZED (
    SELECT n.seq FROM clarion.notification n
    WHERE n.person = %(person)s::clarion.person_key AND n.active_at <= %(instant)s::timestamptz - interval '1 hour'
    ORDER BY n.seq DESC LIMIT 1
)
SELECT coalesce(min(n.seq) - 1, %(version)s::bigint) AS cutoff FROM clarion.notification n
WHERE n.person = %(person)s::clarion.person_key
  AND n.seq > coalesce((SELECT seq FROM old), 0) AND n.seq <= %(version)s::bigint AND n.active_at > %(instant)s::timestamptz

-- name: set_watermark
-- Everything up to the cutoff is read, if anything up to it is unread; one row is written (I4).
UPDATE clarion.inbox_state s
SET version = s.version + (s.raised_in IS DISTINCT FROM pg_current_xact_id())::integer,
    raised_in = pg_current_xact_id(), read_seq = %(cutoff)s::bigint
WHERE s.person = %(person)s::clarion.person_key AND s.read_seq < %(cutoff)s::bigint
  AND EXISTS (SELECT 1 FROM clarion.unread(%(person)s::clarion.person_key, below_seq => %(cutoff)s::bigint + 1, below_thread => 0) u
              WHERE coalesce(u.unread_seq, 0) <= %(cutoff)s::bigint)
RETURNING s.version

-- name: restore_watermark
-- Take a mark-all back, unless a later one stands.
UPDATE clarion.inbox_state s
SET version = s.version + (s.raised_in IS DISTINCT FROM pg_current_xact_id())::integer,
    raised_in = pg_current_xact_id(), read_seq = %(before)s::bigint
WHERE s.person = %(person)s::clarion.person_key AND s.read_seq = %(after)s::bigint
RETURNING s.version

-- name: recount_unread
-- The badge after the watermark moved: what is unread above it.
UPDATE clarion.inbox_state s
SET unread_count = (SELECT count(*) FROM clarion.unread(%(person)s::clarion.person_key))
WHERE s.person = %(person)s::clarion.person_key
RETURNING s.version, s.unread_count

-- name: find_unread_in_space
-- Of the next thousand unread rows behind a cursor those that a mark of this space means, and the last key looked at.
WITH examined AS MATERIALIZED (
    SELECT n.thread, n.seq, n.unread_seq
    FROM clarion.unread(%(person)s::clarion.person_key, %(before_seq)s::bigint, %(before_thread)s::bigint, 1000) n
    ORDER BY n.seq DESC, n.thread DESC LIMIT 1000
)
SELECT count(*) = 1000 AS more, min(e.seq) AS seq, (array_agg(e.thread ORDER BY e.seq, e.thread))[1] AS thread,
       coalesce(array_agg(e.thread) FILTER (
           WHERE t.space = %(space)s::clarion.space_key AND coalesce(e.unread_seq, 0) <= %(cutoff)s::bigint), '{}') AS threads
FROM examined e JOIN clarion.thread t ON t.id = e.thread

-- name: mark_seen
-- The panel was opened and showed this version: only grows, and only where something came since the last time.
UPDATE clarion.inbox_state s
SET version = s.version + (s.raised_in IS DISTINCT FROM pg_current_xact_id())::integer,
    raised_in = pg_current_xact_id(), seen_seq = %(shown)s::bigint
WHERE s.person = %(person)s::clarion.person_key AND s.seen_seq < %(shown)s::bigint
  AND EXISTS (SELECT 1 FROM clarion.notification n
              WHERE n.person = s.person AND n.seq > s.seen_seq AND n.seq <= %(shown)s::bigint)
RETURNING s.version, s.unread_count

-- name: read_ahead
-- Events of the thread that wait to be handled are read already: their handling will not make them unread (I5).
-- With a post only its own events and, while it has no place in the thread yet, those before them. Locks the events before the person, as relays do;
-- one that a relay is handling is waited for.
INSERT INTO clarion.read_ahead (event, person)
SELECT e.id, %(person)s::clarion.person_key
FROM (SELECT e.id FROM clarion.outbox_event e
      WHERE e.state = 'waiting' AND e.consumer = 'notifier' AND e.thread_key = clarion.first_key(%(thread)s) AND e.type <> 'snooze.ended'
        AND (%(post)s::text IS NULL OR e.post_key = %(post)s OR e.id < (
            SELECT min(p.id) FROM clarion.outbox_event p
            WHERE p.state = 'waiting' AND p.thread_key = clarion.first_key(%(thread)s) AND p.post_key = %(post)s
              AND NOT EXISTS (SELECT 1 FROM clarion.post known WHERE known.key = %(post)s)))
      ORDER BY e.id FOR KEY SHARE) e
ON CONFLICT DO NOTHING

-- name: find_thread_of_post
-- The key of a post's thread, from our stub, else from our own content where its event is not handled yet.
SELECT t.key FROM clarion.post p JOIN clarion.thread t ON t.id = p.thread WHERE p.key = %(post)s
UNION ALL
SELECT t.key FROM clarion.content_post p JOIN clarion.content_thread t ON t.id = p.thread WHERE p.key = %(post)s
LIMIT 1

-- name: find_position
-- A thread, and how far it goes or at which place it has a post; none where no event of it was handled yet.
SELECT t.id AS thread, CASE WHEN %(post)s::text IS NULL THEN t.head ELSE p.position END AS position
FROM clarion.thread t LEFT JOIN clarion.post p ON p.thread = t.id AND p.key = %(post)s
WHERE t.key = clarion.first_key(%(thread)s) AND (%(post)s::text IS NULL OR p.id IS NOT NULL)

-- name: keep_position
-- How far the person has read, which only grows.
INSERT INTO clarion.thread_person AS p (thread, person, subscribed, read_position)
SELECT t.id, %(person)s::clarion.person_key, false, %(position)s
FROM (SELECT id FROM clarion.thread WHERE id = %(thread)s FOR KEY SHARE) t
ON CONFLICT (thread, person) DO UPDATE SET read_position = excluded.read_position
WHERE p.read_position < excluded.read_position

-- name: read_up_to
-- The row is read as far as a position: what is left of it begins behind, and with nothing left it is read (I5).
WITH target AS MATERIALIZED (
    SELECT o.*, EXISTS (SELECT 1 FROM clarion.shown_posts(n) q WHERE q.position > %(position)s) AS more
    FROM (
        -- include: own_row
        AND n.thread = %(thread)s AND n.first_unread <= %(position)s AND
        -- include: is_not_read
    ) o JOIN clarion.notification n USING (thread, person)
), changed AS (
    UPDATE clarion.notification n
    SET first_unread = CASE WHEN t.more THEN %(position)s + 1 ELSE n.first_unread END,
        read_at = CASE WHEN NOT t.more THEN clarion.now() END,
        unread_seq = CASE WHEN t.more THEN n.unread_seq END
    FROM target t WHERE n.thread = t.thread AND n.person = t.person
    RETURNING n.thread, t.was_unread, clarion.is_unread(n, t.read_seq) AS now_unread
)
-- include: raise_inbox
