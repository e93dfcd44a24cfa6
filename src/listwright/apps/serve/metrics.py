"""What Prometheus reads at /metrics."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    """Counters of one service, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        route = ["method", "route"]
        self.requests = Counter("listwright_requests", "Requests answered.", [*route, "status"], registry=registry)
        self.seconds = Histogram(
            "listwright_request_seconds", "Time to answer.", route, registry=registry, buckets=SECONDS
        )
        self.in_flight = Gauge("listwright_requests_in_flight", "Requests being answered.", registry=registry)
        self.lists = Counter("listwright_lists", "Lists served.", ["version"], registry=registry)
        self.feedback = Counter("listwright_feedback", "Feedback stored.", ["version", "outcome"], registry=registry)
        self.group = Histogram("listwright_group_size", "Writes of one transaction.", registry=registry, buckets=SIZES)
        self.commit = Histogram(
            "listwright_commit_seconds", "Time of one transaction.", registry=registry, buckets=SECONDS
        )
        self.events = Gauge("listwright_events", "Number of the last feedback stored.", registry=registry)
        self.applied = Gauge("listwright_events_applied", "Number of the last one learned from.", registry=registry)
        self.skipped = Counter("listwright_events_skipped", "Feedback that cannot be learned from.", registry=registry)

        self._children: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def of_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Hears of each request."""
        key = method, route, status
        if key not in self._children:
            labels = self.requests.labels(method, route, status), self.seconds.labels(method, route)
            self._children[key] = labels
        count, time = self._children[key]
        count.inc()
        time.observe(seconds)

    def of_group(self, size: int, seconds: float) -> None:
        """Hears of each transaction."""
        self.group.observe(size)
        self.commit.observe(seconds)

    def text(self) -> bytes:
        """The exposition format."""
        return generate_latest(self.registry)
