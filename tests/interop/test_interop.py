import copy
import pickle
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest

from arena.base.errors import GameError, UsageError
from arena.games import GAMES, Space, all_squares, make_game
from arena.games.differences import Differences
from tests.games.examples import EXAMPLES
from tests.games.variants import PIES, VARIANTS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pettingzoo_test = pytest.importorskip("pettingzoo.test", reason="needs pettingzoo")
    pyspiel = pytest.importorskip("pyspiel", reason="needs pyspiel")
    from open_spiel.python import rl_environment
    from open_spiel.python.algorithms import mcts
    from pettingzoo.utils import turn_based_aec_to_parallel

    import arena.interop.openspiel as openspiel
    from arena.interop.pettingzoo import env, raw_env
    from arena.interop.spaces import rewards, space_of

SMALL = [*VARIANTS.values(), *PIES.values(), *EXAMPLES.values()]
CASES = [*SMALL, *((game, {}) for game in GAMES)]


def ids(case):
    game, options = case
    return f"{game} {options}"


def walk(game, seed):
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
    index_of = space.index_of
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
    vector = space_of(game).encode(game.apply(game.initial_state(), (2, 3))).tolist()
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


class Spaceless(Differences):
    name = "spaceless"

    def space(self):
        return None


class Surprising(Differences):
    name = "surprising"

    def space(self):
        size = self.size
        squares = all_squares(size, size)
        return {
            2: {"actions": squares},
            3: Space(actions=(*squares, (1, 1)), max_plies=3, encode=lambda state: [0.0]),
            4: Space(actions=squares[1:], max_plies=4, encode=lambda state: [0.0]),
            5: Space(actions=squares, max_plies=5, encode=lambda state: [0.0] * sum(map(bool, state.heights))),
            6: Space(actions=squares, max_plies=6, encode=lambda state: [float(sum(state.heights))]),
            7: Space(
                actions=squares, max_plies=7, encode=lambda state: [float("nan")] if any(state.heights) else [0.0]
            ),
        }[size]


def test_a_game_without_a_space_and_a_render_mode_that_does_not_exist_are_refused():
    for attempt in (
        lambda: space_of(Spaceless()),
        lambda: env(f"{__name__}:Spaceless"),
        lambda: openspiel.register(f"{__name__}:Spaceless"),
    ):
        with pytest.raises(UsageError, match=r"^game 'spaceless' has no method space\(\).*an arena\.games\.Space with"):
            attempt()
    for mode in ("rgb_array", "ANSI", ""):
        with pytest.raises(UsageError, match=f"^render_mode = '{mode}': expected 'ansi' or 'human'"):
            env("differences", render_mode=mode)


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (2, r"space returned \{'actions':.*, expected an arena\.games\.Space or None"),
        (3, r"space has the action \(1, 1\) twice"),
        (4, r"space lacks the legal action \(1, 1\) among its 15 actions"),
        (5, r"encode of its space returned 1 numbers .*, expected 0 numbers from -1 to 1"),
        (6, r"encode of its space returned 1 numbers .* at most 2, expected 1 numbers from -1 to 1"),
        (7, r"encode .* absolute value of at most nan, expected 1 numbers from -1 to 1"),
    ],
)
def test_a_wrong_space_is_named_as_the_game_s(size, message):
    with pytest.raises(GameError, match=f"^the game 'surprising' is at fault: {message}"):
        played = raw_env(f"{__name__}:Surprising", size=size)
        played.reset()
        played.observe("seat_0")
        played.step(played.space.index_of[1, 2])
        played.observe("seat_1")


@pytest.mark.filterwarnings("ignore:Observation:UserWarning")  # it would have vectors, and masks need a map
@pytest.mark.parametrize("case", CASES, ids=ids)
def test_pettingzoos_own_tests_pass(case):
    name, options = case
    small = options or name != "coprimality"
    for seed in range(2 if options else 1):
        wrapped = env(name, **options)
        wrapped.reset(seed=seed)
        for agent in wrapped.agents:
            wrapped.action_space(agent).seed(seed)
        pettingzoo_test.api_test(wrapped, num_cycles=60 if small else 20)
    pettingzoo_test.api_test(raw_env(name, **options), num_cycles=20)
    pettingzoo_test.seed_test(lambda: env(name, **options), num_cycles=20)
    pettingzoo_test.render_test(lambda render_mode: env(name, render_mode=render_mode, **options))
    pettingzoo_test.parallel_api_test(turn_based_aec_to_parallel(raw_env(name, **options)), num_cycles=20)


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
    game = pyspiel.load_game(openspiel.register(name), options)
    pyspiel.random_sim_test(game, num_sims=3 if options else 1, serialize=True, verbose=False)
    played = rl_environment.Environment(game)
    step = played.reset()
    while not step.last():
        seat = step.observations["current_player"]
        step = played.step([step.observations["legal_actions"][seat][0]])
    assert sum(step.rewards) == pytest.approx(0)


@pytest.mark.parametrize("case", SMALL, ids=ids)
def test_openspiel_sees_the_same_match(case):
    name, options = case
    rules = make_game(name, **options)
    state = pyspiel.load_game(openspiel.register(name), options).new_initial_state()
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


@pytest.mark.parametrize("case", SMALL[::4], ids=ids)
def test_openspiels_tree_search_plays(case):
    name, options = case
    game = pyspiel.load_game(openspiel.register(name), options)
    random_state = np.random.RandomState(1)
    evaluator = mcts.RandomRolloutEvaluator(1, random_state)
    seats = [mcts.MCTSBot(game, 1.4, 4, evaluator, random_state=random_state) for _ in range(game.num_players())]
    state = game.new_initial_state()
    for _ in range(12):
        if not state.is_terminal():
            state.apply_action(seats[state.current_player()].step(state))
    assert state.is_terminal() or len(state.history()) == 12


def test_python_leaves_in_peace_after_openspiel():
    """OpenSpiel lets go of what was registered after Python's end; what it holds must still be there."""
    code = "import pyspiel, arena.interop.openspiel; pyspiel.load_game('arena_plaid').new_initial_state()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


class Twin(Differences):
    """Another game of the same name."""


class Spaced(Differences):
    name = "two words"


def test_openspiel_has_one_game_of_a_name_which_can_be_copied_and_pickled_as_its_states():
    assert {f"arena_{name}" for name in GAMES} <= set(pyspiel.registered_names()) & set(openspiel.REGISTERED)
    assert openspiel.register("differences") == openspiel.register("differences") == "arena_differences"
    with pytest.raises(UsageError, match=r"'differences' of .*:Twin: OpenSpiel has the one of arena\.games"):
        openspiel.register(f"{__name__}:Twin")
    with pytest.raises(UsageError, match="'two words': for OpenSpiel a name has only letters, digits and"):
        openspiel.register(f"{__name__}:Spaced")
    game = pyspiel.load_game("arena_coprimality(players=3,size=4)")
    state = game.new_initial_state()
    for _ in range(3):
        state.apply_action(state.legal_actions()[-1])
    for copied in copies(game):
        assert str(copied) == str(game)
        assert copied.new_initial_state().num_players() == 3
    for copied in copies(state):
        found = (str(copied), copied.history(), copied.legal_actions())
        assert found == (str(state), state.history(), state.legal_actions())
        copied.apply_action(copied.legal_actions()[0])
        assert len(state.history()) == 3
        assert len(copied.history()) == 4


def copies(thing):
    return pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing), copy.copy(thing)


@pytest.mark.parametrize("make", [env, raw_env])
def test_environments_can_be_copied_and_pickled(make):
    played = make("multiplication", size=7)
    for copied in copies(played)[:2]:
        copied.reset()
        assert copied.agent_selection == "seat_0"
    played.reset()
    for index in (0, 8, 16):
        played.step(index)
    for copied in copies(played)[:2]:
        assert copied.unwrapped.state_now == played.unwrapped.state_now
        assert copied.observe("seat_1")["action_mask"].tolist() == played.observe("seat_1")["action_mask"].tolist()
        copied.step(24)
        assert copied.agent_selection == "seat_0"
        assert played.agent_selection == "seat_1"


@pytest.mark.slow(sample=True)
def test_what_was_pickled_is_read_in_another_process(tmp_path):
    """There, nothing has been registered yet."""
    (tmp_path / "other_differences.py").write_text(
        "from arena.games.differences import Differences\nclass Other(Differences):\n    name = 'other_differences'\n"
    )
    write = (
        "import pickle, sys, pyspiel\n"
        "from arena.interop.openspiel import register\n"
        "from arena.interop.pettingzoo import env\n"
        "path = 'other_differences:Other'\n"
        "state = pyspiel.load_game(register(path), {'size': 4}).new_initial_state()\n"
        "state.apply_action(6)\n"
        "played = env(path, size=4)\n"
        "played.reset()\n"
        "played.step(6)\n"
        "sys.stdout.buffer.write(pickle.dumps((state.get_game(), state, played)))\n"
    )
    read = (
        "import pickle, sys\n"
        "game, state, played = pickle.load(sys.stdin.buffer)\n"
        "print(game, state, state.legal_actions(), played.unwrapped.state_now.heights, played.agent_selection)\n"
    )
    done = b""
    for code in (write, read):
        command = [sys.executable, "-W", "ignore", "-c", code]
        done = subprocess.run(command, cwd=tmp_path, input=done, capture_output=True, check=True).stdout
    square = 'arena_other_differences(pie=0,scoring=distinct,size=4) {"heights": [0, 3, 0, 0]}'
    assert done.decode() == f"{square} [0, 1, 3, 8, 9, 11, 12, 13, 15] (0, 3, 0, 0) seat_1\n"


@pytest.mark.parametrize(("adapter", "package"), [("openspiel", "pyspiel"), ("pettingzoo", "pettingzoo")])
def test_a_library_that_is_not_installed_is_named_with_its_extra(adapter, package):
    code = f"import sys; sys.modules['{package}'] = None; import arena.interop.{adapter}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("arena.base.errors.UsageError: ")
    assert last.endswith(f"; try: pip install 'grid-arena[{adapter}]'")
    assert "During handling" not in done.stderr
