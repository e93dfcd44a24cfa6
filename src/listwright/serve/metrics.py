"""Prometheus metrics of the service, served at ``/metrics``; any of several processes answers for all of them."""

from __future__ import annotations

import os
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # set where several processes serve; their numbers are added up


class Metrics:
    """All counters, gauges and histograms of one service, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        route = ["method", "route"]

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"listwright_{name}", text, labels, registry=registry)

        def gauge(name: str, text: str, *labels: str, mode: Any = "max") -> Gauge:
            """Register a gauge; `mode` says how values of several processes are combined."""
            return Gauge(f"listwright_{name}", text, labels, registry=registry, multiprocess_mode=mode)

        def histogram(name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
            return Histogram(f"listwright_{name}", text, labels, registry=registry, buckets=buckets)

        self.requests = counter("requests", "Requests answered.", *route, "status")
        self.seconds = histogram("request_seconds", "Time to answer.", SECONDS, *route)
        self.in_flight = gauge("requests_in_flight", "Requests being answered.", mode="livesum")
        self.lists = counter("lists", "Lists served.", "version")
        self.feedback = counter("feedback", "Feedback stored.", "version", "outcome")
        self.out_of_range = counter("out_of_range", "Requests far from the trained range.", "version", "action")
        self.fallbacks = counter(
            "fallbacks", "Lists built by the deployed policy because the learned one failed.", "version"
        )
        self.shadowed = counter("shadow_lists", "Lists that a shadow built too.", "version")
        self.dropped = counter("shadow_dropped", "Lists that a shadow had no time for.")
        self.group = histogram("group_size", "Writes of one transaction.", SIZES)
        self.commit = histogram("commit_seconds", "Time of one transaction.", SECONDS)
        self.store_failures = counter("store_failures", "Transactions that failed.")
        self.events = gauge("events", "Number of the last feedback stored.")
        self.applied = gauge("events_applied", "Number of the last one learned from.")
        self.skipped = counter("events_skipped", "Feedback in quarantine: it cannot be learned from.")
        self.leader = gauge("leader", "1 if this replica learns.")
        self.frozen = gauge("learning_frozen", "1 if learning is paused, by an operator or by an alarm.", "version")
        self._children: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def of_request(self, method: str, route: str, status: int, seconds: float) -> None:
        # Labelled children are cached, because looking them up costs more than counting.
        key = method, route, status
        if key not in self._children:
            labels = self.requests.labels(method, route, status), self.seconds.labels(method, route)
            self._children[key] = labels
        count, time = self._children[key]
        count.inc()
        time.observe(seconds)

    def of_group(self, size: int, seconds: float) -> None:
        self.group.observe(size)
        self.commit.observe(seconds)

    def text(self) -> bytes:
        if FOLDER not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
