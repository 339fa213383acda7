"""Authors on macOS: bots are written, checked and played where nothing is that only Linux has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import BOTS

HIDING = Path(__file__).parent / "other_system"
"""Its ``sitecustomize`` hides /proc, pidfds, epoll, Landlock, prctl and affinity; Python imports it at its start."""

TOURNAMENT = f"""
game = "differences"
options = {{ size = 3 }}
encounters = 1
isolation = "none"
[[entrants]]
bot = "{BOTS}/greedy"
[[entrants]]
bot = "{BOTS}/random_legal"
"""


@pytest.fixture
def elsewhere(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(HIDING), "ARENA_HOME": str(tmp_path / "home"), "COLUMNS": "200"}

    def call(*arguments):
        command = [sys.executable, "-m", "arena", *map(str, arguments)]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    return call


@pytest.mark.slow
def test_a_tournament_is_played_and_verified(elsewhere, tmp_path):
    (tmp_path / "t.toml").write_text(TOURNAMENT)
    code, out, errors = elsewhere("run", "t.toml", "--quiet")
    assert (code, "2 of 2 matches." in out) == (0, True), errors
    assert elsewhere("verify", "t")[0] == 0


@pytest.mark.slow
def test_a_bot_is_checked_and_its_failure_is_explained(elsewhere, tmp_path):
    code, out, errors = elsewhere("check", BOTS / "minimal", "--isolation", "none", "--game", "differences")
    assert (code, out.splitlines()[-1][:4]) == (0, "All "), errors
    assert "stays inside its limits: not measured, as this system does not show what a process uses" in out
    (tmp_path / "bad.py").write_text("raise KeyError('x')\n")
    code, out, _ = elsewhere("check", tmp_path / "bad.py", "--isolation", "none", "--game", "differences")
    assert (code, "raised KeyError at bad.py, line 1: 'x'" in out) == (1, True)


@pytest.mark.slow
def test_a_level_that_needs_linux_is_refused_in_a_sentence(elsewhere):
    code, out, _ = elsewhere("home", "doctor")
    assert (code, "No landlock: it needs Linux." in out, "tried to escape" in out, "systemd" in out) == (
        0,
        True,
        *2 * [False],
    )
    assert "Nothing confines bots there: play only those that you trust." in out
    code, _, errors = elsewhere("check", BOTS / "minimal", "--isolation", "landlock")
    assert (code, errors.count("\n"), "it needs Linux" in errors) == (2, 1, True)
