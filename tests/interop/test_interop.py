"""The games in other people's tools pass those tools' own tests."""

import random
import subprocess
import sys
import warnings

import numpy as np
import pytest

from arena.errors import UsageError
from arena.games import GAMES, make_game
from arena.games.differences import Differences
from tests.games.variants import VARIANTS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pettingzoo_test = pytest.importorskip("pettingzoo.test", reason="needs pettingzoo")
    pyspiel = pytest.importorskip("pyspiel", reason="needs pyspiel")
    import arena.interop.openspiel as openspiel
    from arena.interop.pettingzoo import env, raw_env
    from arena.interop.spaces import GameSpace, rewards, space_of

CASES = [*VARIANTS.values(), *((game, {}) for game in GAMES)]


def ids(case):
    game, options = case
    return f"{game} {options}"


def walk(game, seed):
    """Yield every state of a random match."""
    draw = random.Random(seed)
    state = game.initial_state()
    yield state
    while not game.is_over(state):
        state = game.apply(state, draw.choice(list(game.legal_actions(state))))
        yield state


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_spaces_hold_every_action_and_tell_every_state_apart(case):
    name, options = case
    game = make_game(name, **options)
    space = space_of(game)
    index_of = space.index_of()
    assert len(index_of) == len(space.actions)
    seen = {}
    longest = 0
    for seed in range(5):
        for ply, state in enumerate(walk(game, seed)):
            longest = max(longest, ply)
            assert all(action in index_of for action in game.legal_actions(state))
            vector = space.encode(state)
            assert vector.dtype == np.float32
            assert len(vector) == len(space.encode(game.initial_state()))
            assert np.abs(vector).max() <= 1.0
            acting = game.seat_to_act(state)
            assert vector[: game.players].tolist() == [float(seat == acting) for seat in range(game.players)]
            assert seen.setdefault(vector.tobytes(), state) == state or "eliminated" in game.observation(state)
    assert longest <= space.max_plies


def test_the_vector_of_coprimality_says_where_the_path_ends():
    game = make_game("coprimality", size=3)
    state = game.apply(game.initial_state(), (2, 3))
    vector = space_of(game).encode(state).tolist()
    numbers, head = vector[2:11], vector[11:20]  # row by row from the bottom
    assert numbers == pytest.approx([0, 0, 0, 0, 0, 0, 1 / 9, 2 / 9, 0])
    assert head == [0, 0, 0, 0, 0, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ((1, 2), [1, -1]),
        ((1, 1), [0, 0]),
        ((1, 2, 3), [1, 0, -1]),
        ((1, 1, 3), [0.5, 0.5, -1]),
        ((2, 1, 2), [-0.5, 1, -0.5]),
    ],
)
def test_rewards_are_the_share_of_others_beaten_less_the_share_that_won(ranks, expected):
    class Ended:
        def ranks(self, state):
            return ranks

    assert rewards(Ended(), None) == expected


def test_an_external_game_needs_its_own_space():
    class Other(Differences):
        name = "other"

    assert space_of(Other(size=3)).max_plies == 3  # a variant of one of the five has one
    game = make_game("differences", size=3)

    class Foreign:
        name = "foreign"

    with pytest.raises(UsageError, match=r"'foreign'.*GameSpace; pass one of your own"):
        space_of(Foreign())
    own = GameSpace(space_of(game).actions, 3, lambda state: np.zeros(4, np.float32))
    assert raw_env("differences", size=3, space=own).observation_space("seat_0")["observation"].shape == (4,)


@pytest.mark.filterwarnings("ignore:Observation:UserWarning")  # it would have vectors, and masks need a map
@pytest.mark.parametrize("case", CASES, ids=ids)
def test_pettingzoos_own_tests_pass(case):
    name, options = case
    small = options or name != "coprimality"
    for seed in range(4 if options else 1):
        wrapped = env(name, **options)
        wrapped.reset(seed=seed)
        for agent in wrapped.agents:
            wrapped.action_space(agent).seed(seed)
        pettingzoo_test.api_test(wrapped, num_cycles=60 if small else 20)
    pettingzoo_test.api_test(raw_env(name, **options), num_cycles=20)
    pettingzoo_test.seed_test(lambda: env(name, **options), num_cycles=20)


def test_an_environment_plays_by_the_rules_and_pays_at_the_end():
    game = make_game("differences", size=4)
    played = env("differences", size=4, render_mode="ansi")
    played.reset()
    state = game.initial_state()
    paid = {}
    for agent in played.agent_iter():
        observation, reward, ended, _, _ = played.last()
        if ended:
            paid[agent] = reward
            assert observation["action_mask"].sum() == 0
            played.step(None)
            continue
        legal = list(game.legal_actions(state))
        actions = played.unwrapped.space.actions
        assert [actions[index] for index in np.flatnonzero(observation["action_mask"])] == legal
        assert played.observe("seat_1" if agent == "seat_0" else "seat_0")["action_mask"].sum() == 0
        state = game.apply(state, legal[-1])
        played.step(actions.index(legal[-1]))
        assert played.render() == game.render(state)
    assert [paid["seat_0"], paid["seat_1"]] == rewards(game, state)


def test_an_illegal_action_ends_the_match_for_who_did_it():
    played = env("differences", size=3)
    played.reset()
    played.step(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        played.step(0)
    assert played.terminations == {"seat_0": True, "seat_1": True}
    assert played.rewards["seat_1"] == -1


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_openspiels_own_test_passes_with_serialisation(case):
    name, options = case
    parameters = ",".join(f"{key}={value}" for key, value in options.items())
    game = pyspiel.load_game(f"arena_{name}({parameters})")
    pyspiel.random_sim_test(game, num_sims=3 if options else 1, serialize=True, verbose=False)


@pytest.mark.parametrize("case", VARIANTS.values(), ids=ids)
def test_openspiel_sees_the_same_match(case):
    name, options = case
    rules = make_game(name, **options)
    parameters = ",".join(f"{key}={value}" for key, value in options.items())
    state = pyspiel.load_game(f"arena_{name}({parameters})").new_initial_state()
    position = rules.initial_state()
    actions = space_of(rules).actions
    draw = random.Random(3)
    while not state.is_terminal():
        assert state.current_player() == rules.seat_to_act(position)
        assert {actions[index] for index in state.legal_actions()} == set(rules.legal_actions(position))
        assert state.returns() == [0.0] * rules.players
        index = draw.choice(state.legal_actions())
        assert state.action_to_string(index) == rules.format_action(actions[index])
        clone = state.clone()
        state.apply_action(index)
        assert clone.position == position
        position = rules.apply(position, actions[index])
        assert state.position == position
    assert rules.is_over(position)
    assert state.returns() == rewards(rules, position)


@pytest.mark.processes
def test_python_leaves_in_peace_after_openspiel():
    """OpenSpiel lets go of what was registered after Python's end; what it holds must still be there."""
    code = "import pyspiel, arena.interop.openspiel; pyspiel.load_game('arena_plaid').new_initial_state()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_all_games_are_registered():
    assert {f"arena_{name}" for name in GAMES} <= set(pyspiel.registered_names())
    assert set(openspiel.REGISTERED) == set(GAMES)
