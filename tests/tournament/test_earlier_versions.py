"""Homes that earlier versions of the arena have made: every tournament in them is taken up, shown and verified.

``tests/data/stored/make_home.py`` made them, each with the version in its name; they are never made again.
"""

import shutil

import pytest

from arena import ArenaHome, load_definition, run_tournament
from arena.analysis.measures.standings_cache import standings_of
from arena.analysis.measures.verification import verify
from tests.conftest import STORED
from tests.databases import change
from tests.tournament.transfer.played import exported

HOMES = sorted(path.name for path in (STORED / "homes").iterdir())
TOURNAMENTS = ("round robin", "swiss", "ladder", "faults")


@pytest.fixture(params=HOMES)
def home(request, tmp_path):
    directory = tmp_path / "home"
    shutil.copytree(STORED / "homes" / request.param, directory)
    with ArenaHome(directory, must_exist=True) as home:
        yield home


def definition_of(home, name, **changes):
    text = (STORED / f"{name.replace(' ', '_')}.toml").read_text()
    for old, new in changes.items():
        text = text.replace(old, new)
    path = home.directory / "changed.toml"
    path.write_text(text.replace('"bots/', f'"{STORED}/bots/'))
    return load_definition(path, home.bots)


def play(home, definition):
    progress = run_tournament(definition, home.store, executor="in-process")
    assert progress.is_complete
    return progress


@pytest.mark.slow(only=[f"{home}-{name}" for home in HOMES for name in ("round robin", "swiss")])
@pytest.mark.parametrize("name", TOURNAMENTS)
def test_a_stored_tournament_is_played_to_its_end_and_verified(home, name):
    earlier = exported(home.store, name)
    assert earlier
    play(home, definition_of(home, name))
    records = exported(home.store, name)
    assert set(earlier) <= set(records)
    assert len(records) == home.store.tournament(name).scheduled
    assert verify(home, home.store.tournament(name)) == (len(records), [])
    assert len(standings_of(home.store, name).lines) == len(definition_of(home, name).entrants)


@pytest.mark.slow(sample=("0.1.0-1ebad77",))
def test_a_stored_ladder_goes_on_when_its_file_says_so(home):
    assert play(home, definition_of(home, "ladder", **{"matches = 16": "matches = 24"})).recorded >= 24
    assert verify(home, home.store.tournament("ladder"))[1] == []


@pytest.mark.slow(sample=("0.1.0-ed1ddae",))
def test_a_stored_home_is_shown_before_its_tournaments_are_taken_up(home):
    for name in TOURNAMENTS:
        tournament = home.store.tournament(name)
        assert verify(home, tournament) == (tournament.recorded, [])
        assert sum(line.matches for line in standings_of(home.store, name).lines) > 0
    faults = home.store.fault_counts(home.store.tournament("faults"))
    assert faults == {"illegal@1": {"illegal": 9}, "crasher@1": {"exit": 9}}  # each sits in three of the four trios
    for name in ("round robin", "swiss"):
        tournament = home.store.tournament(name)
        assert 0 < tournament.recorded < tournament.scheduled
    assert home.bots.find("submitted").label == "submitted@2"
    assert [bot.label for bot in home.store.submitted_bots()] == ["submitted@2"]


BESIDE = [
    ("records SET ranks = '[1,1,1]'", "match 1: ranks is (1, 1, 1) beside the record, which says "),
    ("records SET bots = replace(bots, 'crasher', 'greedier')", "greedier@1'"),
    ("records SET termination = 'normal'", "termination is 'normal' beside the record, which says 'forfeit'"),
    ("records SET encounter = 7", "encounter is 7 beside the record"),
    ("seats SET ahead = -ahead", "the tables of who met whom and of faults are not what follows from the records"),
    ("faults SET bot = 'greedy@1'", "the tables of who met whom and of faults are not"),
]


@pytest.mark.parametrize("home", HOMES[-1:], indirect=True)
@pytest.mark.parametrize(("change_of", "problem"), BESIDE, ids=[change_of for change_of, _ in BESIDE])
def test_what_tables_show_is_what_the_records_say(home, change_of, problem):
    tournament = home.store.tournament("faults")
    change(home.directory / "arena.sqlite3", f"UPDATE {change_of} WHERE tournament_id = ?", tournament.number)
    problems = verify(home, tournament).problems
    assert any(problem in found for found in problems), problems


UNREADABLE = [
    ("{", r"match 1: StoreError: the record of match 1 is not JSON"),
    ("[]", r"match 2: StoreError: a record is malformed: expected an object, got a list"),
    ('{"match": 3, "colour": 2}', r"match 3: StoreError: the record of match 3 has a field 'colour'"),
]


def test_records_that_nobody_can_read_are_named_and_the_others_are_still_checked(home):
    tournament = home.store.tournament("faults")
    statement = "UPDATE records SET record = ? WHERE tournament_id = ? AND match = ?"
    for match, (text, _) in enumerate(UNREADABLE, 1):
        change(home.directory / "arena.sqlite3", statement, text, tournament.number, match)
    checked, problems = verify(home, tournament)
    assert checked == 12
    assert all(found.startswith(problem) for found, (_, problem) in zip(problems, UNREADABLE, strict=True))
