"""A run that is stopped between matches: nothing that has begun is lost, and the next run continues."""

import time

import pytest

from arena.match.players.manifest import load_bot
from arena.match.players.player import ScriptedPlayer
from arena.match.referee import Referee
from arena.store.results.rows import row_of
from arena.tournament.definition import load_definition
from arena.tournament.director import run_tournament
from arena.tournament.executors.executor import Executor, Job, Played, WorkQueue
from arena.tournament.executors.local import LocalExecutor
from arena.tournament.run import Order, RunControl
from arena.tournament.schedule import schedule, spec_of
from benchmarks.zoo_bots import bad_bot


class Scripted(Executor):
    played = 0

    def __exit__(self, *_):
        pass

    def run(self, queue):
        while (spec := queue.take()) is not None:
            players = [ScriptedPlayer(lambda request: request.legal[0]) for _ in spec.bots]
            record = Referee(spec, players).play()
            self.played += 1
            yield [Played(row_of(record))]


class After(RunControl):
    def __init__(self, matches, order, executor):
        self.matches, self.executor, self.then = matches, executor, order

    def order(self):
        return self.then if self.executor.played >= self.matches else Order.PLAY


def run(definition, home, matches, order):
    executor = Scripted()
    return run_tournament(definition, home.store, executor=executor, control=After(matches, order, executor))


@pytest.fixture
def ladder(tmp_path, write_definition):
    path = write_definition()
    text = path.read_text()
    path.write_text('format = "ladder"\n' + text + "\n[ladder]\nmatches = 100\n")
    return load_definition(path)


def test_a_run_that_is_to_stop_begins_no_further_match(home, write_definition):
    definition = load_definition(write_definition(encounters=10))
    progress = run(definition, home, 3, Order.STOP)
    assert (progress.recorded, progress.scheduled) == (3, 20)
    assert progress.is_stopped
    assert not progress.is_complete
    assert home.store.tournament("t").finished_at is None


def test_the_next_run_plays_the_rest_and_each_match_once(home, write_definition):
    definition = load_definition(write_definition(encounters=10))
    run(definition, home, 2, Order.STOP)
    progress = run_tournament(definition, home.store, executor=Scripted())
    assert (progress.is_complete, progress.is_stopped) == (True, False)
    assert (progress.played, progress.recorded) == (18, 20)
    assert sorted(record.match for record in home.store.records("t")) == list(range(1, 21))


@pytest.mark.parametrize(("order", "recorded"), [(Order.DRAIN, 2), (Order.STOP, 0)])
def test_a_ladder_that_drains_plays_the_round_that_is_scheduled_and_one_that_stops_nothing(
    home, ladder, order, recorded
):
    progress = run(ladder, home, 0, order)
    assert progress.is_stopped
    assert progress.left == 0 or order is Order.STOP
    assert progress.recorded == recorded  # one round: one pairing in both seat orders


def test_a_finished_tournament_stays_finished_when_a_run_of_it_is_stopped(home, write_definition):
    definition = load_definition(write_definition())
    assert run_tournament(definition, home.store, executor=Scripted()).is_complete
    finished_at = home.store.tournament("t").finished_at
    progress = run(definition, home, 0, Order.STOP)
    assert progress.is_stopped
    assert home.store.tournament("t").finished_at == finished_at is not None


def test_a_worker_begins_no_match_that_it_has_been_given_ahead(write_definition):
    """It has two: the one that it plays is recorded, the other is not begun, however long it would take."""
    slow = load_bot(bad_bot("slow_but_good"))
    definition = load_definition(write_definition(f'[[entrants]]\nbot = "{slow.directory}"\n', encounters=3))
    specs = [spec_of(line, definition) for line in schedule(definition) if 2 in line.seats]
    queue, recorded, given = WorkQueue(specs), [], []
    with LocalExecutor(Job(bots=definition.entrants, workers=1, isolation="limits")) as executor:
        for results in executor.run(queue):
            for result in results:
                recorded.append(result.match)
                queue.done(result.match)
            if not queue.is_closed and any(time.time() - one.since > 0.3 for one in executor.playing()):
                given = [spec.match for spec in executor._workers[0].given]
                queue.close()
    assert len(given) == 2
    assert recorded == given[:1]
    assert queue.is_finished()
    assert queue.take() is None
