import io
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from arena.base.definition import Definition, GameChoice
from arena.base.records import Bot
from arena.base.results import StoredResult
from arena.cli.group import run
from arena.cli.terminal.common import ERASE_LINE, waiting
from arena.cli.terminal.progress import SHOW_CURSOR, Live, PlainLines, run_parts, share_done
from arena.store.home import ArenaHome
from arena.tournament.definition import load_definition
from arena.tournament.formats.format import StopLimits
from arena.tournament.progress import Progress, TimeLeft, time_left
from arena.tournament.resumption import create_or_resume
from tests.cli.test_lab_tools import played_at_once
from tests.store.results.samples import record


def ladder(recorded, played_now, matches=None, margin_95=None, hours=None, widest=None):
    limits = StopLimits(matches=matches, margin_95=margin_95, hours=hours, widest_margin=widest)
    return Progress(recorded, recorded, status="round 7", stop_limits=limits, played=played_now)


def definition(name="climb"):
    bots = tuple(Bot(name=bot, version="1", command=("x",), directory="/") for bot in ("ada", "bob"))
    games = (GameChoice(game="differences", options={"size": 4}, players=2),)
    return Definition(name=name, games=games, entrants=bots, format="ladder")


def test_progress_is_shown_against_the_schedule_or_the_limits_of_a_ladder():
    progress = ladder(312, 240, matches=1000, margin_95=1.0, hours=2, widest=1.9)
    found = list(run_parts(progress, 720))
    assert found == ["312 of 1,000 matches", "widest ± 1.90, stops at ± 1.0", "12 min of 2 h", "0.3/s", "round 7"]
    assert list(run_parts(ladder(1312, 0), 5)) == ["1,312 matches", "round 7"]
    assert list(run_parts(ladder(4, 0, margin_95=0.25), 5)) == ["4 matches", "stops at ± 0.25", "round 7"]
    progress = Progress(1200, 300, played=100)
    assert list(run_parts(progress, 50)) == ["300 of 1,200 matches", "2.0/s"]
    assert str(time_left(progress, 50)) == "8 min left"
    assert time_left(Progress(1200, 300), 50) is None


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"hours": 2}, TimeLeft(7200 - 100)),
        ({"matches": 1000}, TimeLeft((1000 - 300) / 2)),  # 200 in 100 s are 2/s
        ({"margin_95": 1.0, "widest": 2.0}, TimeLeft(3 * 300 / 2, is_rough=True)),  # 4 times the matches halve it
        ({"margin_95": 1.0, "widest": 2.0, "matches": 1000}, TimeLeft((1000 - 300) / 2)),
        ({"margin_95": 1.0, "widest": 2.0, "hours": 1}, TimeLeft(3 * 300 / 2, is_rough=True)),
        ({"margin_95": 1.0}, None),
        ({}, None),
        ({"matches": 200}, TimeLeft(0.0)),
    ],
)
def test_the_time_left_is_that_to_the_first_limit(limits, expected):
    assert time_left(ladder(300, 200, **limits), 100) == expected


def test_a_share_is_that_of_the_nearest_limit():
    assert share_done(ladder(300, 1, matches=1000, margin_95=1.0, widest=2.0), 0) == 0.3
    assert share_done(ladder(300, 1, matches=1000, margin_95=1.5, widest=2.0), 0) == 0.5625
    assert share_done(ladder(300, 1, matches=1000, hours=1), 1800) == 0.5
    assert share_done(ladder(300, 1), 5) is None
    assert share_done(Progress(60, 15), 5) == 0.25


def test_lines_in_a_pipe_have_the_limits_and_the_time_left(capsys):
    lines = PlainLines(definition("climb\x1b"))
    lines.update(ladder(300, 0, margin_95=1.0, widest=2.0))
    assert capsys.readouterr().err == "climb\\x1b: 300 matches · widest ± 2.00, stops at ± 1.0 · round 7\n"
    lines.update(ladder(600, 300, margin_95=1.0, widest=2.0))
    assert " left\n" in capsys.readouterr().err


@pytest.mark.parametrize("width", [40, 80, 132])
def test_the_live_display_fits_the_terminal(monkeypatch, width):
    monkeypatch.setenv("NO_COLOR", "1")
    live = Live(definition("[bold]a tournament with quite a long name"))
    live._started = 0.0
    live.update(ladder(312, 240, matches=1000, margin_95=1.0, hours=10**4, widest=1.9))
    lines = live._draw(width)
    assert all(len(line) <= width for line in lines)
    assert "━" in lines[0]
    assert lines[0].startswith("[bold]a t")
    assert lines[0].rstrip().endswith(" left")
    assert "widest ± 1.90, stops at ± 1.0" in "\n".join(lines[1:])


def test_what_is_printed_comes_above_the_live_lines(monkeypatch):
    stderr = Terminal()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with Live(definition()) as live:
        live.update(ladder(312, 240, matches=1000))
        with live._lines._lock:
            live._lines._show()
            drawn = stderr.getvalue().count("\n")
            stderr.truncate(stderr.seek(0))
            print("half a", file=sys.stderr, end=" ")
            assert stderr.getvalue() == "", "not before its line is whole"
            print("line", file=sys.stderr)
        assert stderr.getvalue().startswith(f"\r\x1b[{drawn}A\x1b[Jhalf a line\n\x1b[?25l")
        print("in a file")
        stderr.truncate(stderr.seek(0))
    assert sys.stderr is stderr
    assert sys.stdout.getvalue() == "in a file\n"
    assert stderr.getvalue().endswith(f"\x1b[{drawn}A\x1b[J{SHOW_CURSOR}")


def test_notes_take_the_place_of_the_ratings(monkeypatch, capsys):
    monkeypatch.setenv("NO_COLOR", "1")
    notes = ("12 encounters of the start with 3 variants", "estimate\x1b: a = 2")
    progress = replace(ladder(1, 1, matches=10), new=[record(1, bots=["ada@1", "bob@1"])])
    for kind in (Live, PlainLines):
        for given in (notes, ()):
            display = kind(definition("climb"), "round 1 of 2", given)
            display.update(progress)
            if kind is Live:
                shown = "\n".join(display._draw(40))
                assert ("exposure" in shown) == (not given)
            else:
                shown = capsys.readouterr().err
            assert ("estimate\\x1b: a = 2" in shown) == bool(given)
            assert max(map(len, shown.splitlines())) <= 40 or kind is PlainLines


def test_the_table_is_as_old_as_the_counter_above_it(monkeypatch):
    """The run has one object, in which it counts, and gives it to the display again and again."""
    monkeypatch.setenv("NO_COLOR", "1")
    live, progress = Live(definition()), ladder(1, 1, matches=10)
    progress.new = [record(1, bots=["ada@1", "bob@1"])]
    live.update(progress)
    before = live._draw(60)
    assert before[1].startswith("1 of 10 matches")
    progress.recorded, progress.new = 2, [record(2, bots=["ada@1", "bob@1"])]
    live.update(progress)  # it is not time yet to rate again
    assert live._draw(60)[1].startswith("1 of 10 matches") and live._draw(60)[2:] == before[2:]
    live._next_rating_at = 0.0
    live.update(progress)
    assert live._draw(60)[1].startswith("2 of 10 matches")
    resumed = Live(definition())
    resumed.count([StoredResult(1, 1, "differences", ("ada@1", "bob@1"), (1, 2), "", "")])
    progress.new = []
    resumed.update(progress)
    assert "exposure" in resumed._draw(60)[2]


# what a silent command is doing is said in a terminal, and nowhere else


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, stderr, *arguments):
    monkeypatch.setattr(sys, "stderr", stderr)
    with pytest.raises(ZeroDivisionError), waiting(*arguments):
        raise ZeroDivisionError
    return stderr.getvalue()


def test_a_terminal_shows_it_until_it_is_over_or_fails(monkeypatch):
    assert shown(monkeypatch, Terminal(), "a\x1b[31m") == f"{ERASE_LINE}a\\x1b[31m …{ERASE_LINE}"


@pytest.mark.parametrize(("stderr", "is_quiet"), [(io.StringIO(), False), (Terminal(), True)])
def test_a_file_and_who_wants_quiet_get_nothing(monkeypatch, stderr, is_quiet):
    assert shown(monkeypatch, stderr, "a", is_quiet) == ""


FILE = """
rng_seed = 7
ply_limit = 50
opening_plies = 3
isolation = "limits"
entrants_from = "not_on_this_machine/*"
[time_control]
bank_seconds = 30.0
increment_seconds = 0.5
clock = "cpu"
[limits]
memory_bytes = "333 MiB"
[[games]]
game = "differences"
options = { size = 5 }
[[games]]
game = "multiplication"
options = { size = 11 }
"""
BANK = {"per_action_seconds": None, "bank_seconds": 30.0, "increment_seconds": 0.5, "clock": "cpu"}


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "class.toml").write_text(FILE)

    def call(text, code=0):
        assert run(["--home", "home", *text.split()]) == code
        return capsys.readouterr()

    return call


def stored(name):
    with ArenaHome("home") as home:
        return home.store.tournament(name).definition


def test_a_match_is_played_as_those_of_a_tournament_are(command):
    record = json.loads(command("play differences arena:random_legal arena:greedy --like class.toml --json").out)
    assert (record["options"]["size"], record["opening_plies"], record["ply_limit"]) == (5, 3, 50)
    assert record["rng_seed"] == 7
    assert record["time_control"].items() >= BANK.items()
    assert record["isolation"].startswith("limits")
    text = "play differences arena:random_legal arena:greedy --like class.toml --json -o size=4 --seconds 9"
    record = json.loads(command(text).out)
    assert (record["options"]["size"], record["opening_plies"]) == (4, 3)
    seconds = {"per_action_seconds": 9.0, "bank_seconds": None, "increment_seconds": 0.0}
    assert record["time_control"].items() >= (BANK | seconds).items()


@pytest.mark.slow
def test_a_comparison_is_played_under_the_conditions_of_a_tournament(command):
    command("compare arena:greedy arena:random_legal --like class.toml --max-encounters 8 -q --name first", code=3)
    first = stored("first")
    with ArenaHome("home") as home:
        assert home.store.tournament("first").recorded == 2 * 8
    assert [(one.game, one.options["size"]) for one in first.games] == [("differences", 5), ("multiplication", 11)]
    assert (first.opening_plies, first.ply_limit, first.rng_seed, first.isolation) == (3, 50, 7, "limits")
    assert (first.limits.memory_bytes, first.time_control.bank_seconds) == (333 * 2**20, 30.0)
    text = "compare arena:greedy arena:random_legal --like first --game differences --max-encounters 8 --name second -q"
    command(f"{text} --executor in-process --rng-seed 1 --ply-limit 99", code=3)
    second = stored("second")
    assert [one.options["size"] for one in second.games] == [5]
    assert (second.ply_limit, second.rng_seed) == (99, 1)
    assert (second.limits, second.time_control, second.opening_plies) == (first.limits, first.time_control, 3)


@pytest.mark.slow
def test_tuning_and_checks_take_the_conditions_of_a_tournament(command, monkeypatch):
    path = Path("some.toml")
    entrants = "".join(f'[[entrants]]\nbot = "arena:{bot}"\n' for bot in ("greedy", "mcts"))
    path.write_text(re.sub(r"entrants_from.*", "", FILE) + entrants)
    with ArenaHome("home") as home:
        create_or_resume(load_definition(path), home.store)
    with monkeypatch.context() as patch:
        patch.setattr("arena.tournament.director.run_tournament", played_at_once)
        text = "tune arena:mcts --like some --param rollouts=1..3 --encounters 2 --rounds 1 --test-encounters 8 -q"
        command(f"{text} --name tuned", code=3)
    assert (stored("tuned 1").limits, stored("tuned 1").games) == (stored("some").limits, stored("some").games)
    said = command("check arena:greedy --like some").out
    assert "plays differences with size = 5, scoring = distinct in seat 1" in said
    assert re.search("plays multiplication with .*size = 11", said) and "of 333 MiB of memory" in said
    assert "size = 2" not in said
    Path("short.toml").write_text(FILE.replace("ply_limit = 50", "ply_limit = 4"))
    said = command("check arena:greedy --like short.toml --game differences").out
    assert "multiplication" not in said
    assert said.count("4 plies") == 2 and "4 plies, longest action 0.0 ms" in said  # three are of the opening


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("check arena:greedy --like none", "--like 'none': there is no such file, and unknown tournament 'none'"),
        ("play plaid arena:greedy arena:greedy --like bad.toml", "bad.toml: opening_plies = -1: "),
        ("play plaid arena:greedy arena:greedy --like wide.toml", "limits.cores = 1024: this machine has "),
        ("compare arena:greedy arena:greedy", "--game: missing; expected a game, or --like"),
        ("check arena:greedy --like class.toml --game plaid", "--game plaid: expected a game of the tournament 'class"),
        ("play plaid arena:greedy arena:greedy --like class.toml", "plaid: expected a game of the tournament"),
        ("check --rules differences --like class.toml", "--rules checks the rules of one game, without --like"),
        ("compare arena:greedy arena:greedy --like class.toml -o size=4", "--option size=4: class.toml has 2 games"),
    ],
)
def test_what_can_not_be_read_is_said_in_a_sentence(command, tmp_path, text, message):
    (tmp_path / "bad.toml").write_text(FILE.replace("opening_plies = 3", "opening_plies = -1"))
    (tmp_path / "wide.toml").write_text(FILE.replace("[limits]", "[limits]\ncores = 1024"))
    error = command(text, code=2).err
    assert message in error and len(error.splitlines()) == 1
