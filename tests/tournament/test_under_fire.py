"""The arena under fire: its own processes are killed, its disk and its descriptors run out, its files are spoiled.

In every case a match is recorded once or played again, and a run that can't continue ends with one sentence.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from arena.sandbox.isolation import reaper
from arena.store.home import ArenaHome
from benchmarks import zoo_bots as zoo
from benchmarks.traces import traces, traces_since
from tests.leftovers import command_line
from tests.stepped_run import go_on, stepped_run, wait_until_stopped
from tests.tournament.test_director import ARENA, arena, exported, printed, recorded, table, wait_until_nothing_runs_in

pytestmark = pytest.mark.slow

ZOO = ("exits_when_asked", "prints_text", "leaves_a_daemon", "dies_by_signal", "illegal_action", "fork_bomb")


def write_fiery_definition(tmp_path, encounters, size=6):
    """Two honest bots and six of the zoo; the honest ones have time enough on any machine."""
    bots = [zoo.honest_bot("honest_a"), zoo.honest_bot("honest_b"), *map(zoo.bad_bot, ZOO)]
    lines = ['game = "differences"', f"options = {{ size = {size} }}", f"encounters = {encounters}", "workers = 2"]
    lines += ["[limits]", "processes = 24", "[time_control]", "per_action_seconds = 20.0", "startup_seconds = 30.0"]
    lines += [f'[[entrants]]\nbot = "{bot}"' for bot in bots]
    path = tmp_path / "t.toml"
    path.write_text("\n".join(lines))
    return path


def processes_below(pid):
    """Return the pids of a director's workers and of their launchers.

    A bot shows the command line of its launcher until it executes its own program. So a launcher is the oldest child
    of its worker that has this command line.
    """
    workers = [child for child in reaper.descendants(pid) if b"spawn_main" in command_line(child)]
    servers = [[child for child in reaper.children(pid) if b"fork_server" in command_line(child)] for pid in workers]
    return {"worker": workers, "launcher": [min(below) for below in servers if below]}


def kill_for_a_while(tmp_path, path, kills, seed):
    """Run the tournament, killing its processes at random moments; return how many of each kind were killed.

    The kinds take turns, and each kill waits for somebody of its kind to be there: on a busy machine workers come up so
    late that only directors would be found.
    """
    rng = random.Random(seed)
    stormy = tmp_path / "stormy"
    done = dict.fromkeys(("director", "worker", "launcher"), 0)
    director = None
    kinds = []
    while sum(done.values()) < kills:
        if director is None or director.poll() is not None:
            assert director is None or recorded(stormy) < scheduled(stormy), f"too short a tournament: {done}"
            command = [*ARENA, "run", str(path), "--home", str(stormy), "-q"]
            director = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        kinds = kinds or rng.sample(["director", "worker", "worker", "launcher", "launcher"], 5)
        kind = kinds[-1]
        time.sleep(rng.uniform(0.02, 0.25))
        victims = [director.pid] if kind == "director" else wait_for(kind, director)
        try:
            os.kill(rng.choice(victims), signal.SIGKILL)
        except (OSError, IndexError):
            continue  # it has ended by itself, or the whole run has
        kinds.pop()
        done[kind] += 1
        if kind == "director":
            director.wait()
    director.kill()
    director.wait()
    return done


def wait_for(kind, director):
    victims = []
    while not victims and director.poll() is None:
        victims = processes_below(director.pid)[kind]
    return victims


def scheduled(home):
    with ArenaHome(home) as opened:
        found = opened.store.find_tournament("t")
        return found.scheduled if found is not None else sys.maxsize


def facts(home):
    keys = ("match", "bots", "rng_seed", "actions", "scores", "ranks", "termination")
    faults = [[(fault["seat"], fault["kind"], fault["ply"]) for fault in record["faults"]] for record in exported(home)]
    return [[record[key] for key in keys] for record in exported(home)], faults


@pytest.mark.soak
@pytest.mark.parametrize(("kills", "encounters"), [(20, 4), (200, 30)], ids=["twenty", "two_hundred"])
def test_kills_of_all_kinds_give_the_undisturbed_table(tmp_path, kills, encounters):
    path = write_fiery_definition(tmp_path, encounters)
    before = traces()
    assert arena("run", path, "--home", tmp_path / "calm", "-q").returncode == 0
    done = kill_for_a_while(tmp_path, path, kills, seed=kills)
    assert all(done[kind] > 0 for kind in ("director", "worker", "launcher"))
    for _ in range(3):  # a match that was void three times in one run is left for the next
        resumed = arena("run", path, "--home", tmp_path / "stormy", "-q")
        if resumed.returncode == 0:
            break
    assert resumed.returncode == 0, resumed.stderr
    assert facts(tmp_path / "stormy") == facts(tmp_path / "calm")
    assert table(tmp_path / "stormy") == table(tmp_path / "calm")
    assert arena("verify", "--home", tmp_path / "stormy").returncode == 0
    wait_until_nothing_runs_in(tmp_path)
    assert not traces_since(before)


def small_definition(tmp_path, encounters=2):
    path = tmp_path / "t.toml"
    bots = "\n".join(f'[[entrants]]\nbot = "{zoo.honest_bot(name)}"' for name in ("honest_a", "honest_b"))
    path.write_text(f'game = "differences"\noptions = {{ size = 4 }}\nencounters = {encounters}\n{bots}\n')
    return path


def limited(arguments, limits):
    code = f"import resource, sys\n{limits}\nfrom arena.cli.group import run\nsys.exit(run())"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.soak
def test_no_descriptors_left_is_reported_and_nothing_is_lost(tmp_path):
    path = small_definition(tmp_path, encounters=3)
    limits = "resource.setrlimit(resource.RLIMIT_NOFILE, ({0}, {0}))"
    for descriptors in (10, 14, 18, 24):
        done = limited(["run", path, "--home", tmp_path / "h", "-q"], limits.format(descriptors))
        assert "Traceback" not in done.stderr, done.stderr
        assert "defect" not in done.stderr, done.stderr
        assert done.returncode in (0, 1, 2)
    done = arena("run", path, "--home", tmp_path / "h", "-q")
    assert done.returncode == 0, done.stderr
    assert len(exported(tmp_path / "h")) == 6


def test_a_full_temporary_directory_is_reported(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root")
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=8,mode=1777", "none", str(small)], check=True)
    try:
        for number in range(6):  # of eight; one is the directory itself, so there is room for one thing more
            (small / str(number)).touch()
        path = small_definition(tmp_path)
        done = arena("run", path, "--home", tmp_path / "h", "-q", env=os.environ | {"TMPDIR": str(small)})
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert "No space left on device" in done.stderr
    assert arena("run", path, "--home", tmp_path / "h", "-q").returncode == 0


def test_an_import_and_a_publication_without_room_for_temporary_files_say_so(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root")
    arena("run", small_definition(tmp_path), "--home", tmp_path / "h", "-q")
    export = tmp_path / "export.jsonl"
    export.write_text(arena("export", "t", "--whole", "--home", tmp_path / "h").stdout)
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=1777", "none", str(small)], check=True)
    crowded = {"env": os.environ | {"TMPDIR": str(small)}}
    try:
        imported = arena("import", export, "--home", tmp_path / "other", **crowded)
        published = arena("publish", "t", tmp_path / "out", "--home", tmp_path / "h", **crowded)
    finally:
        subprocess.run(["umount", str(small)], check=True)
    sentence = f"arena: {small}: there is no room for a temporary database; set $TMPDIR to another directory\n"
    assert [(done.returncode, done.stderr) for done in (imported, published)] == [(2, sentence)] * 2


def test_a_clock_that_is_set_back_changes_nothing(tmp_path, monkeypatch):
    """Time is measured by a clock that can't be set; the wall clock only dates the records."""
    path = small_definition(tmp_path)
    back = tmp_path / "back"
    back.mkdir()
    (back / "sitecustomize.py").write_text(
        "import time\n_real = time.time\n_began = _real()\ntime.time = lambda: _began - 100.0 * (_real() - _began)\n"
    )
    done = arena("run", path, "--home", tmp_path / "h", "-q", env=os.environ | {"PYTHONPATH": str(back)})
    assert done.returncode == 0, done.stderr
    lines = printed("export", "--home", tmp_path / "h").splitlines()
    seconds = [wall for line in lines for wall in json.loads(line)["wall_seconds"] if wall is not None]
    assert seconds
    assert all(0 <= wall < 20 for wall in seconds)


def test_stopped_workers_are_continued(tmp_path):
    path = small_definition(tmp_path, encounters=100)
    with stepped_run(path, "--home", tmp_path / "h", "-q", stops=[1], stdout=subprocess.DEVNULL) as run:
        wait_until_stopped(run)
        stopped = processes_below(run.pid)["worker"]
        for worker in stopped:
            os.kill(worker, signal.SIGSTOP)
        go_on(run)
        assert run.wait(120) == 0
    assert stopped
    assert len(exported(tmp_path / "h")) == 200
