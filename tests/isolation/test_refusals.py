"""What the system call filter refuses, tried by a program that is confined as a bot is."""

import functools
import json
import os
import platform
import sys
from pathlib import Path

import pytest

from arena.isolation import levels
from arena.isolation.levels import choose_isolation, try_level
from arena.isolation.plans import can_mount
from arena.isolation.seccomp import _CALLS, ARCHITECTURES
from arena.records import Bot

DEEDS = Path(__file__).with_name("deeds.py")
CONFINED = [level for level in ("landlock", "bubblewrap") if try_level(level).is_available]

WITHOUT_OWN_DISK = {"allocate beyond a file's end", "leave descriptors in a socket"}
WITHOUT_COUNTED_MEMORY = {
    "leave memory in a pipe",
    "leave a file's pages in a pipe",
    "send a file's pages into a pipe",
}


@functools.cache
def tried(level):
    """What came of the deeds at a level."""
    column = list(ARCHITECTURES).index(platform.machine())
    numbers = json.dumps({name: numbers[column] for name, numbers in _CALLS.items()})
    command = (sys.executable, "-I", "-S", str(DEEDS), numbers, str(os.getpid()))
    bot = Bot("deeds", "1", command, str(DEEDS.parent), own_files=(str(DEEDS),))
    return levels._run(bot, choose_isolation(level))


@pytest.mark.parametrize("level", CONFINED)
def test_what_reaches_beyond_a_bot_is_refused(level):
    results = tried(level)["results"]
    allowed = set(WITHOUT_OWN_DISK) if level == "bubblewrap" or (os.geteuid() == 0 and can_mount()) else set()
    if choose_isolation(level).groups:
        allowed |= WITHOUT_COUNTED_MEMORY
    assert {name for name, came in results.items() if came == "it succeeded"} == allowed


@pytest.mark.parametrize("level", CONFINED)
def test_a_bot_inherits_nothing_but_its_three_pipes(level):
    assert tried(level)["inherited"] == []
