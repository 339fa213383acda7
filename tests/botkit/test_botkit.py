import json
import math
import shutil
import subprocess
import sys
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import botkit
from arena.base.records import TimeControl
from arena.botkit import Clock, observations
from arena.games import GAMES, make_game
from arena.match.bot_pool import BotPool
from arena.match.players.manifest import load_bot
from arena.sandbox.isolation.levels import choose_isolation
from tests.conftest import BOTS, ROOT
from tests.matches import small_match

seconds = st.floats(0.0, 1e6)


def clock(seconds_now, bank=None, elapsed=0.0, increment=0.0, monkeypatch=None):
    now = 1000.0
    monkeypatch.setattr("arena.botkit.seat.time.monotonic", lambda: now)
    return Clock(seconds_now, bank, now - elapsed, increment)


def test_time_for_an_action_leaves_a_tenth_and_shares_the_bank(monkeypatch):
    assert clock(1.0, monkeypatch=monkeypatch).time_for_this_action() == pytest.approx(0.9)
    assert clock(1.0, elapsed=0.3, monkeypatch=monkeypatch).time_for_this_action() == pytest.approx(0.6)
    assert clock(0.1, monkeypatch=monkeypatch).time_for_this_action() == pytest.approx(0.08)  # 0.02 are spare
    assert clock(0.01, monkeypatch=monkeypatch).time_for_this_action() == 0.0
    assert clock(1.0, elapsed=2.0, monkeypatch=monkeypatch).time_for_this_action() == 0.0
    shared = clock(60.0, bank=60.0, monkeypatch=monkeypatch)
    assert shared.time_for_this_action() == pytest.approx(0.9 * 60 / 15)
    assert shared.time_for_this_action(actions_left=2) == pytest.approx(0.9 * 60 / 2)
    assert shared.time_for_this_action(actions_left=0) == pytest.approx(0.9 * 60)
    more = clock(60.0, bank=60.0, increment=10.0, monkeypatch=monkeypatch)
    assert more.time_for_this_action() == pytest.approx(0.9 * (60 / 15 + 9.0))
    assert clock(1.0, bank=60.0, monkeypatch=monkeypatch).time_for_this_action() == pytest.approx(0.9)


@given(now=seconds, bank=st.none() | seconds, passed=seconds, left=st.integers(-3, 100), increment=seconds)
def test_time_for_an_action_is_never_more_than_is_left_and_never_negative(now, bank, passed, left, increment):
    with pytest.MonkeyPatch.context() as patch:
        found = clock(now, bank, passed, increment, patch).time_for_this_action(left)
        assert 0.0 <= found <= max(0.0, now - passed)
        assert math.isfinite(found)


def test_a_bank_is_enough_for_as_many_actions_as_were_announced(monkeypatch):
    """Played through with a fake clock: a bot that thinks as long as it is told never runs out."""
    bank, increment = 10.0, 0.05
    for left in range(40, 0, -1):
        told = clock(bank, bank=bank, increment=increment, monkeypatch=monkeypatch).time_for_this_action(left)
        assert 0 <= told < bank
        bank += increment - told
    assert bank > 0


BOT = """
import random
from arena.botkit import Choice, log, run
def choose(game, state, clock):
    log("thinking")
    action = random.choice(list(game.legal_actions(state)))
    return Choice(action, {"seat": game.seat_to_act(state)})
run(choose, on_match=lambda match: log("match", match.seat, match.rng_seed), on_end=lambda end: log("end", end.ranks))
"""


def bot_file(tmp_path, text=BOT):
    path = tmp_path / "bot.py"
    path.write_text(textwrap.dedent(text))
    return path


def self_play(path, *arguments):
    return subprocess.run(
        [sys.executable, path, "--selfplay", *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def match_of(path, rules, **fields):
    spec = small_match(*[load_bot(path)] * rules.players, game=rules.name, options=rules.options, **fields)
    with BotPool(choose_isolation("auto")) as pool:
        return pool.play(spec)


def played(text):
    return [line.split()[-1] for line in text.splitlines() if " plays " in line]


@pytest.mark.parametrize("game", ["plaid", "multiplication"])
def test_self_play_is_the_match_that_the_arena_plays_from_the_same_seed(game, tmp_path):
    path = bot_file(tmp_path)
    done = self_play(path, game, "--rng-seed", "12345", "--seconds", "2")
    assert done.returncode == 0, done.stderr
    rules = make_game(game)
    record = match_of(path, rules, rng_seed=12345)
    assert played(done.stdout) == [rules.format_action(action) for _, action in record.actions]
    scores = ", ".join(f"seat {seat} {score:g}" for seat, score in enumerate(record.scores))
    assert scores in done.stdout.splitlines()[-1]
    assert "thinking" in done.stderr and "end [" in done.stderr
    assert "match 0 12345" in record.seats[0].stderr and "match 1 12345" in record.seats[1].stderr
    assert "thinking" in record.seats[0].stderr


def test_self_play_counts_seeds_on_and_can_be_quiet(tmp_path):
    done = self_play(bot_file(tmp_path), "differences", "-o", "size=4", "--matches", "3", "-q", "--rng-seed", "5")
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["seed 5", "seed 6", "seed 7"]
    assert all("4 actions" in line for line in lines)


def test_self_play_tells_mistakes_in_a_sentence(tmp_path):
    path = bot_file(tmp_path)
    for arguments, told in (
        (["plad"], "unknown game 'plad': did you mean 'plaid'?"),
        (["plaid", "-o", "lines=0"], "lines = 0: expected a whole number from 1"),
        (["plaid", "-o", "lions=3"], "plaid has no such option; did you mean 'lines'?"),
    ):
        done = self_play(path, *arguments)
        assert done.returncode == 2
        assert told in done.stderr
        assert "Traceback" not in done.stderr
        assert done.stdout == ""
    cheat = bot_file(tmp_path, "from arena.botkit import run\nrun(lambda game, state, clock: (1, 1))\n")
    done = self_play(cheat, "differences", "-o", "size=3", "-q")
    assert done.returncode == 1
    assert "seed 0, ply 1: illegal action" in done.stderr and "rule 3" in done.stderr


OBSERVER = """
from arena.botkit import log, run_on_observations
def choose(turn):
    log(turn.match.game.name, turn.match.seat, turn.ply, sorted(turn.observation), len(turn.legal), turn.clock.seconds)
    return turn.legal[-1]
run_on_observations(choose, name="observer")
"""


@pytest.mark.parametrize("game", GAMES)
def test_a_bot_may_live_by_observations_alone_and_their_types_say_what_is_in_them(game, tmp_path):
    path = bot_file(tmp_path, OBSERVER)
    rules = make_game(game)
    record = match_of(path, rules, rng_seed=1, time_control=TimeControl(per_action_seconds=2.0))
    assert record.faults == ()
    state = rules.initial_state()
    keys = getattr(observations, f"{game.title()}Observation").__annotations__
    assert set(keys) == set(rules.observation(state))
    first = record.seats[0].stderr.for_operator().splitlines()[0]
    assert first == f"{game} 0 0 {sorted(keys)} {len(rules.legal_actions(state))} 2.0"
    assert played(self_play(path, game).stdout) == [rules.format_action(action) for _, action in record.actions]


def test_in_self_play_observations_are_as_they_arrive_over_the_wire(tmp_path):
    text = """
    from arena.botkit import run_on_observations
    def choose(turn):
        assert type(turn.legal[0]) is list and type(turn.observation["heights"]) is list
        return turn.legal[0]
    run_on_observations(choose)
    """
    assert self_play(bot_file(tmp_path, text), "differences", "-q").returncode == 0


@pytest.mark.slow
def test_numpy_is_seeded_where_it_is_used(tmp_path):
    text = """
    import numpy
    from arena.botkit import run
    run(lambda game, state, clock: game.legal_actions(state)[numpy.random.randint(len(game.legal_actions(state)))])
    """
    path = bot_file(tmp_path, text)
    seeds = (2**63 - 1, 2**63 - 1, 4)
    matches = [match_of(path, make_game("differences", size=4), rng_seed=seed).actions for seed in seeds]
    assert matches[0] == matches[1] != matches[2]


def test_everything_the_kit_offers_is_described():
    for name in botkit.__all__:
        assert (getattr(botkit, name).__doc__ or "").strip(), name


@pytest.mark.slow
@pytest.mark.parametrize(("isolation", "as_package"), [("none", False), ("auto", True)])
def test_a_bot_may_read_a_game_from_outside_the_package(tmp_path, isolation, as_package):
    games, bots = tmp_path / "games", tmp_path / "bots"
    for directory in (games / "mine", bots):
        directory.mkdir(parents=True)
    module = "mine.dominoes" if as_package else "domino_file"
    shutil.copy(ROOT / "docs/examples/domineering.py", games / f"{module.replace('.', '/')}.py")
    (games / "mine" / "__init__.py").write_text("")
    (games / "secret.txt").write_text("not for bots")
    name = f"{module}:Domineering"
    text = f"""
    import random
    from pathlib import Path
    from arena.botkit import log, run
    def choose(game, state, clock):
        try:
            log(Path({str(games / "secret.txt")!r}).read_text())
        except OSError as error:
            log("refused")
        return random.choice(game.legal_actions(state))
    run(choose)
    """
    path = bot_file(bots, text)
    command = [sys.executable, "-m", "arena", "play", name, path, path, "-o", "width=4", "-o", "height=4", "--json"]
    command += ["--isolation", isolation, "--home", tmp_path / "home"]
    done = subprocess.run(command, cwd=games, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["game"] == name
    if isolation == "auto" and record["isolation"].startswith(("landlock", "bubblewrap")):
        assert "not for bots" not in record["seats"][0]["stderr"]


@pytest.mark.slow
def test_a_process_kept_from_another_game_is_launched_anew_for_one_from_outside(tmp_path, monkeypatch):
    (tmp_path / "outside_dominoes.py").write_text((ROOT / "docs/examples/domineering.py").read_text())
    monkeypatch.syspath_prepend(str(tmp_path))
    bot = load_bot(BOTS / "random_legal")
    with BotPool(choose_isolation("auto")) as pool:
        for game in ("differences", "outside_dominoes:Domineering", "differences", "outside_dominoes:Domineering"):
            record = pool.play(small_match(bot, bot, game=game, options=make_game(game).options))
            assert record.faults == (), record.faults
