"""``arena merge``: two homes as a director merges them."""

import pytest

from arena.cli.group import run
from arena.home import ArenaHome
from tests.transfer.played import definition_of, play

CUP = definition_of(encounters=2)


@pytest.fixture
def here(tmp_path):
    with ArenaHome(tmp_path / "here") as home:
        yield home


@pytest.fixture
def there(tmp_path):
    with ArenaHome(tmp_path / "there") as home:
        yield home


@pytest.fixture
def arena(here, capsys):
    """Return a function that runs a command and returns (exit code, stdout, stderr)."""

    def call(*arguments):
        code = run([*map(str, arguments), "--home", str(here.directory)])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return call


def test_a_new_tournament_and_its_missing_programs_are_named(arena, there):
    play(there.store, CUP, lambda match: match <= 4)
    code, out, _ = arena("merge", there.directory)
    assert code == 0
    assert out == (
        "cup: new here, with 4 records of 24 matches\n"
        "cup: 20 matches still to be played: arena run FILE\n"
        "cup: the programs of a@1, b@1, c@1 and 1 more were not taken; arena run and arena repro --bot-path PATH"
        " need them\n"
    )
    assert arena("merge", there.directory)[1].splitlines()[0] == "cup: nothing new; 4 matches were here already"


def test_the_second_half_finishes_a_tournament(arena, here, there):
    play(here.store, CUP, lambda match: match <= 13)
    play(there.store, CUP, lambda match: match >= 13, by="there")
    assert arena("merge", there.directory, "cup") == (
        0,
        "cup: 11 records taken; it is finished\ncup: 1 match was played on both sides, 1 with another result;"
        " the records here stay\n",
        "",
    )
    assert arena("verify", "cup")[:2] == (0, "cup: 24 of 24 matches checked: all records hold, and so do the ratings\n")


def test_a_refused_tournament_is_one_sentence_on_stderr(arena, here, there):
    play(here.store, CUP)
    play(there.store, definition_of(encounters=3))
    code, out, err = arena("merge", there.directory)
    assert (code, out) == (2, "")
    assert err.startswith("arena: tournament 'cup': the one here has another definition, which differs in encounters;")
    assert err.count("\n") == 1


def test_what_is_no_home_is_one_sentence_on_stderr(arena, tmp_path):
    code, out, err = arena("merge", tmp_path / "nowhere")
    assert (code, out) == (2, "")
    assert err == f"arena: home '{tmp_path}/nowhere': expected a directory that holds arena.sqlite3\n"


def test_a_home_without_tournaments_has_nothing_to_take(arena, there):
    assert arena("merge", there.directory) == (0, "There is no tournament in it.\n", "")
