-- Whom a deletion, a withdrawal or a change of access reaches; each in order of person behind a cursor.

-- name: find_posts
SELECT key, id, thread, position, announced, gone, at FROM clarion.post WHERE key = ANY(%(keys)s::text[])

-- name: reach_deleted_post
-- Those whom the post names, and those whose row may stand for nothing without it: without what else this batch
-- deletes, and without assignments and requests, which it may withdraw. The row itself decides once it is locked.
SELECT person FROM (
    (SELECT h.person FROM clarion.hit h
     WHERE h.post = %(post)s AND (%(cursor)s::clarion.person_key IS NULL OR h.person > %(cursor)s::clarion.person_key)
     ORDER BY h.person LIMIT %(limit)s)
    UNION
    (SELECT n.person FROM clarion.notification n
     WHERE n.thread = %(thread)s AND n.first_unread <= %(position)s AND n.last >= %(position)s
       AND (%(cursor)s::clarion.person_key IS NULL OR n.person > %(cursor)s::clarion.person_key)
       AND NOT EXISTS (SELECT 1 FROM clarion.shown_posts(n) q
                       WHERE q.key <> ALL(%(going)s::text[]) AND q.kind NOT IN ('assigned', 'review_requested'))
     ORDER BY n.person LIMIT %(limit)s)
) r ORDER BY person LIMIT %(limit)s

-- name: reach_thread
-- Everybody with a row or a hit in the thread.
SELECT person FROM (
    (SELECT n.person FROM clarion.notification n
     WHERE n.thread = %(thread)s AND (%(cursor)s::clarion.person_key IS NULL OR n.person > %(cursor)s::clarion.person_key)
     ORDER BY n.person LIMIT %(limit)s)
    UNION
    (SELECT h.person FROM clarion.hit h JOIN clarion.post p ON p.id = h.post
     WHERE p.thread = %(thread)s AND (%(cursor)s::clarion.person_key IS NULL OR h.person > %(cursor)s::clarion.person_key)
     ORDER BY h.person LIMIT %(limit)s)
) r ORDER BY person LIMIT %(limit)s

-- name: reach_space
-- Everybody with a row or a hit in a thread of the space.
SELECT DISTINCT person FROM (
    SELECT n.person FROM clarion.thread t JOIN clarion.notification n ON n.thread = t.id
    WHERE t.space = %(space)s::clarion.space_key
    UNION
    SELECT h.person FROM clarion.thread t JOIN clarion.post p ON p.thread = t.id JOIN clarion.hit h ON h.post = p.id
    WHERE t.space = %(space)s::clarion.space_key
) r
WHERE %(cursor)s::clarion.person_key IS NULL OR person > %(cursor)s::clarion.person_key
ORDER BY person LIMIT %(limit)s

-- name: reach_roles
-- Those with a live assignment or request in the thread that its rows no longer hold.
SELECT DISTINCT h.person FROM clarion.hit h JOIN clarion.post p ON p.id = h.post
WHERE p.thread = %(thread)s AND h.kind IN ('assigned', 'review_requested') AND NOT h.removed
  AND NOT (h.kind = 'assigned' AND h.person = ANY(%(assigned)s::clarion.person_key[]))
  AND NOT (h.kind = 'review_requested' AND h.person = ANY(%(review_requested)s::clarion.person_key[]))
  AND (%(cursor)s::clarion.person_key IS NULL OR h.person > %(cursor)s::clarion.person_key)
ORDER BY h.person LIMIT %(limit)s
