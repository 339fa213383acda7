"""Boards after actions: the last one has brackets, and a mark is the letter of the seat that made it."""

import pytest

from arena.games import Game, make_game
from arena.games.squares import mark_last, seat_letter

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
