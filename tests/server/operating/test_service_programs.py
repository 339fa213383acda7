import pytest

from arena.base.errors import StoreError, UsageError
from arena.server.operating.service_programs import SERVICES, locked_for_visitors, locked_services, programs
from arena.store.home import open_people
from arena.store.people.values import Role


def test_each_service_is_a_program_and_each_ladder_its_own_under_one_name():
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


def test_one_process_works_for_visitors_and_lets_them_play_where_there_are_slots_and_no_accounts(directory):
    def started(play_slots):
        with (
            locked_for_visitors(directory, play_slots, False) as made,
            locked_for_visitors(directory, 4, False) as more,
        ):
            assert more == ()
            return [(one.service.name, one.of_visitors) for one in made]

    assert started(4) == [("play", True), ("annotator", False)]
    assert started(0) == [("annotator", False)]
    with open_people(directory) as people:
        people.accounts.add("ada", Role.OPERATOR, "test")
    assert started(4) == [("annotator", False)]
