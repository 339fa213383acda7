"""Merging homes, importing and exporting tournaments, as a director does."""

import pytest

from arena.cli.group import run
from arena.tournament.corrections.entrants import disqualify
from tests.cli.calls import calling, printed, refusal
from tests.tournament.transfer.played import begin, definition_of, play

CUP = definition_of(encounters=2)


@pytest.fixture
def arena(here, capsys):
    return calling(here.directory, capsys)


def test_a_new_tournament_and_its_missing_programs_are_named(arena, there):
    play(there.store, CUP, lambda match: match <= 4)
    out = printed(arena, "merge", there.directory)
    assert out == (
        "cup: new here, with 4 records of 24 matches\n"
        "cup: 20 matches still to be played: arena run FILE\n"
        "cup: the programs of a@1, b@1, c@1 and 1 more were not taken;"
        " arena run and arena bot repro --bot-path need them\n"
    )
    assert arena("merge", there.directory)[1].splitlines()[0] == "cup: nothing new; 4 matches were here already"


def test_matches_that_a_correction_left_out_are_not_counted(arena, there):
    play(there.store, CUP)
    disqualify(there.store, CUP.name, "a", reason="copied")
    line = arena("merge", there.directory)[1].splitlines()[0]
    assert line == "cup: new here, with 12 records of 12 matches; it is finished"


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


def test_what_is_no_home_is_one_sentence_and_an_empty_one_has_nothing_to_take(arena, there, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refusal(arena, "merge", "nowhere") == "home 'nowhere': expected a directory that holds arena.sqlite3"
    assert arena("merge", there.directory) == (0, "There is no tournament in it.\n", "")


def test_an_export_is_imported_from_a_file(arena, there, capsys, tmp_path):
    play(there.store, CUP)
    assert run(["export", "--whole", "cup", "--home", str(there.directory)]) == 0
    path = tmp_path / "cup.jsonl"
    path.write_text(capsys.readouterr().out)
    code, out, _ = arena("import", path)
    assert (code, out.splitlines()[0]) == (0, "cup: new here, with 24 records of 24 matches; it is finished")
    assert arena("verify", "cup")[0] == 0
    assert run(["export", "--home", str(there.directory)]) == 0
    path.write_text(capsys.readouterr().out)
    assert arena("import", path) == (0, "cup: nothing new; 24 matches were here already\n", "")


def test_an_edited_export_is_one_sentence_on_stderr(arena, here, there, capsys, tmp_path):
    play(there.store, CUP)
    begin(here.store, CUP)
    assert run(["export", "--home", str(there.directory)]) == 0
    path = tmp_path / "cup.jsonl"
    path.write_text(capsys.readouterr().out.replace('"match": 16, ', '"match": 16, "note": 7, '))
    assert refusal(arena, "export", "--whole", "--set-aside")
    sentence = refusal(arena, "import", path)
    assert sentence.startswith("tournament 'cup': line 16: match 16: ")
    assert sentence.endswith("nothing of it was taken")


@pytest.mark.parametrize("file", ["nowhere.jsonl", ".", "diary.txt"])
def test_a_file_that_cannot_be_read_is_one_sentence(arena, file, tmp_path):
    (tmp_path / "diary.txt").write_text("dear diary")
    assert str(tmp_path / file) in refusal(arena, "import", tmp_path / file)
