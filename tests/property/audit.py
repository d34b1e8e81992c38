"""The test schema's own eyes: a clock that is turned, and triggers that refuse or remember (I6, O4)."""

from datetime import UTC, datetime

import psycopg

START = datetime(2030, 1, 1, tzinfo=UTC)

INSTALL = """
CREATE SCHEMA audit;
CREATE TABLE audit.clock (at timestamptz NOT NULL);
INSERT INTO audit.clock VALUES ('2030-01-01Z');
CREATE OR REPLACE FUNCTION clarion.now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
    AS 'SELECT at FROM audit.clock';

CREATE TABLE audit.handled (
    id bigint GENERATED ALWAYS AS IDENTITY, tx xid8 NOT NULL, event bigint, before text, state text,
    after clarion.person_key, upto clarion.person_key, outcome text
);
CREATE FUNCTION audit.on_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit.handled (tx, event, before, state, after, upto, outcome)
    VALUES (pg_current_xact_id(), NEW.id, OLD.state, NEW.state, OLD.cursor, NEW.cursor, NEW.outcome);
    RETURN NULL;
END $$;
CREATE TRIGGER audited AFTER UPDATE ON clarion.outbox_event FOR EACH ROW
    WHEN (OLD.state IS DISTINCT FROM NEW.state OR OLD.cursor IS DISTINCT FROM NEW.cursor)
    EXECUTE FUNCTION audit.on_event();

-- A version is raised once a transaction, by one: the second time finds the first.
CREATE TABLE audit.raised (tx xid8, person clarion.person_key, PRIMARY KEY (tx, person));
CREATE FUNCTION audit.on_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.version <> OLD.version + 1 OR NEW.raised_in IS DISTINCT FROM pg_current_xact_id() THEN
        RAISE EXCEPTION 'the version of % went from % to %', NEW.person, OLD.version, NEW.version;
    END IF;
    INSERT INTO audit.raised VALUES (pg_current_xact_id(), NEW.person);
    RETURN NULL;
END $$;
CREATE TRIGGER audited AFTER UPDATE ON clarion.inbox_state FOR EACH ROW
    WHEN (OLD.version <> NEW.version) EXECUTE FUNCTION audit.on_version();

-- Who writes a notification has raised its person's version.
CREATE TABLE audit.bumped (tx xid8, thread text, person clarion.person_key);
CREATE FUNCTION audit.on_notification() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    written clarion.notification := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM clarion.inbox_state s
                   WHERE s.person = written.person AND s.raised_in = pg_current_xact_id()) THEN
        RAISE EXCEPTION 'a notification of % was written without their version', written.person;
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON clarion.notification
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit.on_notification();
CREATE FUNCTION audit.on_bump() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' OR NEW.seq <> OLD.seq THEN
        INSERT INTO audit.bumped
        SELECT pg_current_xact_id(), t.key, NEW.person FROM clarion.thread t WHERE t.id = NEW.thread;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER bumped AFTER INSERT OR UPDATE ON clarion.notification FOR EACH ROW EXECUTE FUNCTION audit.on_bump();
"""

EMPTY = """
SET session_replication_role = replica;
DO $$
DECLARE name text;
BEGIN
    FOR name IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
                WHERE schemaname IN ('clarion', 'audit') AND tablename NOT IN ('clock', 'schema_version') LOOP
        EXECUTE 'DELETE FROM ' || name;
    END LOOP;
    FOR name IN SELECT format('%I.%I', schemaname, sequencename) FROM pg_sequences
                WHERE schemaname IN ('clarion', 'audit') AND last_value IS NOT NULL LOOP
        EXECUTE 'ALTER SEQUENCE ' || name || ' RESTART';
    END LOOP;
END $$;
SET session_replication_role = origin;
"""
"""As a new schema: numbers begin at 1, so that an example runs the same way each time."""

PLACES = """
INSERT INTO clarion.person (id, handle, handle_folded)
VALUES (1, 'ada', 'ada'), (2, 'bo', 'bo'), (3, 'chi', 'chi'), (4, 'dara', 'dara'), (5, 'emil', 'emil');
INSERT INTO clarion.organisation (key, handle, handle_folded) VALUES ('o', 'lumen', 'lumen');
INSERT INTO clarion.organisation_member VALUES (1, 1), (1, 2), (1, 3);
INSERT INTO clarion.team (key, organisation, handle, handle_folded) VALUES ('t', 1, 'crew', 'crew');
INSERT INTO clarion.team_member VALUES (1, 2), (1, 3);
INSERT INTO clarion.content_space VALUES (10, 'harbor', 1, 'public'), (20, 'vault', 1, 'private');
INSERT INTO clarion.space_member VALUES (20, 1), (20, 2);
INSERT INTO clarion.space_team VALUES (20, 1);
"""


SHOWN = """
SELECT t.key, n.person, n.seq, n.reason::text, clarion.is_unread(n, s.read_seq) AS unread,
       n.read_at IS NOT NULL AS read, n.done_at IS NOT NULL AS done, n.saved_at IS NOT NULL AS saved, n.snoozed_until,
       n.hidden
FROM clarion.notification n JOIN clarion.thread t ON t.id = n.thread JOIN clarion.inbox_state s USING (person)
"""
PUBLISHED = """
SELECT id, type, actor, thread_key, post_key, space, keys, created_at
FROM clarion.outbox_event WHERE id > %s ORDER BY id
"""
LAST_DUE = """
SELECT max(available_at) AS at FROM clarion.outbox_event WHERE state = 'waiting' AND type <> 'snooze.ended'
"""
HANDLED = """
SELECT id, tx::text, event, before, state, after, upto, outcome FROM audit.handled WHERE id > %s ORDER BY id
"""
BUMPED = """
SELECT thread AS key, person, count(*) AS times FROM audit.bumped WHERE tx = %s::xid8 GROUP BY 1, 2
"""


def install(connection: psycopg.Connection[object]) -> None:
    """Put the clock and the triggers into a fresh schema."""
    connection.execute(INSTALL.encode())


def turn_clock(connection: psycopg.Connection[object], at: datetime) -> None:
    """Set the time of everything that the rules look at."""
    connection.execute("UPDATE audit.clock SET at = %s", [at])
