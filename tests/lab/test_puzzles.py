import json
from dataclasses import asdict, replace

import pytest

from arena.base.errors import StoreError, UsageError
from arena.games import make_game
from arena.lab.matches import puzzle_search
from arena.lab.matches.puzzle import keep_puzzles, kept_puzzles
from arena.lab.matches.puzzle_search import MIN_CHOICES, decisions_by_position, find_puzzles, lines_log2, theme_of
from arena.lab.solving.limits import Limits
from arena.lab.solving.worth import Outcome
from tests.analysis.text.tournaments import play
from tests.lab.games import after, plain_value
from tests.lab.made_puzzles import longer_puzzle, made_puzzle
from tests.lab.played import random_record

GAMES = [
    ("plusminus", {"size": 4}),
    ("differences", {"size": 5, "scoring": "once"}),
    ("plaid", {"width": 4, "height": 4, "lines": 4}),
    ("plaid", {"width": 8, "height": 4, "lines": 6}),
]
SIGNS = {Outcome.WIN: 1, Outcome.DRAW: 0, Outcome.LOSS: -1}


def mirrored(name, size, actions):
    """Return a line of play and its images at the middle of the board, written down by hand."""
    lines = [actions]
    if name == "differences":
        for right, up in ((True, False), (False, True), (False, False)):
            lines.append([(x if right else size + 1 - x, y if up else size + 1 - y) for x, y in actions])
    return lines


def expected_puzzles(name, game, records):
    """Return the classes of states that are puzzles, each as a set of states that are the same up to symmetry."""
    found = set()
    for record in records:
        actions = actions_of(record)
        for ply in range(record.opening_plies, len(actions)):
            state = after(game, actions[:ply])
            sign = 1 if game.seat_to_act(state) == 0 else -1
            legal = list(game.legal_actions(state))
            worth = {one: sign * plain_value(game, game.apply(state, one))[0] for one in legal}
            best = max(worth.values())
            is_only = list(worth.values()).count(best) == 1
            if is_only and len(legal) >= MIN_CHOICES and worth[actions[ply]] < best:
                images = mirrored(name, game.options.get("size"), actions[:ply])
                found.add(frozenset(after(game, line) for line in images))
    return found


PLIES = {("plaid", 8, 4, 6): {1, 3, 5}}
"""Of the lines that there are, where some continue after the solution."""


def assert_line(game, puzzle, state):
    def is_turn(after):
        outcomes = [plain_value(game, game.apply(after, one))[0] for one in game.legal_actions(after)]
        return game.seat_to_act(after) == puzzle.seat and len(outcomes) >= 3 and outcomes.count(goal) == 1

    def replies(before):
        if game.is_over(before) or game.seat_to_act(before) == puzzle.seat:
            return []
        after = [game.apply(before, one) for one in game.legal_actions(before)]
        going_on = [one for one in after if plain_value(game, one)[0] == goal and is_turn(one)]
        return sorted(going_on, key=lambda one: plain_value(game, one), reverse=puzzle.seat == 1)

    goal = SIGNS[puzzle.goal]
    assert plain_value(game, state)[0] == goal
    for number, turn in enumerate(puzzle.turns):
        if number:
            assert (expected := replies(state))
            state = game.apply(state, game.parse_action(turn.reply))
            assert state == expected[0]
        assert is_turn(state)
        for action, choice in zip(game.legal_actions(state), turn.choices, strict=True):
            after = game.apply(state, action)
            assert choice.text == game.format_action(action)
            assert SIGNS[choice.outcome] == plain_value(game, after)[0]
            if choice is turn.right or game.is_over(after):
                assert choice.refutation == ""
            else:
                refuted = game.apply(after, game.parse_action(choice.refutation))
                assert plain_value(game, refuted)[0] == SIGNS[choice.outcome] != goal
        state = game.apply(state, game.parse_action(turn.right.text))
    assert puzzle.plies == 7 or not replies(state)


def actions_of(played):
    return [tuple(action) if isinstance(action, list) else action for _, action in played.actions]


@pytest.mark.parametrize(("name", "options"), GAMES, ids=str)
def test_puzzles_are_all_positions_with_one_action_that_helps_and_was_missed(name, options):
    game = make_game(name, **options)
    records = [random_record(name, number, number, opening_plies=1, **options) for number in range(1, 41)]
    expected = expected_puzzles(name, game, records)
    found = find_puzzles(records, 500)
    assert found.found == len(found.puzzles) == len(expected) > 0
    assert found.looked_at == found.positions
    assert found.unknown == 0
    classes = set()
    for puzzle in found.puzzles:
        state = after(game, actions_of(puzzle))
        (group,) = (group for group in expected if state in group)
        classes.add(group)
        assert puzzle.faults() == []
        record = records[puzzle.misses[0].match - 1]
        assert game.parse_action(puzzle.misses[0].text) == actions_of(record)[len(puzzle.actions)]
        assert puzzle.misses[0].bot == record.bots[puzzle.seat]
        assert 1 <= puzzle.missed <= puzzle.met
        assert_line(game, puzzle, state)
    assert {one.plies for one in found.puzzles} == PLIES.get((name, *options.values()), {1})
    assert classes == expected
    assert [one.lines_log2 for one in found.puzzles] == sorted(one.lines_log2 for one in found.puzzles)


def test_mirrored_matches_have_the_same_positions_and_openings_are_nobodys_decisions():
    first = random_record("differences", 7, size=5)
    flipped = replace(first, match=4, actions=tuple([seat, [6 - x, y]] for seat, (x, y) in first.actions))
    turned = replace(first, match=5, actions=tuple([seat, [y, x]] for seat, (x, y) in first.actions))
    alone = decisions_by_position([first])
    assert decisions_by_position([first, flipped]).keys() == alone.keys()
    assert [len(found) for found in decisions_by_position([first, flipped]).values()] == [2] * len(alone)
    assert decisions_by_position([first, turned]).keys() != alone.keys()
    records = [random_record("plusminus", number, number, opening_plies=7, size=4) for number in range(30)]
    assert {one.ply for found in decisions_by_position(records).values() for one in found} == {7, 8, 9}


def test_of_many_puzzles_some_of_each_difficulty_are_kept():
    records = [random_record("plusminus", number, number, size=4) for number in range(1, 41)]
    everything, some = find_puzzles(records, 500), find_puzzles(records, 4)
    assert some.found == everything.found > 5
    numbers = [everything.puzzles.index(one) for one in some.puzzles]
    assert numbers == [number * everything.found // 4 for number in range(4)]


def test_puzzles_with_a_line_come_before_others_and_end_at_the_last_turn(monkeypatch):
    records = [random_record("plaid", number, number, width=8, height=4, lines=6) for number in range(1, 41)]
    longer = [one for one in find_puzzles(records, 500).puzzles if one.line]
    assert list(find_puzzles(records, len(longer)).puzzles) == longer
    assert [one for one in find_puzzles(records, len(longer) + 1).puzzles if one.line] == longer
    monkeypatch.setattr(puzzle_search, "MAX_TURNS", 2)
    assert {one.plies for one in find_puzzles(records, len(longer)).puzzles} == {3}


@pytest.mark.slow
def test_when_the_time_is_up_there_is_what_was_found_by_then():
    records = [random_record("plusminus", number, number, size=4) for number in range(1, 31)]
    now = [0.0]

    def tick(looked_at, positions):  # a second for each position
        now[0] = looked_at

    found = find_puzzles(records, 500, Limits(deadline=20, clock=lambda: now[0]), on_progress=tick)
    assert (found.looked_at, found.positions > 20) == (20, True)
    assert find_puzzles(records, 500, Limits(deadline=0)).looked_at == 0
    with pytest.raises(UsageError, match="only a game for two has one value"):
        find_puzzles([replace(random_record("coprimality", 1, size=4), bots=("a@1", "b@1", "c@1"))], 5)


def test_a_theme_is_the_first_that_holds_and_the_difficulty_is_exact_where_lines_are_as_long():
    cases = [(2, 1, 0), (2, 1, 3), (2, 2, 3), (0, 1, 2), (-1, -1, -2), (0, 1.5, 1.5)]
    themes = ["sacrifice", "sacrifice", "greed fails", "greed fails", "quiet", "gain"]
    assert [theme_of(now, leads, 0) for now, *leads in cases] == themes
    # A grid of differences has (n!)² lines of play, and each has the same numbers of actions: 16, 9, 4, 1.
    game = make_game("differences", size=4)
    assert 2 ** lines_log2(game, game.initial_state(), 1) == pytest.approx((4 * 3 * 2) ** 2)


@pytest.fixture
def home(home):
    play(home, "t", ["alpha", "beta"])
    return home


def test_puzzles_are_kept_under_any_name_of_their_tournament(home):
    tournament = home.store.tournament("t")
    assert kept_puzzles(home.directory, tournament) == ()
    keep_puzzles(home.directory, tournament, [made_puzzle()])
    renamed = home.store.rename(tournament, "u")
    assert kept_puzzles(home.directory, renamed) == (made_puzzle(),)
    assert kept_puzzles(home.directory, replace(renamed, created_at="2030-01-01T00:00:00+00:00")) == ()


def change(path, *where, to):
    value = json.loads(path.read_text())
    inner = value
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = to
    path.write_text(json.dumps(value))


LATER = ("puzzles", 0, "line", 0)
MALFORMED = {
    "another layout": (("layout",), 2, "has the layout 2"),
    "no list": (("puzzles",), 5, "expected a list"),
    "a solution beyond": (("puzzles", 0, "solution"), 99, "puzzle 1: solution is no choice"),
    "two solutions": (("puzzles", 0, "choices", 1, "outcome"), "loss", "another choice keeps the outcome"),
    "a third seat": (("puzzles", 0, "seat"), 2, "seat is not one of two"),
    "a loss": (("puzzles", 0, "goal"), "win", "there is nothing to keep"),
    "no miss": (("puzzles", 0, "misses"), [], "nobody has missed it"),
    "a seat that is no number": (("puzzles", 0, "actions"), [["0", [1, 1]]], "an action is not of one of two seats"),
    "an unknown field": (("puzzles", 0, "colour"), "red", "a newer arena is needed"),
    "a solution beyond, later": ((*LATER, "solution"), -1, "puzzle 1: solution is no choice"),
    "no reply": ((*LATER, "reply"), None, "reply = null; expected a text"),
    "a long refutation": ((*LATER, "choices", 1, "refutation"), "e4" * 101, "a refutation is too long"),
    "a fifth turn": (LATER[:3], [asdict(one) for one in longer_puzzle().line * 4], "it has more than 4 turns"),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_a_malformed_file_is_refused_in_a_sentence(home, what):
    tournament = home.store.tournament("t")
    path = keep_puzzles(home.directory, tournament, [longer_puzzle()])
    where, to, message = MALFORMED[what]
    change(path, *where, to=to)
    with pytest.raises(StoreError, match=message):
        kept_puzzles(home.directory, tournament)


def test_a_file_of_an_earlier_version_has_puzzles_of_one_action(home):
    tournament = home.store.tournament("t")
    path = keep_puzzles(home.directory, tournament, [made_puzzle()])
    stored = json.loads(path.read_text())
    (puzzle,) = stored["puzzles"]
    del puzzle["line"], puzzle["theme"]
    for choice in puzzle["choices"]:
        del choice["refutation"]
    path.write_text(json.dumps(stored))
    assert kept_puzzles(home.directory, tournament) == (made_puzzle(),)


@pytest.mark.parametrize("text", ["", "[", "[" * 100_000, "\xff", '{"layout": 1}'])
def test_a_file_that_is_none_of_ours_is_refused(home, text):
    tournament = home.store.tournament("t")
    keep_puzzles(home.directory, tournament, []).write_text(text, encoding="latin-1")
    with pytest.raises(StoreError, match=r"puzzles/1\.json"):
        kept_puzzles(home.directory, tournament)


def test_a_link_is_not_followed(home, tmp_path):
    tournament = home.store.tournament("t")
    path = keep_puzzles(home.directory, tournament, [made_puzzle()])
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert kept_puzzles(home.directory, tournament) == ()
