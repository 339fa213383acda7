"""Imports go down only, and what is light stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "arena"

LAYERS = [
    {"errors", "version", "text"},
    {"checked", "stored", "names", "shipped"},
    {"records"},
    {"definition"},
    {"games", "protocol", "isolation"},
    {"players", "ratings", "report", "botkit"},
    {"match", "store"},
    {"play", "conformance", "clock_test", "kits", "interop"},
    {"tournament"},
    {"cli"},
    {"__main__", "__init__"},
]
LAYER = {room: number for number, rooms in enumerate(LAYERS) for room in rooms}

ALLOWED_FOR = {
    "botkit": {"botkit", "protocol", "games", "errors"},
    "games": {"games", "errors"},
    "interop": {"interop", "games", "errors", "botkit"},
    "report": {"report", "errors", "text"},
}
"""Rooms that may import even less than their layer allows."""

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "templates" not in path.parts)


def room(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("arena."):
                yield name.split(".")[1]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down_only(path):
    mine = room(path)
    for other in imported_rooms(path):
        assert other == mine or LAYER[other] < LAYER[mine], f"{mine} -> {other}"
        if mine in ALLOWED_FOR:
            assert other in ALLOWED_FOR[mine], f"{mine} -> {other}"


FORBIDDEN = {
    "games": {"os", "sys", "time", "random", "subprocess", "threading", "socket", "pathlib", "asyncio", "logging"},
    "ratings": {"os", "sys", "time", "random", "subprocess", "threading", "sqlalchemy", "pathlib"},
}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_each_kind_of_thing_is_done_in_one_place(path):
    imported = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            imported.add(node.module.split(".")[0])
        elif isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
    mine = room(path)
    assert not imported & FORBIDDEN.get(mine, set())
    if mine != "store":
        assert not imported & {"sqlalchemy", "sqlite3"}
    if mine != "isolation":
        assert "subprocess" not in imported
    if mine != "cli":
        assert not imported & {"click", "rich"}
    if mine not in ("botkit", "interop"):  # the one prints for its author, the other where PettingZoo says so
        assert not prints(tree), "printing is the command line's business, and it uses click.echo"


def prints(tree):
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Name) and called.id == "print" for called in calls)


HEAVY = {"sqlalchemy", "pydantic", "click", "rich", "trueskill", "tabulate", "multiprocessing"}


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("arena", HEAVY),
        ("arena.botkit", HEAVY | {"subprocess"}),
        ("arena.cli.group", HEAVY - {"click"} | {"subprocess"}),
        ("arena.executors.worker", HEAVY - {"multiprocessing"}),
    ],
)
def test_starting_quickly_needs_nothing_heavy(module, heavy):
    code = f"import {module}, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & heavy


def test_modules_are_of_a_size_to_be_read():
    for path in MODULES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 380, path
