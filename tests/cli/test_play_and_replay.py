import io
import re
from dataclasses import replace

import pytest

from arena.analysis.text.text_layout import cell_count
from arena.base.records import MatchRecord
from arena.cli.bots.boards import beside, board, listed, score_lines
from arena.cli.group import run
from arena.cli.results.replay_command import Replayed, _Cursor, _page
from arena.games import GAMES, make_game
from arena.lab.matches.annotation import NOTHING_KNOWN, AnnotatedAction, Annotation
from arena.match.players.manifest import load_bot
from arena.match.replay import states_of
from arena.match.single_match import play_match
from benchmarks import zoo_bots as zoo
from tests.cli.calls import as_json, called, ended, told
from tests.cli.typed_terminal import arena_at_a_terminal, shown_at_a_terminal
from tests.conftest import BOTS
from tests.games.variants import VARIANTS


@pytest.fixture
def play(monkeypatch, capsys, tmp_path):
    """Return a function that plays with what a person types and returns (exit code, stdout, stderr)."""

    def call(typed, *arguments):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        return called(capsys, "play", *arguments, "--home", tmp_path)

    return call


def test_a_person_may_take_a_seat(play):
    text, errors = ended(play, 0, "z9\nnonsense\na1\n", "differences", "human", BOTS / "minimal", "-o", "size=2")
    assert "1. human (seat 0) plays a1" in text
    assert "2. minimal@1 (seat 1) plays b2" in text
    assert "2 .[B]\n1 A .\n  a b\n" in text
    assert "scores: A human (seat 0) 1, B minimal@1 (seat 1) 1" in text
    assert "1. human@1 1, 1. minimal@1 1 (normal)" in text
    assert "z9: off the board: x is 1 to 2 and y is 1 to 2" in errors
    assert "nonsense: a square is written like c4" in errors


def test_words_of_command_are_understood(play):
    typed = "?\nlegal\nLEGAL\nscores\nrules\nboard\n\nquit\n"
    text, errors = ended(play, 0, typed, "differences", "human", BOTS / "minimal", "-o", "size=2")
    assert errors.count("a: 1 2\nb: 1 2\n") == 3  # "?" lists them too
    rules = errors[errors.index("Differences: ") : errors.rindex("human (seat 0) acts")]
    assert "`" not in rules and max(map(len, rules.splitlines())) <= 80
    assert "such as a1" in errors
    assert "The seats take turns, seat 0 first." in errors
    assert errors.endswith("You left the match; it has no result.\n")
    assert "(normal)" not in text


def test_an_illegal_action_is_told_with_the_rule_and_few_actions_are_listed(play):
    _, _, errors = play("a1\na3\nquit\n", "differences", "human", BOTS / "minimal", "-o", "size=3")
    assert "a3: column a already has a mark (rule 3)" in errors
    assert "human (seat 0) acts (? for help): " in errors  # of nine squares none is listed
    assert "human (seat 0) acts: c3 (? for help): " in errors  # of few all are


@pytest.mark.slow(sample=True)
def test_undo_takes_back_the_persons_own_last_action_and_gives_bots_the_position(play):
    typed = "undo\na1\nc3\nundo\nundo\nc1\nquit\n"
    text, errors = ended(play, 0, typed, "differences", "human", BOTS / "minimal", "-o", "size=6")
    assert "You have no action to take back." in errors
    moves = re.findall(r"^(\d+)\. (?:human|minimal@1) \(seat \d\) plays (\w+)", text, re.MULTILINE)
    assert moves[:2] == [("1", "a1"), ("2", "b2")]
    assert moves[-2:] == [("1", "c1"), ("2", "a2")]  # minimal plays the first legal square
    assert text.count("\n".join(f"{y} . . . . . ." for y in range(6, 0, -1))) == 2  # at first, and after both undos
    # a bot that updates its state from messages would commit a fault if it still had the actions undone
    typed = "a1\nundo\nb2\nundo\nc3\nlegal\nquit\n"
    text, errors = ended(play, 0, typed, "differences", "human", BOTS / "greedy", "-o", "size=3")
    assert "fault" not in text + errors


def test_a_hint_comes_from_a_bot_and_is_an_action_the_rules_allow(play):
    typed = "hint\nquit\n"
    _, _, errors = play(typed, "differences", "human", BOTS / "minimal", "-o", "size=3")
    assert "minimal@1 would play a1" in errors
    arguments = ("differences", "human", BOTS / "minimal", "-o", "size=3", "--hints", BOTS / "alphabeta")
    _, _, errors = play(typed, *arguments)
    assert re.search(r"alphabeta@1 would play [abc][123] \(value .*nodes \d+", errors)
    _, _, errors = play(typed, "differences", "human", "human", "-o", "size=3")
    assert "There is no bot to ask; name one with --hints BOT." in errors


def test_a_bot_that_fails_has_no_hint_and_the_match_goes_on(play):
    arguments = ("differences", "human", "human", "-o", "size=2", "--hints", zoo.bad_bot("exits_when_asked"))
    text, errors = ended(play, 0, "hint\na1\nb2\n", *arguments)
    assert "exits_when_asked@1 has no hint: exit" in errors
    assert "(normal)" in text


def test_input_that_ends_in_mid_match_is_told_in_one_sentence(play):
    text, errors = ended(play, 2, "", "differences", "human", BOTS / "minimal", "-q")
    assert text == ""
    assert errors.endswith("arena: the input ended after 0 actions, before the match was over; it has no result\n")
    errors = told(play, 2, "a1\n", "differences", "human", BOTS / "minimal", "-q", "-o", "size=4")
    assert "after 2 actions" in errors


def test_the_record_of_a_match_with_undo_replays(play):
    record = as_json(play, "a1\nundo\nb1\nc3\n", "differences", "human", BOTS / "minimal", "-o", "size=3")
    assert [action for _, action in record["actions"]] == [[2, 1], [1, 2], [3, 3]]
    assert len(list(states_of(MatchRecord.from_json(record)))) == 4


@pytest.mark.parametrize("name", GAMES)
def test_every_board_fits_eighty_columns(name):
    large = {"size": {"differences": 40, "multiplication": 27}.get(name, 26)}
    large = {"lines": 60, "width": 100, "height": 100} if name == "plaid" else large
    small = [options for game, options in VARIANTS.values() if game == name]
    for options in (*small, large):
        game = make_game(name, **options)
        state, actions = game.initial_state(), []
        for ply in range(400):
            if game.is_over(state):
                break
            legal = game.legal_actions(state)
            actions.append((game.seat_to_act(state), legal[(ply * 7) % len(legal)]))
            state = game.apply(state, actions[-1][1])
            lines = board(game, state, 80, actions)
            assert max(map(len, lines)) <= 80
            is_new_grid = name == "coprimality" and max(state.numbers) == 1
            assert "".join(lines).count("[") == (0 if is_new_grid else 1)
            assert all(line == line.rstrip() for line in lines)


def test_the_score_names_every_seat_within_the_width_and_who_is_out():
    game = make_game("plaid", players=3)
    state = game.apply(game.initial_state(), ("v", 12))
    assert score_lines(game, state, ["a@1", "b@1", "b@1"], 80) == [
        "scores: A a@1 (seat 0) 61.1882, B b@1 (seat 1) 76.8375, C b@1 (seat 2) 0"
    ]
    for labels in (["x" * 64 + "1", "x" * 64 + "2", "é\x1b[31m"], ["對" * 40] * 3):
        for width in (40, 80):
            lines = score_lines(game, state, labels, width)
            assert all(cell_count(line) <= width for line in lines)
            assert [re.findall(r"\b([ABC]) ", line)[0] for line in lines[:1]] == ["A"]
            assert re.findall(r"\(seat (\d)\)", " ".join(lines)) == ["0", "1", "2"]
            assert "\x1b" not in "".join(lines)
    game = make_game("coprimality", size=4, players=3)
    state = game.withdraw(game.initial_state())
    assert score_lines(game, state, "abc", 80) == ["scores: A a (seat 0) 0 out, B b (seat 1) 1, C c (seat 2) 1"]


def test_legal_actions_are_listed_by_column_and_notes_stand_beside_the_board():
    assert listed(make_game("differences", size=3), [(1, 1), (1, 3), (3, 2)], 80) == "a: 1 3\nc: 2"
    assert listed(make_game("plaid"), [("v", 1), ("v", 22), ("h", 3)], 80) == "v: 1 22\nh: 3"
    assert listed(make_game("plusminus"), ["+", "-"], 80) == "+ -"
    assert beside(["ab", "a"], ["note"], 80) == ["ab   note", "a"]
    assert beside(["x" * 70], ["n" * 90], 80) == ["x" * 70, "", "n" * 79 + "…"]


KEYS = {"": 0, "n n space enter right": 5, "n n b": 1, "b left": 0, "G": 9, "G n n": 9, "G g": 0, "7 enter": 7}
KEYS |= {"1 2 enter": 9, "4 g": 4, "7 x n": 1, "end home": 0}


@pytest.mark.parametrize(("keys", "ply"), KEYS.items())
def test_keys_lead_to_a_ply(keys, ply):
    cursor = _Cursor(9)
    for key in keys.split():
        cursor.press(key)
    assert cursor.ply == ply
    assert not cursor.has_left


def test_playing_goes_on_by_itself_until_a_key_or_the_end():
    cursor = _Cursor(3)
    seen = []
    for key in ("p", None, "p", "p", None, None):
        cursor.press(key)
        seen.append((cursor.ply, cursor.is_playing))
    assert seen == [(0, True), (1, True), (1, False), (1, True), (2, True), (3, False)]
    cursor.press("q")
    assert cursor.has_left


def test_a_replay_page_holds_the_board_the_actions_and_the_note():
    record = play_match("differences", [load_bot(BOTS / "alphabeta")] * 2, options={"size": 5})
    positions = list(states_of(record))
    noted = record.notes.for_operator()[0][0]
    game, state = positions[noted + 1]
    page = _page(Replayed(replace(record, tournament="t"), None), noted + 1, game, state, 80)
    assert max(map(len, page)) <= 80
    text = "\n".join(page)
    assert re.search(r"note: value .*depth \d", text)
    assert text.count(">") == 1
    assert f"> {noted + 1:2d}. " in text
    for line in game.render_after(state, record.actions[: noted + 1]).splitlines():
        assert line in text


@pytest.mark.slow(only=("60-200",))
@pytest.mark.parametrize(("size", "width"), [(8, 80), (30, 80), (60, 200), (12, 40)])
def test_a_replay_page_keeps_to_the_terminal(size, width):
    record = play_match("differences", [load_bot(BOTS / "minimal")] * 2, options={"size": size})
    record = replace(record, tournament="t\x1b[2J" + "x" * 60)
    unknown = tuple(AnnotatedAction(seat=seat, chosen=0) for seat, _ in record.actions)
    annotation = Annotation(opening_plies=0, worths=(NOTHING_KNOWN,) * (len(unknown) + 1), actions=unknown)
    for ply, (game, state) in enumerate(states_of(record)):
        page = _page(Replayed(record, annotation if ply % 2 else None), ply, game, state, width, 22)
        assert ("worth: not known" in page) == (ply % 2 == 1)
        assert len(page) <= 22
        assert max(map(len, page)) <= width
        assert sum("[A]" in line or "[B]" in line for line in page) == min(ply, 1)
        assert "\x1b" not in "".join(page)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "players", "options"),
    [("differences", 2, ["size=12"]), ("coprimality", 3, ["size=12", "players=3"])],
)
def test_a_match_at_a_terminal_shows_last_action_owners_and_score_after_each_action(name, players, options, tmp_path):
    bots = [BOTS / "random_legal", BOTS / "minimal", BOTS / "random_legal"][:players]
    chosen = [word for option in options for word in ("-o", option)]
    shown = shown_at_a_terminal(["play", name, *bots, *chosen, "--home", tmp_path])
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r", "")
    assert max(map(len, plain.splitlines())) <= 80
    assert "\x1b[36m" in shown
    assert "\x1b[35m" in shown
    before, *positions = re.split(r"^\d+\. \S+ \(seat \d\) plays .*$", plain, flags=re.MULTILINE)
    assert "[" not in before
    assert len(positions) > 5
    for position in positions:
        assert position.count("[") == 1 or (name == "coprimality" and " 2" not in position.split("seats")[0])
        assert re.findall(r"\b([A-C]) \S+ \(seat (\d)\)", position) == list(zip("ABC"[:players], "012", strict=False))
    assert set(re.findall(r"[A-C]", positions[-1].split("scores:")[0])) == set("ABC"[:players])


@pytest.mark.slow
def test_a_replay_is_stepped_through_at_a_real_terminal(write_definition, tmp_path):
    file = write_definition(bots=("minimal", "greedy"), options="{size = 4}", encounters=1)
    home = ["--home", str(tmp_path / "home")]
    assert run(["run", str(file), "-q", *home]) == 0
    with arena_at_a_terminal(["replay", "t/1", *home]) as terminal:
        terminal.read_until("ply 0 of 4")
        for keys, ply in ((b"n", 1), (b"\x1b[C", 2), (b"\x1b[D", 1), (b"4\n", 4), (b"gp", 2)):  # p goes on by itself
            terminal.type(keys)
            terminal.read_until(f"ply {ply} of 4")
        terminal.type(b"q")
        terminal.read_until("normal")
        assert terminal.process.wait(60) == 0
