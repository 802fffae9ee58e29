"""One Hypothesis profile for every machine: no deadline, the same examples at every run."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "engine",
    deadline=None,
    derandomize=True,
    max_examples=60,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("engine")
