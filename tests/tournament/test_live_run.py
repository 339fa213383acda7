import json
import subprocess
import sys
import time

import pytest

from arena.base.bot_text import OPERATOR
from arena.store.home import ArenaHome
from arena.tournament.definition import load_definition, make_definition
from arena.tournament.director import run_tournament
from benchmarks.zoo_bots import bad_bot
from tests.stepped_run import stepped_run, wait_until_stopped


@pytest.mark.slow(sample=True)
def test_a_watched_match_is_in_the_store_while_workers_play_it(write_definition, tmp_path):
    text = f'[[entrants]]\nbot = "{bad_bot("slow_but_good")}"\n'
    definition = load_definition(write_definition(text, bots=("minimal",), game='"plusminus"', options="{size = 7}"))
    seen, playing = [], set()
    with ArenaHome(tmp_path / "h") as home:

        def look(progress):
            state = home.store.live_state(home.store.tournament("t"))
            state.watch(2, 60)
            found = state.progress()
            playing.update(played.match for played in found.progress.playing)
            live = state.live_match(2)
            if live is not None and live not in seen:
                seen.append(live)
            assert state.live_match(1) is None

        run_tournament(definition, home.store, workers=1, listener=look)
        stored = home.store.tournament("t")
        records = {record.match: record for record in home.store.records(stored)}
        state = home.store.live_state(stored)
        assert (state.live_match(2), state.progress()) == (None, None)
    assert playing <= {1, 2}
    assert playing
    assert len(seen) > 1
    assert [live.seq for live in seen] == sorted(live.seq for live in seen)
    record = json.loads(json.dumps(records[2].to_json(OPERATOR)))
    for live in seen:
        values = json.loads(json.dumps(live.state.to_json()))
        plies = len(values["actions"])
        assert values["actions"] == record["actions"][:plies]
        assert values["wall_seconds"] == record["wall_seconds"][:plies]


def test_a_watched_match_of_functions_is_in_the_store_while_it_is_played(tmp_path):
    """A slow bot looks; its rival is quick."""
    shown = []

    def first(game, state, clock):
        return game.legal_actions(state)[0]

    def looks(game, state, clock):
        live_state = home.store.live_state(home.store.tournament("t"))
        live_state.watch(1, 60)
        live = live_state.live_match(1)
        if live is not None and live.state.seat == 0:
            shown.append(live.state)
        if not shown:
            time.sleep(0.3)
        return game.legal_actions(state)[0]

    definition = make_definition(
        "t", "plusminus", [looks, first], options={"size": 7}, time_control={"per_action_seconds": 60.0}
    )
    with ArenaHome(tmp_path / "h") as home:
        assert run_tournament(definition, home.store).is_complete
    assert shown
    assert all(state.match == 1 for state in shown)


@pytest.mark.slow
def test_what_a_killed_director_leaves_is_stale_and_the_next_run_removes_it(write_definition, tmp_path):
    path = write_definition(bots=("minimal", "random_legal"), encounters=300, options="{size = 6}")
    arguments = [path, "--home", tmp_path / "h", "-q"]
    with ArenaHome(tmp_path / "h") as home:
        store = home.store
        with stepped_run(*arguments, stops=[1]) as director:
            wait_until_stopped(director)
            assert store.live_state(store.tournament("t")).progress() is not None
            assert "t" in store.directors()
        state = store.live_state(store.tournament("t"))
        stale = state.progress()
        assert stale.progress.scheduled == 600
        assert "t" not in store.directors()
        assert subprocess.run([sys.executable, "-m", "arena", "run", *map(str, arguments)], check=False).returncode == 0
        assert state.progress() is None
