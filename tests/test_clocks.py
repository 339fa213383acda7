"""No default keeps the clock that stood in ``time`` when its module was imported."""

import re

import pytest

from tests.test_layers import MODULES, PACKAGE

CLOCK = r"(monotonic|perf_counter|process_time|time)(_ns)?\b(?!\()"
BOUND = re.compile(rf"\bfrom time import .*\b{CLOCK}|(?<![.\w])\w+(: [^=\n]+)? ?= ?time\.{CLOCK}")


def test_a_clock_is_looked_up_when_it_is_read():
    found = {str(path.relative_to(PACKAGE)) for path in MODULES if BOUND.search(path.read_text(encoding="utf-8"))}
    assert not found, "a default such as `lambda: time.monotonic()` looks the clock up when it is read"


@pytest.mark.parametrize(
    ("line", "is_bound"),
    [
        ("def wait(*, now=time.monotonic): pass", True),
        ("began: float = field(default_factory=time.perf_counter)", True),
        ("from time import monotonic_ns", True),
        ("def wait(pause=time.sleep, now=lambda: time.monotonic()): pass", False),
        ("self._now = time.monotonic", False),
    ],
)
def test_a_clock_that_is_bound_at_import_is_found(line, is_bound):
    assert bool(BOUND.search(line)) is is_bound
