"""Every bad bot in a tournament against honest ones: the right fault, nobody hurt, nothing left.

By default every twentieth of them, at the level that bots are run at on this machine; ``.ci/run`` plays the others as
well, and ``pytest -m soak`` plays all of them at all levels.
"""

import pytest

from arena.base.enums import FaultKind, IsolationLevel
from benchmarks.zoo_bots import BAD_BOTS, ZOO, is_safe_inline, judge, play_zoo_bot


def check(name, level):
    verdict = judge(name, level, play_zoo_bot(name, level, inline=is_safe_inline(level)))
    assert not verdict.startswith("WRONG"), verdict


def test_the_zoo_is_complete():
    files = {path.stem for path in BAD_BOTS.glob("[!_]*.py")}
    programs = {name for name, entry in ZOO.items() if "program" in entry}
    assert not files & programs
    assert files | programs == set(ZOO)
    assert len(ZOO) >= 60
    assert {entry["expect"] for entry in ZOO.values()} <= {*FaultKind, "contained", "still", "honest"}


NAMES = [name if number % 20 == 0 else pytest.param(name, marks=pytest.mark.soak) for number, name in enumerate(ZOO)]


@pytest.mark.slow(only=("floods_stdout", "never_ready"), sample=("never_ready",))
@pytest.mark.parametrize("name", NAMES)
def test_a_bad_bot_hurts_nobody(name):
    check(name, "auto")


SAMPLE = ("fork_bomb", "reads_secrets")


@pytest.mark.slow(only=("fork_bomb-bubblewrap", "fork_bomb-landlock", "fork_bomb-limits", "fork_bomb-none"))
@pytest.mark.parametrize("level", IsolationLevel, indirect=True)
@pytest.mark.parametrize(
    "name", [name if name in SAMPLE else pytest.param(name, marks=pytest.mark.soak) for name in ZOO]
)
def test_at_every_level(name, level):
    check(name, level)
