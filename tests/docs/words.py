"""What the reference says beside what the code says: the words that no docstring has."""

from typing import Final

WHAT_TO_DO: Final = {
    "error": "It is a fault of ours or of the set-up: the log has the whole of it, with the request's id.",
    "settings_invalid": "Correct the setting that the message names; `clarion settings` lists all of them.",
    "wrong_key": "Send the key in the type of your own tables; `clarion settings` shows `person_key` and `space_key`.",
    "wrong_database": "Make the database anew: `CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`.",
    "wrong_schema": "Set both key types as the schema was made, or choose another `schema_name`.",
    "autocommit_refused": "Publish inside the transaction of the change: `with connection.transaction():`.",
    "too_large": "Send less; the message names the part and its limit, and so does [Limits](limits.md).",
    "conflict": "Read what stands under that key now; take a new key for something new.",
    "invalid": "Correct the part that the message names.",
    "not_found": "Check the key; make sure that whoever asks may read it.",
    "gone": "Take another key: a deleted one never comes back.",
    "refused": "Use the credential that the route is for: an API key, or the token of the person concerned.",
    "unauthorised": "Send `Authorization: Bearer …` with an API key or token that still holds.",
    "idempotency_key_reused": "Take a new Idempotency-Key for each request; repeat only the very same request.",
    "unavailable": "Try again after the seconds in `Retry-After`; nothing is known to be changed.",
    "database_away": "Start the database, or correct `CLARION_DATABASE_URL`.",
    "not_migrated": "Run `clarion migrate`.",
    "port_taken": "Stop what listens there, or give `--port` another number.",
    "not_serving": "Start `clarion serve`, or give `--url`.",
    "embedded_server": "Read the message; the embedded server's log stands in the data folder.",
    "embedded_platform_unsupported": "Use a PostgreSQL of your own: set `CLARION_DATABASE_URL`.",
    "embedded_folder_unusable": "Make the folder writable, or choose another `CLARION_DATA_DIR`.",
    "embedded_folder_held": "Stop the program that the message names, or choose another `CLARION_DATA_DIR`.",
    "embedded_server_failed": "Read the end of the log in the message: a full disk, another major version's data.",
    "foreign_payload": "Check that the file is one webhook payload, whole, as it was sent.",
}
"""By an error's code."""

CODES_WITHOUT_A_CLASS: Final = {
    "malformed": "The body is no JSON in UTF-8.",
    "method_not_allowed": "The path has no such method; the header `Allow` names those it has.",
}

TYPES: Final = {
    "thread.opened": "An issue, pull request, discussion or forum thread was opened; its author follows it.",
    "thread.closed": "A thread was closed. Told only while it still is.",
    "thread.reopened": "A closed thread was opened again. Told only while it still is open.",
    "thread.merged": "A pull request was merged. Told only while it still is.",
    "thread.assigned": "People were assigned. Told to those who still are.",
    "thread.review_requested": "People, or a team's members, were asked for review. Told to those who still are.",
    "comment.created": "A comment was written; its author follows the thread.",
    "review.submitted": "A review was handed in with its comments: one event.",
    "message.addressed": "`notify` addressed somebody directly, in a thread of its own without a space.",
    "post.recorded": "Something from before Clarion was recorded (`tell=False`): its author follows it, nobody hears.",
    "thread.edited": "Title, opening text or link of a thread changed.",
    "comment.edited": "The text of a comment or review changed.",
    "thread.unassigned": "Assignments were taken back.",
    "thread.review_request_removed": "Requests for review were taken back.",
    "thread.changed": "Labels, locks, milestones, a dismissed review: told only to those who opted in.",
    "thread.moved": "A thread is in another space now; who may not read that loses sight of it.",
    "thread.deleted": "A thread is gone, and its notifications with it.",
    "comment.deleted": "A post is gone, and what was unread of it.",
    "access.changed": "Who may read a space changed: everybody with something in it is asked again.",
    "snooze.ended": "A snooze is due: the row comes back as unread, on top.",
}
"""By event type."""

WHO: Final = {
    "assigned": ("W1", "the person assigned"),
    "review_requested": ("W1", "the person asked, or each member of the team asked, but never the thread's author"),
    "mentioned": ("W2", "`@handle` in the text of the post"),
    "addressed": ("W8", "those whom `notify` names"),
    "team_mentioned": ("W3", "members of `@org/team`, named by a member of the space's own organisation"),
    "author": ("W4", "who opened the thread, as long as they follow it"),
    "subscribed": ("W4", "who follows the thread: commented, was named, or chose to"),
    "watching": ("W5", "who watches the space at level `all`"),
    "occasion": ("", "kept for calendar events, which come later: nothing gives this reason yet"),
}
"""By reason: the rule, and who hears."""

TABLES: Final = {
    "thread": "A thread as the notifier knows it: the host's key, its space, its title and link, and how many "
    "positions it has given.",
    "post": "A stub for each post: its key, its position in the thread, its author. Never its text.",
    "thread_person": "A person's follow of a thread, an explicit unsubscribe, and how far they have read.",
    "watch": "How much of a space a person wants to hear.",
    "block": "Who blocked whom; it counts in both directions.",
    "mute": "Who hears of whom only directly.",
    "person": "People, where Clarion keeps them.",
    "organisation": "Organisations: the first half of `@org/team`.",
    "organisation_member": "Who belongs to an organisation.",
    "team": "Teams of an organisation: the second half of `@org/team`.",
    "team_member": "Who belongs to a team.",
    "content_space": "Spaces (repository, project, channel), where Clarion keeps them, and who may read them.",
    "space_member": "To whom a space was opened.",
    "space_team": "To which teams a space was opened.",
    "content_thread": "Threads, where Clarion keeps them.",
    "content_post": "Posts with their texts, where Clarion keeps them.",
    "schema_version": "The migrations that were applied, and the key types that the schema was made for.",
}
"""Tables that the migrations give no comment of their own."""
