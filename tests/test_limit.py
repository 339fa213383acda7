"""The table of limits: bounds, and the sentences about a broken one."""

import inspect
import re

import pytest

from arena.records import DEFAULT_LIMITS, LIMITS, Limits


def test_each_limit_has_a_default_within_its_bounds_and_a_description():
    described = re.findall(r"^    (\w+): ", inspect.getdoc(Limits).partition("Attributes:")[2], re.MULTILINE)
    assert described == list(LIMITS)
    for name, limit in LIMITS.items():
        assert getattr(DEFAULT_LIMITS, name) == limit.default
        assert limit.default is None or limit.minimum <= limit.default <= limit.maximum


@pytest.mark.parametrize(
    ("name", "used", "allowed", "sentence"),
    [
        ("memory_bytes", 2**28, 2**27, "256 MiB of memory; memory_bytes allows 128 MiB"),
        ("memory_bytes", 2**27 + 1, 2**27, "134,217,729 bytes of memory; memory_bytes allows 134,217,728 bytes"),
        ("processes", 64, 64, "64 processes and threads, and more is refused; processes allows 64"),
        ("cpu_seconds", 0.656, 0.6, "0.66 s of CPU time in this match; cpu_seconds allows 0.60 s"),
        ("file_bytes", 8192, 4096, "a file of 8,192 bytes; file_bytes allows 4,096 bytes"),
    ],
)
def test_a_broken_limit_is_reported_with_both_amounts(name, used, allowed, sentence):
    assert LIMITS[name].broken_by(used, allowed) == sentence
