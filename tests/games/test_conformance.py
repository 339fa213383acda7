import random
import re
from functools import cache
from math import factorial

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.base.errors import IllegalActionError, OptionError, UnknownNameError, UsageError
from arena.games import GAMES, make_game
from arena.games.drawing import drawing_problem
from arena.games.game import IntOption
from tests.games.reference import count_sequences, reference_of
from tests.games.variants import PIES, VARIANTS

SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module", params=VARIANTS | PIES)
def variant(request):
    return (VARIANTS | PIES)[request.param]


@pytest.fixture(scope="module")
def game(variant):
    name, options = variant
    return make_game(name, **options)


def played(game, seed):
    rng = random.Random(seed)
    state = game.initial_state()
    while not game.is_over(state):
        action = rng.choice(game.legal_actions(state))
        yield state, action
        state = game.apply(state, action)
    yield state, None


def candidates(game):
    """Every action of any game up to this board's bounds and one beyond, and things that are no action at all."""
    side = max(game.options.get(name, 0) for name in ("size", "width", "height")) + 1
    squares = [(x, y) for x in range(-1, side + 1) for y in range(-1, side + 1)]
    lines = [(d, p) for d in ("v", "h") for p in range(-1, side + 1)]
    oddities = [
        None, True, 1, 1.5, "", "+-", "c4", b"+", (), (1,), (1, 2, 3), (True, 1), (1, True), (1.0, 2), ("1", 2), ("v",),
        ("x", 1), ("v", 1.0), ("v", True), {"x": 1}, (2**64, 1), (1, 2**64 - 1), ([1], 2), (None, None), float("nan"),
        (float("inf"), 1), ("v", "h"), {1, 2}, [[1, 2]], ("V", 1), " +",
    ]  # fmt: skip
    return ["+", "-", "keep", "swap", *squares, *lines, *oddities]


@settings(max_examples=8, deadline=None)
@given(seed=SEEDS)
def test_legal_actions_are_exactly_the_accepted_ones(game, seed):
    for state, _ in played(game, seed):
        legal = list(game.legal_actions(state))
        assert len(set(legal)) == len(legal)
        for candidate in candidates(game):
            as_listed = type(candidate) in (tuple, str) and candidate in legal
            if as_listed and not any(type(part) in (bool, float) for part in candidate):
                assert game.apply(state, list(candidate) if type(candidate) is tuple else candidate) == game.apply(
                    state, candidate
                )
            else:
                with pytest.raises(IllegalActionError) as raised:
                    game.apply(state, candidate)
                assert raised.value.reason


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_states_are_values_that_survive_the_wire_and_ranks_agree_with_scores(game, seed):
    for state, action in played(game, seed):
        before = hash(state), game.render(state), game.observation(state)
        if action is not None:
            assert hash(game.apply(state, action)) == hash(game.apply(state, action))
        assert (hash(state), game.render(state), game.observation(state)) == before
        with pytest.raises((AttributeError, TypeError)):
            state.heights = ()
    for state, _ in played(game, seed):
        rebuilt = game.state_from_observation(msgpack.unpackb(msgpack.packb(game.observation(state))))
        assert rebuilt == state
        assert hash(rebuilt) == hash(state)
        assert game.seat_to_act(rebuilt) == game.seat_to_act(state)
    *_, (last, _) = played(game, seed)
    assert game.seat_to_act(last) is None
    assert list(game.legal_actions(last)) == []
    scores, ranks = game.scores(last), game.ranks(last)
    assert len(scores) == len(ranks) == game.players
    for a in range(game.players):
        assert ranks[a] == 1 + sum(1 for b in range(game.players) if ranks[b] < ranks[a])
        for b in range(game.players):
            if ranks[a] == ranks[b]:
                assert scores[a] == scores[b]
            if scores[a] > scores[b]:
                assert ranks[a] < ranks[b]


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_a_match_goes_as_the_reference_rules_say(variant, game, seed):
    name, options = variant
    assert_as_the_reference(game, reference_of(name, options), seed)


SEAT_1_OF_3_STARTS = {"players": 3, "size": 10, "second_starts": 1}


@pytest.mark.parametrize(
    ("name", "options"), [*((name, {}) for name in GAMES), ("multiplication", SEAT_1_OF_3_STARTS)], ids=str
)
def test_a_match_on_the_suggested_board_goes_as_the_reference_rules_say(name, options):
    for seed in range(2):
        assert_as_the_reference(make_game(name, **options), reference_of(name, options), seed)


def assert_as_the_reference(game, reference, seed):
    history = []
    for state, action in played(game, seed):
        result = reference.result(history)
        assert (result is not None) == game.is_over(state)
        if action is None:
            assert list(game.scores(state)) == pytest.approx([float(points) for points in result], rel=1e-15)
            assert game.ranks(state) == tuple(1 + sum(o > mine for o in result) for mine in result)
        else:
            assert game.seat_to_act(state) == reference.turn(history)
            assert list(game.legal_actions(state)) == reference.legal(history)
            history.append(action)


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_actions_are_read_back_from_their_text_and_scores_and_drawings_can_be_had_at_any_time(game, seed):
    for state, _ in played(game, seed):
        for action in game.legal_actions(state):
            text = game.format_action(action)
            assert game.parse_action(text) == action
            assert game.parse_action(f" {text.upper()} ") == action
    for nonsense in ("", "?", "4c", "c0", "c-1", "c4x", "v", "vv", "v1.5", "1", "c99999999", "٣", "v٣"):
        with pytest.raises(IllegalActionError):
            game.parse_action(nonsense)
    for state, _ in played(game, seed):
        assert len(game.scores(state)) == game.players
        drawing = game.render(state)
        assert drawing.isprintable() or "\n" in drawing
        assert not re.search(r"[ \t]+$", drawing, re.MULTILINE)
        drawn = game.drawing(state)
        assert drawing_problem(drawn) is None
        assert all(-1.5 <= x <= drawn.width + 1 and -1.5 <= y <= drawn.height + 1 for _, x, y, *_ in drawn.shapes)


def test_a_refusal_names_a_rule_of_the_rulebook(game):
    rules = set(re.findall(r"^(\d+)\.", game.rulebook(), re.MULTILINE))
    cited = set()
    for state, _ in played(game, 1):
        for candidate in candidates(game):
            try:
                game.apply(state, candidate)
            except IllegalActionError as error:
                cited |= set(re.findall(r"\(rule (\d+)\)", error.reason))
    assert cited
    assert cited <= rules


def test_every_game_is_in_the_table_of_variants():
    assert {name for name, _ in VARIANTS.values()} == set(GAMES)


# numbers of complete action sequences, counted by the games and by an independent brute force


def count(game, state):
    @cache
    def below(state):
        if game.is_over(state):
            return 1
        return sum(below(game.apply(state, action)) for action in game.legal_actions(state))

    return below(state)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plusminus", {"size": 2}),
        ("plusminus", {"size": 3}),
        ("plusminus", {"size": 3, "grid_first": 2}),
        ("differences", {"size": 3}),
        ("differences", {"size": 4, "scoring": "once"}),
        ("plaid", {"width": 2, "height": 2, "lines": 1}),
        ("plaid", {"width": 3, "height": 4, "lines": 2}),
        ("plaid", {"width": 4, "height": 3, "lines": 3}),
        ("plaid", {"players": 3, "width": 3, "height": 3, "lines": 2}),
        ("plaid", {"players": 3, "width": 3, "height": 4, "lines": 1}),
        ("coprimality", {"size": 3, "max_grids": 1}),
        ("coprimality", {"size": 3, "max_grids": 2}),
        ("coprimality", {"players": 3, "size": 3, "max_grids": 1}),
        ("coprimality", {"players": 3, "size": 3, "max_grids": 2}),
        ("coprimality", {"size": 4, "max_grids": 1}),
        ("plusminus", {"size": 2, "pie": 3}),
        ("differences", {"size": 3, "pie": 2}),
        ("plaid", {"width": 3, "height": 4, "lines": 2, "pie": 3}),
    ],
)
def test_counts_agree_with_brute_force(name, options):
    game = make_game(name, **options)
    assert count(game, game.initial_state()) == count_sequences(reference_of(name, options))


def test_numbering_the_marks_of_multiplication_can_be_done_in_n_minus_one_factorial_ways():
    game = make_game("multiplication", size=7)
    state = game.initial_state()
    for square in zip(range(1, 8), (3, 1, 4, 7, 5, 2, 6), strict=True):
        state = game.apply(state, square)
    assert count(game, state) == factorial(6)


REFUSED = [
    ("plusminus", {"size": 1}, "size = 1: expected a whole number from 2 to 100"),
    ("plusminus", {"size": 8.0}, "size = 8.0: expected a whole number from 2 to 100"),
    ("plusminus", {"size": True}, "size = True: expected a whole number from 2 to 100"),
    ("plusminus", {"grid_first": 3}, "grid_first = 3: expected 1 or 2"),
    ("plusminus", {"grid_first": "1"}, "grid_first = '1': expected 1 or 2"),
    ("plusminus", {"players": 3}, "players = 3: plusminus is a game for exactly 2 players"),
    ("differences", {"players": 1}, "players = 1: differences is a game for exactly 2 players"),
    ("differences", {"scoring": "twice"}, "scoring = 'twice': expected 'distinct' or 'once'"),
    ("differences", {"sise": 8}, "sise = 8: differences has no such option; did you mean 'size'?"),
    ("coprimality", {"size": 2}, "size = 2: expected a whole number from 3 to 100"),
    ("coprimality", {"max_grids": 0}, "max_grids = 0: expected a whole number from 1 to 1000"),
    ("multiplication", {"size": 8}, "multiplication for 2 players needs 2k + 1 with k >= 3; nearest: 7 or 9"),
    ("multiplication", {"size": 5}, "multiplication for 2 players needs 2k + 1 with k >= 3; nearest: 7"),
    ("multiplication", {"players": 3}, "multiplication for 3 players needs 3k + 1 with k >= 3; nearest: 10"),
    ("multiplication", {"size": 100}, "nearest: 99"),
    ("plaid", {"width": 5, "height": 5}, "5 * 5 is not divisible by 2"),
    ("plaid", {"players": 7}, "60 * 60 is not divisible by 7"),
    ("plaid", {"width": 4, "height": 3, "lines": 6}, "a sheet of 4 by 3 has room for at most 5 lines"),
    ("plaid", {"lines": 0}, "lines = 0: expected a whole number from 1"),
    ("plaid", {"pie": 9}, "pie = 9: expected a whole number from 0 to 3"),
    ("differences", {"pie": True}, "pie = True: expected a whole number from 0 to 3"),
    ("coprimality", {"pie": 1, "players": 3}, "pie = 1: the pie rule is for two players, and players = 3; expected 0"),
]


@pytest.mark.parametrize(("name", "options", "message"), REFUSED)
def test_a_bad_option_is_refused_with_what_is_accepted(name, options, message):
    with pytest.raises(OptionError) as raised:
        make_game(name, **options)
    assert message in str(raised.value)
    assert isinstance(raised.value, ValueError)
    assert raised.value.option in {*options, *(option.name for option in GAMES[name].OPTIONS)}


@pytest.mark.parametrize("name", GAMES)
def test_bounds_are_accepted_and_one_beyond_is_not(name):
    fitting = {"multiplication": {"players": 2, "size": 7}, "plaid": {"players": 2, "width": 1000, "height": 1000}}
    for option in GAMES[name].OPTIONS:
        if not isinstance(option, IntOption):
            continue
        for value in (option.minimum - 1, option.maximum + 1):
            with pytest.raises(OptionError):
                make_game(name, **{option.name: value})
        if name not in fitting:
            for value in (option.minimum, option.maximum):
                assert make_game(name, **{option.name: value}).options.get(option.name, option.default) == value
    assert make_game(name, **fitting.get(name, {})).players == 2


def test_defaults_are_those_of_the_rulings_and_an_unknown_game_is_refused():
    assert make_game("plusminus").options == {"size": 8, "grid_first": 1}
    assert make_game("plaid").options == {"players": 2, "width": 60, "height": 60, "lines": 12}
    assert make_game("coprimality").options == {"players": 2, "size": 12, "max_grids": 10}
    assert make_game("differences").options == {"size": 8, "scoring": "distinct"}
    assert make_game("multiplication").options == {"players": 2, "size": 9}
    assert make_game("differences", players=2).players == 2  # it may be said of a game for two
    assert make_game("arena.games.differences:Differences", size=4).name == "differences"
    with pytest.raises(UnknownNameError, match="unknown game 'plaids': did you mean 'plaid'"):
        make_game("plaids")


@pytest.mark.parametrize(
    "path", ["nowhere.module:Game", "arena.games:Nothing", "arena.base.errors:UsageError", ":", "a:"]
)
def test_a_dotted_path_that_holds_no_game_is_refused(path):
    with pytest.raises(UsageError, match="game"):
        make_game(path)
