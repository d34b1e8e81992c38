-- The contract for every language: two functions, each one statement in the caller's transaction (O1, O11).

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
BEGIN
    IF octet_length(publish.keys::text) > 8192 THEN
        RAISE EXCEPTION 'keys take % bytes, at most 8192 are allowed: publish the keys of what changed, not its content',
            octet_length(publish.keys::text) USING ERRCODE = 'CL001';
    END IF;
    INSERT INTO clarion.outbox_event AS e
        (type, keys, actor, thread_key, post_key, space, available_at, idempotency_key, source)
    VALUES (publish.type, publish.keys, publish.actor::clarion.person_key, publish.thread, publish.post,
            publish.space::clarion.space_key, coalesce(publish.available_at, clarion.now()),
            publish.idempotency_key, publish.source)
    ON CONFLICT (source, idempotency_key, consumer) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id INTO event_id;
    IF event_id IS NULL THEN
        SELECT * INTO STRICT earlier FROM clarion.outbox_event e
        WHERE e.source = publish.source AND e.idempotency_key = publish.idempotency_key AND e.consumer = 'notifier';
        IF (earlier.type, earlier.keys) IS DISTINCT FROM (publish.type, publish.keys) THEN
            RAISE EXCEPTION 'idempotency key % was used for event % with another content', publish.idempotency_key, earlier.id
                USING ERRCODE = 'CL002';
        END IF;
        event_id := earlier.id;
    END IF;
    RETURN event_id;
END $$;

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
    IF cardinality(notify."to") = 0 THEN
        RAISE EXCEPTION 'notify needs at least one person in "to"' USING ERRCODE = 'CL003';
    END IF;
    IF notify.title = '' THEN
        RAISE EXCEPTION 'notify needs a title' USING ERRCODE = 'CL003';
    END IF;
    INSERT INTO clarion.content_thread (key, kind, title, link, author)
    VALUES (message_key, 'message', notify.title, notify.link, notify.actor::clarion.person_key)
    ON CONFLICT (key) DO NOTHING RETURNING id INTO thread_id;
    IF thread_id IS NOT NULL THEN
        INSERT INTO clarion.content_post (key, thread, kind, author, body, link)
        VALUES (message_key, thread_id, 'message', notify.actor::clarion.person_key, notify.body, notify.link);
        INSERT INTO clarion.thread_role (thread, person, role)
        SELECT DISTINCT thread_id, t.person::clarion.person_key, 'addressed'::clarion.reason
        FROM unnest(notify."to") AS t(person);
    END IF;
    RETURN clarion.publish('message.addressed', jsonb_build_object('kind', notify.kind), notify.actor,
                           message_key, message_key, idempotency_key => message_key);
END $$;
