import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "arena"

DESIGN = PACKAGE / "DESIGN.md"

ALLOWED_FOR = {
    "botkit": {"botkit", "protocol", "games", "base"},
    "games": {"games", "base"},
    "interop": {"interop", "games", "base", "botkit"},
    "tournament.executors": {
        "tournament.executors", "base", "base.programs", "sandbox.isolation", "match", "match.players", "store.results",
    },
}  # fmt: skip
"""Rooms that may import even less than their layer allows."""

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "templates" not in path.parts)


def table():
    rows = re.findall(r"^\| (\d+) \| (.*?) \|", DESIGN.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        room.removesuffix("/").removesuffix(".py").replace("/", "."): int(layer)
        for layer, rooms in rows
        for room in re.findall(r"`(.*?)`", rooms)
    }


LAYER = table()


def room_of(module):
    parts = module.split(".")
    rooms = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((room for room in rooms if room in LAYER), module)


def room(path):
    return room_of(".".join(path.relative_to(PACKAGE).with_suffix("").parts))


class Source(NamedTuple):
    """What tests ask of a module: what it imports, at once or in a function, and whether it prints."""

    imports: list[ast.Import | ast.ImportFrom]
    does_print: bool


@cache
def source(path):
    """Return what a module does; each is read and searched once for all tests."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return Source(imports, any(isinstance(f, ast.Name) and f.id == "print" for f in called))


def imported_rooms(path):
    for node in source(path).imports:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            names = [alias.name for alias in node.names]
        for name in names:
            if name == "arena" or (name.startswith("arena.") and name.count(".") == 1 and not is_module(name)):
                yield "__init__"
            elif name.startswith("arena."):
                yield room_of(name.removeprefix("arena."))


@cache
def is_module(name):
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def test_the_table_has_every_room_and_nothing_else():
    inner = {".".join(path.parent.relative_to(PACKAGE).parts) for path in MODULES if path.name != "__init__.py"} - {""}
    assert set(LAYER) == inner | {path.stem for path in PACKAGE.glob("*.py")}
    assert {*ALLOWED_FOR, *FORBIDDEN, *set().union(*ALLOWED_FOR.values())} <= {*LAYER}


def imported_modules(path):
    for node in source(path).imports:
        if isinstance(node, ast.ImportFrom) and node.module.startswith("arena."):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if is_module(name) else node.module


@pytest.mark.slow(sample=True)
def test_no_modules_import_each_other_in_a_circle():
    graph = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): set(
            imported_modules(path)
        )
        for path in MODULES
        if path != PACKAGE / "__init__.py"
    }
    TopologicalSorter(graph).prepare()


def test_no_room_is_large():
    lines = Counter()
    for path in MODULES:
        lines[room(path)] += len(path.read_text(encoding="utf-8").splitlines())
    for one, count in lines.items():
        assert count <= 0.15 * lines.total(), one


FORBIDDEN = {
    "games": {"os", "sys", "time", "random", "subprocess", "threading", "socket", "pathlib", "asyncio", "logging"},
    "ratings": {"os", "sys", "time", "random", "subprocess", "threading", "sqlalchemy", "pathlib"},
}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down_only_and_each_kind_of_thing_is_done_in_one_place(path):
    mine = room(path)
    for other in imported_rooms(path):
        assert other == mine or LAYER[other] < LAYER[mine], f"{mine} -> {other}"
        if mine in ALLOWED_FOR:
            assert other in ALLOWED_FOR[mine], f"{mine} -> {other}"
    imported = set()
    for node in source(path).imports:
        names = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        imported |= {name.split(".")[0] for name in names}
    assert not imported & FORBIDDEN.get(mine, set())
    if mine not in ("store.results", "store.people"):
        assert not imported & {"sqlalchemy", "sqlite3"}
    if mine not in ("sandbox.isolation", "games.kernels"):  # bots and builders; the C compiler
        assert "subprocess" not in imported
    if mine.partition(".")[0] != "cli":
        assert not imported & {"click"}
    if mine not in ("botkit", "interop"):  # the one prints for its author, the other where PettingZoo says so
        assert not source(path).does_print, "printing is the command line's business, and it uses click.echo"


def test_a_command_exits_without_a_search_for_garbage():
    code = (
        "import atexit, gc, sys; atexit.register(lambda: print(gc.get_freeze_count() > 0));"
        "sys.argv = ['arena', '--version']; from arena.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True"


def test_modules_are_of_a_size_to_be_read():
    for path in MODULES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 380, path


CLOCK = r"(monotonic|perf_counter|process_time|time)(_ns)?\b(?!\()"
BOUND = re.compile(rf"\bfrom time import .*\b{CLOCK}|(?<![.\w])\w+(: [^=\n]+)? ?= ?time\.{CLOCK}")


def test_a_clock_is_looked_up_when_it_is_read():
    found = {str(path.relative_to(PACKAGE)) for path in MODULES if BOUND.search(path.read_text(encoding="utf-8"))}
    assert not found, "a default such as `lambda: time.monotonic()` looks the clock up when it is read"


@pytest.mark.parametrize(
    ("line", "is_bound"),
    [
        ("def wait(*, now=time.monotonic): pass", True),
        ("began: float = field(default_factory=time.perf_counter)", True),
        ("from time import monotonic_ns", True),
        ("def wait(pause=time.sleep, now=lambda: time.monotonic()): pass", False),
        ("self._now = time.monotonic", False),
    ],
)
def test_a_clock_that_is_bound_at_import_is_found(line, is_bound):
    assert bool(BOUND.search(line)) is is_bound
