-- What the doors keep for themselves: credentials, and answers to POSTs with an Idempotency-Key.

-- name: find_credential
-- A credential that holds now; a person's only while the person is active.
SELECT c.id, c.person FROM clarion.credential c
WHERE c.digest = %(digest)s AND (c.expires_at IS NULL OR c.expires_at > clarion.now())
  AND (c.person IS NULL OR EXISTS (SELECT 1 FROM clarion.people p WHERE p.id = c.person AND p.active))

-- name: issue_token
INSERT INTO clarion.credential (digest, kind, person, label, expires_at)
SELECT %(digest)s, 'person', p.id, %(label)s, clarion.now() + make_interval(days => %(days)s)
FROM clarion.people p WHERE p.id = %(person)s::clarion.person_key AND p.active
RETURNING id, expires_at

-- name: revoke_tokens
-- One token of a person's, or all of them.
DELETE FROM clarion.credential
WHERE person = %(person)s::clarion.person_key AND (%(token)s::bigint IS NULL OR id = %(token)s)
RETURNING id

-- name: exchange_token
-- Another secret for the same person and time; the old one counts no more.
UPDATE clarion.credential c SET digest = %(fresh)s
WHERE c.digest = %(digest)s AND (c.expires_at IS NULL OR c.expires_at > clarion.now())
  AND EXISTS (SELECT 1 FROM clarion.people p WHERE p.id = c.person AND p.active)
RETURNING c.id

-- name: enter_as
INSERT INTO clarion.credential (digest, kind, person, label, expires_at)
SELECT %(digest)s, 'person', p.id, 'demo', clarion.now() + interval '1 day'
FROM clarion.people p WHERE p.handle_folded = %(handle_folded)s AND p.active
RETURNING id

-- name: leave
DELETE FROM clarion.credential WHERE digest = %(digest)s AND person IS NOT NULL

-- name: add_host_key
INSERT INTO clarion.credential (digest, kind, label) VALUES (%(digest)s, 'host', %(label)s)

-- name: claim_request
-- Be the first with this key, or wait for the one who is: no row then.
INSERT INTO clarion.request (key, digest, status, body) VALUES (%(key)s, %(digest)s, 0, '')
ON CONFLICT (key) DO NOTHING RETURNING key

-- name: find_request
SELECT digest, status, body FROM clarion.request WHERE key = %(key)s

-- name: keep_answer
UPDATE clarion.request SET status = %(status)s, body = %(body)s WHERE key = %(key)s

-- name: show_steps
-- The migrations that were applied.
SELECT step FROM clarion.schema_version

-- name: name_spaces
-- Spaces that Clarion keeps, by name; the host's own are not among them.
SELECT id, name FROM clarion.content_space WHERE id = ANY(%(spaces)s::clarion.space_key[])
