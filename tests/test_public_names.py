import ast
import inspect
import re
import subprocess
import sys
import typing
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import pytest

import arena
import arena.botkit
import arena.games
import arena.ratings

PUBLIC = {name: getattr(arena, name) for name in arena.__all__ if name != "__version__"}
AUTHORS = {getattr(arena.games, name) for name in arena.games.__all__ if name not in ("GAMES", "Option")}
"""What authors of games import, from ``arena.games``."""
BOT_AUTHORS = {getattr(arena.botkit, name) for name in arena.botkit.__all__}
"""What authors of bots import, from ``arena.botkit``."""

PACKAGES = {"botkit", "games", "interop", "ratings"}
"""What ``import arena`` reaches besides: ``arena.games``, …."""

PARTS_OF_A_STORE = {"AnalysisRequests", "Annotations", "CorrectionLog", "LiveState", "Records", "Seasons", "Source"}
"""Users get these from a store, and never make one themselves."""


def names_for_type_checkers(package) -> Iterator[tuple[str, str]]:
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    blocks = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    for line in next(blocks).body:
        assert isinstance(line, ast.ImportFrom)
        for alias in line.names:
            assert alias.asname == alias.name, "or mypy --strict takes it for private"
            yield alias.name, line.module


def classes_in(hint) -> Iterator[type]:
    if isinstance(hint, list):  # the parameters of a Callable
        for part in hint:
            yield from classes_in(part)
    if isinstance(hint, type) and hint.__module__.startswith("arena."):
        yield hint
    for part in (typing.get_origin(hint), *typing.get_args(hint)):
        if part is not None:
            yield from classes_in(part)


def signatures(value) -> Iterator[tuple[str, dict[str, object]]]:
    if inspect.isfunction(value):
        yield value.__qualname__, typing.get_type_hints(value)
    if not inspect.isclass(value):
        return
    if issubclass(value, Enum | Exception):
        return
    fields = typing.get_type_hints(value)
    yield value.__qualname__, {name: hint for name, hint in fields.items() if not name.startswith("_")}
    for name, member in vars(value).items():
        function = member.fget if isinstance(member, property) else inspect.unwrap(getattr(member, "__func__", member))
        is_called = not name.startswith("_") or (name == "__init__" and value.__name__ not in PARTS_OF_A_STORE)
        if inspect.isfunction(function) and is_called:
            yield function.__qualname__, typing.get_type_hints(function)


@pytest.mark.parametrize(
    ("package", "names"), [(arena, {*PUBLIC, *PACKAGES}), (arena.ratings, {*arena.ratings.__all__})]
)
def test_type_checkers_see_every_name_and_no_other(package, names):
    listed = dict(names_for_type_checkers(package))
    assert set(listed) == names <= {*dir(package)}
    for name, module in listed.items():
        assert getattr(__import__(module, fromlist=[name]), name) is getattr(package, name)
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'Nothing'"):
        package.Nothing  # noqa: B018


def test_names_are_listed_and_no_others_exist():
    assert {name for name in dir(arena) if not name.startswith("__")} == {*PUBLIC, *PACKAGES}
    assert {"__all__", "__doc__", "__file__", "__path__", "__version__"} <= set(dir(arena))
    assert len(arena.__all__) == len(set(arena.__all__))


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_a_package_is_imported_when_it_is_used(package):
    code = f"import arena; print(arena.{package}.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"arena.{package}\n"


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_documented_and_every_class_and_error_of_it_is_public(name):
    value = PUBLIC[name]
    assert inspect.getdoc(value)
    for where, hints in signatures(value):
        for hint in hints.values():
            for found in classes_in(hint):
                assert found in {*PUBLIC.values()} | AUTHORS | BOT_AUTHORS, f"{where}: {found}"
    members = [value, *vars(value).values()] if inspect.isclass(value) else [value]
    for member in members:
        for error in re.findall(r"^ +(\w+Error):", getattr(member, "__doc__", None) or "", re.MULTILINE):
            assert error in {*PUBLIC, *arena.games.__all__}, f"{name}: {error}"


def test_earlier_names_keep_working():
    assert (arena.SitsOut, arena.Turns) == (arena.SuspendedBot, arena.FairScheduling)
