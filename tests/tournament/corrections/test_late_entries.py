import shutil
from dataclasses import replace

import pytest

from arena.analysis.measures.verification import verify
from arena.base.errors import UsageError
from arena.tournament.corrections.corrected_tournament import void_matches
from arena.tournament.corrections.entrants import disqualify, enter_late, replace_bot, withdraw
from arena.tournament.corrections.undoing import undo_correction
from tests.tournament.corrections.contest import contest, play, reckoned, records, tabled, write_bots

FOUR = ("ann", "bob", "cid", "dan")


@pytest.fixture
def bots(tmp_path, no_check):
    return write_bots(tmp_path / "bots", FOUR)


@pytest.fixture
def eve(tmp_path):
    return write_bots(tmp_path / "late", ["eve"])[0]


def rivals_to_play(home):
    return {k for line in home.store.unplayed(home.store.tournament("t")) for k in line.seats}


def test_the_files_of_a_bot_that_was_taken_out_again_are_not_needed(home, bots, eve, tmp_path):
    play(home, contest(bots))
    enter_late(home.store, "t", eve, reason="x")
    undo_correction(home.store, "t", reason="entered by mistake")
    shutil.rmtree(tmp_path / "late")
    assert play(home, contest(bots)).is_complete


def test_the_files_of_a_replaced_bot_that_is_disqualified_are_not_needed(home, bots, tmp_path):
    (mended,) = write_bots(tmp_path / "mended", ["bob"], "mended")
    play(home, contest(bots), max_matches=6)
    replace_bot(home.store, "t", "bob", mended, reason="x")
    disqualify(home.store, "t", "bob", reason="the new files are copied")
    shutil.rmtree(tmp_path / "mended")
    assert play(home, contest(bots)).is_complete


def test_a_bot_that_was_taken_out_enters_again(home, bots, eve):
    play(home, contest(bots))
    for _ in range(2):
        enter_late(home.store, "t", eve, reason="was ill")
        assert rivals_to_play(home) == {0, 1, 2, 3, 4}
        play(home, contest(bots), max_matches=3)
        undo_correction(home.store, "t", reason="entered by mistake")
        assert play(home, contest(bots)).is_complete
        assert "eve@1" not in tabled(home)
    enter_late(home.store, "t", eve, reason="was ill")
    with pytest.raises(UsageError, match="bot 'eve@1': another entrant has this name and version"):
        enter_late(home.store, "t", eve, reason="once more")
    assert play(home, contest(bots)).is_complete
    assert tabled(home)["eve@1"][0] == 8
    assert tabled(home) == reckoned(records(home).values())
    assert verify(home, home.store.tournament("t")) == (20, [])


def test_a_bot_that_enters_again_leaves_and_comes_back_to_its_last_entry(home, bots, eve):
    play(home, contest(bots))
    enter_late(home.store, "t", eve, reason="x")
    undo_correction(home.store, "t", reason="x")
    enter_late(home.store, "t", eve, reason="x")
    play(home, contest(bots), max_matches=2)
    withdraw(home.store, "t", "eve", reason="x")
    assert play(home, contest(bots)).is_complete
    undo_correction(home.store, "t", reason="x")
    assert play(home, contest(bots)).is_complete
    assert tabled(home)["eve@1"][0] == 8


@pytest.mark.parametrize(("first", "rivals"), [(False, {1, 2, 3, 4}), (True, {0, 4})])
def test_a_bot_that_entered_a_gauntlet_in_the_wrong_place_enters_again(home, bots, eve, first, rivals):
    definition = contest(bots, format="gauntlet", settings={"challengers": ["ann"]})
    play(home, definition)
    enter_late(home.store, "t", eve, reason="x", is_challenger=first)
    undo_correction(home.store, "t", reason="in the wrong place")
    enter_late(home.store, "t", eve, reason="x", is_challenger=not first)
    assert rivals_to_play(home) == rivals
    challengers = home.store.tournament("t").definition.settings["challengers"]
    assert challengers == (["ann"] if first else ["ann", "eve"])
    assert play(home, definition).is_complete


def test_a_bot_enters_again_with_other_files(home, bots, eve, tmp_path):
    play(home, contest(bots))
    enter_late(home.store, "t", eve, reason="x")
    play(home, contest(bots))
    undo_correction(home.store, "t", reason="the wrong files")
    (other,) = write_bots(tmp_path / "right", ["eve"], "the right ones")
    enter_late(home.store, "t", other, reason="x")
    assert play(home, contest(bots)).is_complete
    assert home.store.tournament("t").definition.entrants[4].digest == other.digest
    assert verify(home, home.store.tournament("t")) == (20, [])


def test_a_replacement_does_not_make_two_of_the_same_name_and_version(home, bots, tmp_path):
    (other,) = write_bots(tmp_path / "other", ["bob"], "the second version")
    second = replace(other, version="2")
    play(home, contest((*bots, second)), max_matches=0)
    with pytest.raises(
        UsageError, match=r"bot 'bob@2': another .* this .* version; give the new files another version$"
    ):
        replace_bot(home.store, "t", "bob@1", second, reason="x")
    replace_bot(home.store, "t", "bob@1", replace(other, version="3"), reason="x")
    replace_bot(home.store, "t", "bob@2", replace(other, version="1"), reason="x")
    with pytest.raises(UsageError, match=r"bot 'bob@1': .*; first undo the correction that gave it these$"):
        undo_correction(home.store, "t", 1, reason="x")
    undo_correction(home.store, "t", 2, reason="x")
    undo_correction(home.store, "t", 1, reason="x")
    assert [bot.label for bot in home.store.tournament("t").definition.entrants][1::3] == ["bob@1", "bob@2"]


@pytest.mark.parametrize(
    "correct",
    [
        lambda store: void_matches(store, "t", [13], reason="the power failed"),
        lambda store: disqualify(store, "t", "ann", reason="copied"),
    ],
    ids=["void", "annul"],
)
def test_an_entry_is_not_undone_while_another_correction_has_set_its_matches_aside(home, bots, eve, correct):
    play(home, contest(bots))
    enter_late(home.store, "t", eve, reason="x")
    play(home, contest(bots))
    before = records(home)
    correct(home.store)
    with pytest.raises(UsageError, match=r"correction 1 .*: correction 2 \(.*\) came later and builds on it"):
        undo_correction(home.store, "t", 1, reason="x")
    undo_correction(home.store, "t", 2, reason="x")
    assert records(home) == before
    undo_correction(home.store, "t", 1, reason="x")
    assert "eve@1" not in tabled(home)
    assert len(records(home)) == 12
