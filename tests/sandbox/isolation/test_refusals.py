import contextlib
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from arena.base.enums import IsolationLevel
from arena.base.records import Bot, Limits
from arena.sandbox.isolation import levels, sandbox_policy
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.sandbox_policy import Isolation, make_launch_spec
from arena.sandbox.isolation.seccomp import ARCHITECTURES
from arena.sandbox.isolation.system_calls import SYSTEM_CALLS
from tests import needs

DEEDS = Path(__file__).with_name("deeds.py")

WITHOUT_OWN_DISK = {"allocate beyond a file's end", "leave descriptors in a socket"}
WITHOUT_COUNTED_MEMORY = {
    "map memory that is shared",
    "make rules",
    "leave memory in a pipe",
    "leave a file's pages in a pipe",
    "send a file's pages into a pipe",
}


class Tried(NamedTuple):
    isolation: Isolation
    answers: dict[str, Any]
    file: Path
    before: os.stat_result


@pytest.fixture(scope="module", params=["landlock", "the oldest landlock", "bubblewrap"])
def tried(request, tmp_path_factory):
    *oldest, level = request.param.split()
    needs.isolation(IsolationLevel(level))
    file = tmp_path_factory.mktemp("foreign") / "file"
    with file.open("w") as written:
        written.write("precious")
        os.fsync(written)  # what isn't on disk yet can't be dropped from memory
    file.chmod(0o644)
    with contextlib.suppress(OSError):  # not every file system has attributes
        os.setxattr(file, "user.note", b"x")
    before = file.stat()
    column = list(ARCHITECTURES).index(platform.machine())
    numbers = json.dumps({name: numbers[column] for name, numbers in SYSTEM_CALLS.items()})
    command = (sys.executable, "-I", "-S", str(DEEDS), numbers, str(os.getpid()), str(file))
    isolation = choose_isolation(level)
    own = (str(DEEDS), str(file))
    bot = Bot(name="deeds", version="1", command=command, directory=str(DEEDS.parent), own_files=own)
    with pytest.MonkeyPatch.context() as patched:
        if oldest:
            patched.setattr(sandbox_policy, "landlock_abi", lambda: 1)
        return Tried(isolation, levels.run_test_program(bot, isolation), file, before)


def has_own_disk(isolation):
    bot = Bot(name="any", version="1", command=(sys.executable,), directory=str(DEEDS.parent))
    mounts = make_launch_spec(bot, isolation, Limits(), "/tmp/none")["mounts"]
    return isolation.level == "bubblewrap" or mounts is not None


def test_what_reaches_beyond_a_bot_is_rejected_and_it_finds_only_what_is_its_own(tried):
    allowed = set(WITHOUT_OWN_DISK) if has_own_disk(tried.isolation) else set()
    if tried.isolation.groups:
        allowed |= WITHOUT_COUNTED_MEMORY
    assert {name for name, came in tried.answers["results"].items() if came == "it succeeded"} == allowed
    after = tried.file.stat()
    for what in ("st_mode", "st_uid", "st_gid", "st_size", "st_mtime_ns", "st_ctime_ns"):
        assert getattr(after, what) == getattr(tried.before, what), what
    assert tried.answers["inherited"] == []
    assert set(tried.answers["memory_limits"]) == ({Limits().memory_bytes} if tried.isolation.groups else set())
