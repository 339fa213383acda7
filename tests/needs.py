"""What some tests need of a machine: where it is missing they are skipped, and the last line of the run counts why."""

import os
import shutil
from importlib.util import find_spec

import pytest

from arena.community.submissions.upload_directory import can_contain_uploads
from arena.sandbox.isolation.file_access import landlock_abi
from arena.sandbox.isolation.levels import probe_level

root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
ordinary_user = pytest.mark.skipif(os.geteuid() == 0, reason="needs an ordinary user")


def program(*names, path=None):
    is_missing = not any(shutil.which(name, path=path) for name in names)
    return pytest.mark.skipif(is_missing, reason=f"needs {' or '.join(names)}")


def package(name):
    return pytest.mark.skipif(find_spec(name) is None, reason=f"needs {name}")


def isolation(level):
    if not probe_level(level).is_available:
        pytest.skip(f"needs the isolation level {level}")


def landlock(abi):
    if landlock_abi() < abi:
        pytest.skip(f"needs Landlock {abi}")


def contained_uploads():
    """Skip the test where submissions wait for ever: an ordinary user, for one, has no control groups for bots."""
    if not can_contain_uploads().is_enough:
        pytest.skip("needs a machine that can contain uploads")
