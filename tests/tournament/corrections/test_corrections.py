import re
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from arena import ArenaHome, load_definition
from arena.analysis.measures.standings_cache import standings_of
from arena.analysis.measures.verification import verify
from arena.base.enums import DisqualifiedMatches
from arena.base.errors import DefinitionError, StoreError, UsageError
from arena.match.players.manifest import load_bot
from arena.ratings.sequential import Hypotheses
from arena.tournament.corrections.corrected_tournament import CorrectedTournament, undo_correction, void_matches
from arena.tournament.corrections.entrants import disqualify, enter_late, replace_bot, withdraw
from arena.tournament.director import run_tournament
from arena.tournament.experiments import comparison_definition
from arena.tournament.formats.swiss import CardLine, Swiss
from arena.tournament.resumption import with_corrections
from arena.tournament.rounds import played_format, ranking_of
from arena.tournament.transfer.checks import without_locations
from tests.conftest import STORED
from tests.databases import change
from tests.tournament.corrections.contest import FOUR, Scripts, contest, play, reckoned, records, tabled, write_bots


@pytest.fixture
def played(home, bots):
    play(home, contest(bots))
    return home


def whole(home):
    connection = sqlite3.connect(home.directory / "arena.sqlite3")
    tables = ("records", "faults", "matches", "skipped", "set_aside")
    rows = {table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3").fetchall() for table in tables}
    connection.close()
    return rows


def matches_with(home, number):
    return {line.match for line in home.store.schedule(home.store.tournament("t")) if number in line.seats}


def test_a_correction_reads_only_the_lines_around_its_matches(played, monkeypatch):
    """Of a schedule of a million lines, all of them would take seconds."""
    monkeypatch.setattr(
        CorrectedTournament, "lines", property(lambda corrected: pytest.fail("read the whole schedule"))
    )
    before = whole(played)["records"]
    void_matches(played.store, "t", [2, 5], reason="power cut")
    undo_correction(played.store, "t", reason="no")
    disqualify(played.store, "t", "dan", reason="cheated")
    undo_correction(played.store, "t", reason="no")
    assert whole(played)["records"] == before


def test_files_that_are_neither_those_of_the_replaced_nor_of_the_new_bot_are_named(played, bots, mended, tmp_path):
    replace_bot(played.store, "t", "bob", mended, reason="a bug")
    other = write_bots(tmp_path / "other", ["bob"], "something else")[0]
    with pytest.raises(DefinitionError, match=r"differs in the bot 'bob@1'; .*arena correct replace"):
        play(played, contest((bots[0], other, *bots[2:])))
    Path(mended.own_files[0]).write_text("# something else\n")
    with pytest.raises(UsageError, match="bot 'bob@1', which came by a correction, has changed in"):
        play(played, contest(bots))
    Path(mended.own_files[0]).unlink()
    with pytest.raises(UsageError, match="bot 'bob@1', which came by a correction, is not at"):
        play(played, contest(bots))


def test_of_a_stored_bot_only_its_place_and_its_arguments_are_believed(played, bots, mended):
    """The interpreter may have moved, and a home that comes from somebody else may name any program."""
    replace_bot(played.store, "t", "bob", replace(mended, command=(*mended.command, "--fast")), reason="a bug")
    program = mended.command[0]
    statement = "UPDATE tournaments SET definition = replace(definition, ?, '/bin/false')"
    change(played.directory / "arena.sqlite3", statement, program)
    stored = played.store.tournament("t")
    assert stored.definition.entrants[1].command == ("/bin/false", mended.own_files[0], "--fast")
    bob = with_corrections(contest(bots), stored).entrants[1]
    assert bob.command == (program, mended.own_files[0], "--fast")


def test_a_corrected_bot_of_another_machine_is_looked_for_in_the_file(played, bots, mended):
    replace_bot(played.store, "t", "bob", mended, reason="a bug")
    stored = played.store.tournament("t")
    played.store.change_definition(stored, without_locations(stored.definition))  # as after a merge
    with pytest.raises(UsageError, match="'bob@1', which came by a correction, was on another machine; name its files"):
        play(played, contest(bots))
    assert play(played, contest((bots[0], mended, *bots[2:]))).is_complete


def test_a_late_entrant_of_a_round_robin_meets_everybody_from_their_openings(played, bots, newcomer):
    enter_late(played.store, "t", newcomer, reason="was ill")
    stored = played.store.tournament("t")
    new = [line for line in played.store.schedule(stored) if 4 in line.seats]
    assert sorted(line.seats for line in new) == sorted([(k, 4) for k in range(4)] + [(4, k) for k in range(4)])
    openings = {line.opening_actions for line in played.store.schedule(stored) if 4 not in line.seats}
    assert {line.opening_actions for line in new} == openings
    assert stored.finished_at is None
    assert play(played, contest(bots)).is_complete
    assert tabled(played)["eve@1"][0] == 8
    assert play(played, contest((*bots, newcomer))).is_complete  # the file may have it by now


def test_a_late_entrant_may_be_anywhere_in_the_file(played, bots, newcomer, tmp_path):
    with pytest.raises(DefinitionError, match=r"differs in the new entrant 'eve@1'; .*\(arena correct enter\)"):
        play(played, contest((bots[0], newcomer, *bots[1:])))
    enter_late(played.store, "t", newcomer, reason="was ill")
    (later,) = write_bots(tmp_path / "later", ["abe"])
    enter_late(played.store, "t", later, reason="was ill, too")
    assert play(played, contest((bots[0], newcomer, *bots[1:]))).is_complete  # without the second
    assert play(played, contest((later, newcomer, *bots))).is_complete
    labels = [bot.label for bot in played.store.tournament("t").definition.entrants]
    assert labels == [*(bot.label for bot in bots), "eve@1", "abe@1"]


def test_a_late_entrant_that_was_replaced_may_have_its_old_or_new_files_in_the_file(played, bots, newcomer, tmp_path):
    enter_late(played.store, "t", newcomer, reason="was ill")
    newer = replace(write_bots(tmp_path / "newer", ["eve"], "mended")[0], version="2")
    replace_bot(played.store, "t", "eve", newer, reason="a bug")
    for present in (newcomer, newer):
        assert play(played, contest((present, *bots))).is_complete


@pytest.mark.parametrize(
    ("entrants", "differing"),
    [
        ((0, 1, 2), "the missing entrant 'dan@1'; .*, or put the files of the entrant back"),
        ((1, 0, 2, 3), r"the order of entrants; give this one another name \(--name NAME\)"),
    ],
)
def test_a_file_with_other_entrants_is_refused_with_their_names(played, bots, entrants, differing):
    with pytest.raises(DefinitionError, match=f"differs in {differing}$"):
        play(played, contest(tuple(bots[k] for k in entrants)))


def test_late_entrants_of_a_game_for_three_meet_every_pair(home, bots, newcomer):
    definition = contest(bots, players=3)
    play(home, definition)
    enter_late(home.store, "t", newcomer, reason="x")
    groups = {frozenset(line.seats) for line in home.store.schedule(home.store.tournament("t")) if 4 in line.seats}
    assert len(groups) == 6  # as many as pairs of the four
    assert play(home, definition).is_complete


def swiss(bots, rounds=3):
    return contest(bots, format="swiss", settings={"rounds": rounds})


def test_another_setting_of_the_format_is_named(home, bots):
    play(home, swiss(bots))
    with pytest.raises(DefinitionError, match=r"differs in rounds; give this one another name \(--name NAME\)$"):
        play(home, swiss(bots, rounds=2))


def test_a_knockout_keeps_what_later_duels_rest_on(home, bots, mended):
    definition = contest(bots, format="knockout", settings={"seeding": "entrants"})
    play(home, definition)
    with pytest.raises(UsageError, match="match 1 of tournament 't': in a knockout, later duels have been paired"):
        void_matches(home.store, "t", [1], reason="x")
    with pytest.raises(UsageError, match="expected the rule 'keep'"):
        disqualify(home.store, "t", "ann", reason="x")
    final = max(records(home))
    void_matches(home.store, "t", [final], reason="x")
    assert play(home, definition).is_complete
    champion = next(name for name, placing in ranking_of(home.store, home.store.tournament("t")) if placing.rank == 1)
    disqualify(home.store, "t", champion, reason="x", matches=DisqualifiedMatches.KEEP)
    ranking = ranking_of(home.store, home.store.tournament("t"))
    assert champion not in dict(ranking)
    assert [placing.rank for _, placing in ranking] == [1, 2, 2]


def test_a_ladder_goes_on_without_who_has_withdrawn(home, bots):
    definition = contest(bots, format="ladder", settings={"matches": 40})
    play(home, definition, max_matches=10)
    withdraw(home.store, "t", "cid", reason="x")
    known = matches_with(home, 2)
    play(home, definition)
    assert matches_with(home, 2) == known
    assert home.store.tournament("t").finished_at is not None
    play(home, contest(bots, format="ladder", settings={"matches": 60}), max_matches=1)
    assert verify(home, "t").problems == []
    with pytest.raises(UsageError, match="new versions enter a ladder through the tournament file"):
        replace_bot(home.store, "t", "bob", bots[0], reason="x")


def test_in_a_swiss_a_bot_that_comes_back_has_nothing_for_the_rounds_it_missed(home, tmp_path, no_check):
    bots = write_bots(tmp_path / "bots", [*FOUR, "eve", "fay"])
    play(home, swiss(bots, rounds=4), max_matches=6)  # the first round
    withdraw(home.store, "t", "ann", reason="x")
    play(home, swiss(bots, rounds=4), max_matches=4)  # of the second, the two pairs that are left
    undo_correction(home.store, "t", reason="x")
    stored = home.store.tournament("t")
    assert {line.round for line in home.store.unplayed(stored) if 0 in line.seats} == {2}
    assert play(home, swiss(bots, rounds=4)).is_complete
    in_round = {number: set() for number in range(1, 5)}
    for line in home.store.schedule(stored):
        in_round[line.round] |= set(line.seats)
    assert [0 in in_round[number] for number in range(1, 5)] == [True, True, False, True]
    played = played_format(home.store, stored)
    assert isinstance(played, Swiss)
    assert played.cards()[0][2] == CardLine(None, 0.0)
    assert verify(home, stored).problems == []


def test_in_a_knockout_a_bot_does_not_come_back_after_the_next_round(home, bots):
    definition = contest(bots, format="knockout", settings={"seeding": "entrants"})
    play(home, definition, max_matches=1)
    withdraw(home.store, "t", "dan", reason="x")
    play(home, definition)
    with pytest.raises(UsageError, match="later duels have been paired without dan@1, so it can't come back"):
        undo_correction(home.store, "t", reason="x")


def ann_of(store):
    return store.tournament("t").definition.entrants[0]


REFUSED = {
    "an unknown tournament": (lambda store: withdraw(store, "u", "bob", reason="x"), "unknown tournament 'u'"),
    "an unknown bot": (lambda store: withdraw(store, "t", "bobb", reason="x"), "unknown entrant 'bobb'"),
    "no reason": (lambda store: void_matches(store, "t", [1], reason=" "), "reason ' ': expected 1 to 500 visible"),
    "two lines": (lambda store: void_matches(store, "t", [1], reason="a\nb"), "visible characters on one line"),
    "a long reason": (lambda store: void_matches(store, "t", [1], reason="a" * 501), "expected 1 to 500 visible"),
    "no match": (lambda store: void_matches(store, "t", [], reason="x"), "expected the number of at least one match"),
    "a match that is not there": (
        lambda store: void_matches(store, "t", [1, 13, 99], reason="x"),
        "tournament 't': no record of match 13, 99; 12 of its 12 matches have one",
    ),
    "a match beyond all numbers of a database": (
        lambda store: void_matches(store, "t", [2**63], reason="x"),
        "no record of match 9223372036854775808; 12 of",
    ),
    "nothing left to withdraw from": (
        lambda store: withdraw(store, "t", "bob", reason="x"),
        "tournament 't' is finished: bob@1 has no match left to withdraw from",
    ),
    "no correction": (lambda store: undo_correction(store, "t", reason="x"), "has no correction that could be undone"),
    "no challengers": (
        lambda store: enter_late(store, "t", ann_of(store), reason="x", is_challenger=True),
        "only a gauntlet has challengers",
    ),
    "a bot that is there": (
        lambda store: enter_late(store, "t", ann_of(store), reason="x"),
        "bot 'ann@1': another entrant has this name and version; enter it under another name",
    ),
    "the same files": (
        lambda store: replace_bot(store, "t", "ann", ann_of(store), reason="x"),
        "bot 'ann@1': these are the files it has played with; there is nothing to replace",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_can_not_be_corrected_is_said_and_nothing_changes(played, case):
    correct, sentence = REFUSED[case]
    before = whole(played)
    with pytest.raises(UsageError, match=re.escape(sentence)):
        correct(played.store)
    assert whole(played) == before
    assert played.store.tournament("t").corrections == ()


def test_a_correction_while_a_run_builds_its_bots_ends_that_run(played, bots, mended, monkeypatch):
    """The run holds no lock yet, and has not built the new bot."""

    def open_executor(url, job):
        monkeypatch.setattr("arena.tournament.director.open_executor", lambda url, job: Scripts())
        replace_bot(played.store, "t", "bob", mended, reason="x")
        return Scripts()

    void_matches(played.store, "t", [1], reason="x")
    monkeypatch.setattr("arena.tournament.director.open_executor", open_executor)
    with pytest.raises(StoreError, match="'t' was corrected while its bots were built; nothing was played"):
        run_tournament(contest(bots), played.store)
    assert run_tournament(contest(bots), played.store).is_complete


def test_a_run_of_a_ladder_builds_who_is_in_its_file_and_has_not_withdrawn(home, bots, newcomer, monkeypatch):
    """Entrants of the store and of the file have different numbers once somebody has left the file."""
    jobs = []

    def open_executor(url, job):
        jobs.append([bot.name for bot in job.bots])
        return Scripts()

    monkeypatch.setattr("arena.tournament.director.open_executor", open_executor)
    ladder = {"format": "ladder", "settings": {"matches": 40}}
    play(home, contest(bots, **ladder), max_matches=10)
    withdraw(home.store, "t", "cid", reason="x")
    run_tournament(contest((*bots[1:], newcomer), **ladder), home.store)  # ann has left the file, eve has come
    assert jobs == [["bob", "dan", "eve"]]
    assert verify(home, home.store.tournament("t")).problems == []


def test_a_comparison_is_not_corrected_but_for_void_matches(home, bots):
    conditions = replace(contest(()), opening_plies=2)
    definition = comparison_definition(*bots[:2], conditions, Hypotheses(), name="t", limit=32)
    play(home, definition)
    for correct in (withdraw, disqualify):
        with pytest.raises(UsageError, match="a comparison needs all of its bots"):
            correct(home.store, "t", "ann", reason="x")
    void_matches(home.store, "t", [1, 2], reason="x")
    assert play(home, definition).is_complete


def test_a_bot_that_does_not_pass_its_check_does_not_enter(home, tmp_path):
    play(home, contest(write_bots(tmp_path / "bots", FOUR)))
    before = whole(home)
    broken = write_bots(tmp_path / "broken", ["bob"], "broken")[0]  # a comment is no bot
    with pytest.raises(UsageError, match=r"bot 'bob@1' does not pass its check \(starts .*; nothing was changed"):
        replace_bot(home.store, "t", "bob", broken, reason="x")
    with pytest.raises(UsageError, match="does not pass its check"):
        enter_late(home.store, "t", write_bots(tmp_path / "n", ["eve"])[0], reason="x")
    assert whole(home) == before


# what earlier versions have stored
@pytest.mark.slow
@pytest.mark.parametrize("version", ["0.1.0-ed1ddae", "0.1.0-fc118d9"])  # the first and the last
def test_a_tournament_of_an_earlier_version_takes_every_correction(version, tmp_path):
    shutil.copytree(STORED / "homes" / version, tmp_path / "home")
    text = (STORED / "round_robin.toml").read_text().replace('"bots/', f'"{STORED}/bots/')
    (tmp_path / "t.toml").write_text(text)
    shutil.copytree(STORED / "bots", tmp_path / "bots")
    with ArenaHome(tmp_path / "home") as home:
        name = "round robin"
        labels = [bot.label for bot in home.store.tournament(name).definition.entrants]
        void_matches(home.store, name, [1], reason="x")
        withdraw(home.store, name, labels[0], reason="x")
        disqualify(home.store, name, labels[1], reason="x")
        mended = tmp_path / "bots" / "middle.py"
        mended.write_text(f"{mended.read_text()}\n# mended\n")
        replace_bot(home.store, name, labels[3], load_bot(mended), reason="x")
        enter_late(home.store, name, load_bot(tmp_path / "bots" / "last.py"), reason="x")
        run_tournament(load_definition(tmp_path / "t.toml", home.bots), home.store, executor="in-process")
        assert {"middle@1", "last@1"} <= set(tabled(home, name))
        assert verify(home, home.store.tournament(name)).problems == []
        assert tabled(home, name) == reckoned(records(home, name).values())
        for _ in range(5):
            undo_correction(home.store, name, reason="x")
        run_tournament(load_definition(tmp_path / "t.toml", home.bots), home.store, executor="in-process")
        assert verify(home, home.store.tournament(name)).problems == []


def test_a_log_that_names_an_unknown_entrant_is_refused(played):
    disqualify(played.store, "t", "bob", reason="x")
    statement = "UPDATE corrections SET details = replace(details, '\"entrant\":1', '\"entrant\":9')"
    change(played.directory / "arena.sqlite3", statement)
    with pytest.raises(StoreError, match="its log of corrections names an entrant that it does not have"):
        standings_of(played.store, "t")


TAMPERED = {
    "a record comes back": (
        "INSERT INTO records SELECT tournament_id, match, encounter, game, bots, ranks, termination, opening_hash,"
        " actions_hash, record FROM set_aside WHERE match = (SELECT min(match) FROM set_aside)",
        r"match \d+: bob@1 is disqualified \(correction 1\), but its record counts",
    ),
    "the log is shortened": ("DELETE FROM corrections", "no such correction stands"),
    "the log is numbered otherwise": ("UPDATE corrections SET number = 2", r"log of corrections has the numbers \[2\]"),
    "a match is left out by no correction": (
        "INSERT INTO skipped (tournament_id, match, correction) SELECT id, 1, 7 FROM tournaments",
        "match 1: it is left out by correction 7, but no such correction stands",
    ),
    "a record is lost": (
        "DELETE FROM records WHERE match = (SELECT min(match) FROM records)",
        r"match \d+: it has no record, although the tournament is finished",
    ),
    "a match is not left out any more": (
        "DELETE FROM skipped WHERE match = (SELECT min(match) FROM skipped)",
        r"match \d+: bob@1 does not take part any more, but no correction leaves it out",
    ),
    "the record of others is set aside": (
        "UPDATE set_aside SET (match, record) = (SELECT match, record FROM records LIMIT 1)"
        " WHERE match = (SELECT min(match) FROM set_aside)",
        r"match \d+, set aside by correction 1: that correction is not about it",
    ),
    "an unplayed match has other seats": (
        "UPDATE matches SET seats = (SELECT seats FROM matches WHERE match NOT IN (SELECT match FROM skipped) LIMIT 1)"
        " WHERE match = (SELECT max(match) FROM skipped)",
        r"match \d+ of its schedule is not what follows from its encounter: its seats is",
    ),
    "a record has no time": (
        'UPDATE records SET record = replace(record, \'"started_at":"\', \'"started_at":"x\')',
        r"match \d+: started_at = 'x.*': expected a time",
    ),
    "a record that was set aside is gone": (
        "DELETE FROM set_aside WHERE match = (SELECT min(match) FROM set_aside); DELETE FROM events",
        r"the counter record_bytes is \d+, but should be \d+",
    ),
    "a record that was set aside, and its size, are gone": (
        "DELETE FROM set_aside WHERE match = (SELECT min(match) FROM set_aside);"
        " UPDATE tournaments SET record_bytes = (SELECT sum(length(record)) FROM"
        " (SELECT record FROM records UNION ALL SELECT record FROM set_aside))",
        r"^by the log of events, these matches had records that are gone: \d+$",
    ),
    "a set aside record is changed": (
        "UPDATE set_aside SET record = replace(record, '\"ranks\":[', '\"ranks\":[7,')",
        r"match \d+, set aside by correction 1: ",
    ),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_verify_names_what_the_log_does_not_explain(played, case):
    statement, problem = TAMPERED[case]
    disqualify(played.store, "t", "bob", reason="x")
    for step in statement.split(";"):
        change(played.directory / "arena.sqlite3", step)
    problems = verify(played, played.store.tournament("t")).problems
    assert any(re.search(problem, text) for text in problems), problems


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        (
            "UPDATE corrections SET details = replace(details, '[2,3]', '[2,99]')",
            "2, 99, but set aside are 2, 3",
        ),
        ("DELETE FROM set_aside WHERE match = 3", "2, 3, but set aside are 2"),
        ("DELETE FROM set_aside", "2, 3, but set aside are none"),
    ],
)
def test_verify_names_void_matches_that_are_not_set_aside(played, statement, problem):
    void_matches(played.store, "t", [3, 2], reason="x")
    assert verify(played, played.store.tournament("t")).problems == []
    change(played.directory / "arena.sqlite3", statement)
    assert f"correction 1 voids the matches {problem}" in verify(played, played.store.tournament("t")).problems


def test_verify_names_the_last_encounter_of_a_ladder_that_was_cut_off(home, bots):
    play(home, contest(bots, format="ladder", settings={"matches": 40}))
    database = home.directory / "arena.sqlite3"
    for table in ("matches", "records", "seats", "faults"):
        change(database, f"DELETE FROM {table} WHERE match > 38")
    change(database, "UPDATE tournaments SET match_count = 38, record_count = 38")
    change(database, "UPDATE tournaments SET record_bytes = (SELECT sum(length(record)) FROM records)")
    assert verify(home, "t").problems == ["by the log of events, these matches had records that are gone: 39, 40"]
