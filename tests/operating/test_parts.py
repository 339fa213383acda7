"""The table of parts, and what follows from a line of it."""

import sys

import pytest

from arena.errors import StoreError, UsageError
from arena.operating.part_lock import locked_parts
from arena.operating.parts import PARTS, Part, part_named, programs

PLAYER = Part("player", "plays", "a.module")
EACH = Part("each", "plays each", "another.module", is_per_ladder=True)
WEB = Part("web", "answers", "")


def test_a_part_that_is_a_line_in_the_table_is_a_program_with_a_lock():
    made = programs([WEB, PLAYER, EACH], "/home/of", [("spring", "/s.toml"), ("a/b", "arena:x")])
    assert [(one.module, one.arguments, one.lock) for one in made] == [
        ("a.module", ("/home/of",), "player"),
        ("another.module", ("/home/of", "/s.toml"), "each spring"),
        ("another.module", ("/home/of", "arena:x"), "each a/b"),
    ]


def test_a_program_alone_is_given_no_process_that_started_it(tmp_path, monkeypatch):
    (tmp_path / "part_of_a_test.py").write_text("def main(arguments):\n    return arguments\n")
    monkeypatch.syspath_prepend(tmp_path)
    [program] = programs([Part("p", "does it", "part_of_a_test")], "/home/of", [])
    assert program.run_alone() == ["0", "/home/of"]
    sys.modules.pop("part_of_a_test")


def test_a_ladder_named_twice_is_refused():
    with pytest.raises(UsageError, match="two files have the name 'spring'"):
        programs([EACH], "/home/of", [("spring", "a"), ("spring", "b")])


def test_names_of_parts_differ():
    assert len({part.name for part in PARTS}) == len(PARTS)
    assert part_named("checker").module == "arena.submissions.checker_program"


def test_a_part_has_one_lock_on_a_home_and_each_home_its_own(tmp_path):
    with locked_parts(tmp_path / "one", ["web", "ladder a/b"]):
        with locked_parts(tmp_path / "other", ["web"]), locked_parts(tmp_path / "one", ["checker", "ladder b"]):
            pass
        with (
            pytest.raises(StoreError, match=r"one: another arena serve runs its ladder a/b \(process \d+\)"),
            locked_parts(tmp_path / "one", ["checker", "ladder a/b"]),
        ):
            pass
        with locked_parts(tmp_path / "one", ["checker"]):  # what was refused holds nothing
            pass
    with locked_parts(tmp_path / "one", ["web", "ladder a/b"]):
        pass
