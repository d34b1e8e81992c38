"""P9: telling 10,000 people beside django-notifications, on the same server."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connections, transaction
from django.db.models import options

from bench.fanout import TYPE, Sides, resolve, seed
from bench.figures import Figure, Goal, interleave
from bench.ground import Ground
from bench.watching import OpenRelay
from clarion.notifier import Notifier

PEOPLE = 10_000
ROUNDS = 5


class DjangoNotifications:
    """django-notifications-hq in Django's default set-up, one transaction a call: the faster way to call it."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        host = parse_qs(parts.query)["host"][0]
        settings.configure(
            DATABASES={
                "default": {
                    "ENGINE": "django.db.backends.postgresql",
                    "NAME": parts.path[1:],
                    "USER": parts.username,
                    "HOST": host,
                    "PORT": parse_qs(parts.query)["port"][0],
                }
            },
            INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "notifications"],
            DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
            USE_TZ=True,
        )
        # Its models still say index_together, which Django 5.1 dropped; a name that Django may ignore is all it takes.
        options.DEFAULT_NAMES = (*options.DEFAULT_NAMES, "index_together")
        django.setup()
        call_command("migrate", verbosity=0)
        self._people: Sequence[Any] = ()

    def seed(self, people: int) -> None:
        """Make so many users."""
        from django.contrib.auth.models import User  # noqa: PLC0415 - importable after the set-up only

        self._people = User.objects.bulk_create([User(username=f"person{number}") for number in range(people)])

    def tell(self) -> float:
        """Tell everybody; return the seconds."""
        from notifications.signals import notify  # noqa: PLC0415 - the same

        started = time.perf_counter()
        with transaction.atomic():
            notify.send(self._people[0], recipient=self._people, verb="commented", description="Some words.")
        return time.perf_counter() - started

    def close(self) -> None:
        """Close Django's connections; to be called in the thread that used them."""
        connections.close_all()


async def beside_django(ground: Ground) -> list[Figure]:
    async with (
        ground.database() as database,
        OpenRelay(database, Notifier({TYPE: resolve}, "bigint")) as relay,
    ):
        peer = await asyncio.to_thread(DjangoNotifications, database.url)
        await asyncio.to_thread(peer.seed, PEOPLE)
        await seed(database, PEOPLE)
        plain = await database.connect("plain")
        async with plain.connection:
            sides = Sides(database, relay, plain)
            await sides.fresh()
            pairs = await interleave(ROUNDS, sides.fresh, lambda: asyncio.to_thread(peer.tell))
        await asyncio.to_thread(peer.close)
    return [
        Figure(
            case="P9",
            what=f"fan-out to {PEOPLE:,} beside django-notifications",
            unit="rows/s",
            ours=PEOPLE / pairs.median(0),
            baseline=PEOPLE / pairs.median(1),
            ratio=pairs.speed(0, 1),
            goal=Goal(25.0),
        )
    ]
