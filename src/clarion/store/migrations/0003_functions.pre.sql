-- The contract for every language: two functions, each one statement in the caller's transaction (O1, O11).
-- They refuse by SQLSTATE: CL001 too large, CL002 the key was used for other content, CL003 not of the form
-- asked for, CL004 a key that is not of the host's type (COLUMN: person or space; DATATYPE; DETAIL: the key).

-- Is this text a key of that type? Inlined by the planner, as are the two below.
CREATE FUNCTION clarion.is_key(key text, key_type text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE key_type
        WHEN 'bigint' THEN CASE
            WHEN key ~ '^-?[0-9]{{1,18}}$' THEN true
            WHEN key ~ '^-?[0-9]{{19}}$' THEN key::numeric BETWEEN -9223372036854775808 AND 9223372036854775807
            ELSE false END
        WHEN 'uuid' THEN key ~* '^[0-9a-f]{{4}}(-?[0-9a-f]{{4}}){{7}}$'
        ELSE length(key) BETWEEN 1 AND 200
    END;

CREATE FUNCTION clarion.refuse_key(key text, key_type text, what text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RAISE EXCEPTION '% is no % key: this schema was made for keys of type %', quote_literal(left(key, 100)), what, key_type
        USING ERRCODE = 'CL004', COLUMN = what, DATATYPE = key_type, DETAIL = key;
END $$;

CREATE FUNCTION clarion.parse_person(key text) RETURNS clarion.person_key LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN key IS NULL OR clarion.is_key(key, '{person_key}') THEN key
        ELSE clarion.refuse_key(key, '{person_key}', 'person')
    END::clarion.person_key;

CREATE FUNCTION clarion.parse_space(key text) RETURNS clarion.space_key LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN key IS NULL OR clarion.is_key(key, '{space_key}') THEN key
        ELSE clarion.refuse_key(key, '{space_key}', 'space')
    END::clarion.space_key;

CREATE FUNCTION clarion.publish(
    type            text,
    keys            jsonb DEFAULT '{{}}',
    actor           text DEFAULT NULL,
    thread          text DEFAULT NULL,
    post            text DEFAULT NULL,
    space           text DEFAULT NULL,
    available_at    timestamptz DEFAULT NULL,
    idempotency_key text DEFAULT NULL,
    source          text DEFAULT ''
) RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    event_id bigint;
    earlier  clarion.outbox_event;
    given    clarion.outbox_event;
BEGIN
    IF octet_length(publish.keys::text) > 8192 THEN
        RAISE EXCEPTION 'keys take % bytes, at most 8192 are allowed: publish the keys of what changed, not its content',
            octet_length(publish.keys::text) USING ERRCODE = 'CL001';
    ELSIF (jsonb_typeof(publish.keys) = 'object' AND NOT jsonb_path_exists(publish.keys, '$.**{{33}}')) IS NOT TRUE THEN
        RAISE EXCEPTION 'keys must be a JSON object, nested at most 32 levels deep' USING ERRCODE = 'CL003';
    ELSIF octet_length(publish.keys::text) > 255 AND publish.keys::text ~ '[0-9]{{255}}' THEN
        -- A reader of JSON may refuse a number of thousands of digits, and a relay must be able to read.
        RAISE EXCEPTION 'keys hold more than 254 digits in a row: no key is that long' USING ERRCODE = 'CL003';
    ELSIF (publish.type ~ '^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$' AND length(publish.type) <= 100) IS NOT TRUE THEN
        RAISE EXCEPTION '% is no event type: write dotted lower-case words like comment.created, at most 100 characters',
            quote_nullable(left(publish.type, 100)) USING ERRCODE = 'CL003';
    ELSIF publish.thread IS NULL AND (publish.type ~ '\.deleted$' OR publish.post IS NOT NULL) THEN
        RAISE EXCEPTION '% must name its thread (thread => …): % by its key', publish.type,
            CASE WHEN publish.post IS NULL THEN 'what is deleted is found' ELSE 'a post stands in a thread that is known' END
            USING ERRCODE = 'CL003';
    ELSIF length(publish.thread) NOT BETWEEN 1 AND 200 OR length(publish.post) NOT BETWEEN 1 AND 200
          OR length(publish.idempotency_key) NOT BETWEEN 1 AND 200 OR length(publish.source) > 200 THEN
        RAISE EXCEPTION 'thread, post and idempotency_key take 1 to 200 characters, source at most 200' USING ERRCODE = 'CL003';
    ELSIF publish.available_at NOT BETWEEN '1970-01-01Z' AND '9999-01-01Z' THEN
        RAISE EXCEPTION 'available_at must lie between the years 1970 and 9999' USING ERRCODE = 'CL003';
    END IF;
    given.type := publish.type;
    given.keys := publish.keys;
    given.actor := clarion.parse_person(publish.actor);
    given.thread_key := publish.thread;
    given.post_key := publish.post;
    given.space := clarion.parse_space(publish.space);
    LOOP
        INSERT INTO clarion.outbox_event
            (type, keys, actor, thread_key, post_key, space, available_at, idempotency_key, source)
        VALUES (given.type, given.keys, given.actor, given.thread_key, given.post_key, given.space,
                coalesce(publish.available_at, clarion.now()), publish.idempotency_key, coalesce(publish.source, ''))
        ON CONFLICT (source, idempotency_key, consumer) WHERE idempotency_key IS NOT NULL DO NOTHING
        RETURNING id INTO event_id;
        EXIT WHEN event_id IS NOT NULL;
        -- Published before. When it is due is no content: a retry computes that anew. Pruned meanwhile: once more.
        SELECT * INTO earlier FROM clarion.outbox_event e
        WHERE e.source = coalesce(publish.source, '') AND e.idempotency_key = publish.idempotency_key AND e.consumer = 'notifier';
        CONTINUE WHEN NOT FOUND;
        IF (earlier.type, earlier.keys, earlier.actor, earlier.thread_key, earlier.post_key, earlier.space)
           IS DISTINCT FROM (given.type, given.keys, given.actor, given.thread_key, given.post_key, given.space) THEN
            RAISE EXCEPTION 'idempotency key % was used for event % with another content', publish.idempotency_key, earlier.id
                USING ERRCODE = 'CL002';
        END IF;
        event_id := earlier.id;
        EXIT;
    END LOOP;
    RETURN event_id;
END $$;
COMMENT ON FUNCTION clarion.publish IS 'Writes an event in the caller''s transaction and returns its id (O1, O11).';

CREATE FUNCTION clarion.notify(
    "to"            text[],
    kind            text DEFAULT 'message',
    title           text DEFAULT '',
    link            text DEFAULT '',
    body            text DEFAULT '',
    actor           text DEFAULT NULL,
    idempotency_key text DEFAULT NULL
) RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    message_key text := 'notify:' || coalesce(notify.idempotency_key, gen_random_uuid()::text);
    thread_id   bigint;
BEGIN
    IF coalesce(cardinality(notify."to"), 0) = 0 OR array_position(notify."to", NULL) IS NOT NULL THEN
        RAISE EXCEPTION 'notify needs at least one person in "to", and no null' USING ERRCODE = 'CL003';
    ELSIF coalesce(notify.title, '') = '' THEN
        RAISE EXCEPTION 'notify needs a title' USING ERRCODE = 'CL003';
    ELSIF (notify.kind ~ '^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$' AND length(notify.kind) <= 40) IS NOT TRUE THEN
        RAISE EXCEPTION '% is no kind: write lower-case words with dots between, at most 40 characters',
            quote_nullable(left(notify.kind, 100)) USING ERRCODE = 'CL003';
    ELSIF length(notify.idempotency_key) NOT BETWEEN 1 AND 190 THEN
        RAISE EXCEPTION 'the idempotency_key of notify takes 1 to 190 characters' USING ERRCODE = 'CL003';
    ELSIF length(notify.title) > 1000 OR length(notify.link) > 2000 OR octet_length(notify.body) > 65536 THEN
        RAISE EXCEPTION 'a title takes at most 1000 characters, a link 2000, a body 65536 bytes' USING ERRCODE = 'CL001';
    END IF;
    INSERT INTO clarion.content_thread (key, kind, title, link, author)
    VALUES (message_key, 'message', notify.title, coalesce(notify.link, ''), clarion.parse_person(notify.actor))
    ON CONFLICT (key) DO NOTHING RETURNING id INTO thread_id;
    IF thread_id IS NOT NULL THEN
        INSERT INTO clarion.content_post (key, thread, kind, author, body, link)
        VALUES (message_key, thread_id, 'message', clarion.parse_person(notify.actor), coalesce(notify.body, ''),
                coalesce(notify.link, ''));
        INSERT INTO clarion.thread_role (thread, person, role)
        SELECT DISTINCT thread_id, clarion.parse_person(t.person), 'addressed'::clarion.reason
        FROM unnest(notify."to") AS t(person);
    ELSIF EXISTS (
        SELECT 1 FROM clarion.content_thread t JOIN clarion.content_post p ON p.key = t.key
        WHERE t.key = message_key AND t.deleted_at IS NULL AND p.deleted_at IS NULL
          AND ((t.title, t.link, p.body)
               IS DISTINCT FROM (notify.title, coalesce(notify.link, ''), coalesce(notify.body, ''))
            OR ARRAY(SELECT r.person FROM clarion.thread_role r WHERE r.thread = t.id AND r.role = 'addressed' ORDER BY 1)
               <> ARRAY(SELECT DISTINCT clarion.parse_person(g.person) FROM unnest(notify."to") AS g(person) ORDER BY 1))
    ) THEN
        RAISE EXCEPTION 'idempotency key % was used for a message with another content', notify.idempotency_key
            USING ERRCODE = 'CL002';
    END IF;
    -- The kind and the actor are the event's content: publish compares them.
    RETURN clarion.publish('message.addressed', jsonb_build_object('kind', notify.kind), notify.actor,
                           message_key, message_key, idempotency_key => message_key);
END $$;
COMMENT ON FUNCTION clarion.notify IS 'Addresses people directly, in the caller''s transaction; returns the event''s id.';
