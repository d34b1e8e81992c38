-- The outbox and its relays (O). Row locks are the lease: they end with the process that holds them.

-- name: claim_events
-- Lock a batch of due events of known types, oldest first, passing over what others hold. The lock lets a mark
-- refer to the event meanwhile (read_ahead): that one holds a person whom the batch may be waiting for.
SELECT id, type, actor, thread_key, post_key, space, keys, created_at, attempts, alone, cursor, available_at
FROM clarion.outbox_event
WHERE state = 'waiting' AND consumer = %(consumer)s AND alone = %(alone)s
  AND available_at >= %(from_due)s AND available_at <= clarion.now()
  AND type = ANY(%(types)s)
ORDER BY consumer, alone, available_at, id
LIMIT %(limit)s
FOR NO KEY UPDATE SKIP LOCKED

-- name: write_note
-- Say what this relay is about to handle, on its second connection.
INSERT INTO clarion.relay_note (events, relay) VALUES (%(events)s, %(relay)s)

-- name: find_dead_notes
-- Notes that name events which we hold now: whoever wrote them is dead (O6). Asked after the claim, in a
-- snapshot of its own, so that a note of the relay which just let go is gone.
SELECT id, events, relay FROM clarion.relay_note WHERE events && %(events)s::bigint[]

-- name: delete_notes
-- The notes of dead relays, once their events are arranged for.
DELETE FROM clarion.relay_note WHERE id = ANY(%(notes)s)

-- name: withdraw_notes
-- A relay's own note: its batch is over, well or badly. Never waits for its own other connection.
DELETE FROM clarion.relay_note
WHERE id IN (SELECT id FROM clarion.relay_note WHERE relay = %(relay)s FOR UPDATE SKIP LOCKED)

-- name: set_alone
-- What a dead relay held is handled alone from now on; no attempt is counted. What another relay holds by now it
-- arranges itself.
UPDATE clarion.outbox_event SET alone = true
WHERE id IN (
    SELECT id FROM clarion.outbox_event
    WHERE id = ANY(%(events)s) AND NOT alone AND state = 'waiting'
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)

-- name: charge_event
-- One attempt more, and what went wrong; after the fifth the event is set aside. Once for an attempt.
UPDATE clarion.outbox_event
SET attempts = least(attempts + 1, %(max_attempts)s),
    alone = true,
    last_error = left(%(error)s, 4000),
    available_at = clarion.now() + make_interval(secs => %(delay)s),
    state = CASE WHEN attempts + 1 >= %(max_attempts)s THEN 'set_aside' ELSE state END,
    settled_at = CASE WHEN attempts + 1 >= %(max_attempts)s THEN clarion.now() END
WHERE id = %(event)s AND state = 'waiting' AND attempts = %(attempts)s
RETURNING attempts, state

-- name: settle_events
-- Settle a batch: done, skipped, put off, or continued behind its cursor. What goes on takes its turn behind what
-- is due now, so that a large audience delays nobody. Most events end alike: `kinds` says which of the outcomes
-- each has. Asked by `settled_at`, since the planner would read a partial index of all that waits for `state`.
UPDATE clarion.outbox_event e
SET state = o.state,
    outcome = o.outcome,
    cursor = coalesce(o.cursor, e.cursor),
    alone = e.alone AND o.state = 'waiting',
    available_at = CASE WHEN o.state = 'waiting' THEN clarion.now() + make_interval(secs => o.delay)
                        ELSE e.available_at END,
    settled_at = CASE WHEN o.state <> 'waiting' THEN clarion.now() END
FROM unnest(%(ids)s::bigint[], %(kinds)s::integer[]) AS i(id, kind)
JOIN unnest(%(states)s::text[], %(outcomes)s::text[], %(delays)s::float8[], %(cursors)s::text[]::clarion.person_key[])
     WITH ORDINALITY AS o(state, outcome, delay, cursor, kind) USING (kind)
WHERE e.id = i.id AND e.settled_at IS NULL

-- name: forget_read_ahead
-- What was read before its event was handled needs no mark any more (I5).
DELETE FROM clarion.read_ahead WHERE event = ANY(%(events)s::bigint[])

-- name: publish_event
-- Publish in the caller's transaction: the documented function, with every argument named. The keys go as text,
-- so that no driver encodes them by a rule of its own.
SELECT clarion.publish(%(type)s, %(keys)s::text::jsonb, actor => %(actor)s, thread => %(thread)s, post => %(post)s,
                       space => %(space)s, available_at => %(available_at)s::timestamptz,
                       idempotency_key => %(idempotency_key)s, source => %(source)s) AS id

-- name: publish_many
-- Publish many events in one statement, in the order given; arrays of one length. The same checks as in
-- clarion.publish: ours before it is sent, the keys' type and the table's own here.
INSERT INTO clarion.outbox_event (type, keys, actor, thread_key, post_key, space, available_at, source)
SELECT t.type, t.keys, clarion.parse_person(t.actor), t.thread, t.post, clarion.parse_space(t.space),
       coalesce(t.available_at::timestamptz, clarion.now()), t.source
FROM unnest(%(type)s::text[], %(keys)s::text[]::jsonb[], %(actor)s::text[], %(thread)s::text[], %(post)s::text[],
            %(space)s::text[], %(available_at)s::text[], %(source)s::text[])
     WITH ORDINALITY AS t(type, keys, actor, thread, post, space, available_at, source, ordinal)
ORDER BY t.ordinal
RETURNING id

-- name: notify_people
-- Write a message of its own to some people: thread, post and event in the caller's transaction.
SELECT clarion.notify(%(to)s::text[], kind => %(kind)s, title => %(title)s, link => %(link)s, body => %(body)s,
                      actor => %(actor)s, idempotency_key => %(idempotency_key)s) AS id

-- name: list_events
-- Events by state, newest first, a page before an id.
SELECT id, type, actor, thread_key, post_key, space, keys, state, attempts, last_error, outcome, created_at,
       available_at, settled_at
FROM clarion.outbox_event
WHERE (%(state)s::text IS NULL OR state = %(state)s) AND (%(before)s::bigint IS NULL OR id < %(before)s)
ORDER BY id DESC LIMIT %(limit)s

-- name: get_event
SELECT id, type, actor, thread_key, post_key, space, keys, consumer, state, attempts, alone, cursor, last_error,
       outcome, created_at, available_at, settled_at
FROM clarion.outbox_event WHERE id = %(event)s

-- name: retry_events
-- Give events set aside a fresh start: by id, by a part of their error, or all.
UPDATE clarion.outbox_event
SET state = 'waiting', attempts = 0, settled_at = NULL, available_at = clarion.now(), alone = true
WHERE state = 'set_aside'
  AND (%(events)s::bigint[] IS NULL OR id = ANY(%(events)s))
  AND (%(error)s::text IS NULL OR strpos(last_error, %(error)s) > 0)
RETURNING id

-- name: drop_events
-- Give events set aside up for good; they stay readable until pruned.
UPDATE clarion.outbox_event SET state = 'dropped', settled_at = clarion.now()
WHERE state = 'set_aside'
  AND (%(events)s::bigint[] IS NULL OR id = ANY(%(events)s))
  AND (%(error)s::text IS NULL OR strpos(last_error, %(error)s) > 0)
RETURNING id

-- name: drop_unknown_events
-- Give up what waits of types that this consumer does not know: by id, by type, or all. What a relay holds it knows.
UPDATE clarion.outbox_event SET state = 'dropped', settled_at = clarion.now()
WHERE id IN (
    SELECT id FROM clarion.outbox_event
    WHERE state = 'waiting' AND consumer = %(consumer)s AND type <> ALL(%(types)s)
      AND (%(events)s::bigint[] IS NULL OR id = ANY(%(events)s))
      AND (%(type)s::text IS NULL OR type = %(type)s)
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)
RETURNING id

-- name: prune_events
-- Delete one small batch of what was settled long ago; events set aside stay until retried or dropped (O9).
WITH pruned AS (
    DELETE FROM clarion.outbox_event
    WHERE id IN (
        SELECT id FROM clarion.outbox_event
        WHERE state <> 'waiting' AND state <> 'set_aside'
          AND settled_at < clarion.now() - make_interval(days => %(days)s)
        ORDER BY settled_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
    RETURNING 1)
SELECT count(*) AS count FROM pruned

-- name: prune_requests
-- Delete one small batch of answers that were kept for a repeated POST, a day after it (O11).
WITH pruned AS (
    DELETE FROM clarion.request
    WHERE key IN (
        SELECT key FROM clarion.request WHERE created_at < clarion.now() - interval '1 day'
        ORDER BY created_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
    RETURNING 1)
SELECT count(*) AS count FROM pruned

-- name: prune_notes
-- Delete notes whose events were all settled since: a relay lost its connection while it wrote them.
DELETE FROM clarion.relay_note n
WHERE at < clarion.now() - interval '1 hour'
  AND NOT EXISTS (SELECT 1 FROM clarion.outbox_event e WHERE e.id = ANY(n.events) AND e.state = 'waiting')

-- name: find_unknown_types
-- Types that this consumer does not know, among the oldest events that are due (O7). Bounded: so many rows, no more.
SELECT type, count(*) AS count
FROM (SELECT type FROM clarion.outbox_event
      WHERE state = 'waiting' AND consumer = %(consumer)s AND NOT alone AND available_at <= clarion.now()
      ORDER BY consumer, alone, available_at, id LIMIT %(limit)s) due
WHERE type <> ALL(%(types)s)
GROUP BY type ORDER BY type

-- name: measure_outbox
-- Depth and age of what waits, by type, and what is set aside.
SELECT type, state, count(*) AS count,
       extract(epoch FROM clarion.now() - min(available_at))::float8 AS oldest_seconds
FROM clarion.outbox_event
WHERE state = 'set_aside' OR (state = 'waiting' AND available_at <= clarion.now())
GROUP BY type, state ORDER BY type, state

-- name: signal_relays
-- Wake every relay; sent outside the writing transaction, carries no data (O8).
SELECT pg_notify(%(channel)s, '')
