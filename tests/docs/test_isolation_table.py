"""The table of levels and promises says what ``tests/bad_bots/zoo.toml`` says, which is played at every level."""

import re
from pathlib import Path

import pytest

from arena.base.enums import IsolationLevel
from benchmarks.zoo_bots import ZOO

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "isolation.md").read_text(encoding="utf-8")
TABLE = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE[PAGE.index("| promise |") :].splitlines()
    if line.startswith("|")
]
HEAD, _, *ROWS = TABLE

UNLESS = {"as root": " as user", "groups": " without cgroup", "mounts": " without mounts"}
"""A cell, and the condition under which the deed gets through at that level."""


def cell_of(bot, level):
    through = ZOO[bot].get("gets_through", [])
    if level in through:
        return "–"
    conditions = [entry.removeprefix(level) for entry in through if entry.startswith(f"{level} ")]
    return next((cell for cell, condition in UNLESS.items() if condition in conditions), "yes")


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_promise_is_kept_where_the_table_says_so(row):
    bots = row[-1].split(", ")
    for level, cell in zip(IsolationLevel, row[1:-1], strict=True):
        assert {cell_of(bot, level) for bot in bots} == {cell}, level


def test_every_deed_that_gets_through_anywhere_is_in_the_table():
    """Those that differ from level to level are what a reader of the table has to know of."""
    named = {bot for row in ROWS for bot in row[-1].split(", ")}
    differing = {bot for bot, about in ZOO.items() if about.get("gets_through") and about["expect"] != "honest"}
    assert differing <= named


def test_the_columns_are_the_levels_and_what_is_demanded_in_the_security_page_exists():
    assert tuple(HEAD[1:-1]) == tuple(IsolationLevel)
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert set(re.findall(r'`(?:isolation = )?"(\w+)"`', page)) == set(IsolationLevel)
