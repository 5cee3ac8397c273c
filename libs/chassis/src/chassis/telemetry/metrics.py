"""The process's one Prometheus registry, its text form, and the bucket sizes all services share."""

from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

LATENCY_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds, for work that should take milliseconds."""

AGE_BUCKETS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
"""Seconds, for waiting times."""

registry: Final = CollectorRegistry(auto_describe=True)
"""Modules declare their metrics on it at import, named `pilot_<subject>_{total,seconds,bytes}`, labels bounded."""

ProcessCollector(registry=registry)
PlatformCollector(registry=registry)
GCCollector(registry=registry)


def render(accept: str = "", *, source: CollectorRegistry = registry) -> tuple[bytes, str]:
    """All metrics in the text format the `Accept` header prefers, and its content type."""
    encode, content_type = choose_encoder(accept)
    return encode(source), content_type
