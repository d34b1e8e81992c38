-- Threads, posts and roles: our own content, and how it is read by resolvers. In the caller's transaction.
-- Lock order: content_space -> content_thread -> content_post. Who adds a post shares the thread's key, so that
-- comments and a close pass each other; only a deletion waits for comments under way, and they for it.

-- name: insert_thread
-- A thread and its opening post; no row where the key is taken, be it as another name of a thread.
WITH thread AS (
    INSERT INTO clarion.content_thread (key, space, kind, title, link, author, state, created_at)
    SELECT %(key)s, %(space)s::clarion.space_key, %(kind)s, %(title)s, %(link)s, %(author)s::clarion.person_key,
           %(state)s, coalesce(%(at)s::timestamptz, clarion.now())
    WHERE NOT EXISTS (SELECT 1 FROM clarion.thread_alias a WHERE a.key = %(key)s)
    ON CONFLICT (key) DO NOTHING
    RETURNING id, author, created_at
), opening AS (
    INSERT INTO clarion.content_post (key, thread, kind, author, body, link, created_at)
    SELECT %(post)s, id, 'opening', author, %(body)s, %(link)s, created_at FROM thread
)
SELECT id FROM thread

-- name: content_thread_row
SELECT t.id, t.key, t.space, t.kind, t.state, t.author, t.deleted_at IS NOT NULL AS gone
FROM clarion.content_thread t
WHERE t.id = coalesce((SELECT k.id FROM clarion.content_thread k WHERE k.key = %(key)s),
                      (SELECT a.thread FROM clarion.thread_alias a WHERE a.key = %(key)s))

-- name: share_content_thread
-- The thread, which is not deleted before the end of the transaction.
-- include: content_thread_row
FOR KEY SHARE OF t

-- name: lock_content_thread
-- The thread, which nobody else changes.
-- include: content_thread_row
FOR NO KEY UPDATE OF t

-- name: take_content_thread
-- Alone with the thread: nobody adds a post.
-- include: content_thread_row
FOR UPDATE OF t

-- name: update_content_thread
-- Title, link and opening text, null for as it is; a row where something changed.
WITH thread AS (
    UPDATE clarion.content_thread SET title = coalesce(%(title)s, title), link = coalesce(%(link)s, link)
    WHERE id = %(thread)s AND (title <> %(title)s OR link <> %(link)s)
    RETURNING id
), opening AS (
    UPDATE clarion.content_post SET body = coalesce(%(body)s, body), link = coalesce(%(link)s, link), edited_at = clarion.now()
    WHERE thread = %(thread)s AND kind = 'opening' AND (body <> %(body)s OR link <> %(link)s)
    RETURNING thread AS id
)
SELECT id FROM thread UNION SELECT id FROM opening

-- name: set_thread_state
UPDATE clarion.content_thread SET state = %(state)s WHERE id = %(thread)s

-- name: delete_content_thread
-- The keys stay, so that they stay gone; the texts go.
WITH posts AS (
    UPDATE clarion.content_post SET body = '', link = '', deleted_at = clarion.now()
    WHERE thread = %(thread)s AND deleted_at IS NULL
), roles AS (
    DELETE FROM clarion.thread_role WHERE thread = %(thread)s
)
UPDATE clarion.content_thread SET title = '', link = '', deleted_at = clarion.now() WHERE id = %(thread)s

-- name: move_content_thread
-- The thread in another space, with another link where one is given; a row where something changed.
UPDATE clarion.content_thread SET space = %(space)s::clarion.space_key, link = coalesce(%(link)s, link)
WHERE id = %(thread)s AND (space <> %(space)s::clarion.space_key OR link <> %(link)s)
RETURNING id

-- name: add_thread_alias
INSERT INTO clarion.thread_alias (key, thread) VALUES (%(key)s, %(thread)s) ON CONFLICT DO NOTHING

-- name: insert_posts
-- Posts of one thread and author; those whose key is taken give no row.
INSERT INTO clarion.content_post (key, thread, part_of, kind, verdict, author, body, link, created_at)
SELECT p.key, %(thread)s, %(part_of)s, %(kind)s, %(verdict)s, %(author)s::clarion.person_key, p.body, p.link,
       coalesce(%(at)s::timestamptz, clarion.now())
FROM unnest(%(keys)s::text[], %(bodies)s::text[], %(links)s::text[]) WITH ORDINALITY AS p(key, body, link, ordinal)
ORDER BY p.ordinal
ON CONFLICT (key) DO NOTHING
RETURNING id, key

-- name: find_post
SELECT p.id, p.key, p.kind, p.body, p.link, p.verdict, p.thread, t.key AS thread_key, t.space,
       p.deleted_at IS NOT NULL AS gone
FROM clarion.content_post p JOIN clarion.content_thread t ON t.id = p.thread
WHERE p.key = %(key)s

-- name: lock_post
-- A post, which nobody else changes.
-- include: find_post
FOR NO KEY UPDATE OF p

-- name: take_post
-- Alone with a post: nothing becomes a part of it.
-- include: find_post
FOR UPDATE OF p

-- name: share_review
-- A review of the thread, which is not deleted before the end of the transaction.
SELECT id, deleted_at IS NOT NULL AS gone FROM clarion.content_post
WHERE key = %(key)s AND thread = %(thread)s AND kind = 'review' FOR KEY SHARE

-- name: update_post
UPDATE clarion.content_post
SET body = %(body)s, link = %(link)s, verdict = %(verdict)s,
    edited_at = CASE WHEN body <> %(body)s THEN clarion.now() ELSE edited_at END
WHERE id = %(post)s

-- name: delete_posts
-- A post, and the parts of it: the texts go, the keys stay. The post itself comes first.
WITH deleted AS (
    UPDATE clarion.content_post SET body = '', link = '', deleted_at = clarion.now()
    WHERE (id = %(post)s OR part_of = %(post)s) AND deleted_at IS NULL
    RETURNING id, key
)
SELECT key FROM deleted ORDER BY id <> %(post)s, id

-- name: give_role
-- People and the present members of teams, except the thread's author, hold a role in it. Returns those who did not.
WITH held AS (
    SELECT person FROM clarion.thread_role WHERE thread = %(thread)s AND role = %(role)s::clarion.reason
), given AS (
    INSERT INTO clarion.thread_role (thread, role, person, team)
    SELECT %(thread)s, %(role)s::clarion.reason, g.person, g.team
    FROM (SELECT p AS person, NULL::bigint AS team FROM unnest(%(people)s::clarion.person_key[]) AS p
          UNION
          SELECT m.person, m.team FROM clarion.team_member m JOIN clarion.content_thread t ON t.id = %(thread)s
          WHERE m.team = ANY(%(teams)s::bigint[]) AND m.person IS DISTINCT FROM t.author) g
    ON CONFLICT DO NOTHING
    RETURNING person
)
SELECT DISTINCT person FROM given WHERE person NOT IN (SELECT person FROM held) ORDER BY person

-- name: take_role
-- A role is taken back from people, and from those who hold it through teams. Returns those who hold it no more.
WITH taken AS (
    DELETE FROM clarion.thread_role r
    WHERE r.thread = %(thread)s AND r.role = %(role)s::clarion.reason
      AND CASE WHEN r.team IS NULL THEN r.person = ANY(%(people)s::clarion.person_key[]) ELSE r.team = ANY(%(teams)s::bigint[]) END
    RETURNING r.person
)
SELECT DISTINCT t.person FROM taken t
WHERE NOT EXISTS (
    SELECT 1 FROM clarion.thread_role r
    WHERE r.thread = %(thread)s AND r.role = %(role)s::clarion.reason AND r.person = t.person
      AND NOT CASE WHEN r.team IS NULL THEN r.person = ANY(%(people)s::clarion.person_key[]) ELSE r.team = ANY(%(teams)s::bigint[]) END)
ORDER BY t.person

------------------------------------------------------------------------------------------------
-- What resolvers read: rows as they are now, a batch in one statement, without a lock

-- name: read_threads
SELECT key, space, kind, title, link, author, state FROM clarion.content_thread
WHERE key = ANY(%(keys)s::text[]) AND deleted_at IS NULL

-- name: read_posts
-- Posts with their threads; a review with its comments in order.
SELECT p.key AS post, p.kind AS post_kind, p.author, p.body, p.link AS post_link,
       t.key, t.space, t.kind, t.title, t.link, t.state,
       CASE WHEN p.kind = 'review' THEN (
           SELECT json_agg(json_build_object('post', c.key, 'text', c.body) ORDER BY c.id)
           FROM clarion.content_post c WHERE c.part_of = p.id AND c.deleted_at IS NULL) END AS comments
FROM clarion.content_post p JOIN clarion.content_thread t ON t.id = p.thread
WHERE p.key = ANY(%(keys)s::text[]) AND p.deleted_at IS NULL AND t.deleted_at IS NULL

-- name: read_roles
-- Who holds which role in these threads; a row without a person for a thread where nobody does.
SELECT DISTINCT t.key, t.space, t.kind, t.title, t.link, t.author, t.state, r.role::text AS role, r.person
FROM clarion.content_thread t LEFT JOIN clarion.thread_role r ON r.thread = t.id
WHERE t.key = ANY(%(keys)s::text[]) AND t.deleted_at IS NULL
ORDER BY t.key, role, r.person
