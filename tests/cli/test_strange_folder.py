"""Commands in a folder, or with a home, that somebody else has made: they take what is in it as data."""

import os
import shutil
import subprocess
import sys

import pytest

from arena.games import find_game
from arena.store.home import ArenaHome
from tests.cli.calls import called
from tests.conftest import ROOT

LIKE_THE_PROGRAM = "import sys; sys.path.pop(0); from arena.__main__ import main; main()"
"""Python starts ``bin/arena`` without the working directory on its path."""

PLUG_IN = "[pydantic]\nplug_in = strange:plug_in\n"


def runs_nothing_of(folder, *arguments):
    """Run a command in a folder whose modules, if they are imported, write a file there."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    command = [sys.executable, "-c", LIKE_THE_PROGRAM, *arguments]
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (folder / "executed").exists()


@pytest.mark.slow(sample=True)
def test_plug_ins_in_the_working_directory_are_not_loaded(tmp_path):
    about = tmp_path / "strange-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1\n")
    (about / "entry_points.txt").write_text(PLUG_IN)
    (tmp_path / "strange.py").write_text("plug_in = open('executed', 'w')\n")
    ArenaHome(tmp_path / "home").close()
    runs_nothing_of(tmp_path, "tournament", "verify", "--home", "home")


@pytest.mark.slow
def test_processes_import_the_modules_of_python_and_not_those_of_the_working_directory(tmp_path):
    for name in ("pickle", "random", "logging", "socket"):
        (tmp_path / f"{name}.py").write_text("open('executed', 'w')\n")
    runs_nothing_of(tmp_path, "check", "--rules", "differences", "-o", "size=3", "--within", "1s")


def test_a_game_in_the_working_directory_is_found_by_its_name(tmp_path, monkeypatch, capfd):
    shutil.copy(ROOT / "docs/examples/domineering.py", tmp_path / "game_found_here.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert called(capfd, "--version")[0] == 0
    assert str(tmp_path) not in sys.path
    assert find_game("game_found_here:Domineering").__module__ == "game_found_here"
