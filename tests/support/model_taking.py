"""How the oracle takes back and hides: deletions, withdrawals, edits, ends of snoozes (W12, W15, I1)."""

from collections.abc import Iterable

from support.model import Model
from support.model_facts import Post, Step, Thread

ROLES = frozenset({"assigned", "review_requested"})
MENTIONS = frozenset({"mentioned", "team_mentioned"})


class TakingBack(Model):
    """Each takes back exactly its share of those whom the step concerns."""

    def remove_mentions(
        self, thread: Thread, edited: str, direct: Iterable[int], members: Iterable[int], step: Step
    ) -> None:
        """Take out whom an edited post no longer names; they stay, so that naming them again is silent."""
        named, in_team = set(direct), set(members)
        for (key, person, kind), hit in thread.hits.items():
            still = person in named or (kind == "team_mentioned" and person in in_team)
            if key == edited and kind in MENTIONS and not still and step.concerns(person):
                hit.removed = True

    def withdraw(self, thread: Thread, step: Step) -> None:
        """Take back what was told of roles that nobody holds any more."""
        roles = self.content[thread.key].roles
        touched = set()
        for (_, person, kind), hit in thread.hits.items():
            if kind in ROLES and not hit.removed and (kind, person) not in roles and step.concerns(person):
                hit.removed = True
                touched.add(person)
        for person in touched:
            self.settle(thread, person)

    def delete(self, thread: Thread, post: Post, step: Step) -> None:
        """A post is gone."""
        if post.gone and step.after is None:
            return
        post.gone = True
        for person in filter(step.concerns, self.people):
            hits = [hit for (key, whom, _), hit in thread.hits.items() if key == post.key and whom == person]
            for hit in hits:
                hit.removed = True
            row = thread.rows.get(person)
            spans = row is not None and row.first <= post.position <= row.last
            if hits or (row is not None and spans and not self.stands(person, thread, row)):
                self.settle(thread, person)

    def drop(self, thread: Thread, step: Step) -> None:
        """A thread is gone, and takes its rows along."""
        for person in filter(step.concerns, list(thread.rows)):
            del thread.rows[person]
            self.touch(person)
        if step.upto is None:
            del self.threads[thread.key]

    def wake(self, thread: Thread, person: int) -> None:
        """A snooze is over, unless it was put off or taken back."""
        row = thread.rows.get(person)
        if row and row.snoozed and row.snoozed <= self.now and not row.hidden:
            row.snoozed, row.read, row.done, row.unread_seq = None, False, False, 0
            row.seq = self.next_version(person)
            self.bumped.add((thread.key, person))
            self.touch(person)
