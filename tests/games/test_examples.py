"""The games of docs/examples against facts from outside: published counts and solutions, and OpenSpiel's own games."""

import random
import warnings

import pytest

from arena.base.errors import IllegalActionError, OptionError
from arena.games import Game, make_game
from arena.games.conformance import check
from arena.games.squares import mark_last, seat_letter
from tests.best_play import brute_force
from tests.games.examples import EXAMPLES

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
        import pyspiel
    except ImportError:
        pyspiel = None

needs_openspiel = pytest.mark.skipif(pyspiel is None, reason="needs pyspiel")


def play_beside(game, state, theirs, action_of, seed):
    """Play a random match here and in OpenSpiel; legal actions, whose turn it is and the winner agree.

    Args:
        game: the game here.
        state: its initial state.
        theirs: OpenSpiel's initial state.
        action_of: returns our action for an index of theirs.
        seed: of the random actions.
    """
    draw = random.Random(seed)
    while not theirs.is_terminal():
        assert game.seat_to_act(state) == theirs.current_player()
        meant = {index: action_of(index) for index in theirs.legal_actions()}
        assert sorted(map(str, meant.values())) == sorted(map(str, game.legal_actions(state)))
        index = draw.choice(sorted(meant))
        theirs.apply_action(index)
        state = game.apply(state, meant[index])
    assert game.is_over(state)
    mine, others = game.scores(state)
    assert (mine > others) - (mine < others) == theirs.returns()[0]


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted({path for path, _ in EXAMPLES.values()}))
def test_an_example_keeps_what_games_promise(path):
    """The suite varies the options by itself."""
    options = next(options for other, options in EXAMPLES.values() if other == path)
    assert check(make_game(path, **options), matches=2) == ()


@pytest.mark.slow(only=("3",), sample=True)
@pytest.mark.parametrize("size", [2, 3])
def test_hex_is_won_by_the_first_seat_and_with_the_pie_rule_by_the_second(size):
    """John Nash's strategy stealing; and an opening in an acute corner loses (Beck, Bleicher and Crowe, 1969)."""
    game = make_game("hex:Hex", size=size, swap="no")
    value, start = brute_force(game), game.initial_state()
    winning = {action for action in game.legal_actions(start) if value(game.apply(start, action))[1] == 1}
    assert winning
    assert not winning & {(1, size), (size, 1)}
    game = make_game("hex:Hex", size=size)
    assert brute_force(game)(game.initial_state())[1] == -1


@needs_openspiel
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("size", [2, 3, 5, 11])
def test_hex_is_played_as_openspiel_plays_it(size, swap):
    game = make_game("hex:Hex", size=size, swap="yes" if swap else "no")

    def action_of(index):
        row, column = divmod(index, size)  # from the top
        return "swap" if index == size * size else (column + 1, size - row)

    for seed in range(20):
        theirs = pyspiel.load_game("hex", {"board_size": size, "swap": swap}).new_initial_state()
        play_beside(game, game.initial_state(), theirs, action_of, seed)


def test_the_stone_of_a_swap_changes_place_and_owner():
    game = make_game("hex:Hex", size=4)
    state = game.apply(game.initial_state(), (1, 4))
    assert game.legal_actions(state)[-1] == "swap"
    state = game.apply(state, "swap")
    assert (state.stones, game.seat_to_act(state)) == (((1, 4, 1),), 0)
    state = game.apply(game.apply(game.initial_state(), (2, 4)), "swap")
    assert state.stones == ((1, 3, 1),)
    assert game.render_after(state, [(0, (2, 4)), (1, "swap")]) == (
        " 4 . . . .\n"
        "  3[B]. . .\n"
        "   2 . . . .\n"
        "    1 . . . .\n"
        "       a b c d\n"
        "A joins the bottom and the top, B the left and the right"
    )
    for late in (state, game.initial_state(), game.apply(state, (4, 4))):
        with pytest.raises(IllegalActionError, match=r"only seat 1 may swap, right after the first stone \(rule 3\)"):
            game.apply(late, "swap")


def test_reversi_has_the_published_numbers_of_openings():
    """The number of lines of 1, 2, 3, … discs is sequence A124004 of the OEIS."""
    game = make_game("reversi:Reversi")
    states = [game.initial_state()]
    for count in (4, 12, 56, 244, 1396):
        states = [game.apply(state, action) for state in states for action in game.legal_actions(state)]
        assert len(states) == count


@needs_openspiel
@pytest.mark.parametrize("seed", range(12))
def test_reversi_is_played_as_openspiel_plays_othello(seed):
    game = make_game("reversi:Reversi")

    def action_of(index):
        row, column = divmod(index, 8)  # from the top, where black has the upper right square of the middle
        return "pass" if index == 64 else (column + 1, 8 - row)

    play_beside(game, game.initial_state(), pyspiel.load_game("othello").new_initial_state(), action_of, seed)


def board_of(game, rows, seat, out=()):
    columns = zip(*reversed(rows.split()), strict=True)
    discs = [["ABCD".find(letter) for letter in column] for column in columns]
    return game.state_from_observation({"columns": discs, "seat": seat, "out": out})


EMPTY_ROWS = " ......" * 4


def test_three_and_four_seats_begin_with_as_many_discs_which_stay_when_one_is_taken_out():
    game = make_game("reversi:Reversi", players=4)
    state = game.initial_state()
    assert game.scores(state) == (4, 4, 4, 4)
    found = game.render(state).splitlines()[2:6]
    assert found == ["6 . . D A B C . .", "5 . . C D A B . .", "4 . . B C D A . .", "3 . . A B C D . ."]
    game = make_game("reversi:Reversi", players=3, size=6)
    assert game.scores(game.initial_state()) == (5, 5, 5)
    for size, players in ((7, 2), (4, 3), (4, 4)):
        with pytest.raises(OptionError, match=f"size = {size}: reversi needs an even number from . with {players}"):
            make_game("reversi:Reversi", size=size, players=players)
    game = make_game("reversi:Reversi", players=4, size=6)
    start = game.initial_state()
    state = game.withdraw(start)
    assert (game.seats_out(state), game.seat_to_act(state), state.columns) == ((0,), 1, start.columns)
    state = game.apply(state, (6, 5))
    assert game.render(state).splitlines()[1] == "5 . D A B B B"
    assert game.scores(state)[1] == 6


def test_a_seat_without_discs_is_out_and_one_without_a_square_passes():
    game = make_game("reversi:Reversi", players=3, size=6)
    state = board_of(game, f"ABC... {EMPTY_ROWS} ......", seat=0)
    assert game.legal_actions(state) == ((4, 6),)
    state = game.apply(state, (4, 6))
    assert game.render(state).splitlines()[0] == "6 A A A A . ."
    assert (game.seats_out(state), game.scores(state), game.ranks(state)) == ((1, 2), (4, 0, 0), (1, 2, 2))
    assert game.is_over(state)

    state = board_of(game, f"CBA... {EMPTY_ROWS} B.....", seat=0)
    assert game.legal_actions(state) == ("pass",)
    with pytest.raises(IllegalActionError, match=r"encloses no others \(rule 2\)"):
        game.apply(state, (4, 6))
    state = game.apply(state, "pass")
    assert (game.seat_to_act(state), game.legal_actions(state)) == (1, ((4, 6),))
    with pytest.raises(IllegalActionError, match=r"must not pass \(rule 3\)"):
        game.apply(state, "pass")
    state = game.apply(state, (4, 6))
    assert (game.seats_out(state), game.scores(state), game.seat_to_act(state)) == ((0,), (0, 4, 1), 2)


@pytest.mark.parametrize(("columns", "rows", "expected"), [(1, 1, -1), (2, 1, 0), (2, 2, 2)])
def test_small_sheets_end_as_they_are_known_to(columns, rows, expected):
    """Two by two is won by the first seat, 3 to 1: Berlekamp, Conway and Guy, Winning Ways, chapter 16."""
    game = make_game("dots_and_boxes:DotsAndBoxes", columns=columns, rows=rows)
    assert brute_force(game)(game.initial_state())[1] == expected


@needs_openspiel
@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (2, 2), (3, 2), (5, 6)])
def test_dots_and_boxes_is_played_as_openspiel_plays_it(columns, rows):
    game = make_game("dots_and_boxes:DotsAndBoxes", columns=columns, rows=rows)
    level = columns * (rows + 1)

    def action_of(index):
        if index < level:
            row, column = divmod(index, columns)  # from the top
            return "h", column + 1, rows + 1 - row
        row, column = divmod(index - level, columns + 1)
        return "v", column + 1, rows - row

    for seed in range(20):
        theirs = pyspiel.load_game("dots_and_boxes", {"num_rows": rows, "num_cols": columns}).new_initial_state()
        play_beside(game, game.initial_state(), theirs, action_of, seed)


def test_who_closes_a_box_acts_again():
    game = make_game("dots_and_boxes:DotsAndBoxes", players=3, columns=2, rows=1)
    state = game.initial_state()
    seats = []
    for text in ("ha1", "ha2", "va1", "vb1", "hb1", "vc1", "hb2"):
        seats.append(game.seat_to_act(state))
        state = game.apply(state, game.parse_action(text))
    assert seats == [0, 1, 2, 0, 0, 1, 2]
    assert game.scores(state) == (1, 0, 1)
    assert game.render(state) == " 2 +---+---+\n   | A | C |\n 1 +---+---+\n   a   b   c"


def test_a_board_as_numbers_has_a_plane_for_each_seat():
    game = make_game("domineering:Domineering", width=3, height=2)
    space = game.space()
    assert space.actions == ((1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2))
    state = game.apply(game.apply(game.initial_state(), (1, 1)), (2, 2))
    assert game.render(state) == "2 | - -\n1 | . .\n  a b c"
    assert space.encode(state) == [1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1]


BOARDS = [
    (
        ("differences", {"size": 3}),
        "a1 b3",
        """\
3 .[B].
2 . . .
1 A . .
  a b c""",
    ),
    (
        ("plusminus", {"size": 3}),
        "+ - -",
        """\
3 . . .
2 . . .
1 . . .
  a b c
A predicts + [-]
B predicts -""",
    ),
    (
        ("plusminus", {"size": 3}),
        "+ - - + c1 b3",
        """\
3 .[B].
2 . . .
1 . . A
  a b c
A predicts + -
B predicts - +""",
    ),
    (
        ("multiplication", {"size": 7}),
        "a1 b2 c3 d4 e5 f6 g7 c3 b2",
        """\
7  .  .  .  .  .  .  A
6  .  .  .  .  .  B  .
5  .  .  .  .  A  .  .
4  .  .  .  B  .  .  .
3  .  . 2A  .  .  .  .
2  .[3B] .  .  .  .  .
1  1  .  .  .  .  .  .
   a  b  c  d  e  f  g""",
    ),
    (
        ("coprimality", {"size": 3, "players": 3}),
        "a2 a1",
        """\
3  1  .  .
2 2A  .  .
1[3B] .  .
   a  b  c
seats in the game: 0 1 2; grids used up: 0; next is 4, turn 3 ends with 5""",
    ),
    (
        ("plaid", {"width": 6, "height": 6, "lines": 5}),
        "v2 h3",
        """\
   6 +------------+------------+
     |     A      |     B      |
[3B] +============+============+
     |     A      |     B      |
   0 +------------+------------+
upright lines at 0 2A 6
each rectangle shows its seat""",
    ),
]


def after(name, options, text):
    """Return a game, its state after actions in text, and the actions with their seats."""
    game = make_game(name, **options)
    state, actions = game.initial_state(), []
    for word in text.split():
        actions.append((game.seat_to_act(state), game.parse_action(word)))
        state = game.apply(state, actions[-1][1])
    return game, state, actions


@pytest.mark.parametrize(("game", "text", "board"), BOARDS, ids=[f"{game[0]} {text}" for game, text, _ in BOARDS])
def test_the_last_action_and_the_owners_are_visible(game, text, board):
    rules, state, actions = after(*game, text)
    assert rules.render_after(state, actions) == board
    as_lists = [[seat, list(action) if isinstance(action, tuple) else action] for seat, action in actions]
    assert rules.render_after(state, as_lists) == board  # as a record has them


def test_an_upright_line_is_double_when_it_is_the_last_and_a_plain_grid_gets_brackets():
    rules, state, actions = after("plaid", {"width": 6, "height": 6, "lines": 5, "players": 3}, "h3 v2")
    assert rules.render_after(state, actions).splitlines() == [
        "   6 +------------#------------+",
        "     |     A      #     B      |",
        "  3A +------------#------------+",
        "     |     C      #     A      |",
        "   0 +------------#------------+",
        "upright lines at 0 [2B] 6",
        "each rectangle shows its seat",
    ]
    game, state, actions = after("differences", {"size": 3}, "a1 b3")
    assert Game.render_after(game, state, actions) == "3 .[x].\n2 . . .\n1 x . .\n  a b c"
    assert Game.render_after(game, state, [(0, "pass")]) == game.render(state)
    assert [seat_letter(seat) for seat in (0, 1, 25, 26, 63)] == ["A", "B", "Z", "AA", "BL"]


@pytest.mark.parametrize("name", ["differences", "plusminus", "multiplication", "coprimality", "plaid"])
def test_before_the_first_action_nothing_is_marked(name):
    game = make_game(name)
    assert "[" not in game.render_after(game.initial_state(), [])


def test_a_new_grid_has_no_letters_of_the_old_one_and_a_seat_taken_out_marks_nothing():
    game = make_game("coprimality", size=3, players=2)
    state, actions = game.initial_state(), []
    while not state.grids_used:
        actions.append((game.seat_to_act(state), game.legal_actions(state)[0]))
        state = game.apply(state, actions[-1][1])
    assert game.render_after(state, actions).startswith("3 1 . .\n2 . . .\n1 . . .\n")
    game, state, actions = after("coprimality", {"size": 4, "players": 3}, "a3")
    state = game.withdraw(state)
    assert "2A" in game.render_after(state, [*actions, (1, None)])
    game, state, actions = after("plaid", {"players": 3}, "v2")
    assert "[" not in game.render_after(state, [*actions, (1, None)])


@pytest.mark.parametrize("square", [(0, 1), (1, 0), (4, 1), (1, 4), (-1, -1), (10**9, 1)])
def test_a_square_off_the_board_marks_nothing(square):
    board = make_game("differences", size=3).render(make_game("differences", size=3).initial_state())
    assert mark_last(board, square) == board


@pytest.mark.parametrize("text", ["", "no board", "  a b c", "1 x\n2 x", "1 x\n  a b c"])
def test_what_is_no_grid_stays_as_it_is(text):
    assert mark_last(text, (3, 1)) == text


@pytest.mark.parametrize(
    ("name", "options", "actions", "letters"),
    [
        ("plaid", {"width": 8, "height": 6, "lines": 4}, ("v7", "swap", "v1", "h2"), ("1A", "7A", "2B")),
        ("differences", {"size": 4}, ("a1", "swap", "b2", "c3"), ("A", "A", "B")),
    ],
)
def test_after_a_swap_a_letter_is_of_the_seat_that_acted(name, options, actions, letters):
    """By the rules without the pie seat 0 draws or marks first and third; after a swap seat 0 acts second."""
    game = make_game(name, pie=1, **options)
    state, history = game.initial_state(), []
    for text in actions:
        action = game.parse_action(text)
        history.append((game.seat_to_act(state), action))
        state = game.apply(state, action)
    assert [seat for seat, _ in history] == [0, 1, 0, 1]
    drawn = game.render_after(state, history)
    assert all(drawn.count(letter) >= letters.count(letter) for letter in letters), drawn
