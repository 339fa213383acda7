"""No default keeps the clock that stood in ``time`` when its module was imported."""

import ast
import re

import pytest

from tests.test_layers import MODULES, PACKAGE

CLOCKS = {f"{name}{unit}" for name in ("monotonic", "perf_counter", "process_time", "time") for unit in ("", "_ns")}

INSTANTS = {"now", "today", "utcnow"}

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def evaluated_at_import(node):
    """Yield the expressions that an import evaluates: all of them but the bodies of functions."""
    yield node
    if isinstance(node, FUNCTIONS):
        below = [*node.args.defaults, *node.args.kw_defaults, *getattr(node, "decorator_list", [])]
    else:
        below = ast.iter_child_nodes(node)
    for child in below:
        if child is not None:
            yield from evaluated_at_import(child)


def clocks_bound_at_import(source):
    """Return the lines where an import keeps or reads a clock."""
    if not re.search(r"import time|from time |datetime", source):
        return []
    tree = ast.parse(source)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "time"]
    names = {alias.asname or alias.name for node in imports for alias in node.names if alias.name in CLOCKS}
    modules = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "time"
    }
    found = set()
    for node in evaluated_at_import(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=attr) if module in modules and attr in CLOCKS:
                found.add(node.lineno)
            case ast.Attribute(value=ast.Name(id="datetime" | "date") | ast.Attribute(), attr=attr) if attr in INSTANTS:
                found.add(node.lineno)
            case ast.Name(id=name) if name in names:
                found.add(node.lineno)
    return sorted(found)


@pytest.mark.slow(sample=True)
def test_a_clock_is_looked_up_when_it_is_read():
    found = {
        f"arena/{path.relative_to(PACKAGE)}:{line}"
        for path in MODULES
        for line in clocks_bound_at_import(path.read_text(encoding="utf-8"))
    }
    assert not found, "a default such as `lambda: time.monotonic()` looks the clock up when it is read"


@pytest.mark.parametrize(
    "line",
    [
        "def wait(now=time.monotonic): pass",
        "def wait(*, now=time.monotonic): pass",
        "class Wait:\n    def __init__(self, now=time.time): pass",
        "class Limits: clock: Clock = field(default=time.monotonic)",
        "class Limits: began: float = field(default_factory=time.perf_counter)",
        "class Limits: now = staticmethod(clock.monotonic)",
        "from time import monotonic as seconds\nwait = lambda now=seconds: now()",
        "def outer():\n    pass\nBEGAN = time.monotonic()",
        "def wait(until=datetime.now()): pass",
    ],
)
def test_a_clock_that_is_bound_at_import_is_found(line):
    assert clocks_bound_at_import(f"import time, time as clock\n{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "def wait(now=lambda: time.monotonic()): pass",
        "def wait(now=None):\n    now = now or time.monotonic",
        "class Limits: clock: Clock = field(default_factory=lambda: time.monotonic)",
        "def outer():\n    def inner(now=time.monotonic): pass",
        "def wait(pause=time.sleep): pass",
    ],
)
def test_a_clock_that_is_looked_up_later_is_none(line):
    assert not clocks_bound_at_import(f"import time\n{line}\n")
