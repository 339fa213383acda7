"""What everybody may know of what is wrong with the parts."""

import pytest

from arena.errors import DatabaseError
from arena.home import ArenaHome, open_people
from arena.operating.part_lock import locked_parts
from arena.operating.parts import PARTS
from arena.operating.troubles import troubles
from arena.people.directing import DirectorState
from arena.trouble_note import Trouble, TroubleNote
from tests.contests.samples import contest_of


@pytest.fixture
def people(tmp_path):
    with ArenaHome(tmp_path), open_people(tmp_path) as opened:
        yield opened


def found(tmp_path, people):
    return list(troubles(tmp_path, people))


def test_nothing_is_wrong_with_a_part_that_never_worked_here_or_works_now(tmp_path, people):
    assert found(tmp_path, people) == []
    with locked_parts(tmp_path, [part.name for part in PARTS if not part.is_per_ladder]):
        assert found(tmp_path, people) == []


def test_a_part_that_has_worked_here_and_does_not_now_is_named(tmp_path, people):
    with locked_parts(tmp_path, ["web", "checker", "ladder spring"]):
        pass
    assert found(tmp_path, people) == [
        Trouble("checker", "the part that checks what authors hand in does not run (checker)")
    ]


def test_a_ladder_that_can_not_be_played_is_named_once(tmp_path, people):
    say = people.directors.say
    say("spring", "ladder", DirectorState.UNABLE, "the bot 'a@1' differs")
    assert found(tmp_path, people) == [Trouble("ladder", "spring: the bot 'a@1' differs")]
    TroubleNote(tmp_path, "ladder", "s.toml").say("s.toml can't be played now: the bot 'a@1' differs")
    assert found(tmp_path, people) == [Trouble("ladder", "s.toml can't be played now: the bot 'a@1' differs")]
    say("autumn", "ladder", DirectorState.SHORT)
    assert found(tmp_path, people)[1:] == [Trouble("ladder", "autumn: short")]


def test_of_a_contest_its_name_is_said_and_not_why_and_only_before_it_is_over(tmp_path, people):
    for name in ("spring", "summer"):
        stored = people.contests.add("dora", contest_of(name=f'"{name}"'))
        people.contests.set_stage(stored, stored.stage, "canary")
    assert set(found(tmp_path, people)) == {
        Trouble("contests", f"contest {name} does not go on; its page tells its directors why")
        for name in ("spring", "summer")
    }
    people.contests.cancel("dora", "spring", "Because.")
    assert [one.sentence.split()[1] for one in found(tmp_path, people)] == ["summer"]


def test_a_database_that_can_not_be_read_hides_no_note(tmp_path, people, monkeypatch):
    def away(_):
        raise DatabaseError("it is away")

    monkeypatch.setattr(people.directors, "reports", away)
    TroubleNote(tmp_path, "play").say("nobody can play now: it is away")
    assert found(tmp_path, people) == [
        Trouble("play", "nobody can play now: it is away"),
        Trouble("web", "the database of people can't be read: it is away"),
    ]
