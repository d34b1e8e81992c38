"""The numbers of this process and of the outbox, for Prometheus.

Kept here: labels come from closed sets or the code (routes, event types, reasons), never from what a caller
sent; the outbox is measured at most every few seconds, so that scraping stays cheap.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic

import structlog
from prometheus_client import CONTENT_TYPE_PLAIN_1_0_0, CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector

from clarion.api.errors import Unavailable
from clarion.api.perform import perform
from clarion.engine import Engine
from clarion.outbox.operate import Depth, find_unknown_types, measure_outbox
from clarion.work.tally import Tally

CONTENT_TYPE = CONTENT_TYPE_PLAIN_1_0_0
KEPT_SECONDS = 5.0
"""For so long a measurement of the outbox is shown again."""

log = structlog.get_logger("clarion.metrics")


@dataclass(frozen=True, slots=True)
class Measured:
    """The outbox at some moment."""

    depths: Sequence[Depth] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)
    up: bool = False


class Metrics:
    """One registry for one app."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._registry = CollectorRegistry()
        self._requests = Histogram(
            "clarion_http_request_seconds",
            "Time to answer a request.",
            ("method", "route", "status"),
            registry=self._registry,
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        )
        self._measured = Measured()
        self._measured_at = float("-inf")
        self._one_at_a_time = asyncio.Lock()
        self._registry.register(_Collected(self))

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(method if method in _METHODS else "other", route, str(status)).observe(seconds)

    async def show(self) -> bytes:
        """Return all numbers in Prometheus' text format."""
        async with self._one_at_a_time:
            if monotonic() - self._measured_at >= KEPT_SECONDS:
                self._measured = await self._measure()
                self._measured_at = monotonic()
        return generate_latest(self._registry)

    async def _measure(self) -> Measured:
        notifier = self._engine.notifier
        try:
            depths = await perform(self._engine, measure_outbox)
            unknown = await perform(self._engine, find_unknown_types, notifier.name, notifier.types())
        except Unavailable as error:
            log.warning("the outbox cannot be measured", error=str(error))
            return Measured()
        return Measured(depths, unknown, up=True)

    def collect(self) -> Iterable[Metric]:
        """Yield the outbox as it was measured, and what the relays of this process did."""
        yield _gauge("clarion_database_up", "Whether the database answered.", (), [((), float(self._measured.up))])
        if self._measured.up:
            yield from _outbox(self._measured)
        crew = self._engine.crew
        if crew:
            yield from _relays([relay.tally for relay in crew.relays])


class _Collected(Collector):
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics.collect()


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _outbox(measured: Measured) -> Iterable[Metric]:
    depths = [((each.type, each.state), float(each.count)) for each in measured.depths]
    yield _gauge("clarion_outbox_events", "Events due and waiting, or set aside.", ("type", "state"), depths)
    ages = [((each.type, each.state), each.oldest_seconds) for each in measured.depths]
    yield _gauge("clarion_outbox_oldest_seconds", "Age of the oldest of these.", ("type", "state"), ages)
    unknown = [((event_type,), float(count)) for event_type, count in sorted(measured.unknown.items())]
    yield _gauge("clarion_outbox_unknown_events", "Events due of a type without a resolver here.", ("type",), unknown)


def _relays(tallies: Sequence[Tally]) -> Iterable[Metric]:
    settled: dict[tuple[str, ...], float] = {}
    failed: dict[tuple[str, ...], float] = {}
    notified: dict[tuple[str, ...], float] = {}
    for tally in tallies:
        _add(settled, tally.settled.items())
        _add(failed, (((event_type,), count) for event_type, count in tally.failed.items()))
        _add(notified, (((reason,), count) for reason, count in tally.notified.items()))
    yield _counter("clarion_events", "Events handled here, by what became of them.", ("type", "outcome"), settled)
    yield _counter("clarion_event_failures", "Attempts that failed here.", ("type",), failed)
    yield _counter("clarion_notifications", "Notifications written here, by reason.", ("reason",), notified)
    batches, seconds = sum(tally.batches for tally in tallies), sum(tally.seconds for tally in tallies)
    yield SummaryMetricFamily(
        "clarion_relay_batch_seconds", "Batches, from claim to commit.", count_value=batches, sum_value=seconds
    )
    halved, deaths = sum(tally.halved for tally in tallies), sum(tally.deaths for tally in tallies)
    yield _counter("clarion_relay_batches_halved", "Batches that failed and were halved.", (), {(): halved})
    yield _counter("clarion_relay_deaths", "Dead relays that were come upon.", (), {(): deaths})


def _add(total: dict[tuple[str, ...], float], counts: Iterable[tuple[tuple[str, ...], int]]) -> None:
    for labels, count in counts:
        total[labels] = total.get(labels, 0) + count


def _gauge(
    name: str, text: str, labels: tuple[str, ...], values: Iterable[tuple[tuple[str, ...], float]]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=labels)
    for each, value in values:
        family.add_metric(each, value)
    return family


def _counter(
    name: str, text: str, labels: tuple[str, ...], values: Mapping[tuple[str, ...], float]
) -> CounterMetricFamily:
    family = CounterMetricFamily(name, text, labels=labels)
    for each, value in sorted(values.items()):
        family.add_metric(each, value)
    return family
