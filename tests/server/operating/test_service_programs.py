"""The table of parts, and what follows from it."""

import pytest

from arena.base.errors import StoreError, UsageError
from arena.server.operating.service_programs import SERVICES, locked_services, programs


def test_each_service_is_a_program_and_each_ladder_its_own():
    made = programs("/home/of", [("spring", "/s.toml"), ("a/b", "arena:x")], 4)
    assert [(one.service.name, one.arguments, one.ladder) for one in made] == [
        ("checker", ("/home/of",), ""),
        ("contests", ("/home/of",), ""),
        ("results", ("/home/of",), ""),
        ("ladder", ("/home/of", "/s.toml"), "spring"),
        ("ladder", ("/home/of", "arena:x"), "a/b"),
        ("play", ("/home/of", "4"), ""),
        ("annotator", ("/home/of",), ""),
    ]
    assert {one.service for one in made} == set(SERVICES)


def test_a_ladder_named_twice_is_refused():
    with pytest.raises(UsageError, match="two files have the name 'spring'"):
        programs("/home/of", [("spring", "a"), ("spring", "b")], 0)


def test_a_home_has_one_web_process_and_one_supervisor(tmp_path):
    with locked_services(tmp_path / "one", ["web"]):
        with locked_services(tmp_path / "other", ["web"]), locked_services(tmp_path / "one", ["work"]):
            pass
        with (
            pytest.raises(StoreError, match=r"one: another arena serve runs its web \(process \d+\)"),
            locked_services(tmp_path / "one", ["work", "web"]),
        ):
            pass
        with locked_services(tmp_path / "one", ["work"]):  # what was refused holds nothing
            pass
