import os
from pathlib import Path

import pytest

from arena.sandbox.isolation.control_groups import _mounts
from arena.sandbox.isolation.fork_server import remove_control_group


@pytest.fixture
def group_of_version_2():
    """Yield a control group in a hierarchy of version 2, also where that one limits nothing."""
    for kind, mount_point, _ in _mounts():
        group = Path(mount_point, f"arena-test-{os.getpid()}")
        if kind == "cgroup2" and os.access(mount_point, os.W_OK):
            group.mkdir()
            yield group
            assert remove_control_group(str(group))
            return
    pytest.skip("needs to create control groups of version 2")
