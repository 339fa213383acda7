"""A contest of many bots in which everything goes wrong that can: its table is the one reckoned by hand."""

import json
from collections import Counter
from functools import partial
from itertools import combinations
from pathlib import Path

import pytest

from arena.analysis.measures.verification import verify
from arena.base.shipped import bot_path
from arena.store.home import ArenaHome
from arena.tournament.corrections.corrected_tournament import void_matches
from arena.tournament.corrections.entrants import disqualify, enter_late, replace_bot, withdraw
from tests.cli.calls import called, printed
from tests.stepped_run import stepped_run, wait_until_stopped
from tests.tournament.corrections.contest import contest, play, reckoned, records, tabled, write_bots

pytestmark = pytest.mark.slow

STUDENTS = [f"student{number:02}" for number in range(12)]


def pairs_of(texts):
    return Counter(frozenset(json.loads(text)["bots"]) for text in texts)


def with_bot(texts, name):
    return {match: text for match, text in texts.items() if f"{name}@1" in json.loads(text)["bots"]}


def expected_pairs(before_withdrawing):
    playing = [f"{name}@1" for name in [*STUDENTS, "latecomer"] if name not in ("student00", "student07")]
    expected = Counter({frozenset(pair): 2 for pair in combinations(playing, 2)})
    for pair, count in pairs_of(with_bot(before_withdrawing, "student00").values()).items():
        if not pair & {"student03@1", "student07@1"}:  # the one was replaced and can't play it again, the other is out
            expected[pair] = count
    return expected


@pytest.fixture(params=["sqlite", "postgresql"])
def home(request, tmp_path):
    url = None if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    with ArenaHome(tmp_path / "home", store=url) as home:
        yield home


def test_everything_that_can_go_wrong_in_a_contest(home, tmp_path, no_check):
    definition = contest(write_bots(tmp_path / "bots", STUDENTS))
    (latecomer,) = write_bots(tmp_path / "late", ["latecomer"])
    (mended,) = write_bots(tmp_path / "mended", ["student03"], "and mended")

    play(home, definition, max_matches=50)
    before_withdrawing = records(home)
    assert len(with_bot(before_withdrawing, "student00")) > 5
    withdraw(home.store, "t", "student00", reason="moved away")
    replace_bot(home.store, "t", "student03", mended, reason="could not read an observation")
    play(home, definition, max_matches=20)
    enter_late(home.store, "t", latecomer, reason="was ill")
    disqualify(home.store, "t", "student07", reason="copied from student08")
    play(home, definition, max_matches=30)
    without_power = sorted(set(records(home)) - set(with_bot(records(home), "student00")))[20:22]
    void_matches(home.store, "t", without_power, reason="the power failed")
    assert not set(without_power) & set(records(home))
    play(home, definition)

    stored, counting = home.store.tournament("t"), records(home)
    assert stored.finished_at is not None
    assert stored.recorded == stored.scheduled == len(counting)
    assert pairs_of(counting.values()) == expected_pairs(before_withdrawing)
    assert tabled(home) == reckoned(counting.values())
    assert verify(home, stored) == (len(counting), [])
    assert set(without_power) <= set(counting)
    assert not with_bot(counting, "student07")


def test_the_same_on_the_command_line_with_a_kill_in_between(tmp_path, monkeypatch, capfd):
    """The bots are programs, the runs are killed, and the tournament file stays as it was."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ARENA_HOME", raising=False)
    arena = partial(printed, partial(called, capfd))
    names = [name for name in STUDENTS[:8] if name != "student06"]
    minimal = (bot_path("arena:minimal") / "bot.py").read_text()
    for name in [*names, "latecomer"]:
        Path(f"{name}.py").write_text(minimal)
    lines = ['game = "differences"', "options = { size = 4 }", "encounters = 2", 'isolation = "none"']
    lines += [f'[[entrants]]\nbot = "{name}.py"' for name in names]
    Path("t.toml").write_text("\n".join(lines))
    Path("mended").mkdir()
    Path("mended/student03.py").write_text(f"{minimal}\n# mended\n")

    def run_and_kill(played):
        with stepped_run("t.toml", "-q", stops=[played], cwd=tmp_path) as running:
            wait_until_stopped(running)

    run_and_kill(20)
    arena("withdraw", "t", "student00", "--reason", "moved away")
    arena("replace", "t", "student03", "mended/student03.py", "--reason", "could not read an observation")
    run_and_kill(10)
    arena("enter", "t", "latecomer.py", "--reason", "was ill")
    arena("disqualify", "t", "student07", "--reason", "copied")
    run_and_kill(10)
    with ArenaHome(".arena") as home:
        match = min(records(home))
    arena("void", "t", match, "--reason", "the power failed")
    assert "Corrected: withdrawal of student00@1" in " ".join(arena("run", "t.toml").split())
    assert "the ratings and the corrections" in arena("verify", "t")
    with ArenaHome(".arena") as home:
        assert tabled(home) == reckoned(records(home).values())
        assert home.store.tournament("t").finished_at is not None
