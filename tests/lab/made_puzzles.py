"""A puzzle for pages and files, whose outcomes nobody has computed."""

from arena.games import make_game
from arena.lab.matches.puzzle import Choice, Miss, Puzzle
from arena.lab.solving.worth import Outcome


def made_puzzle(bot="alpha@1", **changed):
    """Return a puzzle of differences on five squares by five, after a mark on a1: a win for seat 1 with b2 alone."""
    game = make_game("differences", size=5)
    state = game.apply(game.initial_state(), (1, 1))
    legal = game.legal_actions(state)
    worths = [(Outcome.LOSS, -1) if action == (2, 2) else (Outcome.DRAW, 0) for action in legal]
    texts = map(game.format_action, legal)
    choices = [Choice(text=text, outcome=one, margin=margin) for text, (one, margin) in zip(texts, worths, strict=True)]
    fixed = {
        "game": "differences", "options": dict(game.options), "actions": ([0, [1, 1]],), "seat": 1,
        "goal": Outcome.LOSS, "choices": tuple(choices), "solution": list(legal).index((2, 2)),
        "misses": (Miss(bot=bot, match=1, ply=1, text="c3"),), "missed": 1, "met": 3, "lines_log2": 11.5, "tempting": 2,
    }  # fmt: skip
    return Puzzle(**{**fixed, **changed})
