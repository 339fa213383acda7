"""Golden transcripts: whole matches written by the reference rules, played again by the games."""

import pytest

from arena.games import GAMES, make_game
from tests.games.make_golden import GOLDEN
from tests.games.variants import VARIANTS

FILES = sorted(GOLDEN.glob("*.txt"))


def read(path):
    name, options, actions, results = "", {}, [], {}
    for line in path.read_text().splitlines():
        word, *rest = line.split()
        if word == "game":
            name = rest[0]
        elif word == "option":
            options[rest[0]] = int(rest[1]) if rest[1].isdigit() else rest[1]
        elif word in ("scores", "ranks"):
            results[word] = tuple(float(value) for value in rest)
        else:
            actions.append((int(word), rest[0]))
    return make_game(name, **options), actions, results


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_transcript_comes_out(path):
    game, actions, results = read(path)
    state = game.initial_state()
    for seat, text in actions:
        assert game.seat_to_act(state) == seat
        action = game.parse_action(text)
        assert action in game.legal_actions(state)
        state = game.apply(state, action)
    assert game.is_over(state)
    assert game.scores(state) == results["scores"]
    assert game.ranks(state) == results["ranks"]


def test_there_is_a_transcript_for_every_game_and_every_variant():
    played = {path.stem for path in FILES}
    assert {title.replace(",", "").replace(" ", "_") for title in VARIANTS} <= played
    assert {f"{name}_default_size" for name in GAMES} <= played
