import itertools
import sqlite3
from contextlib import closing
from functools import partial

import pytest

from arena.base.errors import UsageError
from arena.base.programs.service_program import ProblemNote
from arena.lab.matches import annotator_program
from arena.lab.matches.annotating import Annotator, TournamentAnnotator
from arena.lab.matches.annotator_program import Annotations, Pace
from arena.lab.matches.puzzle import is_searched, kept_puzzles
from arena.lab.solving.limits import Limits
from tests.analysis.text.tournaments import play

GAME = [("differences", {"size": 3})]


def annotated(home, name):
    return home.store.annotations.count(home.store.tournament(name))


def told(home):
    return sum(home.store.events.topics().values())


def steps(annotations):
    count = 0
    while annotations.step():
        count += 1
    return count


def test_it_annotates_as_the_command_does_and_finds_puzzles_of_a_finished_tournament(home):
    tournament = play(home, "t", ["a", "b"], [("plaid", {"width": 4, "height": 4, "lines": 4})], encounters=8)
    list(TournamentAnnotator(home.store, tournament, partial(Annotator, limits=Limits())).annotate())
    expected = [home.store.annotations.find(tournament, match) for match in range(1, tournament.recorded + 1)]
    home.store.annotations._database.write(lambda connection: connection.exec_driver_sql("DELETE FROM annotations"))
    events = told(home)
    assert steps(Annotations(home)) == 1
    found = [home.store.annotations.find(tournament, match) for match in range(1, tournament.recorded + 1)]
    assert found == expected
    assert len(expected) == 16
    assert kept_puzzles(home.directory, tournament) != ()
    assert told(home) == events + 2, "readers are told of the annotations, and of the puzzles"


def test_it_annotates_what_is_new_and_nothing_twice(home, monkeypatch):
    monkeypatch.setattr(annotator_program, "SHARE_OF_LOOKS", float("inf"))  # it may look again at once
    play(home, "t", ["a", "b"], GAME)
    annotations = Annotations(home)
    assert steps(annotations) == 1
    play(home, "later", ["a", "b"], GAME)
    events = told(home)
    assert (steps(annotations), annotated(home, "later")) == (1, 2)
    assert steps(Annotations(home)) == 2  # another process looks at both, and writes nothing
    assert told(home) == events + 2


def test_it_leaves_alone_what_has_no_single_value_and_rules_from_elsewhere(home):
    play(home, "three", ["a", "b", "c"], [("coprimality", {"size": 3, "players": 3})])
    play(home, "elsewhere", ["a", "b"], [("tests.mistaken_games:Counting", {})])
    steps(Annotations(home))
    assert (annotated(home, "three"), annotated(home, "elsewhere")) == (0, 0)
    assert not is_searched(home.directory, home.store.tournament("three"))
    requests, elsewhere = home.store.analysis_requests, home.store.tournament("elsewhere")
    requests.add(elsewhere, 1)
    assert Annotations(home).step()
    assert (annotated(home, "elsewhere"), requests.find(elsewhere, 1).state) == (0, "done")


def test_a_malformed_record_keeps_no_other_tournament_from_it_and_operators_are_told(home):
    play(home, "first", ["a", "b"], GAME)
    number = play(home, "malformed", ["a", "b"], GAME).number
    with closing(sqlite3.connect(home.directory / "arena.sqlite3")) as connection, connection as database:
        database.execute("UPDATE records SET record = '{}' WHERE tournament_id = ? AND match = 1", (number,))
    steps(Annotations(home))
    assert (annotated(home, "first"), annotated(home, "malformed")) == (2, 0)


def test_a_tournament_that_takes_too_long_lets_the_others_go_on(home):
    play(home, "t", ["a", "b"], GAME, encounters=4)
    play(home, "later", ["a", "b"], GAME, encounters=4)
    clock = itertools.count(step=1000)
    assert steps(Annotations(home, Pace(lambda: next(clock)))) == 2
    assert (annotated(home, "t"), annotated(home, "later")) == (1, 1)


def test_it_works_a_tenth_of_the_time_while_others_want_the_processors(home):
    now, queued, pauses = [0.0], [0.0], []

    def pause(seconds):
        pauses.append(seconds)
        now[0] += seconds

    def work(seconds, waited):
        now[0], queued[0] = now[0] + seconds, queued[0] + waited
        pace.rest()

    pace = Pace(lambda: now[0], lambda: queued[0], pause)
    now[0] = queued[0] = 1000.0  # idle until then
    pace.start()
    for seconds, waited in [(1.0, 0.5), (1.0, 0.0), (0.5, 0.04), (0.5, 0.2), (20.0, 20.0)]:
        work(seconds, waited)
    assert pauses == [9.0, 4.5, 10.0]
    assert (pace.work_clock(), now[0]) == (1023.0, 1046.5)

    play(home, "t", ["a", "b"], GAME, encounters=2)
    rests = []
    pace = Pace(itertools.count().__next__, itertools.count(step=1000).__next__, rests.append)
    assert steps(Annotations(home, pace)) == 1
    assert len(rests) > annotated(home, "t") == 4  # also between the positions that are searched for puzzles


def test_a_match_that_was_asked_for_comes_before_the_others_also_where_the_time_is_used_up(home):
    play(home, "t", ["a", "b"], GAME, encounters=2)
    clock = itertools.count(step=1000)
    annotations = Annotations(home, Pace(lambda: next(clock)))
    steps(annotations)
    later, requests = play(home, "later", ["a", "b"], GAME), home.store.analysis_requests
    requests.add(home.store.tournament("t"), 3)
    requests.add(later, 1)
    assert annotations.step()
    assert (annotated(home, "t"), annotated(home, "later")) == (2, 0)
    assert annotations.step()
    assert (requests.waiting(), annotated(home, "later")) == ([], 1)


def test_a_tournament_stands_back_for_a_match_that_is_asked_for_meanwhile(home, monkeypatch):
    other, tournament = play(home, "other", ["a", "b"], GAME), play(home, "t", ["a", "b"], GAME, encounters=4)
    annotations, annotate = Annotations(home), TournamentAnnotator.annotate

    def ask_meanwhile(*arguments, **options):
        home.store.analysis_requests.add(other, 2)
        yield from annotate(*arguments, **options)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(TournamentAnnotator, "annotate", ask_meanwhile)
        assert annotations.step()
    assert (annotated(home, "t"), annotated(home, "other")) == (1, 0)
    steps(annotations)
    assert (annotated(home, "t"), annotated(home, "other")) == (tournament.recorded, 2)


def test_a_home_that_is_away_is_not_made_again(tmp_path):
    away = tmp_path / "away"
    with pytest.raises(UsageError, match="there is no tournament yet"):
        annotator_program.run_until_idle(str(away), ProblemNote(away, "annotator"))
    assert not away.exists()
