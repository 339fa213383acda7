import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest

from arena import function_bot
from arena.analysis.measures.verification import verify
from arena.base.bot_text import OPERATOR
from arena.base.definition import Definition
from arena.base.errors import DefinitionError, LateError, StoreError, UsageError
from arena.base.records import MatchRecord, TimeControl
from arena.botkit import Choice
from arena.cli.group import run as run_command
from arena.match.players.manifest import load_bot
from arena.match.players.player import ScriptedPlayer
from arena.match.referee import Referee
from arena.store.home import ArenaHome
from arena.store.results.rows import row_of
from arena.tournament.definition import load_definition
from arena.tournament.director import run_tournament
from arena.tournament.executors.executor import Executor, Job, Played, Void, WorkQueue, void_after
from arena.tournament.executors.local import LocalExecutor
from arena.tournament.executors.worker_start import available_cores, cores_for_workers
from arena.tournament.run import Order, RunControl
from arena.tournament.schedule import schedule, spec_of
from arena.tournament.transfer.merging import merge_home
from benchmarks.zoo_bots import bad_bot
from tests.conftest import BOTS as BOTS_DIRECTORY
from tests.databases import change
from tests.leftovers import command_lines
from tests.stepped_run import stepped_run, wait_until_stopped
from tests.tournament.executors.test_conformance import without_clocks
from tests.written_bots import write_bot

BOTS = ("minimal", "random_legal", "greedy")
ARENA = [sys.executable, "-m", "arena"]


def arena(*arguments, **kwargs):
    return subprocess.run([*ARENA, *map(str, arguments)], capture_output=True, text=True, timeout=120, **kwargs)


def printed(*arguments):
    with redirect_stdout(io.StringIO()) as out:
        assert run_command([*map(str, arguments)]) == 0
    return out.getvalue()


def table(home, name="t"):
    return json.loads(printed("standings", name, "--json", "--home", home))


def exported(home):
    return [without_clocks(json.loads(line)) for line in printed("export", "--home", home).splitlines()]


def recorded(home):
    with ArenaHome(home) as opened:
        found = opened.store.find_tournament("t")
        return found.recorded if found else 0


@pytest.mark.slow
@pytest.mark.parametrize(("kills", "encounters"), [(3, 40), pytest.param(20, 500, marks=pytest.mark.soak)])
def test_kills_and_resumes_give_the_undisturbed_table(write_definition, tmp_path, kills, encounters):
    """The director is killed: every third time while it starts, else after it has recorded a random number of matches.

    Workers and bots must go with it.
    """
    path = write_definition(bots=BOTS, encounters=encounters, options="{size = 6}")
    calm, stormy = tmp_path / "calm", tmp_path / "stormy"
    assert arena("run", path, "--home", calm, "-q").returncode == 0
    rng = random.Random(7)
    for kill in range(kills):
        if kill % 3 == 0:
            kill_while_it_starts(path, stormy, rng.uniform(0.01, 0.4))
        else:
            with stepped_run(path, "--home", stormy, "-q", stops=[rng.randint(1, 60)]) as run:
                wait_until_stopped(run)
    assert 0 < recorded(stormy) < 6 * encounters
    assert arena("run", path, "--home", stormy, "-q").returncode == 0
    assert exported(stormy) == exported(calm)
    assert table(stormy) == table(calm)
    assert "all records hold" in printed("verify", "--home", stormy)
    wait_until_nothing_runs_in(tmp_path)


def kill_while_it_starts(path, home, seconds):
    """Start a run that the kernel ends after so many seconds, whatever holds up this test meanwhile."""
    command = [*ARENA, "run", str(path), "--home", str(home), "-q"]
    ended = subprocess.run(command, preexec_fn=lambda: signal.setitimer(signal.ITIMER_REAL, seconds), check=False)
    assert ended.returncode == -signal.SIGALRM


def wait_until_nothing_runs_in(directory):
    deadline = time.monotonic() + 60
    while leftovers := processes_mentioning(str(directory)):
        assert time.monotonic() < deadline, leftovers
        time.sleep(0.05)


def processes_mentioning(text):
    others = {int(path.name) for path in Path("/proc").glob("[0-9]*")} - {os.getpid()}
    return [words for words in command_lines(others).values() if any(text in word for word in words)]


class Scripted(Executor):
    played = 0

    def __exit__(self, *_):
        pass

    def run(self, queue):
        while (spec := queue.take()) is not None:
            try:
                result = Played(row_of(Referee(spec, [ScriptedPlayer(self._chooser(spec)) for _ in spec.bots]).play()))
            except LateError as error:
                result = void_after(spec, error, str(error))
            self.played += 1
            yield [result]

    def _chooser(self, spec):
        return lambda request: request.legal[0]


def test_a_second_director_is_refused_and_changes_nothing(write_definition, tmp_path):
    with ArenaHome(tmp_path / "h") as home, home.store.lock("t"):
        with pytest.raises(StoreError, match="another director"):
            run_tournament(load_definition(write_definition()), home.store)
        assert home.store.tournaments() == []


@pytest.mark.slow(sample=True)
def test_the_last_match_is_played_again_when_its_worker_is_killed(write_definition):
    text = f'[[entrants]]\nbot = "{bad_bot("slow_but_good")}"\n'
    definition = load_definition(write_definition(text, options="{size = 4}"))
    spec = next(spec_of(line, definition) for line in schedule(definition) if line.seats == (0, 2))
    queue, results = WorkQueue([spec]), []
    with LocalExecutor(Job(workers=1, isolation="limits")) as executor:
        for arrived in executor.run(queue):
            results += arrived
            if not results and executor._workers[0].process.is_alive():
                executor._workers[0].process.kill()
            for result in arrived:
                if isinstance(result, Void):
                    queue.requeue(result.spec)
                else:
                    queue.done(result.match)
    assert [type(result) for result in results] == [Void, Played]


class AlwaysLate(Scripted):
    """An executor whose arena looks too late whenever the second seat of match 2 is to act."""

    def _chooser(self, spec):
        def choose(request):
            if spec.match == 2 and request.ply % 2:
                raise LateError("the arena looked 0.400 s after a deadline")
            return request.legal[0]

        return choose


def test_a_bot_that_is_to_act_whenever_the_arena_is_late_loses_its_match_the_third_time(write_definition, home):
    progress = run_tournament(load_definition(write_definition(encounters=2)), home.store, executor=AlwaysLate())
    assert progress.is_complete
    assert len(home.store.void_tries(home.store.tournament("t"))) == 2
    (faults,) = [r.faults for r in home.store.records(home.store.tournament("t")) if r.match == 2]
    assert [(fault.seat, fault.kind) for fault in faults] == [(1, "timeout")]


@pytest.mark.slow
def test_the_log_joins_the_workers(write_definition, tmp_path):
    text = f'[[entrants]]\nbot = "{bad_bot("exits_when_asked")}"\n'
    log = tmp_path / "joined.log"
    done = arena("run", write_definition(text), "--home", tmp_path / "h", "--log-file", log, "--workers", 2)
    assert done.returncode == 0, done.stderr
    lines = log.read_text()
    assert "MainProcess arena.director: t: 6 of 6 matches to play" in lines
    assert "worker-0 arena.worker" in lines
    assert "worker-1 arena.worker" in lines
    assert "exits_when_asked@1: exit: the bot exited: exit status 7" in lines


def test_workers_are_pinned_while_there_are_cores_enough():
    assert cores_for_workers(2, [4, 5, 6]) == [frozenset({4}), frozenset({5})]
    assert cores_for_workers(3, [0, 1]) == [None, None, None]
    assert cores_for_workers(2, [0, 1, 2, 5, 6], 2) == [frozenset({0, 1}), frozenset({2, 5})]
    assert cores_for_workers(2, [0, 1, 2], 2) == [None, None]


@pytest.mark.slow
@pytest.mark.skipif(len(available_cores()) < 2, reason="needs two cores")
def test_each_match_has_the_cores_that_its_bots_may_use(write_definition, home, tmp_path):
    note = "str(len(os.sched_getaffinity(0)))"
    counts_cores = f"import os; from _wire import *; play(lambda m: send(answer(m, note={note})))"
    bot = tmp_path / "counts_cores"
    bot.mkdir()
    write_bot(bot / "bot.py", counts_cores)
    (bot / "bot.toml").write_text('name = "counts_cores"\ncommand = ["python3", "bot.py"]\n')
    text = f"[[entrants]]\nbot = '{bot}'\n[limits]\ncores = {{}}\n"
    definition = load_definition(write_definition(text.format(2), bots=["minimal"]))
    run_tournament(definition, home.store)
    assert {note for record in home.store.records("t") for _, note in record.notes.for_operator()} == {"2"}
    assert home.store.tournament("t").definition.limits.cores == 2
    definition = load_definition(write_definition(text.format(1024), bots=["minimal"]))
    for executor in ("local", "in-process"):
        with pytest.raises(UsageError, match=r"limits.cores = 1024: this machine has \d+ cores? for the"):
            run_tournament(replace(definition, name="wide"), home.store, executor=executor)
    assert home.store.find_tournament("wide") is None


def gives_up_after(marks):
    def choose(game, state, clock):
        return "nothing" if game.size - state.heights.count(0) >= marks else game.legal_actions(state)[0]

    return function_bot(choose, f"after_{marks}")


@pytest.mark.slow
def test_a_field_in_which_the_better_bot_always_wins_verifies(write_definition, home):
    text = write_definition(options="{ size = 24 }", encounters=3, opening_plies=2)
    definition = replace(load_definition(text), entrants=tuple(gives_up_after(2 * k) for k in range(2, 10)))
    assert run_tournament(definition, home.store).recorded == 168
    assert verify(home, "t") == (168, [])


def allowed(game, state, clock):
    return Choice(game.legal_actions(state)[0], note={"seconds": clock.seconds})


ODDS = """
bot = "minimal"
name = "short"
time_control = { per_action_seconds = 2.5 }
[time_control]
per_action_seconds = 7
clock = "cpu"
"""


@pytest.mark.slow(sample=True)
def test_an_entrant_may_have_a_time_control_of_its_own(write_definition, tmp_path, here, capsys):
    table = f"[[entrants]]\n{ODDS.replace('minimal', str(BOTS_DIRECTORY / 'minimal'))}"
    definition = load_definition(write_definition(table, bots=["random_legal"], encounters=2))
    own = [bot.time_control for bot in definition.entrants]
    assert own == [None, TimeControl(per_action_seconds=2.5, clock="cpu")]
    functions = [function_bot(allowed, "usual"), replace(function_bot(allowed, "short"), time_control=own[1])]
    definition = replace(definition, entrants=tuple(functions))
    assert run_tournament(definition, here.store).recorded == 4
    for record in here.store.records("t"):
        seconds = {record.bots[record.actions[ply][0]]: note["seconds"] for ply, note in record.notes.for_operator()}
        assert seconds == {"usual@1": 7, "short@1": 2.5}
        assert [record.time_control_of(seat).per_action_seconds for seat in (0, 1)] == [*map(seconds.get, record.bots)]
        assert record.time_control == definition.time_control
        assert MatchRecord.from_json(json.loads(json.dumps(record.to_json(OPERATOR)))) == record
    assert verify(here, "t").problems == []
    stored = here.store.tournament("t").definition
    assert Definition.from_json("t", stored.to_json()).identity() == definition.identity()
    assert run_command(["--home", str(here.directory), "show", "short"]) == 0
    assert "Its own time in t: 2.5 s an action (cpu time)." in capsys.readouterr().out
    with ArenaHome(tmp_path / "there") as there:
        assert merge_home(there, here.directory)[0].taken == 4
    equal = replace(definition, entrants=(functions[0], function_bot(allowed, "short")))
    with ArenaHome(tmp_path / "there") as there:
        change(there.directory / "arena.sqlite3", "UPDATE tournaments SET definition = ?", json.dumps(equal.to_json()))
        problems = verify(there, "t").problems
    assert [problem.partition(" = ")[0] for problem in problems] == [f"match {k}: time_controls" for k in range(1, 5)]
    with pytest.raises(DefinitionError, match=r"differs in the time_control of 'short@1'; give this one another \w+"):
        run_tournament(equal, here.store)


class After(RunControl):
    def __init__(self, matches, order, executor):
        self.matches, self.executor, self.then = matches, executor, order

    def order(self):
        return self.then if self.executor.played >= self.matches else Order.PLAY


def run(definition, home, matches, order):
    executor = Scripted()
    return run_tournament(definition, home.store, executor=executor, control=After(matches, order, executor))


def test_a_run_that_is_to_stop_begins_no_further_match_and_the_next_one_plays_each_of_the_rest(home, write_definition):
    definition = load_definition(write_definition(encounters=10))
    progress = run(definition, home, 3, Order.STOP)
    assert (progress.recorded, progress.scheduled) == (3, 20)
    assert (progress.is_stopped, progress.is_complete) == (True, False)
    assert home.store.tournament("t").finished_at is None
    progress = run_tournament(definition, home.store, executor=Scripted())
    assert (progress.is_complete, progress.is_stopped) == (True, False)
    assert (progress.played, progress.recorded) == (17, 20)
    assert sorted(record.match for record in home.store.records("t")) == list(range(1, 21))


@pytest.mark.parametrize(("order", "recorded"), [(Order.DRAIN, 2), (Order.STOP, 0)])
def test_a_ladder_that_drains_plays_the_round_that_is_scheduled_and_one_that_stops_nothing(
    home, write_definition, order, recorded
):
    ladder = load_definition(write_definition("[ladder]\nmatches = 100", format='"ladder"'))
    progress = run(ladder, home, 0, order)
    assert progress.is_stopped
    assert progress.left == 0 or order is Order.STOP
    assert progress.recorded == recorded  # one round: one pairing in both seat orders


def test_a_finished_tournament_stays_finished_when_a_run_of_it_is_stopped(home, write_definition):
    definition = load_definition(write_definition())
    assert run_tournament(definition, home.store, executor=Scripted()).is_complete
    finished_at = home.store.tournament("t").finished_at
    assert run(definition, home, 0, Order.STOP).is_stopped
    assert home.store.tournament("t").finished_at == finished_at is not None


@pytest.mark.slow
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
                given = [spec.match for spec in executor._workers[0].unanswered]
                queue.close()
    assert len(given) == 2
    assert recorded == given[:1]
    assert queue.is_finished()
    assert queue.take() is None
