"""What some tests need of a machine: where it is missing they are skipped, and the last line of the run counts why."""

import os
import shutil

import pytest

from arena.isolation.levels import try_level

root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
ordinary_user = pytest.mark.skipif(os.geteuid() == 0, reason="needs an ordinary user")


def program(name, kind):
    """Return a marker for tests of a program, such as ("cc", "a C compiler")."""
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"needs {kind}")


def need_level(level):
    """Skip the test where this machine does not offer an isolation level."""
    if not try_level(level).is_available:
        pytest.skip(f"needs the isolation level {level}")
