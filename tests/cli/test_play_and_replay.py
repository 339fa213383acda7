"""People at the terminal: playing against bots, and stepping through a match."""

import io
import json
import os
import pty
import re
import select
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from arena.cli.boards import beside, board, listed
from arena.cli.group import run
from arena.cli.replay_command import _Cursor, _page
from arena.games import GAMES, make_game
from arena.match.replay import states_of
from arena.match.single_match import ask_bot, play_match
from arena.players.manifest import load_bot
from arena.records import MatchRecord
from benchmarks import zoo_bots as zoo
from tests.games.variants import VARIANTS

BOTS = Path(__file__).parents[2] / "bots"


@pytest.fixture
def play(monkeypatch, capsys, tmp_path):
    """Return a function that plays with what a person types and returns (exit code, stdout, stderr)."""

    def call(typed, *arguments):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = run(["play", *map(str, arguments), "--home", str(tmp_path)])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return call


@pytest.mark.processes
def test_a_person_may_take_a_seat(play):
    code, text, errors = play("z9\nnonsense\na1\n", "differences", "human", BOTS / "minimal", "-o", "size=2")
    assert code == 0
    assert "1. human (seat 0) plays a1" in text
    assert "2. minimal@1 (seat 1) plays b2" in text
    assert "2 . x\n1 x .\n  a b\n" in text
    assert "scores: human (seat 0) 1, minimal@1 (seat 1) 1" in text
    assert "1. human@1 1, 1. minimal@1 1 (normal)" in text
    assert "z9: off the board: x is 1 to 2 and y is 1 to 2" in errors
    assert "nonsense: a square is written like c4" in errors


@pytest.mark.processes
def test_words_of_command_are_understood(play):
    typed = "?\nlegal\nLEGAL\nscores\nrules\nboard\n\nquit\n"
    code, text, errors = play(typed, "differences", "human", BOTS / "minimal", "-o", "size=2")
    assert code == 0
    assert errors.count("a: 1 2\nb: 1 2\n") == 2
    assert "such as a1" in errors
    assert "The seats take turns, seat 0 first." in errors
    assert errors.endswith("You left the match; it has no result.\n")
    assert "(normal)" not in text


@pytest.mark.processes
def test_an_illegal_action_is_told_with_the_rule(play):
    typed = "a1\na3\nquit\n"
    code, _, errors = play(typed, "differences", "human", BOTS / "minimal", "-o", "size=3")
    assert code == 0
    assert "a3: column a already has a mark (rule 3)" in errors
    assert "human (seat 0) acts (? for help): " in errors  # of nine squares none is listed
    assert "human (seat 0) acts: c3 (? for help): " in errors  # of few all are


@pytest.mark.processes
def test_undo_takes_back_the_persons_own_last_action_and_what_came_after(play):
    typed = "undo\na1\nc3\nundo\nundo\nc1\nquit\n"
    code, text, errors = play(typed, "differences", "human", BOTS / "minimal", "-o", "size=6")
    assert code == 0
    assert "You have no action to take back." in errors
    moves = re.findall(r"^(\d+)\. (?:human|minimal@1) \(seat \d\) plays (\w+)", text, re.MULTILINE)
    assert moves[:2] == [("1", "a1"), ("2", "b2")]
    assert moves[-2:] == [("1", "c1"), ("2", "a2")]  # minimal plays the first legal square
    assert text.count("\n".join(f"{y} . . . . . ." for y in range(6, 0, -1))) == 2  # at first, and after both undos


@pytest.mark.processes
def test_undo_gives_bots_the_position_and_nothing_of_what_was_taken_back(play):
    """A bot that keeps the state by what it is told would commit a fault if it still had the actions undone."""
    typed = "a1\nundo\nb2\nundo\nc3\nlegal\nquit\n"
    code, text, errors = play(typed, "differences", "human", BOTS / "greedy", "-o", "size=3")
    assert code == 0
    assert "fault" not in text + errors


@pytest.mark.processes
def test_a_hint_comes_from_a_bot_and_is_an_action_the_rules_allow(play):
    typed = "hint\nquit\n"
    _, _, errors = play(typed, "differences", "human", BOTS / "minimal", "-o", "size=3")
    assert "minimal@1 would play a1" in errors
    arguments = ("differences", "human", BOTS / "minimal", "-o", "size=3", "--hints", BOTS / "alphabeta")
    _, _, errors = play(typed, *arguments)
    assert re.search(r"alphabeta@1 would play [abc][123] \(value .*nodes \d+", errors)
    _, _, errors = play(typed, "differences", "human", "human", "-o", "size=3")
    assert "There is no bot to ask; name one with --hints BOT." in errors


@pytest.mark.processes
def test_a_bot_that_fails_has_no_hint_and_the_match_goes_on(play):
    bad = zoo.bad_bot("exits_when_asked")
    arguments = ("differences", "human", "human", "-o", "size=2", "--hints", bad)
    code, text, errors = play("hint\na1\nb2\n", *arguments)
    assert code == 0
    assert "exits_when_asked@1 has no hint: exit" in errors
    assert "(normal)" in text


@pytest.mark.processes
def test_input_that_ends_in_mid_match_is_told_in_one_sentence(play):
    code, text, errors = play("", "differences", "human", BOTS / "minimal", "-q")
    assert code == 2
    assert text == ""
    assert errors.endswith("arena: the input ended after 0 actions, before the match was over; it has no result\n")
    code, _, errors = play("a1\n", "differences", "human", BOTS / "minimal", "-q", "-o", "size=4")
    assert code == 2
    assert "after 2 actions" in errors


@pytest.mark.processes
def test_the_record_of_a_match_with_undo_replays(play):
    typed = "a1\nundo\nb1\nc3\n"
    code, text, _ = play(typed, "differences", "human", BOTS / "minimal", "-o", "size=3", "--json")
    assert code == 0
    record = json.loads(text)
    assert [action for _, action in record["actions"]] == [[2, 1], [1, 2], [3, 3]]
    assert len(list(states_of(MatchRecord.from_json(record)))) == 4


@pytest.mark.processes
def test_ask_bot_asks_in_the_place_of_the_seat_to_act():
    answer = ask_bot(load_bot(BOTS / "minimal"), "differences", {"size": 3}, [[0, [1, 1]], [1, [2, 2]]])
    assert answer.action == [3, 3]


@pytest.mark.processes
@pytest.mark.parametrize("name", GAMES)
def test_every_board_fits_eighty_columns(name):
    large = {
        "plusminus": {"size": 26},
        "differences": {"size": 40},
        "multiplication": {"size": 27},
        "coprimality": {"size": 26},
        "plaid": {"lines": 60, "width": 100, "height": 100},
    }[name]
    small = [options for game, options in VARIANTS.values() if game == name]
    for options in (*small, large):
        game = make_game(name, **options)
        state, last = game.initial_state(), None
        for ply in range(400):
            if game.is_over(state):
                break
            legal = game.legal_actions(state)
            last = legal[(ply * 7) % len(legal)]
            state = game.apply(state, last)
            lines = board(game, state, 80, last)
            assert max(map(len, lines)) <= 80
            assert all(line == line.rstrip() for line in lines)


def test_a_board_that_is_cut_shows_the_column_of_the_last_action_where_it_is():
    game = make_game("differences", size=60)
    state = game.apply(game.initial_state(), (40, 3))
    whole = game.render(state).splitlines()
    lines = board(game, state, 50, (40, 3))
    row, labels = lines[-4], lines[-1]
    assert row.startswith(" 3…") and row.rstrip("… ").count("x") == 1
    assert labels[row.index("x") - 1 : row.index("x") + 1] == "an"  # the 40th column is an
    assert len(lines) == len(whole)


def test_legal_actions_are_listed_by_column():
    game = make_game("differences", size=3)
    assert listed(game, [(1, 1), (1, 3), (3, 2)], 80) == "a: 1 3\nc: 2"
    assert listed(make_game("plaid"), [("v", 1), ("v", 22), ("h", 3)], 80) == "v: 1 22\nh: 3"
    assert listed(make_game("plusminus"), ["+", "-"], 80) == "+ -"


def test_notes_stand_beside_a_board_if_there_is_room_and_else_below():
    assert beside(["ab", "a"], ["note"], 80) == ["ab   note", "a"]
    assert beside(["x" * 70], ["n" * 90], 80) == ["x" * 70, "", "n" * 79 + "…"]


@pytest.mark.parametrize(
    ("keys", "ply"),
    [
        ("", 0),
        ("n n space enter right", 5),
        ("n n b", 1),
        ("b left", 0),
        ("G", 9),
        ("G n n", 9),
        ("G g", 0),
        ("7 enter", 7),
        ("1 2 enter", 9),
        ("4 g", 4),
        ("7 x n", 1),
        ("end home", 0),
    ],
)
def test_keys_lead_to_a_ply(keys, ply):
    cursor = _Cursor(9)
    for key in keys.split():
        cursor.press(key)
    assert cursor.ply == ply
    assert not cursor.has_left


def test_playing_goes_on_by_itself_until_a_key_or_the_end():
    cursor = _Cursor(3)
    cursor.press("p")
    assert cursor.is_playing
    cursor.press(None)
    assert (cursor.ply, cursor.is_playing) == (1, True)
    cursor.press("p")
    assert (cursor.ply, cursor.is_playing) == (1, False)
    cursor.press("p")
    cursor.press(None)
    cursor.press(None)
    assert (cursor.ply, cursor.is_playing) == (3, False)
    cursor.press("q")
    assert cursor.has_left


@pytest.mark.processes
def test_a_replay_page_holds_the_board_the_actions_and_the_note():
    record = play_match("differences", [load_bot(BOTS / "alphabeta")] * 2, options={"size": 5})
    positions = list(states_of(record))
    noted = record.notes[0][0]
    game, state = positions[noted + 1]
    page = _page(replace(record, tournament="t"), noted + 1, game, state, 80)
    assert max(map(len, page)) <= 80
    text = "\n".join(page)
    assert re.search(r"note: value .*depth \d", text)
    assert text.count(">") == 1
    assert f"> {noted + 1:2d}. " in text
    for line in game.render(state).splitlines():
        assert line in text


def read_until(descriptor, pattern, seconds=60.0):
    """Read from a terminal until a pattern has come."""
    text = ""
    while not re.search(pattern, text):
        assert select.select([descriptor], [], [], seconds)[0], f"{pattern} did not come:\n{text}"
        text += os.read(descriptor, 65536).decode()
    return text


@pytest.mark.processes
def test_a_replay_is_stepped_through_at_a_real_terminal(tmp_path):
    file = tmp_path / "t.toml"
    file.write_text(
        f'game = "differences"\noptions = {{size = 4}}\nencounters = 1\n[[entrants]]\nbot = "{BOTS / "minimal"}"\n'
        f'[[entrants]]\nbot = "{BOTS / "greedy"}"\n'
    )
    home = tmp_path / "home"
    assert run(["run", str(file), "-q", "--home", str(home)]) == 0
    ours, theirs = pty.openpty()
    environment = os.environ | {"COLUMNS": "80", "LINES": "24", "TERM": "xterm"}
    command = [sys.executable, "-m", "arena", "replay", "t/1", "--home", str(home)]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    try:
        read_until(ours, "ply 0 of 4")
        os.write(ours, b"n")
        read_until(ours, "ply 1 of 4")
        os.write(ours, b"\x1b[C")
        read_until(ours, "ply 2 of 4")
        os.write(ours, b"\x1b[D")
        read_until(ours, "ply 1 of 4")
        os.write(ours, b"4\n")
        read_until(ours, "ply 4 of 4")
        os.write(ours, b"gp")
        read_until(ours, "ply 2 of 4")  # by itself
        os.write(ours, b"q")
        read_until(ours, "normal")
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
