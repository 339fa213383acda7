import random
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from arena.analysis.measures import leaderboards
from arena.analysis.measures.bot_profile import bot_profile, known_bots
from arena.analysis.measures.leaderboards import history_of_rounds, history_of_tournament, history_over_tournaments
from arena.analysis.measures.standings_cache import standings_of
from arena.analysis.text.verdict import standings_footer
from arena.base.names import find_labels
from arena.base.records import Bot
from arena.store.home import ArenaHome
from arena.tournament.definition import load_definition
from arena.tournament.director import run_tournament
from arena.tournament.rounds import ranking_of
from tests.analysis.text.tournaments import ScriptedExecutor
from tests.conftest import BOTS
from tests.stepped_run import go_on, stepped_run, wait_until_stopped
from tests.store.results.samples import definition, line, record

ARENA = [sys.executable, "-m", "arena"]
FIVE = "".join(f'[[entrants]]\nbot = "{BOTS / "random_legal"}"\nname = "r{k}"\n' for k in range(3))
TABLES = {
    "swiss": "[swiss]\nrounds = 4",
    "knockout": '[knockout]\nseeding = "entrants"\ntie_encounters = 1',
    "ladder": "[ladder]\nmatches = 60",
}


def written(write_definition, name, **keys):
    return write_definition(f"{FIVE}\n{TABLES[name]}", format=f'"{name}"', options="{size = 5}", **keys)


def run(definition, home, **options):
    return run_tournament(definition, home.store, executor=ScriptedExecutor((), ""), **options)


def state_of(home, name="t"):
    tournament = home.store.tournament(name)
    records = [(one.match, one.bots, one.actions, one.ranks) for one in home.store.records(tournament)]
    return list(home.store.schedule(tournament)), records, ranking_of(home.store, tournament)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["swiss", "ladder", "knockout"])
def test_killed_again_and_again_it_ends_as_if_nothing_had_happened(write_definition, tmp_path, name):
    path = written(write_definition, name, encounters=3)
    with ArenaHome(tmp_path / "calm") as home:
        run_tournament(load_definition(path), home.store, workers=2)
        calm = state_of(home)
    rng = random.Random(name)
    command = [*ARENA, "run", str(path), "--home", str(tmp_path / "stormy"), "-q"]
    for _ in range(4):
        with stepped_run(path, "--home", tmp_path / "stormy", "-q", stops=[rng.randint(1, 8)]) as run:
            wait_until_stopped(run)
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    with ArenaHome(tmp_path / "stormy") as home:
        assert state_of(home) == calm


@pytest.mark.slow(sample=True)
def test_entrants_come_to_a_ladder_and_leave_it_and_keep_what_they_had(write_definition, home):
    extra = f'[[entrants]]\nbot = "{BOTS / "greedy"}"\n'
    three, four, without = (
        load_definition(write_definition(text, bots=bots, file_name="t", format='"ladder"', options="{size = 5}"))
        for text, bots in (
            ("[ladder]\nmatches = 24", ("minimal", "random_legal")),
            (f"{extra}[ladder]\nmatches = 60", ("minimal", "random_legal")),
            (f"{extra}[ladder]\nmatches = 90", ("minimal",)),
        )
    )
    assert run(three, home).recorded == 24
    first = state_of(home)
    assert run(four, home).recorded >= 60
    second = state_of(home)
    assert second[1][: len(first[1])] == first[1]
    newcomer = [match for match, bots, _, _ in second[1] if "greedy@1" in bots]
    assert newcomer
    assert min(newcomer) > 24
    run(without, home)
    late = [bots for match, bots, _, _ in state_of(home)[1] if match > len(second[1])]
    assert late
    assert not any("random_legal@1" in bots for bots in late)
    assert {line.bot for line in standings_of(home.store, "t").lines} == {"minimal", "random_legal", "greedy"}


@pytest.mark.slow
def test_a_ladder_reads_its_file_again_while_it_is_running(write_definition, tmp_path):
    """Somebody enters, somebody saves half a file, somebody changes another thing: only the first is taken."""
    text = f'[[entrants]]\nbot = "{BOTS / "greedy"}"\n[ladder]\nmatches = 80'
    path = write_definition("[ladder]\nmatches = 80", format='"ladder"', options="{size = 5}")
    changes = [
        lambda: path.write_text("half a file"),
        lambda: write_definition(text, format='"ladder"', options="{size = 6}"),
        lambda: write_definition(text, format='"ladder"', options="{size = 5}"),
    ]
    arguments = [path, "--home", tmp_path / "h", "-q", "--workers", "1"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with stepped_run(*arguments, stops=[4, 12, 20], **pipes) as director:
        for change in changes:
            wait_until_stopped(director)
            change()
            go_on(director)
        _, errors = director.communicate(timeout=60)
    assert director.returncode == 0, errors
    with ArenaHome(tmp_path / "h") as home:
        played = [bots for _, bots, _, _ in state_of(home)[1]]
        assert any("greedy@1" in bots for bots in played)
        assert not any("greedy@1" in bots for bots in played[:4])
        assert home.store.tournament("t").definition.games[0].options["size"] == 5


def test_a_new_version_is_a_new_entrant_of_a_ladder(write_definition, home, tmp_path):
    bot = tmp_path / "mine"
    bot.mkdir()
    (bot / "bot.py").write_text((BOTS / "random_legal" / "bot.py").read_text())

    def definition(version):
        (bot / "bot.toml").write_text(f'name = "mine"\nversion = "{version}"\ncommand = ["python3", "bot.py"]')
        text = f'[[entrants]]\nbot = "{bot}"\n[ladder]\nmatches = {20 * version}'
        return load_definition(write_definition(text, bots=("minimal",), format='"ladder"', options="{size = 5}"))

    run(definition(1), home)
    run(definition(2), home)
    assert {line.bot for line in standings_of(home.store, "t").lines} == {"minimal", "mine@1", "mine@2"}
    assert find_labels("mine", known_bots(home.store.tournaments())) == ["mine@1", "mine@2"]


def test_a_ladder_with_an_hour_glass_stops_after_the_round_that_is_on(write_definition, home, monkeypatch):
    clock = iter(range(0, 10_000_000, 1000))
    monkeypatch.setattr("arena.tournament.run.time", SimpleNamespace(monotonic=lambda: next(clock)))
    path = write_definition("[ladder]\nhours = 1", format='"ladder"', options="{size = 5}")
    progress = run(load_definition(path), home)
    assert progress.is_complete
    first = progress.recorded
    assert first > 0
    assert run(load_definition(path), home).recorded > first


def test_places_of_a_half_played_swiss_count_whole_rounds_only(write_definition, home):
    definition = load_definition(written(write_definition, "swiss"))

    class EnoughError(Exception):
        pass

    def stop(progress):
        if progress.recorded >= 5:
            raise EnoughError

    with pytest.raises(EnoughError):
        run(definition, home, listener=stop)
    tournament = home.store.tournament("t")
    assert tournament.finished_at is None
    rounds_done = tournament.recorded // 4  # two meetings of two matches each, and a bye
    assert sum([place.values["score"] for _, place in ranking_of(home.store, tournament)]) == 3 * rounds_done
    assert "the tournament is not complete" in standings_footer(standings_of(home.store, "t"))


@pytest.mark.slow
def test_histories_end_at_the_final_table(write_definition, home):
    for name, encounters in (("a", 5), ("b", 8)):
        path = write_definition(file_name=name, encounters=encounters, options="{size = 5}")
        run(load_definition(path), home)
    snapshots = history_of_tournament(home.store, home.store.tournament("b"))
    assert [snapshot.matches for snapshot in snapshots] == sorted({snapshot.matches for snapshot in snapshots})
    assert [line.rating for line in snapshots[-1].lines] == [
        line.rating for line in standings_of(home.store, "b").lines
    ]
    over_time = history_over_tournaments(home.store, "differences")
    board = standings_of(home.store, game="differences")
    assert [line.rating for line in over_time[-1].lines] == [line.rating for line in board.lines]
    assert history_over_tournaments(home.store, "plaid") == []
    (rival,) = bot_profile(home.store, "minimal@1").rivals
    assert 8 <= rival.encounters <= 13  # the first five openings of b are those of a


def fill(home, rounds, name="t", bots=("a@1", "b@1")):
    """Play a ladder of two matches a round; one in three is won by the second bot."""
    lines = [replace(line(match), encounter=match, round=(match + 1) // 2) for match in range(1, 2 * rounds + 1)]
    entrants = tuple(Bot(name=label[:-2], version=label[-1], command=(label,), directory="") for label in bots)
    tournament = home.store.create_tournament(definition(name=name, format="ladder", entrants=entrants), lines)
    played = [
        record(
            match, tournament=name, bots=list(bots), encounter=match, ranks=[1, 2] if match % 3 else [2, 1],
            actions=[[0, (1, match)], [1, (2, 2)]],
            started_at=f"2026-11-26T{match // 60:02}:{match % 60:02}:00+00:00",
        )
        for match in range(1, 2 * rounds + 1)
    ]  # fmt: skip
    home.store.record(tournament, played)
    return home.store.tournament(name)


@pytest.mark.parametrize(
    ("rounds", "shown"),
    [(3, [1, 2, 3]), (12, [*range(1, 13)]), (13, [2, 4, 6, 8, 10, 12, 13]), (25, [4, 8, 12, 16, 20, 24, 25])],
)
def test_rounds_are_those_that_stay_while_more_are_played(home, rounds, shown):
    history = history_of_rounds(home.store, fill(home, rounds))
    assert [one.round for one in history] == shown
    assert [one.matches for one in history] == [2 * number for number in shown]
    assert history[0].at == f"2026-11-26T00:{2 * shown[0]:02}:00+00:00"


def test_each_is_the_table_of_its_matches_and_only_the_newest_is_computed_again(home, monkeypatch):
    tournament = fill(home, 13)
    fill(home, 6, "first")
    history = history_of_rounds(home.store, tournament, cache_directory=home.cache_directory)
    assert history[2].lines[0].rating == standings_of(home.store, "first").lines[0].rating
    assert history[-1].lines[0].rating == standings_of(home.store, "t").lines[0].rating
    computed = []
    monkeypatch.setattr(
        leaderboards, "read_results", lambda *_, last_encounter, f=leaderboards.read_results: (
            computed.append(last_encounter) or f(*_, last_encounter=last_encounter)
        ),
    )  # fmt: skip
    assert history_of_rounds(home.store, tournament, cache_directory=home.cache_directory) == history
    assert computed == [26]
    few = history_of_rounds(home.store, tournament, max_matches=26 + 24 + 19)
    assert [one.round for one in few] == [12, 13]
