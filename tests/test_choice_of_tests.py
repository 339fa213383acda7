import os
import re
import socket
import subprocess
import sys
import tomllib
from contextlib import suppress
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement

from tests.conftest import BOTS, ROOT, name_cases
from tests.costs import WRONG_MARKER, Costs, judge
from tests.held_port import HOST
from tests.near import paths_near, rooms_that_import


@pytest.mark.parametrize(
    ("marker", "case", "expected"),
    [
        (pytest.mark.slow, "a", [False]),
        (pytest.mark.slow(sample=True), "a", [True]),
        (pytest.mark.slow(sample=("a", "b")), "b", [True]),
        (pytest.mark.slow(sample=("a", "b")), "c", [False]),
        (pytest.mark.slow(only=("a",)), "a", [False]),
        (pytest.mark.slow(only=("a",)), "b", []),
        (pytest.mark.slow(only=("a",), sample=True), "b", []),
    ],
)
def test_a_marker_may_name_the_cases_that_are_slow_and_those_that_stay(marker, case, expected):
    items = [item_of(each, marker) for each in "abc"]
    name_cases("test_it", items)
    own_markers = items["abc".index(case)].own_markers
    assert [mark.kwargs["sample"] for mark in own_markers if mark.name == "slow"] == expected
    assert own_markers[0].name == "anyio"


@pytest.mark.parametrize("key", ["only", "sample"])
def test_a_marker_that_names_no_case_is_refused(key):
    items = [item_of(each, pytest.mark.slow(**{key: ("b", "d")})) for each in "abc"]
    with pytest.raises(pytest.UsageError, match=r"test_it is marked slow for \['d'\]; its cases are \['a', 'b', 'c'\]"):
        name_cases("test_it", items)


def item_of(case, marker):
    return SimpleNamespace(own_markers=[pytest.mark.anyio.mark, marker.mark], callspec=SimpleNamespace(id=case))


def test_a_shared_fixture_is_divided_and_each_wrong_marker_is_listed():
    rows = [
        ("t.py::unmarked", False, 0.1, ["server"]),
        ("t.py::half", False, 0.3, []),
        ("t.py::half_marked", True, 0.3, []),
        ("t.py::cheap_but_marked", True, 0.1, []),
        ("t.py::marked", True, 9.0, ["server"]),
    ]
    costs, wrong, is_beyond_doubt = judge(rows, {"server": 1.0})
    assert not is_beyond_doubt
    assert costs["t.py::unmarked"] == pytest.approx(0.6)
    assert costs["t.py::marked"] == pytest.approx(9.5)
    assert wrong == [
        "t.py::unmarked costs 0.60 CPU seconds and is not marked slow",
        "t.py::cheap_but_marked costs 0.10 CPU seconds and is marked slow",
    ]
    *_, is_beyond_doubt = judge([("t.py::dear", False, 2.1, [])], {})
    assert is_beyond_doubt


@pytest.mark.parametrize(("seconds", "failed", "code"), [(1.9, 0, 0), (2.1, 0, WRONG_MARKER), (2.1, 1, 1)])
def test_a_wrong_marker_has_an_exit_code_that_no_failed_test_has(seconds, failed, code):
    manager = SimpleNamespace(get_plugin=lambda _: SimpleNamespace(write_line=lambda _: None))
    costs = Costs(SimpleNamespace(pluginmanager=manager))
    costs._rows.append(("t.py::dear", False, seconds, []))
    session = SimpleNamespace(exitstatus=failed)
    finish = costs.pytest_sessionfinish(session)
    next(finish)
    with suppress(StopIteration):
        finish.send(None)
    assert session.exitstatus == code
    assert WRONG_MARKER not in set(pytest.ExitCode)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("arena/ratings/encounter.py", {"tests/ratings", "tests/match/check"}),
        ("arena/store/people/log.py", {"tests/store/people"}),
        ("arena/protocol/messages.py", {"tests/protocol"}),
        ("arena/kits/templates/c/bot.c", {"tests/kits"}),
        ("arena/DESIGN.md", {"tests/docs"}),
        ("docs/index.md", {"tests/docs"}),
        ("bots/minimal/bot.py", {"tests/bots"}),
        ("tests/games/test_plaid_exactness.py", {"tests/games/test_plaid_exactness.py"}),
        ("tests/lab/conftest.py", {"tests/lab"}),
        ("arena/no_such_room/x.py", set()),
    ],
)
def test_a_change_is_near_to_the_paths_near_its_room_and_of_those_that_import_it(file, expected):
    assert set(paths_near([file], {"ratings": {"match.check"}})) - {"tests/test_layers.py"} == expected


@pytest.mark.slow
def test_what_imports_a_room_is_read_from_the_code():
    importers = rooms_that_import()
    assert {"match", "store", "match.players"} <= importers["base"]
    assert "base" not in importers.get("cli", set())


# what README.md's second command installs


HIDE = """
import sys

class Rest:
    def __init__(self, finder):
        self._finder = finder

    def find_spec(self, name, *others):
        return None if name.partition(".")[0] in {hidden!r} else self._finder.find_spec(name, *others)

sys.meta_path[:] = map(Rest, sys.meta_path)
"""


@pytest.mark.slow
def test_all_tests_are_collected_with_what_the_second_command_installs(tmp_path):
    """Also in the environment of a contributor, who has more, and would not notice what a newcomer lacks."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    installed = distributions_of([*project["dependencies"], *extras["test"], *extras["web"]]) | {"grid-arena"}
    assert {"pytest", "msgpack", "starlette", "markupsafe"} <= installed
    hidden = {name for name, owners in packages_distributions().items() if installed.isdisjoint(map(normal, owners))}
    (tmp_path / "hide.py").write_text(HIDE.format(hidden=hidden))
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    plugins = [f"-p{name}" for name in ("hide", "xdist.plugin", "anyio.pytest_plugin")]
    command = [sys.executable, "-m", "pytest", *plugins, "-n0", "--collect-only", "-m", "", "tests"]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr


def distributions_of(requirements):
    brought, left = set(), [(requirement, "") for requirement in requirements]
    while left:
        text, extra = left.pop()
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            name = normal(requirement.name)
            wanted = {(name, each) for each in ("", *requirement.extras)} - brought
            brought |= wanted
            left += [(each, extra) for name, extra in wanted for each in requires(name) or ()]
    return {name for name, _ in brought}


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


# a port that is held for a server


def test_one_server_at_a_time_listens_on_it_again_and_again(port):
    for _ in range(2):
        in_use = pytest.raises(OSError, match="already in use")
        with socket.create_server((HOST, port)), socket.create_connection((HOST, port)), in_use:
            socket.create_server((HOST, port))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((HOST, port))


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
